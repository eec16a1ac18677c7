"""Approval: a question that only a person may answer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum


class ApprovalStatus(StrEnum):
    """Where a question stands."""

    PENDING = "pending"
    APPROVED = "approved"
    REJECTED = "rejected"
    ANSWERED = "answered"
    """With words for the agent, who continues with them."""
    VOID = "void"
    """Nobody waits for the answer any more."""


class ApprovalKind(StrEnum):
    """What a person is asked."""

    PERMISSION = "permission"
    """May the agent use this tool? It waits in the middle of its turn."""
    STEP = "step"
    """An approval step: may the run continue?"""
    QUESTION = "question"
    """An agent asks, or is blocked; the answer continues its attempt."""
    REVIEW = "review"
    """A step ended in a way that its template leaves to a person."""


MOST_REMINDERS = 5


@dataclass(frozen=True, kw_only=True, slots=True)
class Approval:
    """What a person is asked, and what the person said to it."""

    id: int = 0
    pipeline_id: int | None
    """None outside of pipelines."""
    step_id: int | None
    session_id: int | None
    """The session whose agent asks; none for an approval step."""
    request_ref: str
    """The back end's own name of the question, or ours: the same question is asked once."""
    kind: ApprovalKind = ApprovalKind.PERMISSION
    title: str
    """What is asked, in a line."""
    back_to: str | None = None
    """The step that the work goes back to if a person rejects; none if the run ends then."""
    recommendation: str = ""
    """The answer that the agent recommends; empty if it recommends none."""
    status: ApprovalStatus = ApprovalStatus.PENDING
    comment: str | None = None
    decided_by: str | None = None
    created_at: datetime
    decided_at: datetime | None = None
    next_at: datetime | None = None
    """When to remind of it; none for never."""
    reminders: int = 0
    """How often was reminded of it."""
    expires_at: datetime | None = None
    """When nobody's decision counts as no; none for never."""

    @property
    def waits_without_agent(self) -> bool:
        """True if the run rests meanwhile: no worker and no agent waits for the answer."""
        return self.kind is not ApprovalKind.PERMISSION

    def reminded(self, at: datetime) -> Approval:
        """After a reminder; the next one takes twice as long, and after five there are no more."""
        count, waited = self.reminders + 1, at - self.created_at
        return replace(self, reminders=count, next_at=at + waited if count < MOST_REMINDERS else None)

    def void(self, at: datetime) -> Approval:
        """Nobody waits for the answer any more."""
        return replace(self, status=ApprovalStatus.VOID, decided_at=at, next_at=None)
