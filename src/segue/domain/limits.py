"""Limits of a session: when it is time to hand over, by the numbers that its back end reported."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from segue.domain.sessions import Reason
from segue.domain.usage import Usage

MOST_HANDOFFS_WITHOUT_PROGRESS = 3
"""So many handoffs in a row that bring nothing new end an automatic chain of sessions."""


@dataclass(frozen=True, kw_only=True, slots=True)
class HandoffLimits:
    """What a session may use before it hands over; none for no limit."""

    context_share: float | None = 0.75
    """How full the model's window may be, from 0 to 1."""
    turns: int | None = None
    """How many replies it may give."""
    minutes: float | None = None
    """How long it may last."""
    cost: float | None = None
    """US dollars that it may cost."""

    def reached(self, usage: Usage | None, turns: int, started_at: datetime, now: datetime) -> Reason | None:
        """Why the session should hand over now; none if it need not. What is not reported limits nothing."""
        share = usage.context_share if usage is not None else None
        if _is_over(share, self.context_share):
            return Reason.CONTEXT_LIMIT
        minutes = (now - started_at).total_seconds() / 60
        cost = usage.cost if usage is not None else None
        spent = ((turns, self.turns), (minutes, self.minutes), (cost, self.cost))
        return Reason.SHIFT_END if any(_is_over(value, limit) for value, limit in spent) else None


def stalled_after(stalled_before: int, *, has_changes: bool, is_same: bool) -> int:
    """How many handoffs in a row brought nothing new, this one included.

    One that changed files, or that says something else than the one before it, begins the count anew.
    """
    return 1 if has_changes or not is_same else stalled_before + 1


def nothing_new(stalled: int) -> str:
    """Why a chain of sessions ends that goes nowhere."""
    return f"{stalled} handoffs in a row brought nothing new: no file was changed, and each said the same"


def _is_over(value: float | None, limit: float | None) -> bool:
    return value is not None and limit is not None and value >= limit
