"""The audit trail: what happened, who did it; never edited."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any


class AuditKind(StrEnum):
    """What an audit entry tells, in the past tense."""

    PIPELINE_CREATED = "pipeline_created"
    PIPELINE_STARTED = "pipeline_started"
    PIPELINE_RESUMED = "pipeline_resumed"
    PIPELINE_ABORT_REQUESTED = "pipeline_abort_requested"
    PIPELINE_DONE = "pipeline_done"
    PIPELINE_FAILED = "pipeline_failed"
    PIPELINE_ABORTED = "pipeline_aborted"
    PIPELINE_MERGED = "pipeline_merged"
    PIPELINE_RESTARTED = "pipeline_restarted"
    STEP_STARTED = "step_started"
    STEP_DONE = "step_done"
    STEP_FAILED = "step_failed"
    STEP_ABORTED = "step_aborted"
    STEP_SENT_BACK = "step_sent_back"
    GATE_PASSED = "gate_passed"
    GATE_FAILED = "gate_failed"
    ATTEMPT_STARTED = "attempt_started"
    ATTEMPT_FAILED = "attempt_failed"
    ATTEMPT_LOST = "attempt_lost"
    MESSAGE_ADDED = "message_added"
    MESSAGE_SENT = "message_sent"
    LIMIT_REACHED = "limit_reached"
    SESSION_STARTED = "session_started"
    SESSION_COMPACTED = "session_compacted"
    SESSION_ENDED = "session_ended"
    SESSION_HANDED_OVER = "session_handed_over"
    REPAIR_ASKED = "repair_asked"
    WRITER_ASKED = "writer_asked"
    CLAIMS_VERIFIED = "claims_verified"
    WORKSPACE_OPENED = "workspace_opened"
    WORKSPACE_REMOVED = "workspace_removed"
    LEFTOVERS_REMOVED = "leftovers_removed"
    HANDOFF_SUBMITTED = "handoff_submitted"
    HANDOFF_CREATED = "handoff_created"
    HANDOFF_EXTRACTION_FAILED = "handoff_extraction_failed"
    BLOCKER_REPORTED = "blocker_reported"
    APPROVAL_REQUESTED = "approval_requested"
    APPROVAL_GRANTED = "approval_granted"
    APPROVAL_REJECTED = "approval_rejected"
    APPROVAL_REMINDER = "approval_reminder"
    APPROVAL_EXPIRED = "approval_expired"
    PERMISSION_ASKED = "permission_asked"
    PERMISSION_DECIDED = "permission_decided"
    TOKEN_CREATED = "token_created"  # noqa: S105  # the name of an event
    TOKEN_REVOKED = "token_revoked"  # noqa: S105


SEGUE = "segue"
"""Who did what Segue does by itself."""


def user_actor(name: str) -> str:
    """A user of the machine that Segue runs on, by login name."""
    return f"user:{name}"


def token_actor(name: str) -> str:
    """The holder of a token."""
    return f"token:{name}"


def agent_actor(name: str) -> str:
    """An agent, by the name of its profile."""
    return f"agent:{name}"


FINAL_KINDS = frozenset({AuditKind.PIPELINE_DONE, AuditKind.PIPELINE_FAILED, AuditKind.PIPELINE_ABORTED})
"""After one of these, nothing more happens in a pipeline."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AuditEntry:
    """One thing that happened."""

    id: int
    event_type: AuditKind
    pipeline_id: int | None
    """None for what happened outside of pipelines: to a session, or to a token."""
    step_id: int | None
    who: str | None
    """`user:NAME`, `token:NAME`, `agent:NAME` or `segue`; none where an older Segue did not record it."""
    payload: Mapping[str, Any] | None
    """Small facts, never whole prompts."""
    created_at: datetime
    seq: int
    """Its place in the chain of its pipeline, or of what happened outside of pipelines: 1 for the first."""
    hash: str
    """Over its facts and the hash of the entry before it in the chain."""
