"""Gives every unit of the source an owner: an item, its place, another section, or a note."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from segue.domain.handoff.extract.heading_words import has_no_spaces
from segue.domain.handoff.extract.item_parts import PART_LABELS
from segue.domain.handoff.extract.outcome import is_status_alone
from segue.domain.handoff.extract.result import SourcePlace
from segue.domain.handoff.extract.statements import ExtractedStatement
from segue.domain.handoff.extract.topics import TEXTS, Topic
from segue.domain.handoff.extract.units import OPENING, OutcomeWords, Outline, Unit, UnitKind
from segue.domain.handoff.extract.vocabulary import read_heading
from segue.domain.text.span import Span, TextPiece, cut

_WORDS: Final = re.compile(r"[^\W_]")
_RIM: Final = " \t\r\n`*_:|,;>\u2014\u2013-\u2192=()[]~\"'"
_GAP: Final = re.compile(r"[\s>|*+\u2022-]*(?:\d{1,9}[.)]\s*)?(?:\[[ xX]\]\s*)?")
_LONGEST_GAP: Final = 200
_MARKER: Final = re.compile(r"[ \t]*(?P<sign>[-*+\u2022]|\d{1,9}[.)])[ \t]+")
_FEWEST_WORDS, _FEWEST_LETTERS = 4, 8
_HEADING_SIGNS: Final = "#*_ \t\r\n:\uff1a<>/="


class Share(StrEnum):
    """What a unit is to its owner."""

    ITEM = "item"
    """An item's text, its parts, or an extra."""
    PLACE = "place"
    """A heading, label or lead-in above an item."""
    SECTION = "section"
    """In another section."""
    NOTE = "note"
    """Named by a note: it says nothing."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Owner:
    """Where a unit's words are kept."""

    share: Share
    name: str
    """The item, section or note."""


@dataclass(kw_only=True, slots=True)
class KeptSection:
    """What maps to no field."""

    heading: str
    text: str | None
    """None while neighbours are joined."""
    span: Span


