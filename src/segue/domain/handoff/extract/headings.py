"""What headings say: their words, their meaning, whether they stand there again."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from segue.domain.handoff.extract.blocks import HEADING, Block
from segue.domain.handoff.extract.outcome import HEADING as HEADING_WEIGHT
from segue.domain.handoff.extract.outcome import judge, said_by_heading
from segue.domain.handoff.extract.scopes import OPEN_SCOPES, STRONG
from segue.domain.handoff.extract.topics import BAD_MARKS, DONE_MARKS, OPEN_MARKS, Topic
from segue.domain.handoff.extract.vocabulary import HeadingMeaning, read_heading
from segue.domain.handoff.model import Outcome
from segue.domain.text.paths import paths_in

VALUED: Final = re.compile(r"[:\uff1a\u2014\u2013]|[ ]-[ ]")
"""What stands between a heading's subject and what it says of it."""
_PLAN: Final = re.compile(
    r"\W*(?:(?:step|day|week|paso|d[i\u00ed]a|semana|schritt|tag|woche|[e\u00e9]tape|jour|semaine|passo|giorno"
    r"|settimana|\u0448\u0430\u0433|\u0434\u0435\u043d\u044c|krok|ad\u0131m|\u30b9\u30c6\u30c3\u30d7|\u624b\u9806"
    r"|\u6b65\u9aa4) ?\d|\u7b2c[\u4e00\u4e8c\u4e09\u56db\u4e94\d]\u6b65|\d ?\ub2e8\uacc4)",
    re.IGNORECASE,
)
"""A heading in a plan: `Day 2: Set up the database`."""
_TESTS: Final = re.compile(r"\btests?\b|\bverif|\bpass", re.IGNORECASE)
_ASIDE: Final = re.compile(r"[(\uff08][^()\uff08\uff09]*[)\uff09]")
_LONGEST_NAME: Final = 60
STATUS_LINE: Final = 6
"""How much a heading or an item counts that is a status and nothing else."""


def suggested_by_mark(heading: str) -> Topic | None:
    """What the status mark before an unknown heading suggests; before a count of tests it is a check.

    A step or a day of a plan without a mark is still ahead.
    """
    if _TESTS.search(heading):
        return None
    for sign in heading[:4]:
        if sign in DONE_MARKS:
            return Topic.DONE
        if sign in OPEN_MARKS:
            return Topic.NEXT
        if sign in BAD_MARKS or sign == "\u26a0":
            return Topic.GOTCHAS
    return Topic.NEXT if _PLAN.match(heading) else None


def name_of_list(words: str, around: Topic | None) -> HeadingMeaning | None:
    """What a line right above a list means that is no sentence: `What is left`."""
    if len(words) > _LONGEST_NAME or words[-1] in ".!?;,:" or around not in OPEN_SCOPES:
        return None
    reading = read_heading(words)
    return reading if reading and (reading.strong or reading.topic in STRONG) else None


def meant_here(heading: str, around: Topic | None) -> HeadingMeaning | None:
    """What a heading without a phrase means by where it stands.

    Under the name of a file, in a section on changed files, stands what was done to it; under a part of what
    is ahead that is marked as done, `2a. Fine-tuning ✅`, what was done.
    """
    named = around in (Topic.MODIFIED, Topic.CHANGED) and paths_in(heading)
    marked = around is Topic.NEXT and heading.rstrip(" \ufe0f)").endswith(tuple(DONE_MARKS))
    return HeadingMeaning(topic=Topic.DONE, exact=True, weight=0) if named or marked else None


def repeated_sections(blocks: list[Block], headings: dict[int, Heading]) -> frozenset[int]:
    """Where headings stand that came before, under the same heading, with a field's text below them."""
    if len({heading.folded for heading in headings.values()}) == len(headings):
        return frozenset()
    path: list[tuple[int, str]] = []
    filled: set[tuple[tuple[int, str], ...]] = set()
    found: set[int] = set()
    empty = True
    for block in blocks:
        if block.kind != HEADING:
            empty = False
            continue
        level = int(block.about)
        if not empty:
            filled.add(tuple(path))
            empty = True
        while path and path[-1][0] >= level:
            path.pop()
        heading = headings[block.start]
        path.append((level, heading.folded))
        reading = heading.meaning.reading
        if tuple(path) in filled and reading and reading.exact and reading.topic in STRONG:
            found.add(block.start)
    return frozenset(found)


@dataclass(frozen=True, slots=True)
class Meaning:
    """What the words of a heading mean."""

    reading: HeadingMeaning | None
    opens: HeadingMeaning | None
    """What the text below it is about."""
    said: str
    """The words that may say how the work ended."""
    weight: int
    """How much they count."""
    is_exact: bool
    """True if a phrase is all of it, `Next steps`, or it names a decision, `ADR 17: ...`."""
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
    valued = VALUED.search(words) if reading and reading.topic is Topic.STATUS else None
    said, weight = words, HEADING_WEIGHT
    if valued:
        said, weight = _ASIDE.sub(" ", words[valued.end() :]), STATUS_LINE
    tells = weight != HEADING_WEIGHT or said_by_heading(said) is not None
    is_exact = (
        reading is not None
        and reading.exact
        and (reading.topic is Topic.DECISIONS or not VALUED.search(words))
    )
    return Meaning(reading, _opened(words, reading), said, weight, is_exact, tells)


def _opened(words: str, reading: HeadingMeaning | None) -> HeadingMeaning | None:
    """What stands under a verdict that is no approval is what was found wrong."""
    if reading is None or reading.topic is not Topic.STATUS or "verdict" not in words.casefold():
        return reading
    topic = Topic.STATUS if judge(words) in (Outcome.COMPLETED, None) else Topic.GOTCHAS
    return HeadingMeaning(topic=topic, exact=True, weight=1)


@lru_cache(maxsize=8192)
def heading_of(source: str) -> Heading:
    """What the block of a heading says."""
    lead = len(source) - len(source.lstrip())
    source = source.strip()
    line = source.split("\n", 1)[0] if source[:1] == "#" or "\n" not in source else source.rsplit("\n", 1)[0]
    words = line.strip("# \t\r\n*_").strip()
    return Heading(words, words.casefold(), lead, len(source), meaning_of(words))
