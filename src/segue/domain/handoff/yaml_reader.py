"""Reads YAML with a safe parser into a tree with positions: no tags, no aliases, bounded depth and size."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import yaml

from segue.domain.handoff.tree import (
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

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_yaml(text: str, start: int = 0, end: int | None = None) -> list[Node]:
    """The documents in `text[start:end]`. Raises `Refused` for what is no YAML, or too much of it."""
    source = text[start:end]
    if len(source) > MAX_CHARS:
        raise TooMuch(f"longer than {MAX_CHARS} characters")
    try:
        return _documents(yaml.parse(source, Loader=_LOADER), source, start)
    except (yaml.YAMLError, UnicodeError, IndexError) as error:
        raise Refused(_reason(error)) from error


def _reason(error: Exception) -> str:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or "not readable"
    return f"{problem} in line {mark.line + 1}" if mark is not None else str(problem)


def _documents(events: Iterator[yaml.Event], source: str, offset: int) -> list[Node]:
    found: list[Node] = []
    stack: list[tuple[list[Node], int, bool]] = []
    count = 0
    for event in events:
        count += 1
        if count > MAX_VALUES:
            raise TooMuch(f"more than {MAX_VALUES} values")
        if isinstance(event, yaml.AliasEvent):
            raise TooMuch("aliases are not read")
        if isinstance(event, yaml.CollectionStartEvent):
            if len(stack) >= MAX_DEPTH:
                raise TooMuch(f"nested deeper than {MAX_DEPTH}")
            stack.append(([], _at(event.start_mark), isinstance(event, yaml.MappingStartEvent)))
            continue
        node = _node(event, source, offset, stack)
        if node is not None:
            (stack[-1][0] if stack else found).append(node)
    return found


def _node(
    event: yaml.Event, source: str, offset: int, stack: list[tuple[list[Node], int, bool]]
) -> Node | None:
    if isinstance(event, yaml.ScalarEvent):
        return _scalar(event, source, offset)
    if not isinstance(event, yaml.CollectionEndEvent):
        return None
    children, begin, is_mapping = stack.pop()
    finish = children[-1].end if children else _at(event.end_mark) + offset
    if not is_mapping:
        return Sequence(tuple(children), begin + offset, finish)
    pairs = tuple(
        (key if isinstance(key, Scalar) else Scalar("", key.start, key.end), value)
        for key, value in zip(children[::2], children[1::2], strict=False)
    )
    return Mapping(pairs, begin + offset, finish)


def _scalar(event: yaml.ScalarEvent, source: str, offset: int) -> Scalar:
    begin, finish = _at(event.start_mark), _at(event.end_mark)
    style = event.style
    if style in ("'", '"'):
        begin, finish = begin + 1, finish - 1
    elif style in ("|", ">"):
        begin = source.find("\n", begin, finish) + 1 or finish
    return Scalar(
        event.value,
        begin + offset,
        max(begin, finish) + offset,
        style is not None and style in "'\"|>" and style != "",
    )


def _at(mark: Any) -> int:
    """The offset of a mark; the stubs allow for none."""
    return int(mark.index)