class Ownership:
    """The places of all items, the other sections, and the owner of every unit."""

    def __init__(
        self,
        outline: Outline,
        fields: dict[Topic, list[ExtractedStatement]],
        outcome: tuple[str, OutcomeWords] | None = None,
    ) -> None:
        self._outline = outline
        self.owners: dict[int, Owner] = {}
        self.places: dict[str, SourcePlace] = {}
        self.notes: list[str] = []
        self._own_items(fields)
        asides = fields.get(Topic.ASIDE, [])
        if outcome is not None:
            asides = [each for each in asides if not self._owned_by_outcome(each, *outcome)]
            self._own_value_of_outcome(outcome[1], {each.unit for each in asides})
        self.sections = self._own_sections(asides)
        self._note_the_rest()

    def _own_items(self, fields: dict[Topic, list[ExtractedStatement]]) -> None:
        by_unit: dict[int, list[tuple[str, ExtractedStatement]]] = {}
        for topic, items in fields.items():
            for at, item in enumerate(items):
                if topic is Topic.ASIDE:
                    continue
                name = topic.value if topic in TEXTS else f"{topic.value}[{at}]"
                for unit in (item.unit, *item.more_units):
                    by_unit.setdefault(unit, []).append((name, item))
                    self._own(unit, Share.ITEM, name)
                self._own_above(item.unit, name)
        aside = {item.unit for item in fields.get(Topic.ASIDE, [])}
        extras: dict[str, list[tuple[str, str]]] = {}
        for unit, items_of_unit in by_unit.items():
            self._share_extras(self._outline.units[unit], items_of_unit, extras, whole=unit in aside)
        for items_of_unit in by_unit.values():
            for name, item in items_of_unit:
                if name not in self.places:
                    self.places[name] = self._place(item, tuple(extras.get(name, ())))

    def _owned_by_outcome(self, aside: ExtractedStatement, value: str, said: OutcomeWords) -> bool:
        """True for words that only state the outcome: `Complete.` below `Status`."""
        inside = said.start <= aside.span.start and aside.span.end <= said.end
        if not inside or not is_status_alone(aside.text):
            return False
        self._own(aside.unit, Share.ITEM, "outcome")
        self._own_above(aside.unit, "outcome")
        words = aside.text.strip(_RIM + ".!")
        self.places["outcome"] = self._place(aside, () if words.casefold() == value else (("", words),))
        return True

    def _own_value_of_outcome(self, said: OutcomeWords, asides: set[int]) -> None:
        """The value of a key that states the outcome is read as no statement."""
        for unit in self._outline.units:
            inside = said.start <= unit.span.start and unit.span.end <= said.end
            if inside and unit.kind is UnitKind.VALUE and unit.id not in asides:
                self._own(unit.id, Share.ITEM, "outcome")
                self._own_above(unit.id, "outcome")

    def _own(self, unit: int, share: Share, name: str) -> None:
        self.owners.setdefault(unit, Owner(share=share, name=name))

    def _own_above(self, unit: int, name: str) -> None:
        where = self._outline.units[unit].where
        for above in where.headings:
            self._own(above, Share.PLACE, name)
        if where.lead_in is not None:
            self._own(where.lead_in, Share.PLACE, name)

    def _share_extras(
        self,
        unit: Unit,
        items: list[tuple[str, ExtractedStatement]],
        extras: dict[str, list[tuple[str, str]]],
        *,
        whole: bool,
    ) -> None:
        """Gives what no item of the unit holds to the item before it."""
        for name, item in items:
            if item.unit == unit.id:
                found = extras.setdefault(name, [])
                found += [(key, piece.text) for key, piece in item.extras if piece.text]
        if unit.kind is UnitKind.RECORD or unit.where.exact or whole:
            return
        held = [span for _, item in items for span in _held(item) if _is_in(span, unit.span)]
        for key, piece in _remainder(self._outline.source, unit, held, items[0][1].topic):
            before = [name for name, item in items if item.span.start <= piece.start]
            extras.setdefault(before[-1] if before else items[0][0], []).append((key, piece.text))

    def _place(self, item: ExtractedStatement, extras: tuple[tuple[str, str], ...]) -> SourcePlace:
        unit = self._outline.units[item.unit]
        lead_in = None if unit.where.lead_in is None else self._outline.units[unit.where.lead_in]
        return SourcePlace(
            span=item.span,
            headings=tuple(self._words(above) for above in unit.where.headings),
            lead_in=lead_in.text if lead_in else None,
            number=unit.marker.number,
            extras=extras,
        )

    def _words(self, unit: int) -> str:
        words = self._outline.units[unit].text.strip(_HEADING_SIGNS)
        # Of `1. **Setup**` the second sign of a pair was at the rim.
        return words.replace("**", "") if words.count("**") % 2 else words

    def _own_sections(self, asides: list[ExtractedStatement]) -> list[KeptSection]:
        """Joins what maps to no field, neighbours under one heading as one."""
        loose = self._loose()
        pieces = [*((each.span, each.text, each.unit, _named(each)) for each in asides), *loose]
        found: list[KeptSection] = []
        last = -1
        for span, text, unit, heading in sorted(pieces, key=lambda piece: (piece[0], piece[2])):
            if found and heading is None and self._follows(found[-1].span, last, span, unit):
                found[-1].span = Span(found[-1].span.start, max(found[-1].span.end, span.end))
                found[-1].text = None
            else:
                name = self._heading(unit, len(found)) if heading is None else heading
                found.append(KeptSection(heading=name, text=text, span=span))
            last = unit
            self._own(unit, Share.SECTION, f"other_sections[{len(found) - 1}]")
        for section in found:
            if section.text is None:
                section.span = Span(_line_start(self._outline.source, section.span.start), section.span.end)
                section.text = self._outline.source[section.span.start : section.span.end]
        return found

    def _loose(self) -> list[tuple[Span, str, int, None]]:
        """Lead-ins and table heads that introduce no item, and lone headings that say something."""
        heads = {above for unit in self._outline.units for above in unit.where.headings}
        return [
            (unit.span, unit.text, unit.id, None)
            for unit in self._outline.units
            if unit.id not in self.owners
            and (
                unit.kind in (UnitKind.LEAD_IN, UnitKind.HEAD)
                or (unit.kind is UnitKind.HEADING and unit.id not in heads and _says_more(unit.text))
            )
        ]

    def _heading(self, unit: int, section: int) -> str:
        """The nearest heading, below those that nothing else keeps."""
        path = self._outline.units[unit].where.headings
        if not path:
            return ""
        kept = [above for above in path[:-1] if above not in self.owners]
        for above in path:
            self._own(above, Share.SECTION, f"other_sections[{section}]")
        return " / ".join(self._words(above) for above in (*kept, path[-1]))

    def _follows(self, reach: Span, last: int, span: Span, unit: int) -> bool:
        here, before = self._outline.units[unit].where, self._outline.units[last].where
        if here.headings != before.headings or not 0 <= span.start - reach.end < _LONGEST_GAP:
            return False
        return _GAP.fullmatch(self._outline.source, reach.end, span.start) is not None

    def _note_the_rest(self) -> None:
        for unit in self._outline.units:
            if unit.id in self.owners:
                continue
            words = " ".join(unit.text.split())[:80]
            if unit.kind in OPENING:
                note = f"nothing stands under {self._words(unit.id)!r}"
            else:
                note = f"{words!r} says nothing"
            self.notes.append(note)
            self._own(unit.id, Share.NOTE, note)


