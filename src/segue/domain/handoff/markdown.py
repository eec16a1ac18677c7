"""Reads Markdown into a tree of blocks, each with its place in the source."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from itertools import islice
from typing import Any, NamedTuple

import pyromark

from segue.domain.handoff.words import ELEMENTS

MAX_BLOCKS = 30_000
MAX_EVENTS = 400_000
"""How many blocks of a text are read: a megabyte of ordinary Markdown has half of that."""
_OPTIONS = pyromark.Options.ENABLE_TABLES
_INLINE = bytes.maketrans(b"`_[]&\x01", b"xxxxx`")
"""Signs that shape lines, not blocks; what stands for a sign of a fence becomes one again."""
MAX_CHARS = 1_000_000
"""How much of a text is read: seven times the longest handoff that was seen in the wild."""
MAX_DEPTH = 40
"""How deep blocks may nest; what is deeper stays text of its parent."""

HEADING, PARAGRAPH, LIST, ITEM = "Heading", "Paragraph", "List", "Item"
TABLE, HEAD, ROW, CELL = "Table", "TableHead", "TableRow", "TableCell"
CODE, HTML, QUOTE, TAG, END_TAG = "CodeBlock", "HtmlBlock", "BlockQuote", "Tag", "EndTag"
_ROOT = "Root"
_HOLDS_BLOCKS = dict.fromkeys((LIST, ITEM, TABLE, HEAD, ROW, QUOTE), True) | dict.fromkeys(
    (HEADING, PARAGRAPH, CELL, CODE, HTML), False
)
"""The kinds of blocks, and whether other blocks can stand in them."""

_TAG = re.compile(
    r"<(?P<close>/?)(?P<name>[A-Za-z][\w.:-]{0,60})(?:[ \t][^<>\n]{0,200})?>"
    r"(?:(?P<value>[^<\n]+)</(?P=name)>)?[ \t\r]*$",
    re.MULTILINE,
)
_FENCE = re.compile(r"^[ \t]{0,3}(?:```|~~~)", re.MULTILINE)
_MAX_TAGS = 1000


class Block(NamedTuple):
    """One block. `start` and `end` are offsets of characters."""

    kind: str
    start: int
    end: int
    children: list[Block]
    """What stands in it; nobody changes that after the parse."""
    info: str = ""
    """The info string of a fence, or the name of a tag."""
    level: int = 0
    """Of a heading, 1 to 6."""


_new = tuple.__new__
# A named tuple's own constructor is written in Python, and there are many blocks.
_LEAF: list[Block] = []
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
    root = Block(_ROOT, 0, 1 << 62, [])
    events = pyromark.events_with_range(_plain(source), options=_OPTIONS)
    whole = _grow(root, islice(events, MAX_EVENTS), start)
    blocks += [b for b in root.children if b.kind != HTML or not text.startswith("<!--", b.start)]
    return whole and next(iter(events), None) is None


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
    opened = Block(END_TAG if mark["close"] else TAG, mark.start(), mark.end(), _LEAF, mark["name"])
    if mark["value"] is None:
        return [opened]
    closed = Block(END_TAG, mark.end("value"), mark.end(), _LEAF, mark["name"])
    return [opened, Block(PARAGRAPH, mark.start("value"), mark.end("value"), _LEAF), closed]


def _grow(root: Block, events: Iterator[Any], offset: int) -> bool:
    stack = [root]
    parent, until = root, root.end
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
        holds = _HOLDS_BLOCKS.get(name)
        if holds is None:
            continue
        start = where["start"] + offset
        while until <= start:
            stack.pop()
            parent = stack[-1]
            until = parent.end
        if (name == PARAGRAPH and parent.kind == ITEM) or len(stack) > MAX_DEPTH:
            continue
        count += 1
        if count > MAX_BLOCKS:
            return False
        end = where["end"] + offset
        if holds:
            block = _new(Block, (name, start, end, [], "", 0))
            parent.children.append(block)
            stack.append(block)
            parent, until = block, end
        else:
            info, level = ("", 0) if tag is name else _described(name, tag[name])
            parent.children.append(_new(Block, (name, start, end, _LEAF, info, level)))
    return True


def _described(name: str, about: Any) -> tuple[str, int]:
    """The info string of a code block, the level of a heading."""
    if name == HEADING:
        return "", int(about["level"][1])
    return about["Fenced"].strip() if type(about) is dict else "indented", 0
