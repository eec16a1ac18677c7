"""A run as the holder of its lease knows it: the one value that changes in place."""

from __future__ import annotations

from dataclasses import dataclass

from segue.application.ports.store import Reads
from segue.domain.attempt import Attempt
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
    """Step id -> its newest attempt, of steps that are under way."""
    sessions: dict[int, Session]
    """Step id -> the session of that attempt."""


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
    )
    for step in pipeline.steps:
        if step.status is StepStatus.RUNNING and (attempt := rows.newest_attempt(step.id)) is not None:
            run.attempts[step.id] = attempt
            run.sessions[step.id] = rows.get(Session, attempt.session_id)
    return run
