"""Puts fixes into the document itself: only the words in question change, whatever the notation."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from segue.domain.handoff.checking.fixing import Fix
from segue.domain.handoff.checking.lint import find_span
from segue.domain.text.span import Span


@dataclass(frozen=True, kw_only=True, slots=True)
class Patched:
    """A document with fixes in it."""

    text: str
    """The document."""
    applied: tuple[Fix, ...]
    """The fixes that are in it now."""
    open: tuple[Fix, ...]
    """The fixes whose words could not be found for sure; a person has to look."""


def patch_source(source: str, spans: Mapping[str, Span], fixes: Iterable[Fix]) -> Patched:
    """`source` with each fix made where its field stands, if the old words stand there exactly once."""
    edits: list[tuple[int, int, Fix]] = []  # by their place, apart from each other
    left: list[Fix] = []
    for fix in fixes:
        start = _find(source, spans, fix)
        at = 0 if start is None else bisect_left(edits, start, key=_start_of)
        if start is None or _touches(edits[max(at - 1, 0) : at + 1], start, start + len(fix.before)):
            left.append(fix)
        else:
            edits.insert(at, (start, start + len(fix.before), fix))
    pieces: list[str] = []
    at = 0
    for begin, end, fix in edits:
        pieces += [source[at:begin], fix.after]
        at = end
    return Patched(
        text="".join([*pieces, source[at:]]), applied=tuple(fix for *_, fix in edits), open=tuple(left)
    )


def _start_of(edit: tuple[int, int, Fix]) -> int:
    return edit[0]


def _touches(edits: Iterable[tuple[int, int, Fix]], start: int, end: int) -> bool:
    return any(start < edit_end and edit_start < end for edit_start, edit_end, _ in edits)


def _find(source: str, spans: Mapping[str, Span], fix: Fix) -> int | None:
    # A repetition is an item with its bullet, parts and blank lines: not ours to take out of a document.
    span = find_span(fix.field, spans) if fix.after and fix.before else None
    if span is None or source.count(fix.before, span.start, span.end) != 1:
        return None
    return source.index(fix.before, span.start, span.end)
