"""Approval: a question that only a person may answer."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class ApprovalStatus(StrEnum):
    """Where a question stands."""

    PENDING = "pending"
    APPROVED = "approved"
    REJECTED = "rejected"
    VOID = "void"
    """Nobody waits for the answer any more."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Approval:
    """What an agent wants to do, and what a person said to it."""

    id: int = 0
    pipeline_id: int | None
    """None outside of pipelines."""
    step_id: int | None
    session_id: int
    """The session whose agent asks."""
    request_ref: str
    """The back end's own name of the question."""
    title: str
    """What is asked, in a line."""
    status: ApprovalStatus = ApprovalStatus.PENDING
    comment: str | None = None
    decided_by: str | None = None
    created_at: datetime
    decided_at: datetime | None = None
