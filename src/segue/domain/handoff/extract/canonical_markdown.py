"""Reads the four and the six sections as Segue itself writes them: exactly, guards taken off again."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from segue.domain.handoff.extract.assemble import assemble
from segue.domain.handoff.extract.blocks import MAX_BLOCKS
from segue.domain.handoff.extract.item_parts import HEADLINES, PART_LABELS, Parts, code_spans_in, parts_of
from segue.domain.handoff.extract.nothing import says_nothing
from segue.domain.handoff.extract.statements import ExtractedStatement, files_of_work
from segue.domain.handoff.extract.topics import TEXTS, Topic
from segue.domain.handoff.extract.units import Outline, UnitKind, Where
from segue.domain.handoff.model import Handoff
from segue.domain.handoff.writing.markdown import (
    ATTRIBUTE_LABELS,
    render_four_sections,
    render_six_sections,
)
from segue.domain.handoff.writing.text import mark_code, unguard
from segue.domain.text.span import Span, TextPiece

_FOUR: dict[str, Topic | None] = {
    "## What Was Done": Topic.DONE,
    "## Decisions Made": Topic.DECISIONS,
    "## Open Questions": Topic.QUESTIONS,
    "## Next Agent Context": Topic.BRIEF,
}
_SIX: dict[str, Topic | None] = {
    "## Goal": Topic.GOAL,
    "## Constraints & Preferences": Topic.CONSTRAINTS,
    "## Progress": None,
    "### Done": Topic.DONE,
    "### Blocked": Topic.BLOCKERS,
    "## Key Decisions": Topic.DECISIONS,
    "## Critical Context": Topic.CONTEXT,
    "## Next Steps": Topic.NEXT,
}
_FORMS: tuple[tuple[dict[str, Topic | None], Callable[[Handoff], str]], ...] = (
    (_FOUR, render_four_sections),
    (_SIX, render_six_sections),
)
_PART_OF_LABEL = {label: part for labels in ATTRIBUTE_LABELS.values() for part, label in labels.items()}
_LABELLED = re.compile(rf"  - ({'|'.join(_PART_OF_LABEL)}): ")
_BULLET = re.compile(r"- (?:\[x\] )?")


_LONGEST_HEADING = 40


class _MarkdownLine(NamedTuple):
    text: str
    start: int
    in_code: bool

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def read_canonical(text: str) -> tuple[Outline, list[ExtractedStatement]] | None:
    """What a document in our own written form states; none if writing it again would not give this text."""
    first = text[:_LONGEST_HEADING].split("\n", 1)[0]
    for headings, render in _FORMS:
        if first in headings and text.count("\n") < MAX_BLOCKS:
            return _read_form(text, headings, render)
    return None


def _read_form(
    text: str, headings: dict[str, Topic | None], render: Callable[[Handoff], str]
) -> tuple[Outline, list[ExtractedStatement]] | None:
    outline, made, at = Outline(source=text), list[ExtractedStatement](), 0
    for heading, lines in _sections(text):
        if heading not in headings:
            return None
        topic = headings[heading]
        begin = text.index(heading, at)
        at = begin + len(heading)
        opened = outline.add(UnitKind.HEADING, begin, at, Where(exact=True))
        where = Where(topic=topic, headings=(opened,), exact=True)
        for piece, parts in _pieces(topic, lines) if topic is not None and lines else ():
            if topic is None or says_nothing(piece.text) or _says_more(topic, piece, parts, text):
                return None
            unit = outline.add_piece(UnitKind.ITEM, piece, where)
            span = Span(piece.start, piece.end)
            made.append(
                ExtractedStatement(
                    topic=topic, span=span, text=piece.text, parts=parts, unit=unit, exact=True
                )
            )
    if render(assemble(outline, made).handoff).rstrip() != text.rstrip():
        return None
    return outline, made + files_of_work(outline, made)


def _says_more(topic: Topic, piece: TextPiece, parts: Parts, text: str) -> bool:
    """True if an item names parts in other words than ours: then it is somebody else's."""
    headline = dict(parts).get(HEADLINES.get(topic, ""), piece)
    if topic not in PART_LABELS or "\n" not in headline.text or "```" in headline.text:
        return False
    return bool(parts_of(topic, text, text[headline.start : headline.end], *headline[1:]))


def _sections(text: str) -> Iterator[tuple[str, list[_MarkdownLine]]]:
    """Each heading of rank 2 or 3 and the lines below it, without the blank ones at the rims."""
    heading, lines, at = "", list[_MarkdownLine](), 0
    for line, in_code in mark_code(text.split("\n")):
        if not in_code and line.startswith(("## ", "### ")):
            if heading:
                yield heading, _trimmed(lines)
            heading, lines = line, []
        else:
            lines.append(_MarkdownLine(line, at, in_code))
        at += len(line) + 1
    yield heading, _trimmed(lines)


def _trimmed(lines: list[_MarkdownLine]) -> list[_MarkdownLine]:
    first, last = 0, len(lines)
    while first < last and not lines[first].text.strip():
        first += 1
    while last > first and not lines[last - 1].text.strip():
        last -= 1
    return lines[first:last]


def _pieces(topic: Topic, lines: list[_MarkdownLine]) -> Iterator[tuple[TextPiece, Parts]]:
    if topic in TEXTS:
        yield _piece(lines, 0, 0), ()
        return
    item: list[_MarkdownLine] = []
    for line in lines:
        if line.text.startswith("- ") and item:
            yield _item(topic, item)
            item = []
        item.append(line)
    yield _item(topic, item)


def _item(topic: Topic, lines: list[_MarkdownLine]) -> tuple[TextPiece, Parts]:
    bullet = _BULLET.match(lines[0].text)
    lead = bullet.end() if bullet else 0
    marks = [at for at, line in enumerate(lines) if at and not line.in_code and _LABELLED.match(line.text)]
    if topic not in PART_LABELS or not marks:
        return _piece(lines, lead, 2), ()
    parts = [(HEADLINES[topic], _piece(lines[: marks[0]], lead, 2))]
    for at, stop in zip(marks, [*marks[1:], len(lines)], strict=True):
        label = _LABELLED.match(lines[at].text)
        assert label is not None
        name, value = _PART_OF_LABEL[label[1]], _piece(lines[at:stop], label.end(), 4)
        if name in ("depends_on", "blocking_tasks"):
            parts += [(name, each) for each in code_spans_in(value)]
        else:
            parts.append((name, value))
    return _piece(lines, lead, 2), tuple(parts)


def _piece(lines: list[_MarkdownLine], lead: int, indent: int) -> TextPiece:
    """The words of some lines: moved back to the left, what guarded them taken off."""
    margin = " " * indent
    words = [lines[0].text[lead:], *(line.text.removeprefix(margin) for line in lines[1:])]
    return TextPiece(unguard("\n".join(words)).rstrip("\n"), lines[0].start + lead, lines[-1].end)
