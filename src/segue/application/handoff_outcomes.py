"""What a handoff between sessions is asked to be, and how it can end."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum

from segue.application.talking import OnEvent
from segue.domain.catalog import AgentProfile
from segue.domain.handoff.checking.lint import Problem
from segue.domain.sessions import Reason, Session, SpokenMessage

Edit = Callable[[str], Awaitable[str | None]]
"""Lets a person change the text of a handoff; none to cancel."""


@dataclass(frozen=True, kw_only=True, slots=True)
class HandedOff:
    """The work goes on in a new session."""

    session_id: int
    successor_id: int
    handoff_id: int
    reason: Reason
    document: str
    """Where the document is."""
    text: str
    """The handoff, in the notation that is stored."""
    problems: tuple[Problem, ...] = ()
    """What is still wrong with its form."""
    refuted: tuple[str, ...] = ()
    """What it says that is not so; the successor is told."""
    reply: str | None = None
    """What the successor answered to it."""
    problem: str | None = None
    """Why the successor, which has the handoff, gave no answer."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Compacted:
    """The session goes on itself, with a shorter memory."""

    session_id: int


@dataclass(frozen=True, kw_only=True, slots=True)
class HandoffCancelled:
    """Somebody stopped it; all is as it was."""

    session_id: int


@dataclass(frozen=True, kw_only=True, slots=True)
class HandoffFailed:
    """It could not be done."""

    session_id: int
    why: str
    document: str | None = None
    """Where the document is, if it was saved before that."""


Outcome = HandedOff | Compacted | HandoffCancelled | HandoffFailed


class Stage(StrEnum):
    """How far a handoff has come."""

    ASKED = "asked"
    """The session writes it; whatever is told next belongs to it."""
    MENDING = "mending"
    """The session writes it once more: there was something wrong with it."""
    TAKEN = "taken"
    """The successor has it; whatever is told next is its first reply."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Moved:
    """A handoff has come a stage further."""

    stage: Stage
    session_id: int
    reason: Reason
    is_automatic: bool
    successor: Session | None = None


OnMove = Callable[[Moved], None]
"""Is told how far a handoff has come, in the order of what the agent does."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Wanted:
    """What is asked for."""

    reason: Reason
    focus: str = ""
    name: str
    profile: AgentProfile
    model: str | None
    edit: Edit | None = None
    on_event: OnEvent | None = None
    on_move: OnMove | None = None
    automatic: bool = False

    def tell(self, stage: Stage, session: Session, successor: Session | None = None) -> None:
        """The handoff of this session has come a stage further."""
        if self.on_move is not None:
            self.on_move(
                Moved(
                    stage=stage,
                    session_id=session.id,
                    reason=self.reason,
                    is_automatic=self.automatic,
                    successor=successor,
                )
            )


@dataclass(slots=True)
class Progress:
    """How far a handoff has come, for whoever wants to stop it."""

    is_fact: bool = False
    path: str | None = None
    handoff_id: int | None = None
    successor: Session | None = None
    first: SpokenMessage | None = None
