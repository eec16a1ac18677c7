"""One attempt at a step, in one session."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from segue.domain.briefing.model import LeftOut
from segue.domain.errors import IllegalMove
from segue.domain.session import HandoffReason


class AttemptStatus(StrEnum):
    """How an attempt at a step stands; how far its conversation has come, its messages tell."""

    RUNNING = "running"
    HANDING_OVER = "handing_over"
    """Its session has reached a limit; it is asked for what the next one must know."""
    HANDED_OVER = "handed_over"
    """The step continues in another session."""
    DONE = "done"
    FAILED = "failed"
    LOST = "lost"
    ABORTED = "aborted"

    @property
    def is_final(self) -> bool:
        """True if this attempt is over."""
        return self not in (AttemptStatus.RUNNING, AttemptStatus.HANDING_OVER)


@dataclass(frozen=True, kw_only=True, slots=True)
class Attempt:
    """One try at a step, in one session; its briefing is the first message there."""

    id: int = 0
    step_id: int
    session_id: int
    number: int
    """1 for the first try."""
    status: AttemptStatus = AttemptStatus.RUNNING
    carry_over: str = ""
    """What the try before it left behind: the end of its briefing; empty for the first try."""
    left_out: tuple[LeftOut, ...] = ()
    """What is known and not in the briefing."""
    over_budget: int = 0
    """How many tokens the briefing has beyond its budget."""
    error: str | None = None
    handover_reason: HandoffReason | None = None
    """Why the step continues in another session; none if it does not."""
    started_at: datetime
    finished_at: datetime | None = None

    def moved(self, status: AttemptStatus, **changes: object) -> Attempt:
        """This attempt, one state further."""
        if self.status.is_final:
            raise IllegalMove(f"attempt {self.id} is {self.status} already")
        return replace(self, status=status, **changes)  # type: ignore[arg-type]  # checked by replace itself


def join_text(briefing: str, carry_over: str) -> str:
    """What is sent: the briefing, and what an attempt before this one left."""
    return f"{briefing}\n{carry_over}" if carry_over else briefing
