"""Finds a sentence in any place that says how the work ended: the last resort, where no status is given."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

from segue.domain.handoff.extract.plain_reply import LONGEST_SENTENCE, either
from segue.domain.handoff.extract.reply_outcome import QUOTED, completed_abroad
from segue.domain.handoff.extract.topics import Topic
from segue.domain.handoff.extract.units import OutcomeWords, Outline, Unit, UnitKind
from segue.domain.handoff.extract.vocabulary import read_heading
from segue.domain.handoff.model import Outcome
from segue.domain.text.sentences import sentences_in

_NOT_LOOKED_AT: Final = frozenset({UnitKind.FENCE, UnitKind.HEAD, UnitKind.LINE})
_NOT_SAID: Final = frozenset(
    {Topic.QUESTIONS, Topic.PATTERNS, Topic.CONSTRAINTS, Topic.GOAL, Topic.BRIEF, Topic.READING}
)
"""Where a sentence tells of what is to be done, not of what is."""
_FIRST_PAGES: Final = 6_000
_LAST_PAGE: Final = 2_000
_WORD: Final = re.compile(r"[^\W\d_]+(?:'[a-z]+)?")
_NEGATED: Final = re.compile(r"(?<!\w)(?:not|never|without|nicht|pas|no|não|non|не|不)(?!\w)|n't(?!\w)")
_NEAR: Final = 16
"""How many letters before a statement of success a negation turns it around."""
_WEIGHT: Final = 2


@dataclass(frozen=True, kw_only=True, slots=True)
class _OutcomeCues:
    words: frozenset[str]
    parts: re.Pattern[str]
    says: tuple[tuple[Outcome, re.Pattern[str]], ...]
    """From what outweighs the others to the weakest."""
    unless: re.Pattern[str]
    """What stands before such words where they are a condition, an order or old."""


@cache
def _cues() -> _OutcomeCues:
    data = tomllib.loads(files(__package__).joinpath("outcome_cues.toml").read_text("utf-8"))

    def spaced(name: str) -> str:
        return rf"(?<!\w){either(data[name])}(?!\w)"

    return _OutcomeCues(
        words=frozenset(data["words"]),
        unless=re.compile(spaced("unless")),
        parts=re.compile("|".join(data["parts"])),
        says=(
            (Outcome.BLOCKED, re.compile(spaced("blocked"))),
            (Outcome.COMPLETED, re.compile(spaced("whole"))),
            (Outcome.PARTIAL, re.compile(f"{spaced('partial')}|{either(data['partial_unspaced'])}")),
            (
                Outcome.COMPLETED,
                re.compile(
                    f"{spaced('completed')}|{either(data['completed_unspaced'])}|{completed_abroad().pattern}",
                    re.IGNORECASE,
                ),
            ),
        ),
    )


def conclusion_of(outline: Outline) -> OutcomeWords | None:
    """The weightiest sentence on the first pages or the last that states an outcome."""
    found: dict[int, OutcomeWords] = {}
    for start, end in _sentences(outline):
        rank, outcome = _judge(outline.source[start:end])
        if outcome is not None and rank not in found:
            found[rank] = OutcomeWords(text=outcome.value, start=start, end=end, weight=_WEIGHT)
    return found[min(found)] if found else None


def _judge(sentence: str) -> tuple[int, Outcome | None]:
    cues = _cues()
    words = " ".join(
        QUOTED.sub(" ", sentence[:LONGEST_SENTENCE].replace("\u2019", "'")).replace("*", "").lower().split()
    )
    if words.endswith("?") or (
        cues.words.isdisjoint(_WORD.findall(words)) and (words.isascii() or not cues.parts.search(words))
    ):
        return -1, None
    for rank, (outcome, pattern) in enumerate(cues.says):
        said = pattern.search(words)
        if said is None or cues.unless.search(words, 0, said.start()):
            continue
        near = words[max(0, said.start() - _NEAR) : said.start()]
        if outcome is not Outcome.COMPLETED or not _NEGATED.search(near):
            return rank, outcome
    return -1, None


def _sentences(outline: Outline) -> Iterator[tuple[int, int]]:
    source = outline.source
    for unit in outline.in_order():
        if unit.kind in _NOT_LOOKED_AT or not _may_state(unit):
            continue
        if _FIRST_PAGES < unit.span.start < len(source) - _LAST_PAGE:
            continue
        at = unit.span.start
        for line in source[unit.span.start : unit.span.end].splitlines(keepends=True):
            yield from sentences_in(source, at, at + len(line))
            at += len(line)


def _may_state(unit: Unit) -> bool:
    """False below a heading on work ahead, and for a heading that is a section of a handoff: `Completed`."""
    if unit.kind is UnitKind.HEADING:
        reading = read_heading(unit.text.strip("# *_\r"))
        return reading is None or reading.topic is Topic.NEXT or not reading.exact
    return unit.where.topic not in _NOT_SAID
