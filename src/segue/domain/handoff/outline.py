"""Small questions about blocks: the words of a heading, the inside of a fence, sections that repeat."""

from __future__ import annotations

from segue.domain.handoff.markdown import HEADING, Block
from segue.domain.handoff.scopes import STRONG
from segue.domain.handoff.vocabulary import read_heading


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


def heading_words(source: str) -> str:
    """The words of a heading without its signs: `## **Next**` is `Next`."""
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
