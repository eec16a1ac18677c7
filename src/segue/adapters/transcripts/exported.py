"""Reads a large JSON document piece by piece: the members of its top object, the items of one list."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

_CHUNK = 1_000_000
_MOST = 32_000_000
"""Characters that one piece may have."""
_SPACE = re.compile(r"[ \t\r\n,:]*")
_DECODER = json.JSONDecoder(strict=False)


class Damaged(ValueError):
    """The document ends or breaks before it should."""


def pieces(path: Path, long_list: str) -> Iterator[tuple[str, Any]]:
    """Each member of the top object; of `long_list`, each item by itself. Ends where the document breaks."""
    with path.open(encoding="utf-8", errors="replace") as stream:
        yield from _Pieces(stream).members(long_list)


class _Pieces:
    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._text = ""
        self._at = 0

    def members(self, long_list: str) -> Iterator[tuple[str, Any]]:
        if self._next() != "{":
            raise Damaged("no object")
        self._at += 1
        while (mark := self._next()) != "}":
            if mark != '"':
                raise Damaged("no key")
            key = self._value()
            if key == long_list and self._next() == "[":
                self._at += 1
                while self._next() != "]":
                    yield key, self._value()
                self._at += 1
            else:
                yield str(key), self._value()

    def _next(self) -> str:
        """The next character that means something."""
        while True:
            self._at = _SPACE.match(self._text, self._at).end()  # type: ignore[union-attr]  # matches nothing, too
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more():
                raise Damaged("cut off")

    def _value(self) -> Any:
        self._next()
        while True:
            try:
                value, end = _DECODER.raw_decode(self._text, self._at)
            except RecursionError as error:
                raise Damaged("nested too deeply") from error
            except ValueError as error:
                if len(self._text) - self._at > _MOST or not self._more(len(self._text) - self._at):
                    raise Damaged("broken") from error
                continue
            if end == len(self._text) and self._more():
                continue  # a number may continue
            self._at = end
            return value

    def _more(self, wish: int = 0) -> bool:
        """Read on, at least as much as is there already, so that a long piece is not tried too often."""
        found = self._stream.read(max(_CHUNK, wish))
        self._text = self._text[self._at :] + found
        self._at = 0
        return bool(found)
