"""Reads Markdown into a tree of blocks, each with its place in the source."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from typing import Any, Final

import pyromark
from pyromark.event import Range

from segue.domain.handoff.reading.words import ELEMENTS

MAX_BLOCKS: Final = 30_000
"""How many blocks of a text are read: a megabyte of ordinary Markdown has half of that."""
_OPTIONS: Final = pyromark.Options.ENABLE_TABLES
_INLINE: Final = bytes.maketrans(b"`_[]&\x01", b"xxxxx`")
"""Signs that shape lines, not blocks; what stands for a sign of a fence becomes one again."""
MAX_CHARS: Final = 1_000_000
"""How much of a text is read: seven times the longest handoff that was seen in the wild."""
MAX_DEPTH: Final = 40
"""How deep blocks may nest; what is deeper stays text of its parent."""

HEADING, PARAGRAPH, LIST, ITEM = "Heading", "Paragraph", "List", "Item"
TABLE, HEAD, ROW, CELL = "Table", "TableHead", "TableRow", "TableCell"
CODE, HTML, QUOTE, TAG, END_TAG = "CodeBlock", "HtmlBlock", "BlockQuote", "Tag", "EndTag"
_NEVER: Final = 1 << 62
_LEVELS: Final = {f"H{level}": level for level in range(1, 7)}
_HOLDS_BLOCKS: Final = dict.fromkeys((LIST, ITEM, TABLE, HEAD, ROW, QUOTE), True) | dict.fromkeys(
    (HEADING, PARAGRAPH, CELL, CODE, HTML), False
)
"""The kinds of blocks, and whether other blocks can stand in them."""

_TAG: Final = re.compile(
    r"<(?P<close>/?)(?P<name>[A-Za-z][\w.:-]{0,60})(?:[ \t][^<>\n]{0,200})?>"
    r"(?:(?P<value>[^<\n]+)</(?P=name)>)?[ \t\r]*$",
    re.MULTILINE,
)
_FENCE: Final = re.compile(r"^[ \t]{0,3}(?:```|~~~)", re.MULTILINE)
_MAX_TAGS: Final = 1000


Block = tuple[str, int, int, list["Block"], Any]
"""One block, as a bare tuple, for there are many: its kind, the offsets of its first character and of the one
after its last, what stands in it, and a heading's level, the info string of a fence or the name of a tag."""

_LEAF: Final[list[Block]] = []
"""The children of all blocks that can have none."""


def parse_markdown(text: str, start: int = 0, end: int | None = None) -> tuple[list[Block], bool]:
    """The blocks of `text[start:end]`, in order, and whether that is all of them.

    Tags that stand alone on their line cut the text into parts.
    """
    end = len(text) if end is None else end
    blocks: list[Block] = []
    at = start
    whole = True
    for mark in _tags(text, start, end):
        whole &= _parse(text, at, mark.start(), blocks)
        blocks += _tag_blocks(mark)
        at = min(end, mark.end() + 1)
    whole &= _parse(text, at, end, blocks)
    return blocks, whole


def _parse(text: str, start: int, end: int, blocks: list[Block]) -> bool:
    source = text[start:end] if start or end < len(text) else text
    if not source or source.isspace():
        return True
    found: list[Block] = []
    whole = _grow(pyromark.events_with_range(_plain(source), options=_OPTIONS), start, found)
    blocks += [b for b in found if b[0] != HTML or not text.startswith("<!--", b[1])]
    return whole


def _plain(source: str) -> str:
    """The same blocks without what stands in them, in as many bytes as characters.

    The parser counts bytes, and spends most of its time inside of lines; we count characters and
    want its blocks. No block of CommonMark begins or ends with a character outside of ASCII, nor
    with emphasis or code in a line. `<?` would open a block.
    """
    raw = source.encode("ascii", "replace").replace(b"**", b"xx")
    if b"<" in raw:
        raw = raw.replace(b"<?", b"<x")
    return raw.replace(b"```", b"\x01\x01\x01").translate(_INLINE).decode("ascii")


def _tags(text: str, start: int, end: int) -> Iterator[re.Match[str]]:
    """Tags that are no HTML, outside of fences."""
    if text.find("<", start, end) < 0:
        return
    marks = [
        mark
        for mark in _TAG.finditer(text, start, end)
        if mark["name"].casefold() not in ELEMENTS and _begins_line(text, start, mark.start())
    ]
    if not marks or len(marks) > _MAX_TAGS:
        return
    fences = [m.start() for m in _FENCE.finditer(text, start, end)]
    for mark in marks:
        if bisect_left(fences, mark.start()) % 2 == 0:
            yield mark


def _begins_line(text: str, start: int, at: int) -> bool:
    """True if only white space stands before `at` on its line."""
    line = text.rfind("\n", start, at) + 1 or start
    return (line == 0 or text[line - 1] == "\n") and not text[line:at].strip(" \t")


def _tag_blocks(mark: re.Match[str]) -> list[Block]:
    name = mark["name"]
    opened: Block = (END_TAG if mark["close"] else TAG, mark.start(), mark.end(), _LEAF, name)
    if mark["value"] is None:
        return [opened]
    value: Block = (PARAGRAPH, mark.start("value"), mark.end("value"), _LEAF, "")
    return [opened, value, (END_TAG, mark.end("value"), mark.end(), _LEAF, name)]


def _grow(events: Iterable[tuple[Any, Range]], offset: int, blocks: list[Block]) -> bool:
    """Hangs the blocks into `blocks`; false if they are too many."""
    kind, until, into = "", _NEVER, blocks
    above = [(kind, until, into)]
    count = 0
    for event, where in events:
        # An event is a word, or a mapping of one word to what it is about; no other word has `Start` in it.
        if "Start" not in event:
            continue
        tag = event["Start"]
        if type(tag) is str:
            name = tag
        else:
            (name,) = tag
        if name not in _HOLDS_BLOCKS:
            continue
        start = where["start"] + offset
        while until <= start:
            above.pop()
            kind, until, into = above[-1]
        if name == PARAGRAPH and kind == ITEM:
            continue
        count += 1
        if count > MAX_BLOCKS:
            return False
        end = where["end"] + offset
        if not _HOLDS_BLOCKS[name]:
            into.append((name, start, end, _LEAF, "" if tag is name else _described(name, tag[name])))
        elif len(above) <= MAX_DEPTH:
            children: list[Block] = []
            into.append((name, start, end, children, ""))
            kind, until, into = name, end, children
            above.append((kind, until, into))
    return True


def _described(name: str, about: Any) -> Any:
    """The level of a heading, the info string of a code block."""
    if name == HEADING:
        return _LEVELS[about["level"]]
    return about["Fenced"].strip() if type(about) is dict else "indented"
