"""What a handoff between sessions is asked to be, and how it can end."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from segue.application.talking import OnEvent
from segue.domain.catalog import AgentProfile
from segue.domain.handoff.lint import Problem
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
    automatic: bool = False


@dataclass(slots=True)
class Progress:
    """How far a handoff has come, for whoever wants to stop it."""

    is_fact: bool = False
    path: str | None = None
    handoff_id: int | None = None
    successor: Session | None = None
    first: SpokenMessage | None = None
