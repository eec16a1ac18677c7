"""Cuts a YAML or JSON tree into units: keys are headings, texts are values, items with keys are records."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from segue.domain.handoff.extract.data_nodes import Mapping, Node, Scalar, Sequence
from segue.domain.handoff.extract.item_parts import HEADLINES
from segue.domain.handoff.extract.keys import HEADLINE_KEYS, OUTCOME_KEYS, PART_KEYS, STATUS_KEYS
from segue.domain.handoff.extract.outcome import EXACT
from segue.domain.handoff.extract.topics import FILES, TEXTS, Topic
from segue.domain.handoff.extract.units import Cell, Outline, UnitKind, Where
from segue.domain.handoff.extract.vocabulary import HeadingMeaning, is_done_word, read_heading, read_label
from segue.domain.handoff.model import Outcome
from segue.domain.text.items import split_items
from segue.domain.text.span import Span, TextPiece

FIELDS: Final = frozenset(topic.value for topic in Topic) - {"files_changed", "tasks", "handoff"}
"""The keys of the canonical schema."""
_TELLING: Final = FIELDS - {"goal", "outcome", "constraints"}
"""Keys that nothing but a handoff has."""
_LOOSE: Final = frozenset(
    {Topic.WHOLE, Topic.STATUS, Topic.CONTEXT, Topic.TASKS, Topic.ASIDE, Topic.CHECKS}
    | {Topic.CHANGED, Topic.READING}
)
_OUTCOMES: Final = frozenset(Outcome)
_NUMBER: Final = frozenset("0123456789.-+eE%")
_RANKS: Final = frozenset({"high", "medium", "low", "critical", "urgent", "normal", "p0", "p1", "p2", "p3"})
"""How urgent something is, not what is to be done."""
_MOVED: Final = {Topic.TASKS: Topic.NEXT, Topic.STATUS: Topic.CONTEXT, Topic.CHANGED: Topic.MODIFIED}
"""Where a record belongs whose list is about several things."""


def is_handoff(node: Node) -> bool:
    """True if a mapping's keys are a handoff's: a configuration or an answer of some service is none."""
    if not isinstance(node, Mapping):
        return False
    keys = node.names()
    if not _TELLING.isdisjoint(keys):
        return True
    exact = {r.topic for key in keys if (r := read_heading(key)) and r.exact} - {
        Topic.ASIDE,
        Topic.CONTEXT,
        Topic.CHECKS,
    }
    if len(keys) == 1 and exact == {Topic.WHOLE}:
        return is_handoff(node.pairs[0][1])
    return len(exact) > 1 and bool(
        exact & {Topic.DONE, Topic.NEXT, Topic.DECISIONS, Topic.BLOCKERS, Topic.QUESTIONS, Topic.TASKS}
    )


def is_canonical(node: Node) -> bool:
    """True if every key is a field of the record."""
    return isinstance(node, Mapping) and bool(node.pairs) and all(key in FIELDS for key in node.names())


def states_outcome(node: Node) -> bool:
    """True if the outcome is one of the four: other records have an outcome, too."""
    return isinstance(node, Mapping) and any(
        key.text == "outcome" and isinstance(value, Scalar) and value.text in _OUTCOMES for key, value in node
    )


def is_bare(value: Scalar) -> bool:
    """A number or a truth value says nothing by itself."""
    return not value.quoted and (
        value.text.casefold() in ("true", "false", "yes", "no") or set(value.text) <= _NUMBER
    )


def cut_data(outline: Outline, node: Mapping) -> None:
    """Adds the units of a tree."""
    _DataCutter(outline, exact=is_canonical(node)).cut(node)


class _DataCutter:
    def __init__(self, outline: Outline, *, exact: bool) -> None:
        self._outline = outline
        self._text = outline.source
        self._exact = exact

    def cut(self, node: Mapping) -> None:
        for key, value in node:
            if self._exact:
                self._exact_pair(key, value)
            else:
                self._pair(key, value, Where())

    def _key(self, key: Scalar, where: Where, topic: Topic | None) -> Where:
        """Where the value of a key stands."""
        unit = self._outline.add_piece(UnitKind.LABEL, _piece(key), where) if key.text else -1
        path = (*where.headings, unit) if unit >= 0 else where.headings
        return replace(where, topic=topic, headings=path, group=self._outline.new_group())

    def _exact_pair(self, key: Scalar, value: Node) -> None:
        topic = Topic(key.text)
        where = replace(self._key(key, Where(), topic), exact=True)
        if isinstance(value, Scalar):
            if value.is_null or (not value.quoted and value.text.casefold() in ("none", "n/a")):
                self._skip(value)
            elif topic is Topic.STATUS:
                self._outline.judge(value.text, value.start, value.end, EXACT)
                self._add(UnitKind.VALUE, value, replace(where, topic=Topic.STATUS))
            else:
                self._add(UnitKind.VALUE, value, where)
        elif isinstance(value, Sequence):
            for item in value.items:
                if isinstance(item, Mapping):
                    self._record(item, where)
                else:
                    for scalar in _leaves(item):
                        self._add(UnitKind.ITEM, scalar, where)
        else:
            self._record(value, where)

    def _skip(self, value: Scalar) -> None:
        self._outline.markup.append(Span(value.start, value.end))

    def _add(self, kind: UnitKind, value: Scalar, where: Where) -> None:
        if value.is_null:
            self._skip(value)
            return
        words = value.text if where.exact else value.text.strip()
        if words or where.exact:
            self._outline.add_piece(kind, TextPiece(words, value.start, value.end), where)

    def _pair(self, key: Scalar, value: Node, outer: Where) -> None:
        reading = read_label(key.text)
        topic = _settle(outer.topic, reading)
        if reading is not None:
            self._outline.seen["data"] += 1
            if reading.topic is Topic.STATUS and outer.topic in (None, Topic.WHOLE):
                self._judge(key, value)
        where = self._key(key, outer, topic)
        if isinstance(value, Scalar):
            self._scalar(value, where)
        elif isinstance(value, Sequence):
            for item in value.items:
                self._list_item(item, where)
        else:
            self._mapping(value, where)

    def _judge(self, key: Scalar, value: Node) -> None:
        if isinstance(value, Scalar) and not value.is_null:
            weight = OUTCOME_KEYS.get(key.text.replace("_", "").casefold(), 4)
            self._outline.judge(value.text[:200], value.start, value.end, weight)

    def _scalar(self, value: Scalar, where: Where) -> None:
        """The only text of a key."""
        topic, words = where.topic, value.text.strip()
        if (
            is_bare(value)
            or (topic is Topic.CONTEXT and len(words.split()) < 3)
            or (topic is Topic.NEXT and words.lower() in _RANKS)
        ):
            topic = Topic.ASIDE
        elif topic is Topic.STATUS:
            topic = Topic.CONTEXT if len(words.split()) > 4 else Topic.ASIDE
            self._add(UnitKind.VALUE, value, replace(where, topic=topic))
            return
        splits = topic not in TEXTS and topic not in FILES and topic not in (None, Topic.CHECKS, Topic.ASIDE)
        if splits and "\n" in words and topic is not Topic.READING and topic is not Topic.WHOLE:
            for item in split_items(self._text[value.start : value.end], value.start):
                self._outline.add(UnitKind.ITEM, item.start, item.end, replace(where, topic=topic))
            return
        if topic is Topic.TASKS:
            topic = Topic.NEXT
        self._add(UnitKind.VALUE, value, replace(where, topic=topic))

    def _mapping(self, value: Mapping, where: Where) -> None:
        topic = where.topic
        if topic is None or topic in _LOOSE:
            inherited = Topic.CONTEXT if topic is Topic.STATUS else topic
            for key, node in value:
                self._pair(key, node, replace(where, topic=inherited))
        elif _is_record(topic, value):
            self._record(value, where)
        else:
            for key, node in value:
                if isinstance(node, Scalar) and not node.is_null and not is_bare(node):
                    piece = _joined(self._text, key, node)
                    self._outline.add_piece(UnitKind.VALUE, piece, where)
                else:
                    self._pair(key, node, where)

    def _list_item(self, item: Node, where: Where) -> None:
        if isinstance(item, Mapping):
            self._record(item, where)
            return
        for scalar in _leaves(item):
            topic = Topic.ASIDE if is_bare(scalar) else where.topic
            as_written = self._text[scalar.start : scalar.end].strip() == scalar.text.strip()
            kind = UnitKind.ITEM if as_written and topic in _MARKED else UnitKind.VALUE
            if not as_written and topic is not None:
                topic = _MOVED.get(topic, topic)
            self._add(kind, scalar, replace(where, topic=topic))

    def _record(self, item: Mapping, where: Where) -> None:
        cells = tuple(_cells(item))
        for cell in cells:
            if cell.is_null:
                self._outline.markup.append(Span(cell.piece.start, cell.piece.end))
        topic = where.topic if where.exact else _by_status(where.topic, item)
        if topic is not None and not where.exact:
            topic = _MOVED.get(topic, topic)
        piece = TextPiece(self._text[item.start : item.end].rstrip(), item.start, item.end)
        self._outline.add_piece(UnitKind.RECORD, piece, replace(where, topic=topic), cells=cells)


_MARKED: Final = frozenset({Topic.READING, Topic.TASKS, Topic.STATUS, Topic.CONTEXT, Topic.NEXT})
"""Topics for which the marks of a text in a list count; on others it is one statement as it stands."""


def _piece(scalar: Scalar) -> TextPiece:
    return TextPiece(scalar.text, scalar.start, scalar.end)


def _leaves(node: Node) -> Iterator[Scalar]:
    if isinstance(node, Scalar):
        yield node
    elif isinstance(node, Sequence):
        for item in node.items:
            yield from _leaves(item)
    else:
        for key, value in node:
            yield key
            yield from _leaves(value)


def _cells(item: Mapping, prefix: str = "") -> Iterator[Cell]:
    """The keys of a record and what stands in each, nested ones by their path."""
    for key, value in item:
        name = f"{prefix}{key.text}"
        if isinstance(value, Scalar):
            yield Cell(name=name, piece=_piece(value), start=key.start, is_null=value.is_null)
        elif isinstance(value, Mapping):
            yield from _cells(value, f"{name} ")
        else:
            for node in value.items:
                if isinstance(node, Mapping):
                    yield from _cells(node, f"{name} ")
                else:
                    yield from (
                        Cell(name=name, piece=_piece(leaf), start=key.start, is_null=leaf.is_null)
                        for leaf in _leaves(node)
                    )


def _settle(outer: Topic | None, reading: HeadingMeaning | None) -> Topic | None:
    if reading is None:
        return outer
    if outer is not None and outer not in _LOOSE and reading.topic in _LOOSE:
        return outer
    return reading.topic


def _is_record(topic: Topic, value: Mapping) -> bool:
    """True if a mapping is one item with named parts, not a list of items by name."""
    own = PART_KEYS.get(topic, {})
    keys = [key.text.casefold() for key, node in value if not (isinstance(node, Scalar) and is_bare(node))]
    known = sum(key in own or key in HEADLINE_KEYS or key in STATUS_KEYS for key in keys)
    named = {key.text.casefold() for key, node in value if isinstance(node, Scalar) and not node.is_null}
    headline = any(own.get(key) == HEADLINES.get(topic) or key in HEADLINE_KEYS for key in named)
    return known * 2 >= len(keys) and headline


def _joined(text: str, key: Scalar, value: Scalar) -> TextPiece:
    end = value.end
    if "\\" in text[key.start : end] or text[key.end : key.end + 1] in ('"', "'"):
        return TextPiece(f"{key.text}: {value.text.strip()}", key.start, end)
    return TextPiece(text[key.start : end].strip(), key.start, end)


def _by_status(topic: Topic | None, item: Mapping) -> Topic | None:
    if topic not in (Topic.TASKS, Topic.DONE, Topic.NEXT, Topic.BLOCKERS, Topic.STATUS):
        return topic
    for name, value in item:
        if name.text.casefold() in STATUS_KEYS and isinstance(value, Scalar):
            done = is_done_word(value.text) if value.text not in ("true", "false") else value.text == "true"
            if topic is Topic.BLOCKERS:
                return Topic.ASIDE if done else topic
            if done is not None:
                return Topic.DONE if done else Topic.NEXT
    return topic
