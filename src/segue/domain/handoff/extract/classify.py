"""Decides what each unit is about: by what stands above it, by the vote of its list, by its own marks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from segue.domain.handoff.extract.cues import (
    begins_with_order,
    explains,
    forbids,
    is_blocked,
    is_done,
    own_topic,
    reports,
    skip_marks,
    tells_of_work,
)
from segue.domain.handoff.extract.plain_reply import stands_beside_work, tells_of_own_work, topic_of_sentence
from segue.domain.handoff.extract.topics import FILES, Topic
from segue.domain.handoff.extract.units import OPENING, Outline, Unit, UnitKind
from segue.domain.handoff.extract.vote import Vote, hold_votes
from segue.domain.text.paths import paths_in

_BESIDE_WORK = frozenset({Topic.QUESTIONS, Topic.BLOCKERS, Topic.GOTCHAS, Topic.NEXT})
"""What a sentence in an account of finished work may be about instead."""

_WEAK = frozenset({Topic.NEXT, Topic.DECISIONS, Topic.PATTERNS})
"""What a single word may suggest."""
_OPINIONS = re.compile(
    r"\b(?:my (?:\w+ )?points?|concerns?|thoughts?|recommendations?|suggestions?|options?|reasons?|risks?"
    r"|questions?|issues?|findings?|observations?|proposals?|ideas?)\b",
    re.IGNORECASE,
)
"""What a list is about that does not list the work told of before it: `My key points:`."""
_OVERVIEW = re.compile(r"\b(?:summary|overview|snapshot|tl;?dr|bottom line)\b", re.IGNORECASE)
"""A heading over an account of the work, or of the thing that was worked on."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Classified:
    """What one unit is about."""

    topic: Topic
    """`ASIDE` if it maps to no field, `WHOLE` if it only opens others."""
    start: int
    """Where its words begin, after boxes and signs."""
    guessed: bool = False
    """True if no rule was sure."""


def classify(outline: Outline, *, plain: bool = False) -> dict[int, Classified]:
    """The topic of every unit; in a `plain` reply, sentences say by themselves what they are."""
    votes = hold_votes(outline)
    found = {unit.id: _classify(outline, unit, votes.get(unit.where.group), plain) for unit in outline.units}
    if plain:
        _follow_work(outline, found)
    return found


def _follow_work(outline: Outline, found: dict[int, Classified]) -> None:
    """In a reply, a list right after a sentence on finished work lists that work.

    Another list is about nothing if a weak word in one of its items is all that says something.
    """
    for items in _lists_of_nothing(outline, found):
        for unit in items:
            found[unit.id] = replace(found[unit.id], topic=Topic.ASIDE)
    before = last = None
    for unit in outline.in_order():
        said = found[unit.id]
        if unit.kind is UnitKind.ITEM:
            if unit.where.topic is None and said.topic is Topic.ASIDE and before is Topic.DONE:
                found[unit.id] = replace(said, topic=Topic.DONE, guessed=True)
        elif unit.kind is UnitKind.SENTENCE:
            before = said.topic
        elif (
            unit.kind is not UnitKind.LEAD_IN
            or last is not UnitKind.SENTENCE
            or said.topic is not Topic.WHOLE
            or _OPINIONS.search(unit.text)
        ):
            before = None
        last = unit.kind


def _lists_of_nothing(outline: Outline, found: dict[int, Classified]) -> Iterator[list[Unit]]:
    groups: dict[int, list[Unit]] = {}
    for unit in outline.units:
        if unit.kind is UnitKind.ITEM and unit.where.topic is None:
            groups.setdefault(unit.where.group, []).append(unit)
    for items in groups.values():
        said = [found[unit.id].topic for unit in items]
        weak = sum(topic in _WEAK for topic in said)
        if 0 < 2 * weak < len(items) and weak + said.count(Topic.ASIDE) == len(items):
            yield items


def _classify(outline: Outline, unit: Unit, vote: Vote | None, plain: bool) -> Classified:
    if unit.kind in OPENING:
        return Classified(topic=_of_opening(outline, unit, plain=plain), start=unit.span.start)
    topic = unit.where.topic
    if unit.where.exact or unit.kind in (
        UnitKind.RECORD,
        UnitKind.VALUE,
        UnitKind.FENCE,
        UnitKind.LINE,
        UnitKind.REST,
    ):
        settled = Topic.ASIDE if topic is None or topic is Topic.WHOLE else topic
        return Classified(topic=settled, start=unit.span.start)
    start, checked, marks = skip_marks(outline.source, unit.span.start, unit.span.end, unit.marker.checked)
    words = outline.source[start : unit.span.end]
    if not words.strip():
        return Classified(topic=Topic.ASIDE, start=unit.span.start)
    if vote is not None and unit.kind is UnitKind.ITEM:
        return _voted(vote, words, checked, marks, start)
    if plain and topic is Topic.DONE and unit.kind is UnitKind.SENTENCE:
        topic = _in_account(words)
    elif unit.kind is UnitKind.PARAGRAPH:
        topic = _of_paragraph(outline, unit, words, plain=plain)
    if topic is Topic.TASKS and unit.kind is UnitKind.ITEM:
        topic = _in_mixed_list(words, checked, marks)
    elif topic is None or topic is Topic.WHOLE:
        topic = _under_nothing(unit, checked, words)
        if plain and topic is Topic.ASIDE and unit.kind in (UnitKind.SENTENCE, UnitKind.ITEM):
            own = topic_of_sentence(words)
            beside = own is Topic.DONE and unit.kind is UnitKind.SENTENCE and stands_beside_work(words)
            return Classified(topic=Topic.ASIDE if beside else own, start=start)
    return Classified(topic=own_topic(topic, words, checked, marks), start=start)


