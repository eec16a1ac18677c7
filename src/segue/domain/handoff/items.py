"""Cuts a piece of Markdown into its items: bullets, numbered items, table rows, paragraphs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_MARKER = re.compile(r"(?P<indent>[ \t]{0,3})(?:[-*+•]|\d{1,9}[.)])(?:[ \t]+(?:\[[ xX]\][ \t]+)?|$)")
_TABLE_RULE = re.compile(r"[ \t]*\|?[ \t:|-]*-[ \t:|-]*\|?[ \t]*")


@dataclass(frozen=True, kw_only=True, slots=True)
class Item:
    """One item and where it stands: `text` is the source from `start` to `end`, without its marker."""

    text: str
    """The words, nested lines included."""
    start: int
    """Offset of the first character."""
    end: int
    """Offset after the last character."""


def split_items(text: str, offset: int = 0) -> list[Item]:
    """The items of `text`, in order; `offset` is where `text` begins in its document."""
    return [item for start, end in _blocks(text) if (item := _trim(text, start, end, offset))]


def _trim(text: str, start: int, end: int, offset: int) -> Item | None:
    raw = text[start:end]
    lead = len(raw) - len(raw.lstrip())
    words = raw.strip()
    if not words:
        return None
    return Item(text=words, start=offset + start + lead, end=offset + start + lead + len(words))


def _blocks(text: str) -> Iterator[tuple[int, int]]:
    """Start and end of each item: a new one begins at a marker, a row, or a paragraph after a blank line."""
    start: int | None = None
    in_list = blank = False
    fence = ""
    for begin, line in _lines(text):
        bare = line.strip()
        if fence or bare.startswith(("```", "~~~")):
            fence = _next_fence(fence, bare)
            start = begin if start is None else start
            continue
        if not bare:
            blank = True
            continue
        marker = _MARKER.match(line)
        row = marker is None and _is_row(bare)
        begins = bool(marker or row or start is None or (blank and not (in_list and line[:1] in " \t")))
        if begins:
            if start is not None:
                yield start, begin
            start = _first(begin, marker, is_rule=row and _TABLE_RULE.fullmatch(bare) is not None)
            in_list = marker is not None
        blank = False
    if start is not None:
        yield start, len(text)


def _first(begin: int, marker: re.Match[str] | None, *, is_rule: bool) -> int | None:
    """Where the words of an item begin; a table's rule has none."""
    if is_rule:
        return None
    return begin + marker.end() if marker else begin


def _is_row(bare: str) -> bool:
    return bare.startswith("|") and bare.endswith("|") and len(bare) > 1


def _next_fence(fence: str, bare: str) -> str:
    mark = bare[:3]
    if not fence:
        return mark
    return "" if mark == fence and not bare.strip(mark[0]) else fence


def _lines(text: str) -> Iterator[tuple[int, str]]:
    begin = 0
    for line in text.splitlines(keepends=True):
        yield begin, line
        begin += len(line)
