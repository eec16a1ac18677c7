"""Takes the colour codes of a terminal out of a text, and puts places back to where they stand with them."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, replace
from typing import Final

from segue.domain.handoff.extract.result import Extraction
from segue.domain.text.span import Span

_CODE: Final = re.compile(
    r"\x1b\[[0-?]{0,64}[ -/]{0,16}[@-~]|\x1b\][^\x07\x1b]{0,2048}(?:\x07|\x1b\\)|\x1b[()][0-9A-Za-z]"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Uncoloured:
    """A text without its codes."""

    text: str
    starts: tuple[int, ...]
    """Where each run of characters between two codes begins in the text without codes."""
    shifts: tuple[int, ...]
    """How far each run stands behind that in the source."""

    def put_back(self, found: Extraction) -> Extraction:
        """The same with all places in the source."""
        return replace(
            found,
            spans={name: self._span(span) for name, span in found.spans.items()},
            places={
                name: replace(place, span=self._span(place.span)) for name, place in found.places.items()
            },
            left_over=tuple(map(self._span, found.left_over)),
            notes=("the colour codes of a terminal were left out", *found.notes),
        )

    def _span(self, span: Span) -> Span:
        """Runs of no characters begin at the same place: the last of them is the one that has some."""
        start = self._shift(span.start)
        return Span(
            span.start + start, span.end + (self._shift(span.end - 1) if span.end > span.start else start)
        )

    def _shift(self, at: int) -> int:
        return self.shifts[bisect_right(self.starts, at) - 1]


def take_out_codes(source: str) -> Uncoloured | None:
    """The text without colour codes; none if it has no codes."""
    if "\x1b" not in source:
        return None
    pieces: list[str] = []
    starts, shifts = [0], [0]
    at = size = 0
    for code in _CODE.finditer(source):
        pieces.append(source[at : code.start()])
        size += code.start() - at
        at = code.end()
        starts.append(size)
        shifts.append(at - size)
    if not at:
        return None
    pieces.append(source[at:])
    return Uncoloured(text="".join(pieces), starts=tuple(starts), shifts=tuple(shifts))
