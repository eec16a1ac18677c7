"""Reads YAML with a safe parser into a tree with positions: no tags, no aliases, bounded depth and size."""

from __future__ import annotations

from typing import Any, Final

import yaml

from segue.domain.handoff.extract.data_nodes import (
    MAX_CHARS,
    MAX_DEPTH,
    MAX_VALUES,
    Mapping,
    Node,
    Refused,
    Scalar,
    Sequence,
    TooMuch,
)

_new: Final = tuple.__new__
# A named tuple's own constructor is written in Python.
_SCALAR: Final = yaml.ScalarEvent
_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_yaml(text: str, start: int = 0, end: int | None = None) -> list[Node]:
    """The documents in `text[start:end]`. Raises `Refused` for what is no YAML, or too much of it."""
    source = text[start:end]
    if len(source) > MAX_CHARS:
        raise TooMuch(f"longer than {MAX_CHARS} characters")
    try:
        loader = _LOADER(source)
        try:
            return _documents(loader, source, start)
        finally:
            loader.dispose()
    except (yaml.YAMLError, UnicodeError, IndexError) as error:
        raise Refused(_reason(error)) from error


def _reason(error: Exception) -> str:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or "not readable"
    return f"{problem} in line {mark.line + 1}" if mark is not None else str(problem)


def _documents(loader: Any, source: str, offset: int) -> list[Node]:
    found: list[Node] = []
    stack: list[tuple[list[Node], int, bool]] = []
    into = found
    next_event = loader.get_event
    for _ in range(MAX_VALUES):
        event = next_event()
        kind = type(event)
        if kind is _SCALAR:
            into.append(_scalar(event, source, offset))
        elif kind is yaml.MappingStartEvent or kind is yaml.SequenceStartEvent:
            if len(stack) >= MAX_DEPTH:
                raise TooMuch(f"nested deeper than {MAX_DEPTH}")
            into = []
            stack.append((into, event.start_mark.index, kind is yaml.MappingStartEvent))
        elif kind is yaml.MappingEndEvent or kind is yaml.SequenceEndEvent:
            node = _collection(stack.pop(), event.end_mark.index, offset)
            into = stack[-1][0] if stack else found
            into.append(node)
        elif kind is yaml.AliasEvent:
            raise TooMuch("aliases are not read")
        elif kind is yaml.StreamEndEvent:
            return found
    raise TooMuch(f"more than {MAX_VALUES} values")


def _collection(opened: tuple[list[Node], int, bool], end: int, offset: int) -> Node:
    children, begin, is_mapping = opened
    finish = children[-1].end if children else end + offset
    if not is_mapping:
        return Sequence(tuple(children), begin + offset, finish)
    keys = [key if isinstance(key, Scalar) else Scalar("", key.start, key.end) for key in children[::2]]
    return Mapping(tuple(zip(keys, children[1::2], strict=False)), begin + offset, finish)


def _scalar(event: Any, source: str, offset: int) -> Scalar:
    begin, finish, style = event.start_mark.index, event.end_mark.index, event.style
    if not style:
        return _new(Scalar, (event.value, begin + offset, finish + offset, False))
    if style in ("'", '"'):
        begin, finish = begin + 1, finish - 1
    elif style in ("|", ">"):
        begin = source.find("\n", begin, finish) + 1 or finish
    return _new(Scalar, (event.value, begin + offset, max(begin, finish) + offset, True))
