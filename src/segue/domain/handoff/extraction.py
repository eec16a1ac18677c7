"""Takes the handoff out of whatever an agent wrote, and remembers where each statement stood."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from segue.domain.handoff.items import split_items
from segue.domain.handoff.model import Handoff
from segue.domain.handoff.notations import field_of

_TEXT_FIELDS = frozenset({"goal", "next_agent_context"})


class Notation(StrEnum):
    """How a handoff was written."""

    SECTIONS = "sections"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Span:
    """The characters `[start, end)` of the source that a statement came from."""

    start: int
    end: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Extraction:
    """What was found in a reply. `handoff` is none if nothing was."""

    handoff: Handoff | None
    """The record, never an empty one."""
    notation: Notation
    """How it was written."""
    spans: Mapping[str, Span] = field(default_factory=dict)
    """Field or item (`decisions_made[1]`) -> where it stands in the source."""
    notes: tuple[str, ...] = ()
    """What was guessed or mended."""


def extract_handoff(text: str) -> Extraction:
    """The handoff in `text`. Never raises; the first non-empty occurrence of a field wins."""
    values: dict[str, Any] = {}
    spans: dict[str, Span] = {}
    for heading, start, end in _sections(text):
        name = field_of(heading)
        if name is None or name in values:
            continue
        items = split_items(text[start:end], start)
        if not items:
            continue
        if name in _TEXT_FIELDS:
            values[name] = text[items[0].start : items[-1].end]
            spans[name] = Span(items[0].start, items[-1].end)
        else:
            values[name] = tuple(item.text for item in items)
            spans |= {f"{name}[{i}]": Span(item.start, item.end) for i, item in enumerate(items)}
    if not values:
        return Extraction(handoff=None, notation=Notation.NONE)
    return Extraction(handoff=Handoff.model_validate(values), notation=Notation.SECTIONS, spans=spans)


def _sections(text: str) -> Iterator[tuple[str, int, int]]:
    """(heading, start, end) of the text under each ATX heading; a `#` in a code fence is no heading."""
    heading: str | None = None
    start = begin = 0
    fenced = False
    for line in text.splitlines(keepends=True):
        bare = line.strip()
        if bare.startswith(("```", "~~~")):
            fenced = not fenced
        elif bare.startswith("#") and not fenced:
            if heading is not None:
                yield heading, start, begin
            heading, start = bare.strip("#").strip(), begin + len(line)
        begin += len(line)
    if heading is not None:
        yield heading, start, len(text)
