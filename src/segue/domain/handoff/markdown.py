"""Reads Markdown into a tree of blocks, each with its place in the source."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pyromark

_OPTIONS = pyromark.Options.ENABLE_TABLES | pyromark.Options.ENABLE_TASKLISTS
MAX_CHARS = 1_000_000
"""How much of a text is read: seven times the longest handoff that was seen in the wild."""
MAX_DEPTH = 40
"""How deep blocks may nest; what is deeper stays text of its parent."""
_STEP = 512
_CONTINUATION = bytes(range(0x80, 0xC0))

HEADING, PARAGRAPH, LIST, ITEM = "Heading", "Paragraph", "List", "Item"
TABLE, HEAD, ROW, CELL = "Table", "TableHead", "TableRow", "TableCell"
CODE, HTML, QUOTE, TAG, END_TAG = "CodeBlock", "HtmlBlock", "BlockQuote", "Tag", "EndTag"
_KINDS = frozenset({HEADING, PARAGRAPH, LIST, ITEM, TABLE, HEAD, ROW, CELL, CODE, HTML, QUOTE})

_TAG_LINE = re.compile(r"[ \t]*<(/?)([A-Za-z][\w.:-]{0,60})(?:[ \t][^<>\n]{0,200})?>[ \t\r]*")
_ONE_LINE_TAG = re.compile(r"[ \t]*<([A-Za-z][\w.:-]{0,60})>([^\n]*)</\1>[ \t\r]*")


class Block:
    """One block. `start` and `end` are offsets of characters; nobody changes a block after the parse."""

    __slots__ = ("checked", "children", "end", "info", "kind", "level", "start")

    def __init__(self, kind: str, start: int, end: int) -> None:
        self.kind = kind
        self.start = start
        self.end = end
        self.children: list[Block] = []
        self.level = 0
        """Of a heading, 1 to 6."""
        self.info = ""
        """The info string of a fence, or the name of a tag."""
        self.checked: bool | None = None
        """The box of a check list's item."""


def parse_markdown(text: str, start: int = 0, end: int | None = None) -> list[Block]:
    """The blocks of `text[start:end]`, in order, with tags that stand alone on their line told apart."""
    source = text[start:end] if start or end is not None else text
    root = Block("Root", 0, 1 << 62)
    _grow(root, pyromark.events_with_range(source, options=_OPTIONS), _to_chars(source, start))
    if not any(block.kind == HTML for block in root.children):
        return root.children
    return [part for block in root.children for part in _open_tags(text, block)]


def _grow(root: Block, events: Iterator[Any], place: Callable[[int], int]) -> None:
    stack: list[tuple[Block, int]] = [(root, 1 << 62)]
    for event, where in events:
        if type(event) is str:
            continue
        tag = event.get("Start")
        if tag is None:
            if "TaskListMarker" in event:
                _check(stack, event["TaskListMarker"])
            continue
        name = tag if type(tag) is str else next(iter(tag))
        if name not in _KINDS:
            continue
        begin, finish = where["start"], where["end"]
        while stack[-1][1] <= begin and len(stack) > 1:
            stack.pop()
        if len(stack) > MAX_DEPTH:
            continue
        block = Block(name, place(begin), place(finish))
        _describe(block, tag)
        stack[-1][0].children.append(block)
        stack.append((block, finish))


def _check(stack: list[tuple[Block, int]], checked: bool) -> None:
    for block, _ in reversed(stack):
        if block.kind == ITEM:
            block.checked = checked
            return


def _describe(block: Block, tag: Any) -> None:
    if block.kind == HEADING:
        block.level = int(tag[HEADING]["level"][1])
    elif block.kind == CODE:
        style = tag[CODE]
        block.info = style["Fenced"].strip() if type(style) is dict else "indented"


def _to_chars(source: str, offset: int) -> Callable[[int], int]:
    """Byte offsets to character offsets, each in constant time: the parser counts bytes, we do not."""
    if source.isascii():
        return lambda place: place + offset
    raw = source.encode()
    marks = [offset]
    for at in range(0, len(raw), _STEP):
        marks.append(marks[-1] + len(raw[at : at + _STEP].translate(None, _CONTINUATION)))

    def place(byte: int) -> int:
        step = byte // _STEP
        return marks[step] + len(raw[step * _STEP : byte].translate(None, _CONTINUATION))

    return place


def _open_tags(text: str, block: Block) -> Iterator[Block]:
    """An HTML block becomes tags and the Markdown between them; comments are no text."""
    if block.kind != HTML:
        yield block
        return
    if text.startswith("<!--", block.start):
        return
    begin = at = block.start
    while at < block.end:
        stop = text.find("\n", at, block.end) + 1 or block.end
        mark = _TAG_LINE.fullmatch(text, at, stop - (text[stop - 1] == "\n"))
        if mark or _ONE_LINE_TAG.fullmatch(text, at, stop - (text[stop - 1] == "\n")):
            yield from _between(text, begin, at)
            if mark:
                tag = Block(END_TAG if mark[1] else TAG, at, stop)
                tag.info = mark[2]
                yield tag
            else:
                yield from _one_line_tag(text, at, stop)
            begin = stop
        at = stop
    yield from _between(text, begin, block.end)


def _one_line_tag(text: str, start: int, end: int) -> Iterator[Block]:
    whole = _ONE_LINE_TAG.match(text, start, end)
    assert whole is not None
    opened = Block(TAG, start, whole.start(2))
    closed = Block(END_TAG, whole.end(2), end)
    opened.info = closed.info = whole[1]
    yield opened
    yield Block(PARAGRAPH, whole.start(2), whole.end(2))
    yield closed


def _between(text: str, start: int, end: int) -> Iterator[Block]:
    if not text[start:end].strip():
        return
    lead = text[start:end].lstrip()[:1]
    if lead == "<":
        yield Block(PARAGRAPH, start, end)
        return
    for block in parse_markdown(text, start, end):
        yield from [block] if block.kind != HTML else [Block(PARAGRAPH, block.start, block.end)]
