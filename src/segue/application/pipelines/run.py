"""A run as the holder of its lease knows it: the one value that changes in place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from segue.application.pipelines.transactions_deciding import decided_approvals
from segue.application.ports.store import Reads
from segue.domain.approvals import Approval
from segue.domain.attempt import Attempt
from segue.domain.briefing.model import Predecessor
from segue.domain.briefing.predecessor import OlderParts
from segue.domain.errors import LeaseLost
from segue.domain.handoff_record import HandoffRecord
from segue.domain.pipeline import Lease, Pipeline, StepStatus
from segue.domain.session import Session


@dataclass(slots=True)
class LeasedRun:
    """What the lease holder knows; it writes through, and reads again only after an error of the store."""

    lease: Lease
    pipeline: Pipeline
    handoffs: dict[int, HandoffRecord]
    """Step id -> its newest handoff."""
    attempts: dict[int, Attempt]
    """Step id -> its newest attempt, of steps that are under way or were begun before."""
    sessions: dict[int, Session]
    """Step id -> the session of that attempt."""
    earlier: dict[int, EarlierStep] = field(default_factory=dict)
    """Step id -> what later briefings say of it."""
    older: OlderParts = field(default_factory=OlderParts)
    """How they say it."""
    decided: tuple[Approval, ...] = ()
    """What people decided in this run, oldest first."""

    def decision_on(self, reference: str) -> Approval | None:
        """What a person decided about a question; none if it was not asked."""
        return next((each for each in self.decided if each.request_ref == reference), None)


@dataclass(frozen=True, kw_only=True, slots=True)
class EarlierStep:
    """A step that has ended, for the briefings of those after it: read from its record once."""

    record: HandoffRecord
    predecessor: Predecessor
    measured: Sequence[str]
    """What was measured of it."""
    corrections: Sequence[str]
    """What verification found to be otherwise."""


def load_run(rows: Reads, lease: Lease) -> LeasedRun:
    """All that a lease holder needs to continue; `LeaseLost` if another one holds it."""
    pipeline = rows.pipeline(lease.pipeline_id)
    if pipeline.lease_number != lease.number:
        raise LeaseLost(lease.pipeline_id)
    run = LeasedRun(
        lease=lease,
        pipeline=pipeline,
        handoffs=rows.newest_handoffs([step.id for step in pipeline.steps]),
        attempts={},
        sessions={},
        decided=decided_approvals(rows, pipeline.id),
    )
    for step in pipeline.steps:
        is_begun = step.status is StepStatus.RUNNING or step.round > 1
        if is_begun and (attempt := rows.newest_attempt(step.id)) is not None:
            run.attempts[step.id] = attempt
            run.sessions[step.id] = rows.get(Session, attempt.session_id)
    return run
