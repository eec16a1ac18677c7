"""Reads YAML that a strict parser rejects, line by line: what models write when they forget the quotes."""

from __future__ import annotations

import re
from typing import Final

from segue.domain.handoff.extract.data_nodes import (
    MAX_DEPTH,
    MAX_VALUES,
    Mapping,
    Node,
    Refused,
    Scalar,
    Sequence,
    TooMuch,
)

_KEY: Final = re.compile(
    r"(?P<bold>\*\*|__)?[\"'\u201c\u2018]?([^\W\d][\w .()/-]{0,60}?)[\"'\u201d\u2019]?(?:\*\*|__)?[ \t]*:"
    r"(?(bold)(?:\*\*|__)?)(?=[ \t\r]|$)[ \t]*"
)
_FENCE: Final = ("```", "~~~")
_QUOTES: Final = {'"': '"', "'": "'", "\u201c": "\u201d", "\u2018": "\u2019"}


class _YamlLine:
    """A line that says something."""

    __slots__ = ("end", "indent", "start")

    def __init__(self, start: int, end: int, indent: int) -> None:
        self.start = start
        self.end = end
        self.indent = indent


def read_lenient(text: str, start: int, end: int) -> Node:
    """The mapping in `text[start:end]`; raises `Refused` if its lines are no keys and items."""
    lines = _lines(text, start, end)
    if not lines or len(lines) > MAX_VALUES:
        raise Refused("no lines to read")
    reader = _YamlReader(text, lines)
    node = reader.block(lines[0].indent, 0)
    if not isinstance(node, Mapping) or reader.at < len(lines):
        raise Refused("the lines are no keys and values")
    return node


def _lines(text: str, start: int, end: int) -> list[_YamlLine]:
    found: list[_YamlLine] = []
    while start < end:
        stop = text.find("\n", start, end)
        stop = end if stop < 0 else stop
        raw = text[start:stop]
        bare = raw.strip()
        if bare and not bare.startswith(("#", *_FENCE)) and bare not in ("---", "..."):
            lead = raw[: len(raw) - len(raw.lstrip())]
            line = _YamlLine(start + len(lead), stop, len(lead.expandtabs(2)))
            if not lead and found and not bare.startswith("-") and not _KEY.match(text, line.start, stop):
                found[-1].end = stop  # it continues the line above, and lost its indent
            else:
                found.append(line)
        start = stop + 1
    return found


class _YamlReader:
    def __init__(self, text: str, lines: list[_YamlLine]) -> None:
        self.text = text
        self.lines = lines
        self.at = 0

    def block(self, indent: int, depth: int) -> Node:
        """The list or mapping whose lines begin at `indent`."""
        if depth > MAX_DEPTH:
            raise TooMuch(f"nested deeper than {MAX_DEPTH}")
        first = self.lines[self.at]
        if self.text.startswith("- ", first.start) or self.text[first.start : first.end].strip() == "-":
            return self._sequence(indent, depth)
        if _KEY.match(self.text, first.start, first.end):
            return self._mapping(indent, depth)
        return self._prose(indent)

    def _here(self, indent: int) -> _YamlLine | None:
        if self.at < len(self.lines) and self.lines[self.at].indent == indent:
            return self.lines[self.at]
        return None

    def _mapping(self, indent: int, depth: int) -> Node:
        pairs: list[tuple[Scalar, Node]] = []
        start = self.lines[self.at].start
        while line := self._here(indent):
            key = _KEY.match(self.text, line.start, line.end)
            if key is None:
                break
            name = Scalar(key[2], key.start(2), key.end(2))
            pairs.append((name, self._value(key.end(), line, indent, depth)))
        if not pairs:
            raise Refused("a line is no key")
        return Mapping(tuple(pairs), start, pairs[-1][1].end)

    def _sequence(self, indent: int, depth: int) -> Node:
        items: list[Node] = []
        start = self.lines[self.at].start
        while line := self._here(indent):
            if not self.text.startswith("-", line.start):
                break
            inner = line.start + 1
            while inner < line.end and self.text[inner] in " \t":
                inner += 1
            quoted = self.text[inner : inner + 1] in _QUOTES
            key = None if quoted else _KEY.match(self.text, inner, line.end)
            if key and " " not in key[2].strip():
                line.indent, line.start = indent + inner - line.start, inner
                items.append(self._mapping(line.indent, depth + 1))
            else:
                items.append(self._value(inner, line, indent, depth))
        if not items:
            raise Refused("a line is no item")
        return Sequence(tuple(items), start, items[-1].end)

    def _value(self, start: int, line: _YamlLine, indent: int, depth: int) -> Node:
        self.at += 1
        rest = self.text[start : line.end].strip()
        deeper = self.at < len(self.lines) and self.lines[self.at].indent > indent
        if rest in ("|", ">", "|-", ">-", "|+", ">+"):
            return self._prose(indent + 1) if deeper else Scalar("", start, start, True)
        if rest[:2] in ("|\n", ">\n"):
            return Scalar(rest[2:], line.end - len(rest[2:]), line.end, True)
        if rest:
            end = self._swallow(indent) if deeper else line.end
            return self._scalar(start, end)
        following = self._here(indent)
        if deeper or (following and self.text.startswith("- ", following.start)):
            return self.block(self.lines[self.at].indent, depth + 1)
        return Scalar("", start, start)

    def _swallow(self, indent: int) -> int:
        """Lines that continue from the one above."""
        end = self.lines[self.at - 1].end
        while self.at < len(self.lines) and self.lines[self.at].indent > indent:
            end = self.lines[self.at].end
            self.at += 1
        return end

    def _prose(self, indent: int) -> Scalar:
        start = self.lines[self.at].start
        self.at += 1
        while self.at < len(self.lines) and self.lines[self.at].indent >= indent:
            self.at += 1
        return Scalar(
            self.text[start : self.lines[self.at - 1].end].strip(), start, self.lines[self.at - 1].end, True
        )

    def _scalar(self, start: int, end: int) -> Node:
        raw = self.text[start:end].rstrip(" \t\r\n,")
        lead = len(raw) - len(raw.lstrip())
        raw, start = raw.strip(), start + lead
        if raw in ("[]", "{}"):
            return Sequence((), start, start + 2)
        if raw[:1] == "[" and raw[-1:] == "]":
            return self._flow(start + 1, start + len(raw) - 1)
        if len(raw) > 1 and raw[0] in _QUOTES and raw[-1] == _QUOTES[raw[0]]:
            return Scalar(raw[1:-1], start + 1, start + len(raw) - 1, True)
        return Scalar(raw, start, start + len(raw))

    def _flow(self, start: int, end: int) -> Sequence:
        items: list[Node] = []
        at = start
        for part in self.text[start:end].split(","):
            bare = part.strip().strip("\"'")
            if bare:
                begin = at + part.find(bare)
                items.append(Scalar(bare, begin, begin + len(bare)))
            at += len(part) + 1
        return Sequence(tuple(items), start - 1, end + 1)
