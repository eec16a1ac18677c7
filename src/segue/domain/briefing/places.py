"""What is shown of the headings and lead-ins that the items of a record stood under."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from functools import lru_cache

from segue.domain.briefing.model import ItemPlace
from segue.domain.handoff.extract.heading_words import words_of
from segue.domain.handoff.extract.result import SourcePlace
from segue.domain.handoff.extract.topics import Topic
from segue.domain.handoff.extract.vocabulary import read_heading
from segue.domain.text.span import Span
from segue.domain.text.words import word_set

_MENTIONED = ("files_created", "files_modified", "commands_run", "dependencies_for_next")
"""Fields whose items are often words of a statement, which shows its place itself."""
_SAME_FIELD = {Topic.TASKS: Topic.NEXT, Topic.CHANGED: Topic.MODIFIED}
_NAMES = word_set(
    "a accomplished accomplishments action actions agent and approaches are blocker blockers brief built "
    "change changed changes command commands complete completed constraint constraints context created "
    "critical decision decisions did discovered done end failed file files final finished follow followups "
    "for from goal gotcha gotchas handoff has have i implemented important in is issues it items key known "
    "left list made me modified next note notes objective of on open order our outcome overview pattern "
    "patterns question questions ran recap recommended related remaining report result results review risks "
    "run running s session shipped status step steps still suggested summary task tasks the there this to "
    "today todo todos up updated warnings was we were what work"
)
"""A heading of these words alone that is read as a field says no more than the field's own name."""


def shown_places(places: Mapping[str, SourcePlace]) -> dict[str, ItemPlace]:
    """Item -> what it stood under, where that says more than the name of its field.

    The nearest heading is shown with each item, a heading further out only with the first items below it.
    """
    in_order = sorted(places.items(), key=lambda named: named[1].span)
    titles: dict[tuple[str, ...], str] = {}
    seen: set[tuple[str, ...]] = set()
    shown: dict[str, ItemPlace] = {}
    statements = [place.span for name, place in in_order if not name.startswith(_MENTIONED)]
    for name, place in in_order:
        field = name.partition("[")[0]
        if field in _MENTIONED and _is_inside(place.span, statements) and not place.extras:
            shown[name] = ItemPlace(is_mention=True)
            continue
        if place.headings not in titles:
            titles[place.headings] = _outer(place.headings, seen)
        nearest = place.headings[-1] if place.headings else ""
        if is_name(nearest, field) or nearest == (place.lead_in or "").strip("*: "):
            nearest = ""
        heading = " / ".join(each for each in (titles[place.headings], nearest) if each)
        lead_in = place.lead_in or ""
        if heading and lead_in:
            heading, lead_in = "", f"{heading.rstrip('.')}: {lead_in}"
        extras = tuple(f"{key}: {text}" if key else text for key, text in place.extras)
        if heading or lead_in or extras:
            shown[name] = ItemPlace(heading=heading, lead_in=lead_in, extras=extras)
    return shown


def _is_inside(span: Span, statements: list[Span]) -> bool:
    """Whether one of the statements, which are in the order of the source, holds it."""
    at = bisect_right(statements, span.start, key=lambda each: each.start)
    return at > 0 and span.end <= statements[at - 1].end


def _outer(path: tuple[str, ...], seen: set[tuple[str, ...]]) -> str:
    """The headings above the nearest one that no item before stood under; adds to `seen`."""
    above = [path[: end + 1] for end in range(len(path))]
    fresh = [each[-1] for each in above[:-1] if each not in seen and not is_name(each[-1])]
    seen.update(above)
    return " / ".join(fresh)


@lru_cache(maxsize=4096)
def is_name(heading: str, field: str = "") -> bool:
    """Whether a heading says no more than the name of the field, or of any field if none is given."""
    reading = read_heading(heading)
    if reading is None or not reading.exact or not _NAMES.issuperset(words_of(heading)):
        return False
    return not field or _SAME_FIELD.get(reading.topic, reading.topic) == field
