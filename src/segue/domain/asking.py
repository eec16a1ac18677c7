"""Asking the writer of a reply: what could not be read in it, and what of the answer is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from segue.domain.briefing.model import ItemPlace
from segue.domain.briefing.places import shown_places
from segue.domain.handoff.checking.grounding import Grounded, ground, share_covered, stems_of
from segue.domain.handoff.extract.result import LEAST_COVERAGE, Extraction
from segue.domain.handoff.model import Handoff
from segue.domain.text.span import Span

_SINGLE = ("outcome", "goal", "next_agent_context")
_LISTS = tuple(name for name in Handoff.model_fields if name not in (*_SINGLE, "other_sections"))
_FILES = frozenset({"files_created", "files_modified", "commands_run", "dependencies_for_next"})
"""Fields whose items are also words of other statements."""
_SAME = 0.75
_MOST_NOTED = 50
_LONGEST_NOTED = 300


@dataclass(frozen=True, kw_only=True, slots=True)
class HandoffReading:
    """How a handoff was read: saved next to its record."""

    coverage: float = 1.0
    """The share of the reply that became typed items."""
    guessed: tuple[str, ...] = ()
    """Items that no rule was sure of."""
    asked: tuple[str, ...] = ()
    """Fields and items that the writer gave when it was asked; each is grounded in its reply."""
    dropped: tuple[str, ...] = ()
    """What the answer said and the reply does not."""
    places: Mapping[str, ItemPlace] = field(default_factory=dict)
    """Item -> what it stood under."""


def reading_as_dict(reading: HandoffReading) -> dict[str, Any]:
    """As it is stored, without what is empty."""
    facts: dict[str, Any] = {
        "coverage": reading.coverage,
        "guessed": list(reading.guessed),
        "asked": list(reading.asked),
        "dropped": list(reading.dropped),
        "places": {
            name: {key: value for key, value in asdict(place).items() if value}
            for name, place in reading.places.items()
        },
    }
    return {name: value for name, value in facts.items() if value or name == "coverage"}


def reading_from_dict(facts: Mapping[str, Any]) -> HandoffReading:
    """What `reading_as_dict` gave."""
    return HandoffReading(
        coverage=float(facts["coverage"]),
        guessed=tuple(facts.get("guessed", ())),
        asked=tuple(facts.get("asked", ())),
        dropped=tuple(facts.get("dropped", ())),
        places={
            name: ItemPlace(**{**place, "extras": tuple(place.get("extras", ()))})
            for name, place in facts.get("places", {}).items()
        },
    )


def reading_of(extraction: Extraction, *, is_submitted: bool = False) -> HandoffReading:
    """How a reply was read; what was submitted through a tool needed no reading."""
    if is_submitted:
        return HandoffReading()
    return HandoffReading(
        coverage=round(extraction.coverage, 3),
        guessed=tuple(sorted(extraction.guessed)),
        places=shown_places(extraction.places),
    )


def _headings(source: str) -> Iterable[Span]:
    """Headings are kept by the items below them."""
    at = 0
    for line in source.splitlines(keepends=True):
        if line.lstrip().startswith("#"):
            yield Span(at, at + len(line))
        at += len(line)


@dataclass(frozen=True, kw_only=True, slots=True)
class Missing:
    """What a reply does not say, or not in a form that can be read."""

    handoff: bool = False
    """Nothing could be read."""
    outcome: bool = False
    """How the work ended."""
    statements: bool = False
    """Most of it belongs to no field, or was guessed."""

    @property
    def names(self) -> tuple[str, ...]:
        """What is missing, in words."""
        return tuple(name for name in ("handoff", "outcome", "statements") if getattr(self, name))

    def __bool__(self) -> bool:
        """True if there is a reason to ask."""
        return bool(self.names)


def what_is_missing(handoff: Handoff | None, reading: HandoffReading) -> Missing:
    """What its writer is to be asked for."""
    if handoff is None:
        return Missing(handoff=True)
    items = sum(
        len(value) for name in Handoff.model_fields if isinstance(value := getattr(handoff, name), tuple)
    ) - len(handoff.other_sections)
    return Missing(
        outcome=handoff.outcome is None,
        statements=reading.coverage < LEAST_COVERAGE or 2 * len(reading.guessed) > items,
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Completed:
    """A record after its writer was asked."""

    handoff: Handoff | None
    spans: Mapping[str, Span]
    """Field or item -> where the reply says it."""
    reading: HandoffReading


def complete(
    extraction: Extraction, reading: HandoffReading, answer: Handoff | None, missing: Missing, source: str
) -> Completed:
    """The record with what the answer adds, as far as the reply in `source` says it.

    What was read already is not taken twice; an item that was guessed gives way to one of the same passage.
    """
    if answer is None:
        return Completed(handoff=extraction.handoff, spans=extraction.spans, reading=reading)
    if not (missing.handoff or missing.statements):
        answer = Handoff(outcome=answer.outcome)
    grounded = ground(answer, source)
    merged = _Merged(extraction, reading)
    merged.add(grounded)
    handoff, spans = merged.handoff(), merged.spans()
    return Completed(
        handoff=None if handoff.is_empty() else handoff,
        spans=spans,
        reading=HandoffReading(
            coverage=round(
                max(reading.coverage, share_covered(source, [*spans.values(), *_headings(source)])), 3
            ),
            guessed=merged.names(lambda each: each.is_guessed),
            asked=(*merged.asked, *merged.names(lambda each: each.is_asked)),
            dropped=tuple(_shortened(each) for each in grounded.dropped[:_MOST_NOTED]),
            places=merged.places(),
        ),
    )


@dataclass(slots=True)
class _MergedItem:
    """One item on its way into the merged record."""

    item: Any
    was: str
    """Its name in the record before; empty if it is new."""
    span: Span | None
    is_guessed: bool = False
    is_asked: bool = False

    @property
    def words(self) -> frozenset[str]:
        return stems_of(self.item if isinstance(self.item, str) else getattr(self.item, self.item.headline))


class _Merged:
    """A record that grows by the items of an answer."""

    def __init__(self, extraction: Extraction, reading: HandoffReading) -> None:
        handoff = extraction.handoff or Handoff()
        self._spans, self._places = extraction.spans, reading.places
        self._single: dict[str, Any] = {name: getattr(handoff, name) for name in _SINGLE}
        self._single_spans = {name: span for name, span in extraction.spans.items() if name in _SINGLE}
        self.asked: list[str] = []
        """Fields of one text that the answer gave."""
        self._lists: dict[str, list[_MergedItem]] = {
            name: [
                _MergedItem(
                    item=item,
                    was=(was := f"{name}[{at}]"),
                    span=extraction.spans.get(was),
                    is_guessed=was in reading.guessed,
                )
                for at, item in enumerate(getattr(handoff, name))
            ]
            for name in _LISTS
        }
        self._other_sections = handoff.other_sections

    def add(self, answer: Grounded) -> None:
        """Take what is new."""
        for name in _SINGLE:
            value = getattr(answer.handoff, name)
            if value and not self._single[name]:
                self._single[name] = value
                self.asked.append(name)
                if name in answer.spans:
                    self._single_spans[name] = answer.spans[name]
        for name in _LISTS:
            for at, item in enumerate(getattr(answer.handoff, name)):
                self._add_item(
                    name, _MergedItem(item=item, was="", span=answer.spans[f"{name}[{at}]"], is_asked=True)
                )

    def _add_item(self, name: str, new: _MergedItem) -> None:
        for field_name in (name,) if name in _FILES else _LISTS:
            entries = self._lists[field_name]
            for known in [each for each in entries if not each.is_asked and _says(each, new)]:
                if not known.is_guessed:
                    return
                entries.remove(known)
        self._lists[name].append(new)
        if all(each.span for each in self._lists[name]):
            self._lists[name].sort(key=lambda each: each.span or Span(0, 0))

    def handoff(self) -> Handoff:
        """The merged record."""
        lists = {name: tuple(each.item for each in entries) for name, entries in self._lists.items()}
        return Handoff.model_validate({**self._single, **lists, "other_sections": self._other_sections})

    def _named(self) -> Iterator[tuple[str, _MergedItem]]:
        for name, entries in self._lists.items():
            for at, entry in enumerate(entries):
                yield f"{name}[{at}]", entry

    def names(self, is_one: Callable[[_MergedItem], bool]) -> tuple[str, ...]:
        """The items of which something is true."""
        return tuple(name for name, entry in self._named() if is_one(entry))

    def spans(self) -> Mapping[str, Span]:
        """Where each item and each of its parts is."""
        found = dict(self._single_spans)
        for name, entry in self._named():
            if entry.is_asked and entry.span is not None:
                found[name] = entry.span
            elif entry.was:
                for known, span in self._spans.items():
                    if known == entry.was or known.startswith(f"{entry.was}."):
                        found[name + known[len(entry.was) :]] = span
        return found

    def places(self) -> Mapping[str, ItemPlace]:
        """What each item stood under."""
        return {name: self._places[entry.was] for name, entry in self._named() if entry.was in self._places}


def _says(known: _MergedItem, new: _MergedItem) -> bool:
    """Whether an item that was read says the same as a new one."""
    common = len(known.words & new.words)
    return common > 0 and common >= _SAME * min(len(known.words), len(new.words))


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST_NOTED else text[: _LONGEST_NOTED - 1] + "\u2026"
