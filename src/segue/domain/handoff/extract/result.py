"""What extraction gives back: the record, where each statement stands, and how much of the text it covers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from segue.domain.handoff.model import Handoff
from segue.domain.text.span import Span

LEAST_COVERAGE = 0.5
"""A text of which a smaller share became typed items was not understood."""


class Origin(StrEnum):
    """Where a text comes from: only the caller can tell a short reply from a mail."""

    DOCUMENT = "document"
    """A file that may be anything; it is tested whether it is a handoff at all."""
    REPLY = "reply"
    """What an agent answered at the end of its work; it is never tested for likeness."""


class Notation(StrEnum):
    """How a handoff was written."""

    YAML = "yaml"
    JSON = "json"
    TAGS = "tags"
    SECTIONS = "sections"
    LABELS = "labels"
    REPLY = "reply"
    """Plain sentences, without headings or labels that open a field."""
    CUSTOM = "custom"
    """A notation of the caller's own."""
    NONE = "none"


@dataclass(frozen=True, kw_only=True, slots=True)
class SourcePlace:
    """What an item keeps of the text around it."""

    span: Span
    """Where the item stands in the source."""
    headings: tuple[str, ...] = ()
    """The headings, labels or keys above it, outermost first, without their signs."""
    lead_in: str | None = None
    """The sentence that introduces the item's list."""
    number: str | None = None
    """The item's number as written: `3.`."""
    extras: tuple[tuple[str, str], ...] = ()
    """Words of the item that no part of it holds: key or column, and text. The key may be empty."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Likeness:
    """Whether a text is a handoff at all."""

    is_handoff: bool = True
    """False if the text is something else: a README, a changelog, source code."""
    score: float = 0.0
    """How much it looks like one; zero is the threshold. Zero where nothing was tested."""
    reasons: tuple[str, ...] = ()
    """What counted, weightiest first."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Extraction:
    """What was found in a reply. `handoff` is none if nothing was."""

    handoff: Handoff | None
    """The record, never an empty one."""
    notation: Notation
    """How it was written."""
    spans: Mapping[str, Span] = field(default_factory=dict)
    """Field or item (`decisions_made[1].rationale`) -> where it stands in the source."""
    notes: tuple[str, ...] = ()
    """What was guessed, repaired or left out."""
    places: Mapping[str, SourcePlace] = field(default_factory=dict)
    """Item (`decisions_made[1]`) or single field (`goal`) -> what it keeps of the text around it."""
    coverage: float = 1.0
    """The share of the text's letters and digits that stand in typed items; other sections do not count."""
    is_own_schema: bool = False
    """True if it is in the canonical schema, or states its outcome under that name."""
    guessed: frozenset[str] = frozenset()
    """The items and fields that no rule was sure of."""
    likeness: Likeness = Likeness()
    """Whether the text is a handoff, and why."""
    left_over: tuple[Span, ...] = ()
    """What was not understood: where the texts of `other_sections` stand."""
