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
    """Its step ended before anybody answered."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Approval:
    """What an agent wants to do, and what a person said to it."""

    id: int
    pipeline_id: int
    step_id: int
    attempt_id: int
    request_ref: str
    """The back end's own name of the question."""
    title: str
    """What is asked, in a line."""
    status: ApprovalStatus
    comment: str | None
    decided_by: str | None
    created_at: datetime
    decided_at: datetime | None
