"""Reads JSON as models write it: trailing commas, comments, odd quotes, missing brackets at the end."""

from __future__ import annotations

import json.decoder
import re
from typing import Final

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

_SPACE: Final = re.compile(r"(?:[\s\ufeff]+|//[^\n]*|#[^\n]*|/\*(?:[^*]|\*(?!/))*\*/)*")
_VALUE_SIGNS: Final = frozenset('{}[]:,"')
"""What most often stands where white space may."""
_WORD: Final = re.compile(r"[^\s,:{}\[\]\"]+")
_new: Final = tuple.__new__
# A named tuple's own constructor is written in Python.
_WORDS: Final = re.compile(r"(?:(?![ \t](?://|#))[^\n,{}\[\]\"])+")
"""A value without quotes: `[Added a, Fixed b]`."""
_END_OF_STRING: Final = re.compile(r'"(?=\s*(?:[,:}\]+]|$))')
_CONTINUES: Final = re.compile(r'[ \t]*+[^\s,:}\]\[{"/#+=]')
"""What stands right after a quote that does not end its string."""
_JOIN: Final = re.compile(r'\s*\+\s*(?=")')
_ESCAPE: Final = re.compile(r'\\(["\\/n])')
_LEFT_OUT: Final = ("...", "\u2026")
_CLOSING: Final = {"`": "`", "'": "'", "\u201c": "\u201d", "\u201d": "\u201d", "\u2018": "\u2019"}


class _JsonReader:
    """One pass over the text, with its own stack: depth costs nothing."""

    def __init__(self, text: str, at: int, end: int) -> None:
        self.text = text
        self.at = at
        self.end = end
        self.repaired: set[str] = set()
        self.count = 0

    def space(self) -> str:
        sign = self.text[self.at] if self.at < self.end else ""
        if sign in _VALUE_SIGNS or not sign:
            return sign
        found = _SPACE.match(self.text, self.at, self.end)
        assert found is not None
        if "/" in found[0] or "#" in found[0]:
            self.repaired.add("comments")
        self.at = found.end()
        return self.text[self.at] if self.at < self.end else ""

    def scalar(self, *, is_key: bool = False) -> Scalar:
        self.count += 1
        if self.count > MAX_VALUES:
            raise TooMuch(f"more than {MAX_VALUES} values")
        sign = self.text[self.at]
        if sign == '"':
            return self._joined(self._string())
        if sign in _CLOSING:
            return self._curly(_CLOSING[sign])
        return self._unquoted(_WORD if is_key else _WORDS)

    def _unquoted(self, shape: re.Pattern[str]) -> Scalar:
        word = shape.match(self.text, self.at, self.end)
        if word is None:
            raise Refused(f"unexpected {self.text[self.at]!r} at offset {self.at}")
        said = word[0].rstrip()
        self.at = word.end()
        if shape is _WORDS and self.text[self.at : self.at + 1] == '"':  # its first quote is missing
            self.at += 1
            self.repaired.add("quotes")
        said_so = {"None": "null", "True": "true", "False": "false"}.get(said, said)
        return Scalar(said_so, word.start(), word.start() + len(said), " " in said)

    def _joined(self, first: Scalar) -> Scalar:
        """`"Added " + "a"` is one text."""
        parts = [first]
        while joint := _JOIN.match(self.text, self.at, self.end):
            self.at = joint.end()
            self.repaired.add("joined strings")
            parts.append(self._string())
        return (
            first
            if len(parts) == 1
            else Scalar("".join(p.text for p in parts), first.start, parts[-1].end, True)
        )

    def _string(self) -> Scalar:
        begin = self.at + 1
        try:
            value, after = json.decoder.scanstring(self.text, begin, False)  # type: ignore[attr-defined]  # not in the stubs
        except ValueError:
            return self._as_it_stands(begin)
        if after > self.end or _CONTINUES.match(self.text, after, self.end):
            return self._as_it_stands(begin)
        self.at = after
        return _new(Scalar, (_whole(value), begin, after - 1, True))

    def _as_it_stands(self, begin: int) -> Scalar:
        """A string with quotes or escapes of its own, or without an end: up to a quote that ends a value."""
        close = _END_OF_STRING.search(self.text, begin, self.end)
        stop = close.start() if close else self.end
        self.at = close.end() if close else self.end
        self.repaired.add("quotes" if close else "missing brackets")
        words = _ESCAPE.sub(lambda sign: "\n" if sign[1] == "n" else sign[1], self.text[begin:stop])
        return Scalar(_whole(words), begin, stop, True)

    def _curly(self, closing: str) -> Scalar:
        begin = self.at + 1
        close = self.text.find(closing, begin, self.end)
        if close < 0:
            raise Refused("a string is not closed")
        self.repaired.add("quotes")
        self.at = close + 1
        return Scalar(self.text[begin:close], begin, close, True)


def _whole(value: str) -> str:
    """Half of a surrogate pair cannot be stored; JSON escapes can make one."""
    return value if value.isprintable() else re.sub(r"[\ud800-\udfff]", "\ufffd", value)


def read_json(text: str, start: int = 0, end: int | None = None) -> tuple[Node, list[str]]:
    """The value that begins at `start`, and what was repaired. Raises `Refused`."""
    stop = len(text) if end is None else end
    if stop - start > MAX_CHARS:
        raise TooMuch(f"longer than {MAX_CHARS} characters")
    reader = _JsonReader(text, start, stop)
    node = _value(reader)
    if reader.space():
        raise Refused(f"text after the value at offset {reader.at}")
    return node, sorted(reader.repaired)


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


def _value(reader: _JsonReader) -> Node:
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


def _comma(reader: _JsonReader, inside: bool) -> None:
    reader.at += 1
    if inside and reader.space() in "}]":
        reader.repaired.add("trailing commas")


def _closed(reader: _JsonReader, stack: list[_Open], sign: str) -> Node:
    """The innermost list or object, at its bracket or at the end of the text."""
    if not stack:
        raise Refused("a bracket is closed that was never opened" if sign else "nothing to read")
    if sign:
        reader.at += 1
    else:
        reader.repaired.add("missing brackets")
    return stack.pop().close(reader.at)


def _member(reader: _JsonReader, innermost: list[_Open]) -> Node | None:
    """A value; or, in an object, a key, which is kept until its value comes."""
    is_key = bool(innermost) and innermost[0].mapping and innermost[0].key is None
    scalar = reader.scalar(is_key=is_key)
    if not is_key:
        left_out = scalar.text in _LEFT_OUT and not scalar.quoted and innermost
        return None if left_out else scalar
    sign = reader.space()
    if sign in (":", "="):
        reader.at += 1
    elif sign not in ("[", "{", '"'):
        raise Refused(f"a key without a value at offset {scalar.start}")
    else:
        reader.repaired.add("missing colons")
    innermost[0].key = scalar
    return None
