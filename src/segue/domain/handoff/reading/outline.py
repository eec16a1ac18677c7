"""Small questions about blocks: the words of a heading, the inside of a fence, sections that repeat."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from segue.domain.handoff.model import Outcome
from segue.domain.handoff.reading import topics
from segue.domain.handoff.reading.markdown import HEADING, Block
from segue.domain.handoff.reading.outcome import HEADING as HEADING_WEIGHT
from segue.domain.handoff.reading.outcome import judge, said_by_heading
from segue.domain.handoff.reading.scopes import STRONG
from segue.domain.handoff.reading.vocabulary import Reading, read_heading

VALUED: Final = re.compile(r"[:\uff1a\u2014\u2013]|[ ]-[ ]")
"""What stands between a heading's subject and what it says of it."""
STATUS_LINE: Final = 6
"""How much a heading or an item counts that is a status and nothing else."""


def repeated_sections(blocks: list[Block], headings: dict[int, Heading]) -> frozenset[int]:
    """Where headings stand that came before, under the same heading, with a field's text below them."""
    if len({heading.folded for heading in headings.values()}) == len(headings):
        return frozenset()
    path: list[tuple[int, str]] = []
    filled: set[tuple[tuple[int, str], ...]] = set()
    found: set[int] = set()
    empty = True
    for block in blocks:
        kind, start, _, _, level = block
        if kind != HEADING:
            empty = False
            continue
        if not empty:
            filled.add(tuple(path))
            empty = True
        while path and path[-1][0] >= level:
            path.pop()
        heading = headings[start]
        path.append((level, heading.folded))
        reading = heading.meaning.reading
        if tuple(path) in filled and reading and reading.exact and reading.topic in STRONG:
            found.add(start)
    return frozenset(found)


@dataclass(frozen=True, slots=True)
class Meaning:
    """What the words of a heading mean."""

    reading: Reading | None
    opens: Reading | None
    """What the text below it is about."""
    said: str
    """The words that may say how the work ended."""
    weight: int
    """How much they count."""
    tells: bool
    """False if they cannot say how the work ended."""


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading as it stands in the source."""

    words: str
    """Without its signs: `## **Next**` is `Next`."""
    folded: str
    """The same without regard to case."""
    lead: int
    size: int
    """Where it begins in its block, and how long it is, without the line break after it."""
    meaning: Meaning


@lru_cache(maxsize=8192)
def meaning_of(words: str) -> Meaning:
    """What a heading means, and what it opens."""
    reading = read_heading(words)
    valued = VALUED.search(words) if reading and reading.topic is topics.STATUS else None
    said, weight = (words[valued.end() :], STATUS_LINE) if valued else (words, HEADING_WEIGHT)
    tells = weight != HEADING_WEIGHT or said_by_heading(said) is not None
    return Meaning(reading, _opened(words, reading), said, weight, tells)


def _opened(words: str, reading: Reading | None) -> Reading | None:
    """What stands under a verdict that is no approval is what was found wrong."""
    if reading is None or reading.topic is not topics.STATUS or "verdict" not in words.casefold():
        return reading
    topic = topics.STATUS if judge(words) in (Outcome.COMPLETED, None) else topics.GOTCHAS
    return Reading(topic=topic, exact=True, weight=1)


@lru_cache(maxsize=8192)
def heading_of(source: str) -> Heading:
    """What the block of a heading says."""
    lead = len(source) - len(source.lstrip())
    source = source.strip()
    line = source.split("\n", 1)[0] if source[:1] == "#" or "\n" not in source else source.rsplit("\n", 1)[0]
    words = line.strip("# \t\r\n*_").strip()
    return Heading(words, words.casefold(), lead, len(source), meaning_of(words))


def fence_content(text: str, block: Block) -> tuple[int, int]:
    """Start and end of what stands between the fences."""
    _, opened, end, _, info = block
    if info == "indented":
        return text.rfind("\n", 0, opened) + 1, end
    start = text.find("\n", opened, end) + 1 or end
    last = text.rfind("\n", start, end - 1) if text[end - 1 : end] == "\n" else text.rfind("\n", start, end)
    tail = text[last + 1 : end].strip()
    if last >= start - 1 and tail[:3] in ("```", "~~~"):
        end = last + 1
    return start, max(start, end)
