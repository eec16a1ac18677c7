"""Finds how a plain reply says that the work ended: in its first sentences or its last."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Final

from segue.domain.handoff.extract.plain_reply import LONGEST_SENTENCE, either, load_reply_cues
from segue.domain.handoff.extract.topics import Topic
from segue.domain.handoff.extract.units import OutcomeWords, Outline, Unit, UnitKind
from segue.domain.handoff.extract.vocabulary import read_heading
from segue.domain.handoff.model import Outcome
from segue.domain.text.sentences import sentences_in

WEIGHT: Final = 3
_FIRST, _LAST = 3, 2
_TOLD: Final = frozenset(
    {UnitKind.SENTENCE, UnitKind.ITEM, UnitKind.PARAGRAPH, UnitKind.HEADING, UnitKind.LEAD_IN}
)
QUOTED: Final = re.compile(r"[\"\u201c\u300c][^\"\u201d\u300d]*[\"\u201d\u300d]|`[^`]*`")
_NO_STRESS: Final = re.compile(r"[*`]")
_ORDER: Final = (Outcome.BLOCKED, Outcome.FAILED, Outcome.PARTIAL, Outcome.COMPLETED)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Ends:
    says: dict[Outcome, re.Pattern[str]]
    anywhere: dict[Outcome, re.Pattern[str]]
    unless: re.Pattern[str]


@cache
def completed_abroad() -> re.Pattern[str]:
    """What says in other languages than English that the work is complete."""
    data = load_reply_cues()["outcome"]
    at_end = rf"{either(data['completed_anywhere'])}(?=[\u3002\uff01.!])"
    return re.compile(rf"(?<!\w){either(data['completed_abroad'])}(?!\w)|{at_end}", re.IGNORECASE)


@cache
def _ends() -> _Ends:
    data = load_reply_cues()["outcome"]
    says = {
        outcome: re.compile(rf"(?<!\w){either(data[outcome.value])}(?!\w)")
        for outcome in (Outcome.BLOCKED, Outcome.FAILED, Outcome.PARTIAL)
    }
    says[Outcome.COMPLETED] = re.compile(
        rf"(?<!\w){either(data['completed'])}(?!\w)|{either(data['completed_anywhere'])}"
        rf"|{completed_abroad().pattern}"
        rf"|^\W*{either(data['completed_first'])}(?=\s*(?:[.!:;,\u2014\u2013\uff01\u3002\uff0c\uff1a-]|$))"
    )
    anywhere = {
        outcome: re.compile(rf"(?<!\w){either(data[f'{outcome}_anywhere'])}(?!\w)")
        for outcome in (Outcome.BLOCKED, Outcome.PARTIAL)
    }
    return _Ends(says=says, anywhere=anywhere, unless=re.compile(rf"(?<!\w){either(data['unless'])}(?!\w)"))


def find_reply_outcome(outline: Outline, *, plain: bool) -> OutcomeWords | None:
    """The sentence that says how the work ended, with the outcome as its text; none if no sentence does."""
    said: list[tuple[Outcome, OutcomeWords]] = []
    for (start, end), at_rim in _sentences(outline, plain=plain):
        sentence = outline.source[start:end]
        outcome = outcome_of_sentence(sentence) if at_rim else _said_anywhere(sentence)
        if outcome is not None:
            said.append((outcome, OutcomeWords(text=outcome.value, start=start, end=end, weight=WEIGHT)))
    return min(said, key=lambda pair: _ORDER.index(pair[0]))[1] if said else None


def outcome_of_sentence(sentence: str) -> Outcome | None:
    """How a sentence says that the work ended; a condition, a question or a quotation says nothing."""
    if len(sentence) > LONGEST_SENTENCE:
        return None
    if said := _said_anywhere(sentence):
        return said
    words = QUOTED.sub(" ", sentence.replace("\u2019", "'").replace("*", "")).lower()
    words = " ".join(words.split())
    ends = _ends()
    for outcome in _ORDER:
        found = ends.says[outcome].search(words)
        if found and "?" not in words[-3:] and not ends.unless.search(words, 0, found.start()):
            return outcome
    return None


def _said_anywhere(sentence: str) -> Outcome | None:
    """What counts wherever a reply says it: `I could not run the tests here` is not complete."""
    words = " ".join(_NO_STRESS.sub("", sentence[:LONGEST_SENTENCE].replace("\u2019", "'")).lower().split())
    if "?" in words[-3:]:
        return None
    for outcome, pattern in _ends().anywhere.items():
        found = pattern.search(words)
        if found and not _ends().unless.search(words, 0, found.start()):
            return outcome
    return None


def _sentences(outline: Outline, *, plain: bool) -> list[tuple[tuple[int, int], bool]]:
    """The sentences of a reply, and whether they are among its first or last; else of its preamble."""
    units = [unit for unit in outline.in_order() if unit.kind is not UnitKind.REST]
    if plain:
        told = [unit for unit in units if unit.kind in _TOLD and not _is_bare_word(unit)]
        spans = [span for unit in told for span in sentences_in(outline.source, *unit.span)]
        return [(span, not _FIRST <= at < len(spans) - _LAST) for at, span in enumerate(spans)]
    found: list[tuple[int, int]] = []
    for unit in units:
        if unit.kind is UnitKind.HEADING and read_heading(unit.text) is None:
            found.append((unit.span.start, unit.span.end))
        elif _is_preamble(unit):
            found += sentences_in(outline.source, *unit.span)
        else:
            break
    return [(span, True) for span in found[:_FIRST]]


def _is_bare_word(unit: Unit) -> bool:
    """True for a heading of one word: `Done` above a list says nothing about the whole."""
    return unit.kind is UnitKind.HEADING and len(re.findall(r"\w+", unit.text)) < 2


def _is_preamble(unit: Unit) -> bool:
    return (
        unit.kind is UnitKind.PARAGRAPH
        and unit.where.topic in (None, Topic.WHOLE)
        and not unit.where.headings
    )
