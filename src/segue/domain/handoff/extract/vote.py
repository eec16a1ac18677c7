"""Lets the items of a list decide together what it is about, where its heading does not say it."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import Final

from segue.domain.handoff.extract.cues import (
    begins_with_order,
    forbids,
    is_blocked,
    is_done,
    skip_marks,
    tells_of_work,
)
from segue.domain.handoff.extract.topics import DONE_MARKS, OPEN_MARKS, Topic
from segue.domain.handoff.extract.units import Outline, Unit, UnitKind
from segue.domain.text.words import DID

_VAGUE: Final = frozenset({Topic.CONTEXT, Topic.STATUS})
_UNDECIDED: Final = frozenset({None, Topic.WHOLE, Topic.TASKS}) | _VAGUE
"""What a heading leaves open: unknown, mixed or vague. A topic that it gives is never outvoted."""
_NOTHING: Final = Topic.ASIDE
"""The vote of an item without a cue."""
_ASKS: Final = re.compile(r"\?[\s*`)]*$")
_DOES: Final = re.compile(
    r"([A-Z][a-z]+[^\Wsui]s) (?!(?:and|are|can|for|from|have|in|is|now|of|or|to|were|will|with)\b)[`\w]"
)
"""A verb in the third person, and what it does something to."""
_FEWEST_DESCRIBING, _MOST_OF = 3, 0.75
_OF_VOTE, _OF_MARK, _OF_VAGUE_HEADING = 4.0, 2.0, 1.0
_HOLDS_ALONE: Final = frozenset({Topic.DONE, Topic.NEXT})
"""What a mark or a step of a plan says of a list whose items say nothing."""
_MARGIN: Final = 0.5
_SURE: Final = 1.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Vote:
    """What a list is about."""

    topic: Topic
    sure: bool


def hold_votes(outline: Outline) -> dict[int, Vote]:
    """Group -> what its items say together; groups whose heading says it, or that disagree, are left out."""
    found: dict[int, Vote] = {}
    for group, units in _lists(outline).items():
        topic = units[0].where.topic
        if topic in _UNDECIDED and (vote := _decide(outline.source, units)) is not None:
            found[group] = vote
        elif topic is Topic.DONE and _describe(units):
            found[group] = Vote(topic=Topic.CONTEXT, sure=True)
    return found


def _lists(outline: Outline) -> dict[int, list[Unit]]:
    found: dict[int, list[Unit]] = {}
    for unit in outline.units:
        if unit.kind is UnitKind.ITEM and not unit.where.exact:
            found.setdefault(unit.where.group, []).append(unit)
    return found


def _describe(units: list[Unit]) -> bool:
    """True if the items of a list on finished work tell how the thing works: `Reads ...`, `Returns ...`."""
    verbs = {found[1] for unit in units if (found := _DOES.match(unit.text)) and not _is_work(found[1])}
    return len(verbs) >= _FEWEST_DESCRIBING and len(verbs) >= _MOST_OF * len(units)


def _is_work(verb: str) -> bool:
    """True for `Adds` and `Fixes`, which tell of a change."""
    stem = verb.lower().removesuffix("s")
    return not DID.isdisjoint({f"{stem}d", f"{stem}ed", f"{stem.removesuffix('e')}ed"})


def _decide(source: str, units: list[Unit]) -> Vote | None:
    heading, prior = units[0].where.topic, units[0].where.prior
    points: Counter[Topic] = Counter()
    if len(units) > 1:
        for unit in units:
            for topic, share in _shares(source, unit, mixed=heading is Topic.TASKS).items():
                points[topic] += _OF_VOTE * share / len(units)  # type: ignore[assignment]  # shares are parts
    if heading in _VAGUE:
        points[_NOTHING] += _OF_VAGUE_HEADING  # type: ignore[assignment]  # as above
    if prior is not None and (heading is None or heading is Topic.WHOLE):
        points[prior] += _OF_MARK  # type: ignore[assignment]  # as above
        if prior in _HOLDS_ALONE and set(points) <= {_NOTHING, prior}:
            return Vote(topic=prior, sure=False)
    ranked = points.most_common(2)
    if not ranked or ranked[0][0] is _NOTHING:
        return None
    margin = ranked[0][1] - (ranked[1][1] if len(ranked) > 1 else 0)
    return Vote(topic=ranked[0][0], sure=margin >= _SURE) if margin >= _MARGIN else None


def _shares(source: str, unit: Unit, *, mixed: bool) -> dict[Topic, float]:
    """What one item votes for; its shares add up to one."""
    start, checked, marks = skip_marks(source, unit.span.start, unit.span.end, unit.marker.checked)
    words = source[start : unit.span.end].strip()
    votes: dict[Topic, float] = {}
    if checked is not None:
        votes[Topic.DONE if checked else Topic.NEXT] = 3
    if marks:
        sign = marks[0]
        votes[Topic.DONE if sign in DONE_MARKS else Topic.NEXT if sign in OPEN_MARKS else Topic.GOTCHAS] = 2
    elif checked is None and words and is_done(words, None, "") is not None:
        votes[Topic.DONE if is_done(words, None, "") else Topic.NEXT] = 2
    if _reports(words):
        votes[Topic.DONE] = votes.get(Topic.DONE, 0) + 2
    if _ASKS.search(words):
        votes[Topic.QUESTIONS] = 3
    if words and forbids(words):
        votes[Topic.GOTCHAS] = votes.get(Topic.GOTCHAS, 0) + 2
    if words and is_blocked(words, checked):
        votes[Topic.BLOCKERS] = 1.5
    if mixed and begins_with_order(words):
        votes[Topic.NEXT] = votes.get(Topic.NEXT, 0) + 1.5
    if not votes:
        return {_NOTHING: 1.0}
    total = sum(votes.values())
    return {topic: share / total for topic, share in votes.items()}


def _reports(words: str) -> bool:
    """True if a verb in the past stands first, with a capital: `**Caller**: made the claim` is not work."""
    bare = words.lstrip("*_")
    return bare[:1].isupper() and tells_of_work(words)
