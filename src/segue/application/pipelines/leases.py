"""Who may move a pipeline on: leases, and the workers that hold them; each function is one transaction."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from segue.application.ports.store import Reads, Rows
from segue.domain.audit import AuditKind
from segue.domain.errors import IllegalMove
from segue.domain.pipeline import Lease, Offer, Pipeline, PipelineStatus
from segue.domain.workers import Worker

_PRECEDENCE = timedelta(seconds=5)
"""For so long, the pipelines of a dead worker are left to workers on its machine."""


def resume_run(rows: Rows, pipeline_id: int, worker: Worker, at: datetime) -> Lease:
    """Continue a run that was interrupted, and that nobody runs."""
    join_workers(rows, worker)
    pipeline = rows.get(Pipeline, pipeline_id, lock=True)
    if pipeline.status.is_final:
        raise IllegalMove(f"pipeline {pipeline_id} is {pipeline.status}; there is nothing to continue")
    if pipeline.status is PipelineStatus.WAITING_FOR_APPROVAL:
        raise IllegalMove(f"pipeline {pipeline_id} waits for you; decide first: segue inbox")
    if pipeline.worker_id is not None:
        raise IllegalMove(f"pipeline {pipeline_id} is being run by another Segue; watch it instead")
    if pipeline.source is None and pipeline.home not in (None, worker.home):
        machine = (pipeline.home or "").partition(":")[0]
        raise IllegalMove(
            f"the files of pipeline {pipeline_id} are on {machine} alone, so only a Segue with the same data "
            f"folder can continue it: start one there, or abort the pipeline"
        )
    rows.audit(AuditKind.PIPELINE_RESUMED, at, who=None, pipeline_id=pipeline_id)
    return rows.claim(pipeline_id, worker.id)


def take_lease(
    rows: Rows, offer: Offer, worker: Worker, at: datetime, *, overall: int | None = None
) -> Lease | None:
    """The lease of a run that is offered; none if it is not free any more, or too many run already."""
    if is_full(rows, overall):
        return None
    join_workers(rows, worker)
    lease = rows.accept(offer, worker.id)
    if lease is not None:
        kind = AuditKind.PIPELINE_STARTED if lease.number == 1 else AuditKind.PIPELINE_RESUMED
        rows.audit(kind, at, pipeline_id=lease.pipeline_id)
    return lease


def is_full(rows: Reads, overall: int | None) -> bool:
    """True if all workers together run as many as they may."""
    return overall is not None and rows.count_owned() >= overall


def take_again(rows: Rows, lease: Lease, worker: Worker) -> Lease:
    """The next lease of a run that is ours."""
    join_workers(rows, worker)
    rows.fence(lease)
    return rows.claim(lease.pipeline_id, worker.id)


def release_lease(rows: Rows, lease: Lease) -> None:
    """Leave a run between two steps to another worker."""
    rows.fence(lease)
    pipeline = rows.get(Pipeline, lease.pipeline_id)
    rows.save(pipeline, replace(pipeline, worker_id=None))


@dataclass(frozen=True, kw_only=True, slots=True)
class Beat:
    """What a worker learns when it says that it lives."""

    now: datetime
    """The database's clock, by which the heartbeats of all workers are written."""
    orders: Mapping[Lease, str | None]
    owned: Collection[Lease]
    workers: Sequence[Worker]


def beat(rows: Rows, worker: Worker, held: Collection[Lease]) -> Beat:
    """Say that a worker lives; one that was removed meanwhile takes back what nobody has taken."""
    if not rows.beat(worker.id):
        join_workers(rows, worker)
        rows.adopt(held, worker.id)
    return Beat(
        now=rows.now(), orders=rows.orders(held), owned=rows.owned(worker.id), workers=rows.find(Worker)
    )


def join_workers(rows: Rows, worker: Worker) -> datetime:
    """A worker is there, with a fresh heartbeat if it was not; gives the database's clock."""
    now = rows.now()
    if not rows.is_joined(worker.id):
        rows.insert(replace(worker, heartbeat_at=now))
    return now


def remove_silent(rows: Rows, worker: Worker) -> bool:
    """Remove a worker that is gone, which frees its pipelines; false if it has said since that it lives."""
    _prefer_neighbours(rows, worker)
    return rows.remove_silent(worker)


def leave_workers(rows: Rows, worker: Worker) -> None:
    """A worker ends, which frees its pipelines."""
    _prefer_neighbours(rows, worker)
    rows.delete(worker)


def _prefer_neighbours(rows: Rows, worker: Worker) -> None:
    """Let another worker of the same machine have its pipelines first: agents that still run are joined."""
    if worker.home is None:
        return
    now = rows.now()
    fresh = now - _PRECEDENCE
    others = (each for each in rows.find(Worker, home=worker.home) if each.id != worker.id)
    if any(each.heartbeat_at > fresh for each in others):
        rows.prefer_home(worker, now + _PRECEDENCE)
