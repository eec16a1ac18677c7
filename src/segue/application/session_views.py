"""What people and programs see of sessions outside of pipelines."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any

from segue.application.views import EVIDENCE
from segue.domain.sessions import MessageStatus, Reason, Role
from segue.domain.usage import Usage


@dataclass(frozen=True, kw_only=True, slots=True)
class SessionView:
    """A session as it stands."""

    id: int
    name: str
    """The agent profile, or the back end where there is none."""
    backend: str
    model: str | None
    title: str
    working_dir: str
    parent_id: int | None
    """The session that it goes on from."""
    step_id: int | None
    """The step that it works on; none outside of a pipeline."""
    pipeline_id: int | None
    messages: int
    """How many messages and replies it holds."""
    started_at: datetime
    ended_at: datetime | None
    usage: Usage | None


@dataclass(frozen=True, kw_only=True, slots=True)
class MessageView:
    """A message and its reply."""

    id: int
    role: Role
    message_id: str
    text: str
    status: MessageStatus
    reply: str | None
    error: str | None
    created_at: datetime
    replied_at: datetime | None


@dataclass(frozen=True, kw_only=True, slots=True)
class SessionHandoffView:
    """A handoff that a session has left."""

    id: int
    reason: Reason
    content_md: str
    metadata: dict[str, Any] | None
    ledger: dict[str, Any] | None
    evidence: Annotated[dict[str, Any] | None, EVIDENCE]
    """What Segue itself measured; none outside of git, and for handoffs of older versions."""
    file_path: str | None
    injection_prompt: str | None
    """The exact first message of the successor."""
    created_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class SessionDetail(SessionView):
    """A session with all that was said in it, and what it left."""

    said: list[MessageView]
    handoffs: list[SessionHandoffView]


@dataclass(frozen=True, kw_only=True, slots=True)
class SessionPage:
    """Some sessions, newest first."""

    items: list[SessionView]
    next_cursor: int | None
    """Give it back as `before` for the next page; none on the last one."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Lineage:
    """Where a session came from, and what goes on from it."""

    session: SessionView
    parents: list[SessionView]
    """The first of all first."""
    children: list[SessionView]
    """All that go on from it, directly or not, oldest first."""
