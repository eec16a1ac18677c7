"""Sessions with agents: what is said in them, and when and why one hands over to the next."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from segue.domain.catalog import AgentProfile
from segue.domain.errors import IllegalMove
from segue.domain.usage import Usage


class HandoffReason(StrEnum):
    """What made an agent hand over; no other reason exists."""

    CONTEXT_LIMIT = "context_limit"
    SHIFT_END = "shift_end"
    TASK_BOUNDARY = "task_boundary"


class MessageKind(StrEnum):
    """Why something is said to an agent."""

    BRIEFING = "briefing"
    """The first message of an attempt."""
    QUESTION = "question"
    """Its reply could not be read, or not well enough."""
    REPAIR = "repair"
    """Its handoff did not pass."""
    HANDOFF_REQUEST = "handoff_request"
    """The session is to hand over."""
    USER = "user"
    """What a person says."""
    INJECTION = "injection"
    """The first message of a session that continues another one."""


class MessageStatus(StrEnum):
    """How far a message has come."""

    SENDING = "sending"
    SENT = "sent"
    REPLIED = "replied"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def is_final(self) -> bool:
        """True if no reply is to come any more."""
        return self in (MessageStatus.REPLIED, MessageStatus.FAILED, MessageStatus.CANCELLED)


@dataclass(frozen=True, kw_only=True, slots=True)
class SessionMessage:
    """What was said to an agent, with its reply once there is one."""

    id: int = 0
    session_id: int
    kind: MessageKind
    key: str
    """The sender's name of it: in one session, each counts once."""
    wire_id: str
    """Its name on the back end, so that it is never delivered twice."""
    text: str
    sha256: str | None = None
    """The receipt: of the exact text that was sent."""
    status: MessageStatus = MessageStatus.SENDING
    reply: str | None = None
    error: str | None = None
    """Why there is no reply."""
    ledger: Mapping[str, Any] | None = None
    """The claims of the handoff that it asks about, each with its verdict."""
    usage: Usage | None = None
    """What its turn has used, where that was measured for itself."""
    created_at: datetime
    sent_at: datetime | None = None
    replied_at: datetime | None = None

    def sent(self, text: str, at: datetime) -> SessionMessage:
        """The agent has it, word for word like this."""
        return self._moved(MessageStatus.SENT, sha256=receipt_of(text), sent_at=at)

    def replied(self, reply: str, at: datetime, usage: Usage | None = None) -> SessionMessage:
        """The agent has answered."""
        return self._moved(MessageStatus.REPLIED, reply=reply, replied_at=at, usage=usage)

    def failed(self, why: str) -> SessionMessage:
        """There will be no answer."""
        return self._moved(MessageStatus.FAILED, error=why)

    def cancelled(self, why: str) -> SessionMessage:
        """Nobody waits for an answer any more."""
        return self._moved(MessageStatus.CANCELLED, error=why)

    def _moved(self, status: MessageStatus, **changes: Any) -> SessionMessage:
        if self.status.is_final:
            raise IllegalMove(f'the message "{self.key}" is {self.status} already')
        return replace(self, status=status, **changes)


def receipt_of(text: str) -> str:
    """The SHA-256 of a text, as it is kept."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, kw_only=True, slots=True)
class Session:
    """A conversation with an agent: one attempt at a step, or one that a person holds."""

    id: int = 0
    name: str
    """Name of the profile, or of the back end where there is none."""
    backend: str
    """Name of the program that is driven."""
    key: str
    """Ours, made before the session is opened, so that opening can be repeated."""
    token: str | None = None
    """Opens Segue's own tools to this session's agent, and to nobody else."""
    session_ref: str | None = None
    """The back end's own name of the session, once it is open."""
    parent_id: int | None = None
    """The session that this one continues."""
    step_id: int | None = None
    """The step that it works on; none outside of a pipeline."""
    title: str
    model: str | None
    working_dir: str
    profile: AgentProfile
    """As it was when the session began; later edits change nothing."""
    timeout: float | None = None
    """Seconds that the agent has for a reply; none for the setting's default."""
    base_mark: str | None
    """Names the files as they were when the session began; none outside of git."""
    started_at: datetime
    ended_at: datetime | None = None
    usage: Usage | None = None
    """What it has used, as far as the back end says."""

    def message(self, kind: MessageKind, key: str, text: str, at: datetime, **more: Any) -> SessionMessage:
        """A message to be sent in it."""
        wire_id = hashlib.sha256(f"{self.key} {key}".encode()).hexdigest()[:32]
        return SessionMessage(
            session_id=self.id, kind=kind, key=key, wire_id=wire_id, text=text, created_at=at, **more
        )

    def ended(self, at: datetime) -> Session:
        """Nothing more is said in it."""
        return replace(self, ended_at=self.ended_at or at)


class SubmissionKind(StrEnum):
    """What an agent gave through a tool."""

    HANDOFF = "handoff"
    BLOCKER = "blocker"


@dataclass(frozen=True, kw_only=True, slots=True)
class Submission:
    """Something that an agent gave through a tool while it worked on a message."""

    id: int = 0
    session_id: int
    message_id: int
    kind: SubmissionKind
    is_accepted: bool
    """False for a handoff that was refused: it counts only where there is nothing better."""
    record: Mapping[str, Any]
    """A handoff or a blocker."""
    created_at: datetime


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

    def reached(
        self, usage: Usage | None, turns: int, started_at: datetime, now: datetime
    ) -> HandoffReason | None:
        """Why the session should hand over now; none if it need not. What is not reported limits nothing."""
        share = usage.context_share if usage is not None else None
        if _is_over(share, self.context_share):
            return HandoffReason.CONTEXT_LIMIT
        minutes = (now - started_at).total_seconds() / 60
        cost = usage.cost if usage is not None else None
        spent = ((turns, self.turns), (minutes, self.minutes), (cost, self.cost))
        return HandoffReason.SHIFT_END if any(_is_over(value, limit) for value, limit in spent) else None


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
