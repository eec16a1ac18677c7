"""The values that go into a briefing and come out of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

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
class ItemPlace:
    """What an item stood under, where that says more than the name of its field."""

    heading: str = ""
    """The nearest heading, below those further out that no item before it shows."""
    lead_in: str = ""
    """The sentence that introduced its list."""
    is_mention: bool = False
    """It is words of another item, as a file is that a statement names."""
    extras: tuple[str, ...] = ()
    """What else was said of it, such as `owner: ops`: keys and columns that no field has."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Predecessor:
    """A step that came before, and what it left."""

    agent_name: str
    """Who did it."""
    handoff: Handoff | None
    """Its record, if one could be extracted."""
    reply: str
    """Its raw reply: stands in where there is no record, and goes along with a record of little of it."""
    coverage: float = 1.0
    """The share of the reply that became typed items of the record."""
    places: Mapping[str, ItemPlace] = field(default_factory=dict)
    """Item (`what_was_done[2]`) -> what it stood under."""
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
    """Something that is known and not in the text; it can be asked for."""

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
    """What the budget had no room for, and what is too small to be said, in the order of the records."""
    tokens: int = 0
    """How many tokens the text is, by the counter that was given."""
    over_budget: int = 0
    """How many of them are beyond the budget, because what is never cut needs them."""
