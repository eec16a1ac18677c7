"""Small questions about blocks: the words of a heading, the inside of a fence, sections that repeat."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from segue.domain.handoff.markdown import HEADING, Block
from segue.domain.handoff.model import Outcome
from segue.domain.handoff.notations import Topic
from segue.domain.handoff.outcome import HEADING as HEADING_WEIGHT
from segue.domain.handoff.outcome import judge
from segue.domain.handoff.scopes import STRONG
from segue.domain.handoff.vocabulary import Reading, read_heading

VALUED = re.compile(r"[:\uff1a\u2014\u2013]|[ ]-[ ]")
"""What stands between a heading's subject and what it says of it."""
STATUS_LINE = 6
"""How much a heading or an item counts that is a status and nothing else."""


def repeated_sections(blocks: list[Block], headings: dict[int, str]) -> frozenset[int]:
    """Where headings stand that came before, under the same heading, with a field's text below them."""
    if len(set(map(str.casefold, headings.values()))) == len(headings):
        return frozenset()
    path: list[tuple[int, str]] = []
    filled: set[tuple[tuple[int, str], ...]] = set()
    found: set[int] = set()
    empty = True
    for block in blocks:
        if block.kind != HEADING:
            empty = False
            continue
        if not empty:
            filled.add(tuple(path))
            empty = True
        while path and path[-1][0] >= block.level:
            path.pop()
        words = headings[block.start]
        path.append((block.level, words.casefold()))
        reading = read_heading(words)
        if tuple(path) in filled and reading and reading.exact and reading.topic in STRONG:
            found.add(block.start)
    return frozenset(found)


class Meaning(NamedTuple):
    """What the words of a heading mean."""

    reading: Reading | None
    opens: Reading | None
    """What the text below it is about."""
    said: str
    """The words that may say how the work ended."""
    weight: int
    """How much they count."""


@lru_cache(maxsize=8192)
def meaning_of(words: str) -> Meaning:
    """What a heading means, and what it opens."""
    reading = read_heading(words)
    valued = VALUED.search(words) if reading and reading.topic is Topic.STATUS else None
    said, weight = (words[valued.end() :], STATUS_LINE) if valued else (words, HEADING_WEIGHT)
    return Meaning(reading, _opened(words, reading), said, weight)


def _opened(words: str, reading: Reading | None) -> Reading | None:
    """What stands under a verdict that is no approval is what was found wrong."""
    if reading is None or reading.topic is not Topic.STATUS or "verdict" not in words.casefold():
        return reading
    topic = Topic.STATUS if judge(words) in (Outcome.COMPLETED, None) else Topic.GOTCHAS
    return Reading(topic=topic, exact=True, weight=1)


@lru_cache(maxsize=8192)
def heading_words(source: str) -> str:
    """The words of a heading without its signs: `## **Next**` is `Next`."""
    source = source.strip()
    line = source.split("\n", 1)[0] if source[:1] == "#" or "\n" not in source else source.rsplit("\n", 1)[0]
    return line.strip("# \t\r\n*_").strip()


def fence_content(text: str, block: Block) -> tuple[int, int]:
    """Start and end of what stands between the fences."""
    if block.info == "indented":
        return text.rfind("\n", 0, block.start) + 1, block.end
    start = text.find("\n", block.start, block.end) + 1 or block.end
    end = block.end
    last = text.rfind("\n", start, end - 1) if text[end - 1 : end] == "\n" else text.rfind("\n", start, end)
    tail = text[last + 1 : end].strip()
    if last >= start - 1 and tail[:3] in ("```", "~~~"):
        end = last + 1
    return start, max(start, end)
