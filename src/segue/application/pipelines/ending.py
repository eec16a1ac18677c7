"""An attempt that is over, and its session with it: as they were, and as they are now."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from segue.domain.attempt import Attempt, AttemptStatus
from segue.domain.session import Session


@dataclass(frozen=True, kw_only=True, slots=True)
class Ended:
    """An attempt with its session, as they were and as they are now."""

    attempt: tuple[Attempt, Attempt]
    session: tuple[Session, Session]

    @property
    def step_id(self) -> int:
        """The step that it was an attempt at."""
        return self.attempt[1].step_id


def end_attempt(
    attempt: Attempt, session: Session, status: AttemptStatus, at: datetime, *, error: str | None = None
) -> Ended:
    """An attempt that is over, and its session with it."""
    return Ended(
        attempt=(attempt, attempt.moved(status, error=error, finished_at=at)),
        session=(session, session.ended(at)),
    )
