"""Cuts a piece of Markdown into its items: bullets, numbered items, table rows, paragraphs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

_MARKER: Final = re.compile(r"(?P<indent>[ \t]*)(?:[-*+•]|\d{1,9}[.)])(?:[ \t]+(?:\[[ xX]\][ \t]+)?|$)")
_RULE_SIGNS: Final = frozenset("|:- \t")


@dataclass(frozen=True, kw_only=True, slots=True)
class ListItem:
    """One item and where it stands: `text` is the source from `start` to `end`, without its marker."""

    text: str
    """The words, nested lines included."""
    start: int
    """Offset of the first character."""
    end: int
    """Offset after the last character."""


def split_items(text: str, offset: int = 0) -> list[ListItem]:
    """The items of `text`, in order; `offset` is where `text` begins in its document."""
    return [item for start, end in _blocks(text) if (item := _trim(text, start, end, offset))]


def _trim(text: str, start: int, end: int, offset: int) -> ListItem | None:
    raw = text[start:end]
    lead = len(raw) - len(raw.lstrip())
    words = raw.strip()
    if not words:
        return None
    return ListItem(text=words, start=offset + start + lead, end=offset + start + lead + len(words))


def _blocks(text: str) -> Iterator[tuple[int, int]]:
    """Start and end of each item: a new one begins at a marker, a row, or a paragraph after a blank line."""
    start: int | None = None
    blank = False
    base: int | None = None
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
        marker = _top_marker(line, base)
        row = marker is None and _is_row(bare)
        apart = blank and (base is None or line[:1] not in " \t")
        if marker or row or start is None or apart:
            if start is not None:
                yield start, begin
            base = _width(marker["indent"]) if marker else None
            start = _first(begin, marker, is_rule=row and "-" in bare and set(bare) <= _RULE_SIGNS)
        blank = False
    if start is not None:
        yield start, len(text)


def _top_marker(line: str, base: int | None) -> re.Match[str] | None:
    """The marker of an item, unless it is nested in the one before: it begins further in."""
    marker = _MARKER.match(line)
    return marker if marker and (base is None or _width(marker["indent"]) < base + 2) else None


def _width(indent: str) -> int:
    return len(indent.expandtabs(4))


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
