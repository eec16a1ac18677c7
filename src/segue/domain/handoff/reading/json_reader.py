"""Reads JSON as models write it: trailing commas, comments, odd quotes, missing brackets at the end."""

from __future__ import annotations

import json.decoder
import re
from typing import Final

from segue.domain.handoff.reading.tree import (
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

_SPACE: Final = re.compile(r"(?:[\s\ufeff]+|//[^\n]*|#[^\n]*|/\*(?:[^*]|\*(?!/))*\*/)*")
_VALUE_SIGNS: Final = frozenset('{}[]:,"')
"""What most often stands where white space may."""
_WORD: Final = re.compile(r"[^\s,:{}\[\]\"]+")
_new: Final = tuple.__new__
# A named tuple's own constructor is written in Python.
_CLOSING: Final = {"'": "'", "\u201c": "\u201d", "\u201d": "\u201d", "\u2018": "\u2019"}


class _Reader:
    """One pass over the text, with its own stack: depth costs nothing."""

    def __init__(self, text: str, at: int, end: int) -> None:
        self.text = text
        self.at = at
        self.end = end
        self.mended: set[str] = set()
        self.count = 0

    def space(self) -> str:
        sign = self.text[self.at] if self.at < self.end else ""
        if sign in _VALUE_SIGNS or not sign:
            return sign
        found = _SPACE.match(self.text, self.at, self.end)
        assert found is not None
        if "/" in found[0] or "#" in found[0]:
            self.mended.add("comments")
        self.at = found.end()
        return self.text[self.at] if self.at < self.end else ""

    def scalar(self) -> Scalar:
        self.count += 1
        if self.count > MAX_VALUES:
            raise TooMuch(f"more than {MAX_VALUES} values")
        sign = self.text[self.at]
        if sign == '"':
            return self._string()
        if sign in _CLOSING:
            return self._curly(_CLOSING[sign])
        word = _WORD.match(self.text, self.at, self.end)
        if word is None:
            raise Refused(f"unexpected {sign!r} at offset {self.at}")
        self.at = word.end()
        return Scalar(
            {"None": "null", "True": "true", "False": "false"}.get(word[0], word[0]), word.start(), word.end()
        )

    def _string(self) -> Scalar:
        begin = self.at + 1
        try:
            value, after = json.decoder.scanstring(self.text, begin, False)  # type: ignore[attr-defined]  # not in the stubs
        except ValueError as error:
            raise Refused("a string is not closed") from error
        if after > self.end:
            raise Refused("a string is not closed")
        self.at = after
        return _new(Scalar, (_whole(value), begin, after - 1, True))

    def _curly(self, closing: str) -> Scalar:
        begin = self.at + 1
        close = self.text.find(closing, begin, self.end)
        if close < 0:
            raise Refused("a string is not closed")
        self.mended.add("quotes")
        self.at = close + 1
        return Scalar(self.text[begin:close], begin, close, True)


def _whole(value: str) -> str:
    """Half of a surrogate pair cannot be stored; JSON escapes can make one."""
    return value if value.isprintable() else re.sub(r"[\ud800-\udfff]", "\ufffd", value)


def read_json(text: str, start: int = 0, end: int | None = None) -> tuple[Node, list[str]]:
    """The value that begins at `start`, and what was mended. Raises `Refused`."""
    stop = len(text) if end is None else end
    if stop - start > MAX_CHARS:
        raise TooMuch(f"longer than {MAX_CHARS} characters")
    reader = _Reader(text, start, stop)
    node = _value(reader)
    if reader.space():
        raise Refused(f"text after the value at offset {reader.at}")
    return node, sorted(reader.mended)


class _Open:
    """A list or an object that is not closed yet."""

    __slots__ = ("items", "key", "mapping", "pairs", "start")

    def __init__(self, mapping: bool, start: int) -> None:
        self.mapping = mapping
        self.start = start
        self.items: list[Node] = []
        self.pairs: list[tuple[Scalar, Node]] = []
        self.key: Scalar | None = None

    def add(self, node: Node) -> None:
        if not self.mapping:
            self.items.append(node)
        elif self.key is not None:
            self.pairs.append((self.key, node))
            self.key = None

    def close(self, end: int) -> Node:
        if self.mapping:
            return Mapping(tuple(self.pairs), self.start, end)
        return Sequence(tuple(self.items), self.start, end)


def _value(reader: _Reader) -> Node:
    stack: list[_Open] = []
    while True:
        sign = reader.space()
        if sign and sign in "{[":
            if len(stack) >= MAX_DEPTH:
                raise TooMuch(f"nested deeper than {MAX_DEPTH}")
            stack.append(_Open(sign == "{", reader.at))
            reader.at += 1
            continue
        if sign == ",":
            _comma(reader, bool(stack))
            continue
        node = _closed(reader, stack, sign) if not sign or sign in "}]" else _member(reader, stack[-1:])
        if node is not None:
            if not stack:
                return node
            stack[-1].add(node)


def _comma(reader: _Reader, inside: bool) -> None:
    reader.at += 1
    if inside and reader.space() in "}]":
        reader.mended.add("trailing commas")


def _closed(reader: _Reader, stack: list[_Open], sign: str) -> Node:
    """The innermost list or object, at its bracket or at the end of the text."""
    if not stack:
        raise Refused("a bracket is closed that was never opened" if sign else "nothing to read")
    if sign:
        reader.at += 1
    else:
        reader.mended.add("missing brackets")
    return stack.pop().close(reader.at)


def _member(reader: _Reader, innermost: list[_Open]) -> Node | None:
    """A value; or, in an object, a key, which is kept until its value comes."""
    scalar = reader.scalar()
    if not innermost or not innermost[0].mapping or innermost[0].key is not None:
        return scalar
    parent = innermost[0]
    if reader.space() != ":":
        raise Refused(f"a key without a value at offset {scalar.start}")
    reader.at += 1
    parent.key = scalar
    return None
