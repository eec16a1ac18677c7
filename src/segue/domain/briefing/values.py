"""The values that go into a briefing and come out of it."""

from __future__ import annotations

from dataclasses import dataclass

from segue.domain.handoff.model import Handoff


@dataclass(frozen=True, kw_only=True, slots=True)
class FalseClaim:
    """A claim that was refuted."""

    field: str
    """Where it is in the record: `what_was_done[2]`; empty if no field holds it."""
    text: str
    """The agent's own words."""
    reason: str
    """What was measured."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Predecessor:
    """A step that came before, and what it left."""

    agent_name: str
    """Who did it."""
    handoff: Handoff | None
    """Its record, if one could be extracted."""
    reply: str
    """Its raw reply: stands in where there is no record."""
    false: tuple[FalseClaim, ...] = ()
    """What of it was refuted: marked where it is said."""


@dataclass(frozen=True, kw_only=True, slots=True)
class KnownFact:
    """Something learned earlier that concerns this step."""

    text: str
    """What is known, in one sentence."""
    kind: str = "fact"
    """`pattern`, `gotcha`, `decision`, `failed approach`."""
    about: tuple[str, ...] = ()
    """The files or tags that it concerns."""
    is_stale: bool = False
    """Whether the code that it speaks of has changed since."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LeftOut:
    """Something that did not fit; it can be asked for."""

    agent_name: str
    """Whose it is; empty for facts and decisions of the human."""
    field: str
    """`what_was_done[3]`, or `reply`."""
    text: str
    """What was left out."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Briefing:
    """The exact text for the agent."""

    text: str
    """What is sent."""
    left_out: tuple[LeftOut, ...] = ()
    """What the budget had no room for, in the order of the records."""
    tokens: int = 0
    """How many tokens the text is, by the counter that was given."""
