"""Sessions outside of pipelines: what is said in them, and why one hands over to the next."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from segue.domain.catalog import AgentProfile
from segue.domain.usage import Usage


class Reason(StrEnum):
    """What made an agent hand over; no other reason exists."""

    CONTEXT_LIMIT = "context_limit"
    SHIFT_END = "shift_end"
    TASK_BOUNDARY = "task_boundary"


class Role(StrEnum):
    """Whose message it is."""

    USER = "user"
    AGENT = "agent"
    """What an agent said unasked, as in a conversation that was held elsewhere."""
    HANDOFF = "handoff"
    """Segue's own: it asks for a handoff, to mend one, or hands one in."""


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
class SpokenMessage:
    """A message of a session, with its reply once there is one."""

    id: int
    agent_id: int
    role: Role
    message_id: str
    """Names the message, so that it is never delivered twice."""
    text: str
    status: MessageStatus
    reply: str | None
    error: str | None
    """Why there is no reply."""
    created_at: datetime
    replied_at: datetime | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Session:
    """A conversation with an agent that belongs to no pipeline."""

    id: int
    name: str
    """Name of the profile, or of the back end where there is none."""
    backend: str
    key: str
    session_ref: str | None
    parent_id: int | None
    """The session that this one goes on from."""
    title: str
    model: str | None
    working_dir: str
    profile: AgentProfile
    """As it was when the session began; later edits change nothing."""
    base_mark: str | None
    """Names the files as they were when the session began; none outside of git."""
    started_at: datetime
    ended_at: datetime | None
    usage: Usage | None
