"""The units that a source is cut into: with the mark-up between them, they are the whole source."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final

from segue.domain.handoff.extract.topics import Topic
from segue.domain.text.span import Span, TextPiece, cut


class UnitKind(StrEnum):
    """What a unit is in its document."""

    HEADING = "heading"
    """A heading, a bold line, a tag or a key above a list."""
    LABEL = "label"
    """The name before a text: `Status:`."""
    LEAD_IN = "lead_in"
    """The sentence that introduces a list."""
    HEAD = "head"
    """The head of a table."""
    ITEM = "item"
    ROW = "row"
    RECORD = "record"
    """An item of YAML or JSON that has keys of its own."""
    VALUE = "value"
    """A text in YAML or JSON."""
    PARAGRAPH = "paragraph"
    SENTENCE = "sentence"
    FENCE = "fence"
    LINE = "line"
    """A line in a fence that lists files or commands."""
    REST = "rest"
    """What stands between the other units and is not mark-up."""


OPENING: Final = frozenset({UnitKind.HEADING, UnitKind.LABEL, UnitKind.LEAD_IN, UnitKind.HEAD})
"""Units that introduce others."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Cell:
    """One column of a row, or one key of a record."""

    name: str
    """The column or key as written."""
    piece: TextPiece
    """The words in it."""
    start: int = -1
    """Where the key begins."""
    is_null: bool = False
    """True for `null`, an empty value or a bare number where words are expected."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Where:
    """What surrounds a unit."""

    topic: Topic | None = None
    """What the headings, labels and lead-ins above say; none if they say nothing."""
    headings: tuple[int, ...] = ()
    """The units that are headings and labels above it, outermost first."""
    lead_in: int | None = None
    """The unit that introduces its list."""
    group: int = 0
    """The list, table or paragraph that it belongs to."""
    exact: bool = False
    """True inside a canonical document, where nothing is interpreted."""
    prior: Topic | None = None
    """What a status mark before an unknown heading suggests: a vote may say otherwise."""
    also: Topic | None = None
    """A second topic that the unit tells of."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Marker:
    """What stands before the words of an item."""

    start: int = -1
    number: str | None = None
    checked: bool | None = None
    """What its box says."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Unit:
    """One piece of the source that is classified as a whole."""

    id: int
    kind: UnitKind
    span: Span
    text: str
    """Its words; in YAML and JSON without escapes."""
    where: Where
    marker: Marker = Marker()
    cells: tuple[Cell, ...] = ()

    @property
    def reach(self) -> Span:
        """Where it stands with its marker."""
        return self.span if self.marker.start < 0 else Span(self.marker.start, self.span.end)


@dataclass(frozen=True, kw_only=True, slots=True)
class OutcomeWords:
    """Words that say how the work ended."""

    text: str
    start: int
    end: int
    weight: int
    """How much they count: a `status` key more than a word in a title."""


_MARKUP: Final = re.compile(r"[\W_]*")
_COMMENT: Final = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)


@dataclass(slots=True)
class Outline:
    """A source, cut into units. Filled by the cutters, then read."""

    source: str
    units: list[Unit] = field(default_factory=list)
    evidence: list[OutcomeWords] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    markup: list[Span] = field(default_factory=list)
    """Mark-up with letters in it: tags that close, comments, the words after a fence."""
    seen: Counter[str] = field(default_factory=Counter)
    """How often each notation opened a field."""
    groups: int = 0

    def add(self, kind: UnitKind, start: int, end: int, where: Where, **more: object) -> int:
        """One more unit, without the white space around it; its id, or -1 if it has no words."""
        piece = cut(self.source, start, end)
        if not piece.text:
            return -1
        return self.add_piece(kind, piece, where, **more)

    def add_piece(self, kind: UnitKind, piece: TextPiece, where: Where, **more: object) -> int:
        """The same for words that are not written as they read."""
        at = len(self.units)
        span = Span(piece.start, piece.end)
        self.units.append(Unit(id=at, kind=kind, span=span, text=piece.text, where=where, **more))  # type: ignore[arg-type]  # the fields of a unit
        return at

    def new_group(self) -> int:
        """The id of another list, table or paragraph."""
        self.groups += 1
        return self.groups

    def judge(self, words: str, start: int, end: int, weight: int) -> None:
        """Words that may say how the work ended."""
        self.evidence.append(OutcomeWords(text=words, start=start, end=end, weight=weight))

    def note(self, text: str) -> None:
        """Say once what was guessed or repaired."""
        if text not in self.notes:
            self.notes.append(text)

    def close_gaps(self, start: int, end: int) -> None:
        """Makes a unit of every word between two units that is not mark-up."""
        ordered = sorted(self.units, key=lambda unit: unit.span)
        reaches = [unit.reach for unit in ordered]
        taken = sorted([*reaches, *self.markup, *_comments(self.source, start, end)])
        starts = [unit.span.start for unit in ordered]
        for begin, stop in _gaps(taken, start, end):
            if _MARKUP.fullmatch(self.source, begin, stop):
                continue
            before = ordered[bisect_right(starts, begin) - 1] if starts and starts[0] <= begin else None
            self.add(UnitKind.REST, begin, stop, _after(before))

    def in_order(self) -> list[Unit]:
        """All units, by their place in the source."""
        return sorted(self.units, key=lambda unit: (unit.span, unit.id))


def _after(unit: Unit | None) -> Where:
    """Where words stand that follow a unit: under its headings, with no topic."""
    if unit is None:
        return Where(topic=Topic.ASIDE)
    path = unit.where.headings
    if unit.kind in (UnitKind.HEADING, UnitKind.LABEL):
        path = (*path, unit.id)
    return replace(Where(topic=Topic.ASIDE), headings=path)


def _comments(source: str, start: int, end: int) -> Iterator[Span]:
    if "<!--" in source:
        for found in _COMMENT.finditer(source, start, end):
            yield Span(*found.span())


def _gaps(taken: list[Span], start: int, end: int) -> Iterator[tuple[int, int]]:
    for first, last in taken:
        if first > start:
            yield start, min(first, end)
        start = max(start, last)
    if start < end:
        yield start, end
