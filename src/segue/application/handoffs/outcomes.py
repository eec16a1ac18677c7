"""What a handoff between sessions is asked to be, and how it can end."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum

from segue.application.conversations.recorder import OnEvent
from segue.application.handoffs.handover import Draft
from segue.domain.catalog import AgentProfile
from segue.domain.handoff.checking.lint import Problem
from segue.domain.handoff_record import HandoffRecord
from segue.domain.session import HandoffReason, Session, SessionMessage

Edit = Callable[[Draft], Awaitable[str | None]]
"""Shows a person a draft with what is false in it; gives the text as they want it, none to cancel."""


@dataclass(frozen=True, kw_only=True, slots=True)
class HandedOff:
    """The work continues in a new session."""

    session_id: int
    successor_id: int
    handoff_id: int
    reason: HandoffReason
    document: str
    """Where the document is."""
    text: str
    """The handoff, in the notation that is stored."""
    problems: tuple[Problem, ...] = ()
    """What is still wrong with its form."""
    refuted: tuple[str, ...] = ()
    """Its false claims; the successor gets them as corrections."""
    reply: str | None = None
    """What the successor answered to it."""
    problem: str | None = None
    """Why the successor, which has the handoff, gave no answer."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Compacted:
    """The session itself continues, with a shorter memory."""

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
    """The session writes it; the events that follow belong to it."""
    REPAIRING = "repairing"
    """The session writes it once more: there was something wrong with it."""
    TAKEN = "taken"
    """The successor has it; the events that follow are its first reply."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StageChange:
    """A handoff has come a stage further."""

    stage: Stage
    session_id: int
    reason: HandoffReason
    is_automatic: bool
    successor: Session | None = None


OnStageChange = Callable[[StageChange], None]
"""Called with each stage of a handoff, in the order of what the agent does."""


@dataclass(frozen=True, kw_only=True, slots=True)
class HandoverRequest:
    """What is asked for."""

    reason: HandoffReason
    focus: str = ""
    name: str
    profile: AgentProfile
    model: str | None
    edit: Edit | None = None
    on_event: OnEvent | None = None
    on_stage: OnStageChange | None = None
    automatic: bool = False
    actor: str | None = None
    """Who wants it; one that is automatic is Segue's own."""

    def report(self, stage: Stage, session: Session, successor: Session | None = None) -> None:
        """The handoff of this session has come a stage further."""
        if self.on_stage is not None:
            self.on_stage(
                StageChange(
                    stage=stage,
                    session_id=session.id,
                    reason=self.reason,
                    is_automatic=self.automatic,
                    successor=successor,
                )
            )


@dataclass(slots=True)
class Progress:
    """How far a handoff has come, for those who may stop it."""

    is_fact: bool = False
    record: HandoffRecord | None = None
    """The handoff as it was saved, with where its document is."""
    successor: Session | None = None
    first: SessionMessage | None = None