def _only_tells(outline: Outline, unit: Unit, words: str) -> bool:
    """True for a paragraph that explains next steps, or says in an overview what the thing is."""
    if unit.where.topic is Topic.NEXT:
        return explains(words)
    if unit.where.topic is not Topic.DONE or not unit.where.headings or reports(words):
        return False
    return _OVERVIEW.search(outline.units[unit.where.headings[-1]].text) is not None


def _in_account(words: str) -> Topic:
    """The topic of a sentence of a reply in a section on finished work."""
    own = topic_of_sentence(words)
    if own in _BESIDE_WORK:
        return own
    return Topic.ASIDE if stands_beside_work(words) else Topic.DONE


def _of_paragraph(outline: Outline, unit: Unit, words: str, *, plain: bool) -> Topic | None:
    """The topic of a paragraph, which may only explain the section that it stands in."""
    topic = unit.where.topic
    if not plain or topic is not Topic.NEXT:
        return Topic.CONTEXT if _only_tells(outline, unit, words) else topic
    if topic_of_sentence(words) is Topic.QUESTIONS:
        return Topic.QUESTIONS
    return Topic.ASIDE if explains(words) or stands_beside_work(words) else topic


def _of_opening(outline: Outline, unit: Unit, *, plain: bool) -> Topic:
    """The topic of a heading, a label or a lead-in itself: only a lead-in may state something."""
    if unit.kind is UnitKind.HEADING and unit.where.topic in FILES and paths_in(unit.text):
        return unit.where.topic
    if unit.kind is not UnitKind.LEAD_IN:
        return Topic.WHOLE
    if plain and _introduces_code(outline, unit):
        return topic_of_sentence(unit.text)
    return Topic.DONE if _reports(outline, unit, plain=plain) else Topic.WHOLE


def _voted(vote: Vote, words: str, checked: bool | None, marks: str, start: int) -> Classified:
    """The topic of an item whose list was decided by vote: its own box, sign or ban still counts."""
    done = is_done(words, checked, marks)
    if done is not None:
        return Classified(topic=Topic.DONE if done else Topic.NEXT, start=start)
    if vote.topic is not Topic.QUESTIONS and is_blocked(words, checked):
        return Classified(topic=Topic.BLOCKERS, start=start)
    if vote.topic is not Topic.GOTCHAS and forbids(words):
        return Classified(topic=Topic.GOTCHAS, start=start)
    return Classified(topic=vote.topic, start=start, guessed=not vote.sure)


def _in_mixed_list(words: str, checked: bool | None, marks: str) -> Topic:
    """The topic of an item under `Tasks` or `Progress` whose list did not agree."""
    done = is_done(words, checked, marks)
    if done is not None:
        return Topic.DONE if done else Topic.NEXT
    if tells_of_work(words):
        return Topic.DONE
    return Topic.NEXT if begins_with_order(words) else Topic.CONTEXT


def _under_nothing(unit: Unit, checked: bool | None, words: str) -> Topic:
    """The topic of a unit whose headings say nothing."""
    if unit.kind is UnitKind.ROW:
        return Topic.ASIDE
    if checked is not None:
        return Topic.TASKS
    if unit.where.headings and tells_of_work(words[:200]):
        return Topic.DONE
    return Topic.ASIDE


def _reports(outline: Outline, unit: Unit, *, plain: bool) -> bool:
    """True if a lead-in tells of work itself: `I added three endpoints:`."""
    return (plain or _opens_nothing(outline, unit)) and (
        tells_of_work(unit.text) or (plain and tells_of_own_work(unit.text))
    )


def _introduces_code(outline: Outline, unit: Unit) -> bool:
    after = unit.id + 1
    return after < len(outline.units) and outline.units[after].kind is UnitKind.FENCE


def _opens_nothing(outline: Outline, unit: Unit) -> bool:
    """True if a lead-in is not the heading of what follows it."""
    after = unit.id + 1
    return after >= len(outline.units) or unit.id not in outline.units[after].where.headings
