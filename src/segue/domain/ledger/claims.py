"""Finds the claims in a handoff: in its typed fields, and in its sentences."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any

from segue.domain.handoff.checking.rules_values import mend_value, outcome_of, places_of
from segue.domain.handoff.model import Handoff
from segue.domain.handoff.reading.draft import Span
from segue.domain.handoff.reading.extraction import Extraction, Notation
from segue.domain.handoff.reading.paths import is_path, paths_in
from segue.domain.ledger.evidence import LineRange
from segue.domain.ledger.moods import Quotes, is_about_plans, is_real, statements_in
from segue.domain.ledger.told_files import file_claims_in
from segue.domain.ledger.told_results import result_claims_in
from segue.domain.ledger.values import Claim, ClaimKind

_SENTENCES_OF = frozenset(
    {
        "what_was_done",
        "decisions_made",
        "critical_context",
        "next_agent_context",
        "other_sections",
        "commands_run",
    }
)
"""Fields whose sentences may state what was done; the others are wishes, questions and failures."""
_PARTS = frozenset(
    {"what_was_done", "decision", "critical_context", "next_agent_context", "text", "observation"}
)
_RANGE = re.compile(r"(?<![\w.])L?(\d{1,7})\s*[-\u2013:]\s*L?(\d{1,7})(?![\w.])")
_LINE = re.compile(r"L?(\d{1,7})")
_BEHIND = re.compile(r"[`*_]*(?::|[ ]?[(,][ ]?(?:lines?|L)[ ]?)(\d{1,7}[-\u2013]L?\d{1,7})(?!\d)")
_PATH_LINES = re.compile(r"(?::(\d{1,7})(?:[-\u2013](\d{1,7}))?|#L(\d{1,7})(?:-L?(\d{1,7}))?)$")
_ARROW = re.compile(r"(.+?)\s+(?:->|=>|\u2192)\s+(.+)")
_SAID_BEFORE = {
    "new": re.compile(r"(?:^|\W)(?:[Cc]reated?|[Nn]ew(?: [Ff]iles?)?|[Aa]dded|\?\?|A)\W*$"),
    "gone": re.compile(r"(?:^|\W)(?:[Dd]eleted?|[Rr]emoved?|D)\W*$"),
}
_SAID_AFTER = {
    "new": re.compile(
        r"[`*_]*\s*[\[(|:\u2014\u2013-]+\s*(?:new file\b|NEW\b|created\b|(?:new|added)\s*(?:[)|\]]|$))"
    ),
    "gone": re.compile(
        r"[`*_]*\s*[\[(|:\u2014\u2013-]+\s*(?:deleted|removed|DELETED|REMOVED)\s*(?:[)|\].]|$)"
    ),
}
_NEW_HEADING = re.compile(
    r"\b(?:created?|new|added|neue?|erstellt\w*|cr\u00e9\u00e9s?|creados?|criados?)\b|\u65b0", re.IGNORECASE
)
_CHANGED_HEADING = re.compile(r"\b(?:changed|modified|updated|touched|edited|/|and|or)\b", re.IGNORECASE)
_FREE_FORM = frozenset({Notation.PROSE, Notation.SECTIONS, Notation.LABELS, Notation.TAGS, Notation.NONE})
MOST_CLAIMS = 5000
"""What a longer handoff claims beyond these is not looked at."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Reading:
    """A handoff with what is known about where its words came from."""

    handoff: Handoff
    spans: Mapping[str, Span]
    source: str
    is_free: bool
    quotes: Quotes | None
    statements: list[tuple[int, int]]

    def is_quoted(self, span: Span | None) -> bool:
        """True if free text holds these words in code or in a quotation."""
        return span is not None and self.quotes is not None and self.quotes.hold(span.start)

    def words(self, field: str, otherwise: str) -> tuple[str, Span | None]:
        """The words of a field as the agent wrote them, and where."""
        span = self.spans.get(field)
        if span is None or not self.source:
            return otherwise, span
        return self.source[span.start : span.end], span


