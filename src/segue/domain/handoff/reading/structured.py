"""Reads a handoff out of a YAML or JSON tree, in the canonical schema or anybody else's."""

from __future__ import annotations

from typing import Final

from segue.domain.handoff.reading import topics
from segue.domain.handoff.reading.commands import is_command
from segue.domain.handoff.reading.draft import TEXT_TOPICS, Draft, Evidence, Piece, Statement
from segue.domain.handoff.reading.files import add_files, add_files_or_rest
from segue.domain.handoff.reading.items import split_items
from segue.domain.handoff.reading.keys import HEADLINE_KEYS, OUTCOME_KEYS, PART_KEYS, STATUS_KEYS
from segue.domain.handoff.reading.notations import Topic
from segue.domain.handoff.reading.parts import HEADLINES
from segue.domain.handoff.reading.statements import add_statement
from segue.domain.handoff.reading.tree import Mapping, Node, Scalar, Sequence
from segue.domain.handoff.reading.vocabulary import (
    Reading,
    is_done_word,
    read_heading,
    read_label,
    says_nothing,
)

FIELDS: Final = frozenset(topic.value for topic in Topic) - {"files_changed", "tasks", "handoff"}
"""The keys of the canonical schema."""
_TELLING: Final = FIELDS - {"goal", "outcome", "constraints"}
"""Keys that nothing but a handoff has."""
_LOOSE: Final = frozenset(
    {
        topics.WHOLE,
        topics.STATUS,
        topics.CONTEXT,
        topics.TASKS,
        topics.ASIDE,
        topics.CHECKS,
        topics.CHANGED,
        topics.READING,
    }
)
_NUMBER: Final = frozenset("0123456789.-+eE%")
_NAMES: Final = frozenset({"name", "task", "title", "id"})
_RANKS: Final = frozenset({"high", "medium", "low", "critical", "urgent", "normal", "p0", "p1", "p2", "p3"})
"""How urgent something is, not what is to be done."""
_LIST_PARTS: Final = frozenset({"applies_to", "depends_on", "blocking_tasks"})


def is_handoff(node: Node) -> bool:
    """True if a mapping's keys are a handoff's: a configuration or an answer of some service is none."""
    if not isinstance(node, Mapping):
        return False
    keys = node.names()
    if not _TELLING.isdisjoint(keys):
        return True
    exact = {r.topic for key in keys if (r := read_heading(key)) and r.exact} - {
        topics.ASIDE,
        topics.CONTEXT,
        topics.CHECKS,
    }
    if len(keys) == 1 and exact == {topics.WHOLE}:
        return is_handoff(node.pairs[0][1])
    return len(exact) > 1 and bool(
        exact & {topics.DONE, topics.NEXT, topics.DECISIONS, topics.BLOCKERS, topics.QUESTIONS, topics.TASKS}
    )


def is_canonical(node: Node) -> bool:
    """True if every key is a field of the record."""
    return isinstance(node, Mapping) and bool(node.pairs) and all(key in FIELDS for key in node.names())


def read_tree(draft: Draft, text: str, node: Node) -> None:
    """Takes down what a tree states."""
    if isinstance(node, Mapping):
        exact = draft.exact = is_canonical(node)
        for key, value in node:
            if exact:
                _read_exactly(draft, Topic(key.text), value)
            else:
                _read_pair(draft, text, key, value, None)


def _piece(scalar: Scalar, *, exact: bool = False) -> Piece:
    return Piece(scalar.text if exact else scalar.text.strip(), scalar.start, scalar.end)


def _read_exactly(draft: Draft, topic: Topic, value: Node) -> None:
    """A field of the canonical schema: each value as it stands."""
    if isinstance(value, Scalar):
        if value.is_null or (not value.quoted and value.text.casefold() in ("none", "n/a")):
            return
        if topic is topics.STATUS:
            draft.evidence.append(Evidence(value.text, value.start, value.end, 100))
        elif topic in TEXT_TOPICS:
            draft.take(topic, (*_piece(value, exact=True), ()))
        else:
            _read_split(draft, topic, value)
    elif isinstance(value, Sequence):
        for item in value.items:
            statement = _exact_item(topic, item)
            if statement is not None:
                draft.take(topic, statement)


def _read_split(draft: Draft, topic: Topic, value: Scalar) -> None:
    for item in split_items(value.text):
        draft.add(topic, Piece(item.text, value.start, value.end))


def _exact_item(topic: Topic, item: Node) -> Statement | None:
    if isinstance(item, Scalar):
        return None if item.is_null else (*_piece(item, exact=True), ())
    if not isinstance(item, Mapping):
        return None
    known = PART_KEYS.get(topic, {"heading": "heading", "text": "text"} if topic is topics.ASIDE else {})
    parts: list[tuple[str, Piece]] = []
    for key, value in item:
        part = known.get(key.text.casefold())
        if part is not None:
            parts += [(part, _piece(s, exact=True)) for s in _scalars(value)]
    headline = "text" if topic is topics.ASIDE else HEADLINES.get(topic, "")
    main = dict(parts).get(headline) or _headline_of(item)
    return None if main is None else (*main, parts)