def _says_more(heading: str) -> bool:
    """False for the name of a section, which says nothing if nothing stands under it."""
    reading = read_heading(heading.strip(_HEADING_SIGNS))
    if reading is not None and reading.exact:
        return False
    if has_no_spaces(heading):
        return len(heading) >= _FEWEST_LETTERS
    return len(heading.split()) >= _FEWEST_WORDS


def _line_start(source: str, at: int) -> int:
    """Where a list item begins, with its sign; `at` if nothing but that stands before it."""
    start = source.rfind("\n", 0, at) + 1
    marker = _MARKER.match(source, start, at)
    return marker.start("sign") if marker and marker.end() == at else at


def _named(statement: ExtractedStatement) -> str | None:
    """The heading of a section in a canonical document."""
    if not statement.exact:
        return None
    return next((piece.text for part, piece in reversed(statement.parts) if part == "heading"), "")


def _is_in(span: Span, whole: Span) -> bool:
    return whole.start <= span.start and span.end <= whole.end


def _held(item: ExtractedStatement) -> Iterator[Span]:
    if not item.parts:
        yield item.span
    for _, piece in (*item.parts, *item.extras):
        if piece.start >= 0:
            yield Span(piece.start, piece.end)


def _remainder(source: str, unit: Unit, held: list[Span], topic: Topic) -> Iterator[tuple[str, TextPiece]]:
    """The words of a unit outside of what its items hold, by column where there is one."""
    at = unit.span.start
    for start, end in [*sorted(held), Span(unit.span.end, unit.span.end)]:
        if start > at and _WORDS.search(source, at, start):
            yield from _pieces(source, unit, at, start, topic)
        at = max(at, end)


def _pieces(source: str, unit: Unit, start: int, end: int, topic: Topic) -> Iterator[tuple[str, TextPiece]]:
    cells = [c for c in unit.cells if c.piece.start < end and start < c.piece.end] if unit.cells else []
    if not cells:
        yield from _tidy(source, "", start, end, topic)
    for cell in cells:
        yield from _tidy(source, cell.name, max(start, cell.piece.start), min(end, cell.piece.end), topic)


def _tidy(source: str, key: str, start: int, end: int, topic: Topic) -> Iterator[tuple[str, TextPiece]]:
    raw = source[start:end]
    words = raw.strip(_RIM)
    if not _WORDS.search(words) or words.casefold() in PART_LABELS.get(topic, {}):
        return
    begin = start + raw.find(words)
    yield key, cut(source, begin, begin + len(words))