def find_claims(record: Extraction | Handoff | None, source: str = "") -> tuple[Claim, ...]:
    """Every claim of a handoff that can be checked, each once; `source` is the text it was read from."""
    if isinstance(record, Extraction):
        is_free = record.notation in _FREE_FORM
        spans: Mapping[str, Span] = record.spans
        handoff = record.handoff or Handoff()
    else:
        is_free, spans, handoff = False, {}, record or Handoff()
    quotes = Quotes(source) if is_free else None
    reading = _Reading(
        handoff=handoff,
        spans=spans,
        source=source,
        is_free=is_free,
        quotes=quotes,
        statements=_statements(spans),
    )
    found: dict[tuple[Any, ...], Claim] = {}
    for claim in _all_claims(reading):
        found.setdefault(_key(claim), claim)
        if len(found) >= MOST_CLAIMS:
            break
    return _without_rivals(tuple(found.values()))


def _without_rivals(claims: tuple[Claim, ...]) -> tuple[Claim, ...]:
    """Several numbers of tests are those of parts, or of other times: none of them is that of the whole."""
    numbers = {claim.count for claim in claims if claim.kind is ClaimKind.TESTS and claim.subject == "tests"}
    if len(numbers - {None}) < 2:
        return claims
    return tuple(
        replace(claim, is_partial=True) if claim.kind is ClaimKind.TESTS and claim.count else claim
        for claim in claims
    )


def _key(claim: Claim) -> tuple[Any, ...]:
    subject = claim.subject.strip("`").removeprefix("./")
    return claim.kind, subject, claim.old_path, claim.exit_code, claim.count, claim.is_partial


def _all_claims(reading: _Reading) -> Iterator[Claim]:
    if outcome_of(reading.handoff) == "completed":
        text, span = reading.words("outcome", "completed")
        yield Claim(kind=ClaimKind.COMPLETED, subject="outcome", text=text, field="outcome", span=span)
    yield from _created(reading)
    yield from _modified(reading)
    yield from _commands(reading)
    yield from _places(reading)
    yield from _sentences(reading)
    if reading.is_free:
        yield from _rest(reading)


def _created(reading: _Reading) -> Iterator[Claim]:
    for at, item in enumerate(reading.handoff.files_created):
        field = f"files_created[{at}]"
        text, span = reading.words(f"{field}.path", item.path)
        if _is_told(reading, span) or not is_real("", (item.purpose or "").lower()) or not item.path.strip():
            continue
        kind = ClaimKind.CREATED if _is_surely_new(reading, span) else ClaimKind.MODIFIED
        yield _file_claim(kind, item.path, text, field, span, _ranges(item.lines, item.path, single=False))


def _modified(reading: _Reading) -> Iterator[Claim]:
    for at, item in enumerate(reading.handoff.files_modified):
        field = f"files_modified[{at}]"
        text, span = reading.words(f"{field}.path", item.path)
        if (
            _is_told(reading, span)
            or not is_real("", (item.description or "").lower())
            or not item.path.strip()
        ):
            continue
        is_gone = bool(item.change_type) and mend_value("change_type", item.change_type or "") == "delete"
        # What free text marks as deleted may be words about something in the file.
        if reading.is_free and span is not None:
            is_gone = is_gone and _is_marked(reading.source, span, "gone")
        kind = ClaimKind.DELETED if is_gone else ClaimKind.MODIFIED
        lines = () if is_gone else _ranges(item.lines or _lines_behind(reading, span), item.path, single=True)
        yield _file_claim(kind, item.path, text, field, span, lines)


def _file_claim(
    kind: ClaimKind, path: str, text: str, field: str, span: Span | None, lines: tuple[LineRange, ...]
) -> Claim:
    arrow = _ARROW.fullmatch(path.strip())
    if arrow and "{" not in path:
        old, new = (part.strip("` ") for part in arrow.groups())
        return Claim(kind=ClaimKind.RENAMED, subject=new, old_path=old, text=text, field=field, span=span)
    return Claim(kind=kind, subject=path, text=text, field=field, span=span, lines=lines)