def _scalars(value: Node) -> list[Scalar]:
    if isinstance(value, Scalar):
        return [] if value.is_null else [value]
    if isinstance(value, Sequence):
        return [item for item in value.items if isinstance(item, Scalar) and not item.is_null]
    return []


def _headline_of(item: Mapping) -> Piece | None:
    found = {
        key.text.casefold(): value for key, value in item if isinstance(value, Scalar) and not value.is_null
    }
    names = [name for name in HEADLINE_KEYS if name in found]
    if not names:
        return None
    best = names[0]
    if " " not in found[best].text.strip():  # a name says less than what is told of it
        best = next((name for name in names if found[name].text.count(" ") > 1), best)
    return _piece(found[best])


def _name_of(item: Mapping) -> Piece | None:
    """The name of an item that is described, too."""
    for key, value in item:
        if key.text.casefold() in _NAMES and isinstance(value, Scalar) and not value.is_null:
            return _piece(value)
    return None


def _read_pair(draft: Draft, text: str, key: Scalar, value: Node, outer: Topic | None) -> None:
    reading = read_label(key.text)
    topic = _settle(outer, reading)
    if reading is not None and reading.topic is topics.STATUS and outer in (None, topics.WHOLE):
        _judge(draft, key, value)
    if isinstance(value, Scalar):
        _read_scalar(draft, text, topic, key, value)
    elif isinstance(value, Sequence):
        for item in value.items:
            _read_item(draft, text, topic, item, key)
    else:
        _read_mapping(draft, text, topic, value, key)


def _settle(outer: Topic | None, reading: Reading | None) -> Topic | None:
    if reading is None:
        return outer
    if outer is not None and outer not in _LOOSE and reading.topic in _LOOSE:
        return outer
    return reading.topic


def _judge(draft: Draft, key: Scalar, value: Node) -> None:
    if isinstance(value, Scalar) and not value.is_null:
        weight = OUTCOME_KEYS.get(key.text.replace("_", "").casefold(), 4)
        draft.evidence.append(Evidence(value.text[:200], value.start, value.end, weight))


def _read_scalar(draft: Draft, text: str, topic: Topic | None, key: Scalar, value: Scalar) -> None:
    if value.is_null or says_nothing(value.text) or _is_bare(value):
        return
    piece = _piece(value)
    if (
        topic is None
        or topic in (topics.ASIDE, topics.WHOLE)
        or (topic is topics.CONTEXT and len(piece.text.split()) < 3)
        or (topic is topics.NEXT and piece.text.lower() in _RANKS)
    ):
        draft.others.append((key.text, piece))
    elif topic is topics.STATUS:
        if len(piece.text.split()) > 4:
            draft.add(topics.CONTEXT, piece)
    elif topic in TEXT_TOPICS:
        draft.add(topic, piece)
    elif topic in topics.FILES:
        whole = Piece(text[value.start : value.end], value.start, value.end)
        add_files_or_rest(draft, text, topic, whole, key.text)
    elif topic is topics.CHECKS:
        _add_check(draft, piece, key)
    elif topic is topics.READING:
        _add_reading(draft, text, piece)
    elif "\n" in piece.text:
        _read_block(draft, text, topic, value)
    else:
        draft.add(topics.NEXT if topic is topics.TASKS else topic, piece)


def _add_check(draft: Draft, piece: Piece, key: Scalar) -> None:
    """A result of a check is a command only if it is one."""
    if is_command(piece.text):
        draft.add(topics.CHECKS, piece, [("command", piece)])
    else:
        draft.others.append((key.text, piece))


def _read_block(draft: Draft, text: str, topic: Topic, value: Scalar) -> None:
    """A block of text where a list was expected: one statement for each of its items."""
    for item in split_items(text[value.start : value.end], value.start):
        add_statement(draft, text, topic, item.start, item.end)


def _is_bare(value: Scalar) -> bool:
    """A number or a truth value says nothing by itself."""
    return not value.quoted and (
        value.text.casefold() in ("true", "false", "yes", "no") or set(value.text) <= _NUMBER
    )


def _add_reading(draft: Draft, text: str, piece: Piece) -> None:
    add_statement(draft, text, topics.READING, piece.start, piece.end)


def _read_mapping(draft: Draft, text: str, topic: Topic | None, value: Mapping, key: Scalar) -> None:
    if topic is None or topic in _LOOSE:
        inherited = topics.CONTEXT if topic is topics.STATUS else topic
        for inner, node in value:
            _read_pair(draft, text, inner, node, inherited)
        return
    if _is_record(topic, value):
        _read_item(draft, text, topic, value, key)
        return
    for inner, node in value:
        if isinstance(node, Scalar):
            if not node.is_null and not _is_bare(node):
                draft.add(topic, _joined(text, inner, node))
        else:
            _read_pair(draft, text, inner, node, topic)


def _is_record(topic: Topic, value: Mapping) -> bool:
    """True if a mapping is one item with named parts, not a list of items by name."""
    own = PART_KEYS.get(topic, {})
    keys = [key.text.casefold() for key, node in value if not (isinstance(node, Scalar) and _is_bare(node))]
    known = sum(key in own or key in HEADLINE_KEYS or key in STATUS_KEYS for key in keys)
    return known * 2 >= len(keys) and _headline(topic, value) is not None


