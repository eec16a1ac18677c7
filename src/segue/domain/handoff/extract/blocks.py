"""Reads Markdown into a tree of blocks, each with its place in the source."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import pyromark
from pyromark.event import Range

from segue.domain.text.words import ELEMENTS

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


@dataclass(frozen=True, slots=True)
class Block:
    """One block of Markdown and where it stands."""

    kind: str
    start: int
    end: int
    children: list[Block] = field(default_factory=list)
    about: str = ""
    """A heading's level, the info string of a fence, the name of a tag."""


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
    blocks += [b for b in found if b.kind != HTML or not text.startswith("<!--", b.start)]
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
    kind = END_TAG if mark["close"] else TAG
    if mark["value"] is None:
        return [Block(kind, mark.start(), mark.end(), about=name)]
    return [
        Block(kind, mark.start(), mark.start("value"), about=name),
        Block(PARAGRAPH, mark.start("value"), mark.end("value")),
        Block(END_TAG, mark.end("value"), mark.end(), about=name),
    ]


def _grow(events: Iterable[tuple[Any, Range]], offset: int, blocks: list[Block]) -> bool:
    """Hangs the blocks into `blocks`; false if they are too many."""
    above: list[Block] = []
    count = 0
    for event, where in events:
        # An event is a word, or a mapping of one word to what it is about; no other word has `Start` in it.
        if "Start" not in event:
            continue
        tag = event["Start"]
        name = tag if isinstance(tag, str) else next(iter(tag))
        if name not in _HOLDS_BLOCKS:
            continue
        start, end = where["start"] + offset, where["end"] + offset
        while above and above[-1].end <= start:
            above.pop()
        if name == PARAGRAPH and above and above[-1].kind == ITEM:
            continue
        count += 1
        if count > MAX_BLOCKS:
            return False
        block = Block(name, start, end, about="" if isinstance(tag, str) else _described(name, tag[name]))
        if not _HOLDS_BLOCKS[name] or len(above) < MAX_DEPTH:
            (above[-1].children if above else blocks).append(block)
        if _HOLDS_BLOCKS[name] and len(above) < MAX_DEPTH:
            above.append(block)
    return True


def _described(name: str, about: Any) -> str:
    """The level of a heading, the info string of a code block."""
    if name == HEADING:
        return str(about["level"])[1:]
    if name == CODE:
        return about["Fenced"].strip() if isinstance(about, dict) else "indented"
    return ""


def fence_content(text: str, block: Block) -> tuple[int, int]:
    """Start and end of what stands between the fences."""
    opened, end = block.start, block.end
    if block.about == "indented":
        return text.rfind("\n", 0, opened) + 1, end
    start = text.find("\n", opened, end) + 1 or end
    last = text.rfind("\n", start, end - 1) if text[end - 1 : end] == "\n" else text.rfind("\n", start, end)
    tail = text[last + 1 : end].strip()
    if last >= start - 1 and tail[:3] in ("```", "~~~"):
        end = last + 1
    return start, max(start, end)
