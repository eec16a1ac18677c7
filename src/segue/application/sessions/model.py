"""What a message to a session came to, and when sessions hand themselves over: values."""

from __future__ import annotations

from dataclasses import dataclass, field

from segue.application.handoffs.outcomes import Outcome
from segue.domain.session import HandoffLimits


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """What came of a message."""

    session_id: int
    """Where to continue: the successor's, if the session handed itself over."""
    message_id: str
    reply: str
    handoffs: tuple[Outcome, ...] = ()
    """The handoffs that came of it, in order."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SessionPolicy:
    """When sessions hand themselves over."""

    auto_handoff: bool = False
    limits: HandoffLimits = field(default_factory=HandoffLimits)