def _is_told(reading: _Reading, span: Span | None) -> bool:
    """True if a file was read out of a statement: the statement itself is looked at, more carefully."""
    if span is None or not reading.is_free:
        return False
    at = bisect_right(reading.statements, span.start, key=itemgetter(0)) - 1
    return at >= 0 and span.end <= reading.statements[at][1]


def _statements(spans: Mapping[str, Span]) -> list[tuple[int, int]]:
    """Where statements begin, and how far they and those before them reach."""
    found: list[tuple[int, int]] = []
    reach = -1
    for start, end in sorted(
        span for field, span in spans.items() if field.partition("[")[0] in _SENTENCES_OF - {"commands_run"}
    ):
        reach = max(reach, end)
        found.append((start, reach))
    return found


def _is_marked(source: str, span: Span, mark: str) -> bool:
    """True if words right before or behind a path on its line say that it is new, or gone."""
    start = source.rfind("\n", 0, span.start) + 1
    end = source.find("\n", span.end)
    after = source[span.end : len(source) if end < 0 else min(end, span.end + 300)]
    before = source[max(start, span.start - 100) : span.start]
    return bool(_SAID_BEFORE[mark].search(before) or _SAID_AFTER[mark].match(after))


def _is_surely_new(reading: _Reading, span: Span | None) -> bool:
    """False if the reader had to guess from words about a file whether it is new."""
    if span is None or not reading.is_free:
        return True
    if _is_marked(reading.source, span, "new"):
        return True
    heading = _heading_above(reading.source, span.start)
    return bool(_NEW_HEADING.search(heading)) and not _CHANGED_HEADING.search(heading)


def _lines_behind(reading: _Reading, span: Span | None) -> str | None:
    """`12-20` in a list that says `a.py:12-20` or `a.py (lines 12-20)`."""
    if span is None or not reading.is_free:
        return None
    found = _BEHIND.match(reading.source, span.end)
    return found[1] if found else None


def _heading_above(source: str, at: int) -> str:
    """The nearest line above that is a heading or a label; looks back a few thousand characters."""
    for line in reversed(source[max(0, at - 4000) : at].split("\n")[:-1]):
        bare = line.strip()
        if bare[:1] == "#" or (bare[:2] == "**" and len(bare) < 80) or (bare[-1:] == ":" and len(bare) < 60):
            return bare
    return ""


def _ranges(lines: str | None, path: str, *, single: bool) -> tuple[LineRange, ...]:
    """`10-20, 35-40` as ranges; a lone number may be a count, so it is one only where `single` says so."""
    found = [LineRange(int(a), int(b)) for a, b in _RANGE.findall(lines or "")]
    if not found and single and lines and (one := _LINE.fullmatch(lines.strip())):
        found = [LineRange(int(one[1]), int(one[1]))]
    if not found and (tail := _PATH_LINES.search(path)):
        first = int(tail[1] or tail[3])
        found = [LineRange(first, int(tail[2] or tail[4] or first))]
    return tuple(each for each in found if 1 <= each.first <= each.last)


def _commands(reading: _Reading) -> Iterator[Claim]:
    for at, item in enumerate(reading.handoff.commands_run):
        field = f"commands_run[{at}]"
        text, span = reading.words(f"{field}.command", item.command)
        if item.exit_code is None and reading.is_free:
            continue  # a command in free text may be advice
        yield Claim(
            kind=ClaimKind.RAN,
            subject=item.command,
            text=text,
            field=field,
            span=span,
            exit_code=item.exit_code,
        )


def _places(reading: _Reading) -> Iterator[Claim]:
    """Files that the next agent is sent to."""
    for at, item in enumerate(reading.handoff.dependencies_for_next):
        yield from _exists(reading, f"dependencies_for_next[{at}]", "file", item.file, item.reason)
    for at, pattern in enumerate(reading.handoff.patterns_discovered):
        yield from _exists(reading, f"patterns_discovered[{at}]", "location", pattern.location, None)


