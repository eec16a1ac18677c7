"""Places in a text: where words start and end."""

from __future__ import annotations

from typing import NamedTuple


class Span(NamedTuple):
    """The characters `[start, end)` of the source that a statement came from."""

    start: int
    end: int


class TextPiece(NamedTuple):
    """Some words and where they stand."""

    text: str
    start: int
    end: int


def trimmed(text: str, start: int, end: int) -> tuple[str, int, int]:
    """The words of `text[start:end]` without the white space around them, and where they start and end."""
    raw = text[start:end]
    words = raw.strip()
    begin = start + len(raw) - len(raw.lstrip()) if words else start
    return words, begin, begin + len(words)


def cut(text: str, start: int, end: int) -> TextPiece:
    """The same as a piece."""
    return TextPiece(*trimmed(text, start, end))
