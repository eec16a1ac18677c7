"""Keeps of a record only what its source says, and finds where: for records that a model wrote afterwards.

A statement is grounded if a passage of up to three sentences holds most of its words and all of its numbers,
the source holds every path and name in it, and, where it reports work, the passage neither denies nor plans
it.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from segue.domain.handoff.model import Handoff, Part
from segue.domain.text.sentences import sentences_in
from segue.domain.text.span import Span

_WORD = re.compile(r"\w+(?:['\u2019]\w+)?")
_NAME = re.compile(r"(?=[\w./\\-]*[./_\\]\w)[\w.\\/-]*\w|\b[a-z]+[A-Z]\w*|`[^`\n]+`")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_CLAUSE = re.compile(
    r"[,;:()\u2013\u2014]\s|\s(?:but|however|although|though|so|and|while)\s|\n", re.IGNORECASE
)
_SHARE = 0.6
"""How many of a statement's words must be in the passage: models correct grammar, not facts."""
_LONGEST_PASSAGE = 3
_CANDIDATES = 6
_MOST_CHARACTERS = 400_000
_REPORTS = frozenset(
    {
        "what_was_done",
        "decisions_made",
        "files_created",
        "files_modified",
        "commands_run",
    }
)
"""Fields whose statements say that something happened."""
_LEVELS = frozenset({"severity", "priority", "change_type", "lines"})
_COMMON = frozenset(
    {
        *(
            "a",
            "an",
            "the",
            "and",
            "or",
            "but",
            "of",
            "to",
            "in",
            "on",
            "at",
            "for",
            "from",
            "with",
            "by",
            "as",
        ),
        *(
            "is",
            "are",
            "was",
            "were",
            "be",
            "been",
            "has",
            "have",
            "had",
            "do",
            "does",
            "did",
            "i",
            "we",
            "you",
        ),
        *("it", "its", "this", "that", "these", "those", "there", "now", "also", "then", "so", "all", "into"),
        *("our", "my", "your", "their", "he", "she", "they"),
    }
)
_DENIES = re.compile(
    r"\b(?:not|no|never|cannot|none|nothing|without|unable|fail(?:s|ed|ing)?|skip(?:s|ped)?|refused|\w+n['\u2019]t)\b",
    re.IGNORECASE,
)
_PLANS = re.compile(
    r"\b(?:should|would|could|will|might|may|must|shall|todo|plan(?:s|ned|ning)?|next|later|tried|try|want(?:s|ed)?|"
    r"needs?|remains?|if|once|\w+['\u2019]ll)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Grounded:
    """A record without what its source does not say."""

    handoff: Handoff
    spans: Mapping[str, Span]
    """Field or item -> the passage that says it."""
    dropped: tuple[str, ...]
    """What was taken out: `what_was_done: Deployed it`."""


def keep_grounded(handoff: Handoff, source: str) -> Handoff:
    """The record without the statements that `source` does not make: models like to add some."""
    return ground(handoff, source).handoff


def ground(handoff: Handoff, source: str) -> Grounded:
    """What of a record `source` says, and where. The outcome is a judgement and stays; other sections go."""
    reader = _StatementFinder(source[:_MOST_CHARACTERS])
    values: dict[str, Any] = {"outcome": handoff.outcome}
    for name in Handoff.model_fields:
        value = getattr(handoff, name)
        if name in ("outcome", "other_sections") or not value:
            continue
        values[name] = reader.text(name, value) if isinstance(value, str) else reader.items(name, value)
    return Grounded(handoff=Handoff.model_validate(values), spans=reader.spans, dropped=tuple(reader.dropped))


class _StatementFinder:
    """Looks statements up in one source."""

    def __init__(self, source: str) -> None:
        self._passages = _Passages(source)
        self.spans: dict[str, Span] = {}
        self.dropped: list[str] = []

    def text(self, name: str, text: str) -> str | None:
        """The sentences of a text that are grounded."""
        kept: list[str] = []
        spans: list[Span] = []
        for start, end in sentences_in(text, 0, len(text)):
            sentence = text[start:end].strip()
            if (span := self._passages.find(sentence)) is None:
                self.dropped.append(f"{name}: {sentence}")
            else:
                kept.append(sentence)
                spans.append(span)
        if not kept:
            return None
        self.spans[name] = Span(min(each.start for each in spans), max(each.end for each in spans))
        return " ".join(kept)

    def items(self, name: str, items: Sequence[Any]) -> tuple[Any, ...]:
        """The items that are grounded, without the parts that are not."""
        kept: list[Any] = []
        for item in items:
            headline = item if isinstance(item, str) else str(getattr(item, item.headline))
            span = self._passages.find(headline, is_report=name in _REPORTS)
            if span is None:
                self.dropped.append(f"{name}: {headline}")
                continue
            self.spans[f"{name}[{len(kept)}]"] = span
            kept.append(item if isinstance(item, str) else self._without_inventions(name, item, span))
        return tuple(kept)

    def _without_inventions(self, name: str, item: Part, span: Span) -> Part:
        changed: dict[str, Any] = {}
        for part in type(item).model_fields:
            value = getattr(item, part)
            if part in (item.headline, "id") or value in (None, (), False, ""):
                continue
            found = self._part(part, value, span)
            if found != value:
                changed[part] = found
                if part not in _LEVELS:
                    self.dropped.append(f"{name}.{part}: {value if isinstance(value, str) else str(value)}")
        return item.model_copy(update=changed) if changed else item

    def _part(self, part: str, value: Any, span: Span) -> Any:
        if isinstance(value, tuple):
            return tuple(each for each in value if self._passages.find(str(each)) is not None)
        if value is True:
            return self._passages.holds(span, "block")
        if part in _LEVELS or isinstance(value, int):
            return value if self._passages.holds(span, str(value)) else None
        return value if self._passages.find(value) is not None else None


class _Passages:
    """The sentences of a source, by their words."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._folded = source.casefold()
        self._sentences = list(_sentences(source))
        self._stems = [stems_of(source[start:end]) for start, end in self._sentences]
        self._by_stem: dict[str, list[int]] = defaultdict(list)
        for at, stems in enumerate(self._stems):
            for stem in stems:
                self._by_stem[stem].append(at)

    def find(self, text: str, *, is_report: bool = False) -> Span | None:
        """The passage that says `text`; none if there is none."""
        if not _WORD.search(text) or not self._names_known(text):
            return None
        if (at := self._source.find(text.strip())) >= 0:
            span = Span(at, at + len(text.strip()))
            if not is_report or self._is_reported(text, self._around(span)):
                return span
        best: tuple[float, int, Span] | None = None
        for first, last in self._candidates(text):
            span = Span(self._sentences[first][0], self._sentences[last][1])
            score = self._score(text, first, last)
            if score < _SHARE or not self._numbers_in(text, span):
                continue
            if is_report and not self._is_reported(text, span):
                continue
            if best is None or (score, first - last) > best[:2]:
                best = (score, first - last, span)
        return best[2] if best is not None else None

    def _around(self, span: Span) -> Span:
        """The whole lines of a passage."""
        end = self._source.find("\n", span.end)
        return Span(self._source.rfind("\n", 0, span.start) + 1, end if end >= 0 else len(self._source))

    def holds(self, span: Span, word: str) -> bool:
        """Whether a passage has this word."""
        return word.casefold() in self._folded[span.start : span.end]

    def _candidates(self, text: str) -> Iterator[tuple[int, int]]:
        hits = Counter(at for stem in stems_of(text) for at in self._by_stem.get(stem, ()))
        for at, _ in hits.most_common(_CANDIDATES):
            for first in range(max(0, at - _LONGEST_PASSAGE + 1), at + 1):
                for last in range(at, min(len(self._sentences), first + _LONGEST_PASSAGE)):
                    yield first, last

    def _score(self, text: str, first: int, last: int) -> float:
        own = stems_of(text)
        there = set().union(*self._stems[first : last + 1])
        return len(own & there) / len(own) if own else 0.0

    def _names_known(self, text: str) -> bool:
        names = (match[0].strip("`").strip() for match in _NAME.finditer(text))
        return all(name.casefold().removesuffix("()") in self._folded for name in names)

    def _numbers_in(self, text: str, span: Span) -> bool:
        there = set(_NUMBER.findall(self._source[span.start : span.end]))
        return set(_NUMBER.findall(text)) <= there

    def _is_reported(self, text: str, span: Span) -> bool:
        """Whether the clause that is most like `text` says it as a fact."""
        own = stems_of(text)
        clauses = _CLAUSE.split(self._source[span.start : span.end])
        clause = max(clauses, key=lambda each: len(own & stems_of(each)))
        return all(not pattern.search(clause) or pattern.search(text) for pattern in (_DENIES, _PLANS))


def _sentences(source: str) -> Iterator[tuple[int, int]]:
    """Line by line, for a list has no full stops; neighbouring passages join a wrapped paragraph."""
    for line in re.finditer(r"[^\n]+", source):
        yield from sentences_in(source, line.start(), line.end())


def stems_of(text: str) -> frozenset[str]:
    """The telling words of a text without their endings, to compare texts by."""
    words = [word.casefold() for word in _WORD.findall(text)]
    telling = [word for word in words if word not in _COMMON] or words
    return frozenset(_stem(word) for word in telling)


def _stem(word: str) -> str:
    for ending in ("ing", "ied", "ies", "ed", "es", "s", "d"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)]
            break
    word = word.removesuffix("e").removesuffix("y")
    return word[:-1] if len(word) > 3 and word[-1] == word[-2] else word


def words_in(text: str) -> list[str]:
    """The words of a text, in lower case."""
    return [word.casefold() for word in re.findall(r"\w+", text)]


def share_covered(source: str, spans: Sequence[Span]) -> float:
    """The share of the letters and digits of `source` that lie in `spans`."""
    covered = bytearray(len(source))
    for span in spans:
        covered[span.start : span.end] = b"\1" * (min(span.end, len(source)) - span.start)
    letters = [at for at, character in enumerate(source) if character.isalnum()]
    return sum(covered[at] for at in letters) / len(letters) if letters else 1.0
