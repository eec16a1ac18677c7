"""Makes statements of units: cuts them into their parts, finds the files and commands that they name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from segue.domain.handoff.extract.classify import Classified
from segue.domain.handoff.extract.cues import says_something
from segue.domain.handoff.extract.files import (
    File,
    announces_new,
    files_in,
    files_in_line,
    files_told,
    marked_new,
)
from segue.domain.handoff.extract.item_parts import HEADLINES, PART_LABELS, Parts, parts_of
from segue.domain.handoff.extract.keys import HEADLINE_KEYS, PART_KEYS
from segue.domain.handoff.extract.nothing import tells_of_none
from segue.domain.handoff.extract.table_units import MINOR_COLUMNS, plain_name
from segue.domain.handoff.extract.topics import FILES, TEXTS, Topic
from segue.domain.handoff.extract.units import Cell, Outline, Unit, UnitKind
from segue.domain.handoff.extract.vocabulary import read_heading
from segue.domain.text.commands import commands_in, commands_in_code, is_command
from segue.domain.text.items import split_items
from segue.domain.text.paths import is_path, paths_in
from segue.domain.text.span import Span, TextPiece, cut

_RIM: Final = " \t\r\n`*_:|,;\u2014\u2013-\u2192=()"
_NAMED: Final = frozenset(PART_LABELS) | {Topic.DONE, Topic.CONTEXT, Topic.CONSTRAINTS}
"""Topics whose records may be a name and what is said of it: `- eviction: LRU`."""
_SECTION_KEYS: Final = {"heading": "heading", "text": "text"}
_LIST_PARTS: Final = frozenset({"applies_to", "depends_on", "blocking_tasks"})


@dataclass(frozen=True, kw_only=True, slots=True)
class ExtractedStatement:
    """One statement of a handoff, before it becomes an item of a field."""

    topic: Topic
    """The field; `ASIDE` for another section."""
    span: Span
    text: str
    parts: Parts = ()
    """The fields of a statement that has more than one: `rationale`, `mitigation`..."""
    unit: int
    """The unit that it was made of."""
    extras: tuple[tuple[str, TextPiece], ...] = ()
    """Words of the unit that no part holds, by key or column."""
    guessed: bool = False
    exact: bool = False
    is_data: bool = False
    """True if it comes from YAML or JSON."""
    more_units: tuple[int, ...] = ()
    """Further units that it holds."""


def make_statements(
    outline: Outline, found: dict[int, Classified], *, plain: bool = False
) -> list[ExtractedStatement]:
    """The statements of all units, in the order of the source. A unit that says nothing gives none.

    In a `plain` reply, every file that a sentence on finished work names was changed.
    """
    made: list[ExtractedStatement] = []
    for unit in outline.in_order():
        made += _Maker(outline, unit, found[unit.id]).make()
    if plain or not any(statement.topic in FILES for statement in made):
        made += files_of_work(outline, made, every=plain)
    return made


def files_of_work(
    outline: Outline, statements: list[ExtractedStatement], *, every: bool = False
) -> list[ExtractedStatement]:
    """The files that an account of work names right after its verbs, or all that it names."""
    found: list[ExtractedStatement] = []
    headings: set[int] = set()
    for each in statements:
        if each.topic is not Topic.DONE:
            continue
        above = _above(outline, each.unit)
        heading = "" if above is None else outline.units[above].text
        if every and above is not None and above not in headings and is_path(heading.strip(_RIM + "#")):
            headings.add(above)
            written = next(iter(paths_in(outline.source, *outline.units[above].span)), None)
            if written is not None:
                found.append(_of_file(File(topic=Topic.MODIFIED, path=written), each.unit))
        told = files_told(outline.source, *each.span, every=every, made=announces_new(heading))
        found += [_of_file(file, each.unit) for file in told]
    return [each for each in found if not _is_named_in_full(each.text, found)]


def _is_named_in_full(name: str, files: list[ExtractedStatement]) -> bool:
    """True for `index.md` and `.md` where another file is `docs/index.md`."""
    begins = name.startswith(".")
    return any(each.text != name and each.text.endswith(name if begins else f"/{name}") for each in files)


def _above(outline: Outline, unit: int) -> int | None:
    """The nearest heading, label or lead-in above a unit."""
    where = outline.units[unit].where
    return where.headings[-1] if where.headings else where.lead_in


class _Maker:
    def __init__(self, outline: Outline, unit: Unit, classified: Classified) -> None:
        self._source = outline.source
        self._unit = unit
        self._topic = classified.topic
        self._guessed = classified.guessed
        self._exact = unit.where.exact
        as_written = classified.start != unit.span.start or unit.kind is not UnitKind.VALUE
        span = Span(classified.start, unit.span.end)
        self._piece = (
            cut(self._source, *span) if as_written and not self._exact else TextPiece(unit.text, *unit.span)
        )

    def make(self) -> Iterable[ExtractedStatement]:
        topic = self._topic
        if topic is Topic.WHOLE:
            return []
        if self._unit.kind is UnitKind.RECORD:
            return self._record()
        if self._exact:
            return self._exact_values()
        if topic in FILES:
            return self._files()
        named = {Topic.CHECKS: self._checks, Topic.READING: self._reading, Topic.ASIDE: self._aside}
        return named[topic]() if topic in named else self._stated(topic)

    def _aside(self) -> Iterator[ExtractedStatement]:
        yield self._say(Topic.ASIDE, self._piece)

    def _say(self, topic: Topic, piece: TextPiece, parts: Parts = (), **more: object) -> ExtractedStatement:
        return ExtractedStatement(
            topic=topic,
            span=Span(piece.start, piece.end),
            text=piece.text,
            parts=parts,
            unit=self._unit.id,
            guessed=self._guessed,
            exact=self._exact,
            is_data=self._unit.kind in (UnitKind.VALUE, UnitKind.RECORD),
            **more,  # type: ignore[arg-type]  # the fields of a statement
        )

    def _stated(self, topic: Topic) -> Iterator[ExtractedStatement]:
        piece = self._piece
        if not piece.text or not says_something(topic, piece.text):
            return
        if tells_of_none(piece.text):
            topic = Topic.ASIDE
        parts = self._row_parts(topic) if self._unit.kind is UnitKind.ROW else ()
        if not parts and "\n" in piece.text and self._unit.kind is not UnitKind.VALUE:
            parts = parts_of(topic, self._source, piece.text, piece.start, piece.end)
        yield self._say(topic, piece, parts)

    def _exact_values(self) -> Iterator[ExtractedStatement]:
        """A text where a list is expected is cut into its items, unless it stands in a list."""
        topic, piece = self._topic, self._piece
        if topic in TEXTS or self._unit.kind is not UnitKind.VALUE:
            yield self._say(topic, piece)
        elif topic is not Topic.STATUS:
            for item in split_items(piece.text):
                if says_something(topic, item.text):
                    yield self._say(topic, TextPiece(item.text, piece.start, piece.end))

    def _row_parts(self, topic: Topic) -> Parts:
        """The cells by the parts that their columns name; none if the columns name none."""
        labels = PART_LABELS.get(topic)
        if labels is None:
            return ()
        found: dict[str, TextPiece] = {}
        headline = None
        for cell in self._unit.cells:
            name, words = plain_name(cell.name), cell.piece.text
            part = labels.get(name)
            if part is None and headline is None and len(words) > 3:
                headline = cell.piece
            elif part is not None and words:
                found.setdefault(part, cell.piece)
            elif words and name not in MINOR_COLUMNS:
                return ()
        if headline is None or not found:
            return ()
        return ((HEADLINES[topic], headline), *found.items())

    def _files(self) -> Iterator[ExtractedStatement]:
        source, piece, unit = self._source, self._piece, self._unit
        written = TextPiece(source[piece.start : piece.end], piece.start, piece.end)
        if unit.kind is UnitKind.LINE:
            files = files_in_line(source, self._topic, written)
        else:
            files = files_in(source, self._topic, written, is_value=unit.kind is UnitKind.VALUE)
        for file in files:
            yield _of_file(file, unit.id)
        if not files:
            yield self._say(Topic.ASIDE, piece)
        if unit.where.also is not None and (not files or piece.text.strip("`*_ ") != files[0].path.text):
            yield from self._stated(unit.where.also)

    def _checks(self) -> Iterator[ExtractedStatement]:
        """Only what names a command has a field; what is said beside it belongs to another section."""
        piece, kind = self._piece, self._unit.kind
        if kind is UnitKind.VALUE and is_command(piece.text):
            yield self._say(Topic.CHECKS, piece, (("command", piece),))
            return
        find = commands_in_code if kind is UnitKind.LINE else commands_in
        commands = list(find(self._source, piece.start, piece.end)) if kind is not UnitKind.VALUE else []
        for command, parts in commands:
            yield self._say(Topic.CHECKS, command, tuple(parts))
        if kind is not UnitKind.LINE or not commands:
            yield self._say(Topic.ASIDE, piece)

    def _reading(self) -> Iterator[ExtractedStatement]:
        """A file to read, and why; without a path it is a thing to know."""
        source, piece = self._source, self._piece
        paths = list(paths_in(source, piece.start, piece.end))
        if not paths:
            yield from self._stated(Topic.CONTEXT)
            return
        for file in marked_new(source, paths):
            yield _of_file(file, self._unit.id)
        path = paths[0]
        before, after = cut(source, piece.start, path.start), cut(source, path.end, piece.end)
        reason = _tidy(source, after if len(after.text) >= len(before.text) else before)
        parts = (("file", path), *((("reason", reason),) if reason.text else ()))
        yield self._say(Topic.READING, piece, parts)

    def _record(self) -> Iterator[ExtractedStatement]:
        topic, piece, cells = self._topic, self._unit_piece(), self._unit.cells
        if topic is Topic.ASIDE and not self._exact:
            yield self._say(Topic.ASIDE, piece)
            return
        known = _SECTION_KEYS if topic is Topic.ASIDE else PART_KEYS.get(topic, {})
        parts, rest = _sorted_cells(cells, known, exact=self._exact)
        headline = "text" if topic is Topic.ASIDE else HEADLINES.get(topic, "")
        main = dict(parts).get(headline) or _headline_of(rest, exact=self._exact)
        if main is None and topic in _NAMED and (not self._exact or len(cells) == 1):
            yield from self._named_values(cells)
            return
        if main is None or (topic is Topic.CHECKS and "command" not in dict(parts)):
            yield self._say(Topic.ASIDE, piece)
            return
        if not self._exact and not says_something(topic, main.text):
            yield self._say(Topic.ASIDE, piece)
            return
        extras = tuple((cell.name, cell.piece) for cell in rest if cell.piece != main and not cell.is_null)
        kept = tuple((name, value) for name, value in parts)
        yield self._say(topic, main, kept, extras=extras)
        yield from self._files_of_record()

    def _named_values(self, cells: tuple[Cell, ...]) -> Iterator[ExtractedStatement]:
        """A record without words of its own: each key with its value is a statement."""
        said = [cell for cell in cells if not cell.is_null and cell.piece.text.strip()]
        for cell in said:
            key = TextPiece(cell.name, cell.start, cell.start + len(cell.name))
            if "\\" in self._source[cell.start : cell.piece.end]:  # the words are not written as they read
                yield self._say(self._topic, cell.piece, extras=(("", key),))
            else:
                words = f"{cell.name}: {cell.piece.text.strip()}"
                yield self._say(self._topic, TextPiece(words, cell.start, cell.piece.end))

    def _unit_piece(self) -> TextPiece:
        return TextPiece(self._unit.text, *self._unit.span)

    def _files_of_record(self) -> Iterator[ExtractedStatement]:
        """`files:` inside an item of finished work are files that it changed."""
        if self._topic is not Topic.DONE or self._exact:
            return
        for cell in self._unit.cells:
            reading = read_heading(cell.name)
            if reading and reading.topic in FILES:
                for file in files_in(self._source, reading.topic, cell.piece, is_value=True):
                    yield _of_file(file, self._unit.id)


def _sorted_cells(
    cells: tuple[Cell, ...], known: dict[str, str], *, exact: bool
) -> tuple[list[tuple[str, TextPiece]], list[Cell]]:
    """The parts that the keys of a record name, and what is left."""
    parts: list[tuple[str, TextPiece]] = []
    rest: list[Cell] = []
    for cell in cells:
        part = known.get(cell.name.casefold())
        if cell.is_null:
            continue
        if part is None or (part in dict(parts) and part not in _LIST_PARTS and not exact):
            rest.append(cell)
        else:
            words = cell.piece.text if exact else cell.piece.text.strip()
            parts.append((part, TextPiece(words, cell.piece.start, cell.piece.end)))
    return parts, rest


def _headline_of(cells: list[Cell], *, exact: bool) -> TextPiece | None:
    """The words of a record that names no headline of its field."""
    found = {cell.name.casefold(): cell.piece for cell in reversed(cells) if not cell.is_null}
    names = [name for name in HEADLINE_KEYS if name in found]
    if not names:
        return None
    best = names[0]
    if " " not in found[best].text.strip() and not exact:  # a name says less than what is told of it
        best = next((name for name in names if found[name].text.count(" ") > 1), best)
    return found[best]


def _of_file(file: File, unit: int) -> ExtractedStatement:
    parts: list[tuple[str, TextPiece]] = [("path", file.path)]
    if file.about is not None and file.about.text:
        parts.append(("purpose" if file.topic is Topic.CREATED else "description", file.about))
    if file.is_gone and file.topic is Topic.MODIFIED:
        parts.append(("change_type", TextPiece("delete", -1, -1)))
    span = Span(file.path.start, file.path.end)
    return ExtractedStatement(topic=file.topic, span=span, text=file.path.text, parts=tuple(parts), unit=unit)


def _tidy(text: str, piece: TextPiece) -> TextPiece:
    """Cuts the quotes, dashes and colons off that tie a reason to its path."""
    inner = piece.text.strip(_RIM)
    at = piece.text.find(inner)
    return cut(text, piece.start + at, piece.start + at + len(inner))