_APART = re.compile(
    r"(?:^|[,;:(`\"]\s*|(?:^|\s)(?:in|at|see|files?|modules?|and|or|the|under|of|from)\s+)[`*\"]*$",
    re.IGNORECASE,
)
_TO_COME = re.compile(
    r"\b(?:to be|will|once|not yet|should|new|missing|create|does not|doesn['\u2019]t|when|if|deleted"
    r"|removed)\b"
)


def _exists(
    reading: _Reading, field: str, part: str, place: str | None, reason: str | None
) -> Iterator[Claim]:
    if not place or _TO_COME.search(f"{place} {reason or ''}".lower()):
        return
    text, span = reading.words(f"{field}.{part}", place)
    for path in _paths_of_place(place.strip().strip("`")):
        yield Claim(kind=ClaimKind.EXISTS, subject=path, text=text, field=field, span=span)


def _paths_of_place(place: str) -> list[str]:
    """The paths in a field that names a place: all of it, or those that stand apart from its other words."""
    if "://" in place:
        return []
    if not any(character.isspace() for character in place):
        bare = _PATH_LINES.sub("", place)
        is_one = is_path(bare) or ("/" in bare.strip("/@") and not bare.startswith("@") and "." in bare)
        return [place] if is_one else []
    return [piece.text for piece in paths_in(place) if _APART.search(place[: piece.start])]


def _sentences(reading: _Reading) -> Iterator[Claim]:
    for place in places_of(reading.handoff):
        name = place.field.partition("[")[0].partition(".")[0]
        if name not in _SENTENCES_OF or place.name not in _PARTS or _is_below_plans(reading, place.field):
            continue
        command = None
        if name == "commands_run":
            command = reading.handoff.commands_run[int(place.field[13:].partition("]")[0])].command
        span = reading.spans.get(place.field)
        if reading.is_quoted(span):
            continue
        if span and reading.source[span.start : span.end] == place.text:
            yield from _told(reading.source, span.start, span.end, place.field, command, span)
        else:
            for claim in _told(place.text, 0, len(place.text), place.field, command, None):
                yield _with_span(claim, reading.source, span)


def _is_below_plans(reading: _Reading, field: str) -> bool:
    if not field.startswith("other_sections["):
        return False
    at = int(field[15:].partition("]")[0])
    return is_about_plans(reading.handoff.other_sections[at].heading)


def _with_span(claim: Claim, source: str, around: Span | None) -> Claim:
    """A claim whose words were mended on reading, with the place where they stand as nearly as is known."""
    at = source.find(claim.text, around.start, around.end) if around and source else -1
    span = Span(at, at + len(claim.text)) if at >= 0 else around
    return replace(claim, span=span)


def _rest(reading: _Reading) -> Iterator[Claim]:
    """Sentences of the source that no field took up."""
    spans = sorted((span.start, span.end) for span in reading.spans.values())
    at, reach = 0, -1
    for start, end in statements_in(reading.source):
        while at < len(spans) and spans[at][0] < end:
            reach = max(reach, spans[at][1])
            at += 1
        if reach <= start:
            yield from _told(reading.source, start, end, "", None, Span(start, end))


def _told(
    text: str, start: int, end: int, field: str, command: str | None, span: Span | None
) -> Iterator[Claim]:
    """The claims of the sentences in `text[start:end]`; with a place if `text` is the source."""
    is_first = True
    for begin, stop in statements_in(text, start, end):
        sentence = text[begin:stop].rstrip()
        where = Span(begin, begin + len(sentence)) if span else None
        for kind, path, old_path in file_claims_in(sentence):
            yield Claim(kind=kind, subject=path, old_path=old_path, text=sentence, field=field, span=where)
        for told in result_claims_in(sentence):
            subject = told.subject
            if command is not None and told.kind is ClaimKind.TESTS and subject == "tests":
                subject = command
            yield Claim(
                kind=told.kind,
                subject=subject,
                text=sentence,
                field=field,
                span=where,
                count=told.number,
                exit_code=told.exit_code,
                # What follows another sentence may be about what that one names.
                is_partial=told.is_partial or (bool(told.number) and not told.is_whole and not is_first),
            )
        is_first = False