def _headline(topic: Topic, item: Mapping) -> Piece | None:
    own = PART_KEYS.get(topic, {})
    for key, node in item:
        if (
            own.get(key.text.casefold()) == HEADLINES.get(topic)
            and isinstance(node, Scalar)
            and not node.is_null
        ):
            return _piece(node)
    return _headline_of(item)


def _joined(text: str, key: Scalar, value: Scalar) -> Piece:
    end = value.end
    if "\\" in text[key.start : end]:
        return _piece(value)
    if text[key.end : key.end + 1] in ('"', "'"):
        return Piece(f"{key.text}: {value.text.strip()}", key.start, end)
    return Piece(text[key.start : end].strip(), key.start, end)


def _read_item(draft: Draft, text: str, topic: Topic | None, item: Node, key: Scalar) -> None:
    if isinstance(item, Scalar):
        if not item.is_null:
            _read_list_scalar(draft, text, None if _is_bare(item) else topic, item, key)
    elif isinstance(item, Mapping):
        _read_record(draft, text, topic, item, key)
    else:
        for inner in item.items:
            if isinstance(inner, Scalar):
                _read_list_scalar(draft, text, topic, inner, key)


def _read_list_scalar(draft: Draft, text: str, topic: Topic | None, item: Scalar, key: Scalar) -> None:
    if topic is None or topic in (topics.ASIDE, topics.WHOLE):
        draft.others.append((key.text, _piece(item)))
    elif topic in topics.FILES:
        whole = Piece(text[item.start : item.end], item.start, item.end)
        add_files_or_rest(draft, text, topic, whole, key.text)
    elif topic in (topics.READING, topics.TASKS, topics.STATUS, topics.CONTEXT, topics.NEXT):
        _add_marked(draft, text, topic, item)
    elif topic is topics.CHECKS:
        _add_check(draft, _piece(item), key)
    else:
        draft.add(topic, _piece(item))


def _add_marked(draft: Draft, text: str, topic: Topic, item: Scalar) -> None:
    """An item that may carry a mark of its own; only if its words stand in the source as they are."""
    if text[item.start : item.end].strip() == item.text.strip():
        add_statement(draft, text, topic, item.start, item.end)
    else:
        draft.add(
            topics.NEXT if topic is topics.TASKS else topics.CONTEXT if topic is not topics.NEXT else topic,
            _piece(item),
        )


def _read_record(draft: Draft, text: str, topic: Topic | None, item: Mapping, key: Scalar) -> None:
    topic = _by_status(topic, item)
    if topic is None or topic in (topics.ASIDE, topics.WHOLE):
        draft.others.append((key.text, Piece(text[item.start : item.end].strip(), item.start, item.end)))
        return
    topic = {topics.TASKS: topics.NEXT, topics.STATUS: topics.CONTEXT, topics.CHANGED: topics.MODIFIED}.get(
        topic, topic
    )
    known = PART_KEYS.get(topic, {})
    parts: list[tuple[str, Piece]] = []
    for name, value in item:
        part = known.get(name.text.casefold())
        if part is not None and (part in _LIST_PARTS or part not in dict(parts)):
            parts += [(part, _piece(s)) for s in _scalars(value)]
    main = dict(parts).get(HEADLINES.get(topic, "")) or _headline_of(item)
    if topic is topics.CHECKS and "command" not in dict(parts):
        draft.others.append((key.text, Piece(text[item.start : item.end].strip(), item.start, item.end)))
        return
    if main is None:
        for name, value in item:
            if isinstance(value, Scalar) and not value.is_null and not _is_bare(value):
                draft.add(topic, _joined(text, name, value))
        return
    draft.add(topic, main, parts)
    named = _name_of(item)
    if named and named.start != main.start and not any(named == part for _, part in parts):
        draft.others.append((key.text, named))
    _files_of_record(draft, text, topic, item)


def _files_of_record(draft: Draft, text: str, topic: Topic, item: Mapping) -> None:
    """`files:` inside an item of finished work are files that it changed, unless listed elsewhere."""
    if topic is not topics.DONE:
        return
    for name, value in item:
        reading = read_heading(name.text)
        if reading and reading.topic in topics.FILES:
            for scalar in _scalars(value):
                add_files(draft, text, reading.topic, Piece(scalar.text, scalar.start, scalar.end))


def _by_status(topic: Topic | None, item: Mapping) -> Topic | None:
    if topic not in (topics.TASKS, topics.DONE, topics.NEXT, topics.BLOCKERS, topics.STATUS):
        return topic
    for name, value in item:
        if name.text.casefold() in STATUS_KEYS and isinstance(value, Scalar):
            done = is_done_word(value.text) if value.text not in ("true", "false") else value.text == "true"
            if topic is topics.BLOCKERS:
                return topics.ASIDE if done else topic
            if done is not None:
                return topics.DONE if done else topics.NEXT
    return topic
