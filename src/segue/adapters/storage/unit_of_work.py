"""One transaction over all stores."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy import CursorResult, delete, func, select, text, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from segue.adapters.storage.attempts import SqlAttempts
from segue.adapters.storage.codec import read_workspace
from segue.adapters.storage.mapping import (
    read,
    read_pipeline,
    write,
    write_pipeline,
)
from segue.adapters.storage.records_of_agents import SqlActivity, SqlApprovals
from segue.adapters.storage.sessions import SqlSessions
from segue.adapters.storage.tables import (
    AuditEventRow,
    HandoffRow,
    PipelineRow,
    StepRow,
    WorkerRow,
)
from segue.adapters.storage.tokens import SqlTokens
from segue.application.ports import NewHandoff, NewPipeline, SavedHandoff, Worker
from segue.domain.audit import AuditKind
from segue.domain.errors import InvalidRequest, OwnershipLost, PipelineNotFound
from segue.domain.pipeline import (
    Lease,
    Pipeline,
    PipelineStatus,
    StepStatus,
)
from segue.domain.workspace import WorkspaceChoice, WorkspaceKind

_UNFINISHED = (PipelineStatus.PENDING, PipelineStatus.RUNNING)
_AUDIT_LOCK = 7_301_002
"""Number of the PostgreSQL lock that makes audit ids commit in their order."""


class SqlUnitOfWork:
    """One transaction; `commit` makes it last, leaving without it undoes it."""

    def __init__(self, session: AsyncSession, on_commit: Sequence[Callable[[], None]]) -> None:
        self._session = session
        self._on_commit = on_commit
        self.pipelines = SqlPipelines(session)
        self.attempts = SqlAttempts(session)
        self.handoffs = SqlHandoffs(session)
        self.audit = SqlAudit(session)
        self.activity = SqlActivity(session)
        self.approvals = SqlApprovals(session)
        self.workers = SqlWorkers(session)
        self.sessions = SqlSessions(session)
        self.tokens = SqlTokens(session)

    async def commit(self) -> None:
        """Make everything last."""
        await self._session.commit()
        for tell in self._on_commit:
            tell()


class SqlPipelines:
    """Pipelines with their steps."""

    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def add(self, new: NewPipeline) -> Pipeline:
        """Save a new run, pending, with a row for each step of its plan."""
        row = PipelineRow(
            title=new.title,
            template=new.template,
            prompt=new.prompt,
            branch=new.branch,
            working_dir=new.working_dir,
            plan_json=new.plan.model_dump_json(exclude_defaults=True),
            status=PipelineStatus.PENDING,
            segment=0,
            idempotency_key=new.idempotency_key,
            workspace_choice=new.workspace_choice,
            created_at=new.created_at,
            updated_at=new.created_at,
            steps=[
                StepRow(
                    agent_name=step.agent,
                    order_index=index,
                    description=step.description,
                    model=step.model or new.plan.agents[step.agent].model,
                    timeout=step.timeout or new.plan.agents[step.agent].timeout,
                    status=StepStatus.PENDING,
                )
                for index, step in enumerate(new.plan.template.steps)
            ],
        )
        self._session.add(row)
        try:
            await self._session.flush()
        except IntegrityError as error:
            raise InvalidRequest(
                f'the idempotency key "{new.idempotency_key}" is being used right now; ask again'
            ) from error
        return read_pipeline(row)

    async def get(self, pipeline_id: int) -> Pipeline:
        """The pipeline with this id."""
        return read_pipeline(await self._row(pipeline_id))

    async def of_step(self, step_id: int) -> Pipeline:
        """The pipeline that a step belongs to."""
        found = await self._session.scalar(select(StepRow.pipeline_id).where(StepRow.id == step_id))
        return await self.get(found or 0)

    async def find_by_key(self, idempotency_key: str) -> Pipeline | None:
        """The pipeline that was submitted under this key."""
        found = select(PipelineRow).where(PipelineRow.idempotency_key == idempotency_key)
        row = (await self._session.scalars(found)).one_or_none()
        return read_pipeline(row) if row else None

    async def hold(self, lease: Lease) -> Pipeline:
        """The pipeline, if the lease still holds."""
        row = await self._row(lease.pipeline_id)
        if row.segment != lease.segment:
            raise OwnershipLost(lease.pipeline_id)
        return read_pipeline(row)

    async def check(self, lease: Lease) -> None:
        """`OwnershipLost` unless the lease still holds."""
        segment = select(PipelineRow.segment).where(PipelineRow.id == lease.pipeline_id).with_for_update()
        if await self._session.scalar(segment) != lease.segment:
            raise OwnershipLost(lease.pipeline_id)

    async def lease(self, pipeline_id: int, worker_id: str | None) -> Lease:
        """Take this pipeline, whoever had it before; with no worker, only to end it."""
        row = await self._row(pipeline_id)
        row.worker_id, row.segment, row.status = worker_id, row.segment + 1, PipelineStatus.RUNNING
        return Lease(pipeline_id, row.segment)

    async def lease_next(self, worker_id: str) -> Lease | None:
        """Take the oldest unfinished pipeline that nobody owns."""
        free = (
            select(PipelineRow.id)
            .where(PipelineRow.status.in_(_UNFINISHED), PipelineRow.worker_id.is_(None))
            .order_by(PipelineRow.id)
            .limit(1)
            .with_for_update(skip_locked=True)
        )
        found = (await self._session.scalars(free)).one_or_none()
        return None if found is None else await self.lease(found, worker_id)

    async def save(self, pipeline: Pipeline) -> None:
        """Write what changed."""
        write_pipeline(pipeline, await self._row(pipeline.id))

    async def in_place(self, working_dir: str, *, counting: Collection[WorkspaceChoice]) -> int | None:
        """The unfinished pipeline, if any, whose agents work in this very folder, around or below it."""
        unfinished = (*_UNFINISHED, PipelineStatus.WAITING_FOR_APPROVAL)
        found = (
            select(
                PipelineRow.id,
                PipelineRow.working_dir,
                PipelineRow.workspace_json,
                PipelineRow.workspace_choice,
            )
            .where(PipelineRow.status.in_(unfinished))
            .order_by(PipelineRow.id)
        )
        for row in await self._session.execute(found):
            opened = read_workspace(row.workspace_json)
            is_in_place = (
                opened.kind is WorkspaceKind.IN_PLACE if opened else row.workspace_choice in counting
            )
            if is_in_place and _overlap(Path(row.working_dir), Path(working_dir)):
                return int(row.id)
        return None

    async def orders(self, leases: Collection[Lease]) -> Mapping[Lease, str | None]:
        """For leases that must stop: the abort reason, or none if the lease was lost."""
        ids = {lease.pipeline_id for lease in leases}
        found = select(PipelineRow.id, PipelineRow.segment, PipelineRow.abort_reason)
        rows = await self._session.execute(found.where(PipelineRow.id.in_(ids)))
        present = {Lease(row.id, row.segment): row.abort_reason for row in rows}
        return {
            lease: present.get(lease)
            for lease in leases
            if lease not in present or present[lease] is not None
        }

    async def owned(self, worker_id: str) -> Collection[Lease]:
        """The leases that the records say this worker has."""
        found = select(PipelineRow.id, PipelineRow.segment).where(
            PipelineRow.worker_id == worker_id, PipelineRow.status == PipelineStatus.RUNNING
        )
        return {Lease(row.id, row.segment) for row in await self._session.execute(found)}

    async def adopt(self, leases: Collection[Lease], worker_id: str) -> None:
        """Take back leases that were freed by mistake and that nobody has taken since."""
        for lease in leases:
            free = update(PipelineRow).where(
                PipelineRow.id == lease.pipeline_id,
                PipelineRow.segment == lease.segment,
                PipelineRow.worker_id.is_(None),
            )
            await self._session.execute(free.values(worker_id=worker_id))

    async def _row(self, pipeline_id: int) -> PipelineRow:
        row = await self._session.get(PipelineRow, pipeline_id, with_for_update=True)
        if row is None:
            raise PipelineNotFound(pipeline_id)
        return row


class SqlHandoffs:
    """Handoffs."""

    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def add(self, new: NewHandoff) -> int:
        """Save a handoff; gives its id."""
        row = HandoffRow()
        write(new, row)
        self._session.add(row)
        await self._session.flush()
        return row.id

    async def latest_of_steps(self, step_ids: Collection[int]) -> Mapping[int, SavedHandoff]:
        """Step id -> its newest handoff."""
        newest = (
            select(func.max(HandoffRow.id))
            .where(HandoffRow.step_id.in_(step_ids))
            .group_by(HandoffRow.step_id)
        )
        rows = await self._session.scalars(select(HandoffRow).where(HandoffRow.id.in_(newest)))
        return {
            row.step_id: read(SavedHandoff, row, agent_name=row.agent.name) for row in rows if row.step_id
        }

    async def recent_in(self, working_dir: str, *, limit: int) -> Sequence[SavedHandoff]:
        """Handoffs with a record, of finished steps in a folder, newest first."""
        newest = (
            select(HandoffRow)
            .join(StepRow, StepRow.id == HandoffRow.step_id)
            .join(PipelineRow, PipelineRow.id == StepRow.pipeline_id)
            .where(PipelineRow.working_dir == working_dir, StepRow.status == StepStatus.DONE)
            .where(HandoffRow.metadata_json.is_not(None))
            .order_by(HandoffRow.id.desc())
            .limit(limit)
        )
        rows = await self._session.scalars(newest)
        return [read(SavedHandoff, row, agent_name=row.agent.name) for row in rows]


class SqlAudit:
    """The audit trail."""

    def __init__(self, session: AsyncSession) -> None:
        self._session = session
        self._ordered = session.get_bind().dialect.name == "sqlite"

    async def add(
        self,
        kind: AuditKind,
        at: datetime,
        *,
        pipeline_id: int | None = None,
        step_id: int | None = None,
        **payload: Any,
    ) -> None:
        """Add an entry."""
        if not self._ordered:
            # Readers resume from an id: a smaller id must never become visible after a larger one.
            await self._session.execute(text(f"SELECT pg_advisory_xact_lock({_AUDIT_LOCK})"))
            self._ordered = True
        row = AuditEventRow(
            pipeline_id=pipeline_id,
            step_id=step_id,
            event_type=kind,
            payload_json=json.dumps(payload) if payload else None,
            created_at=at,
        )
        self._session.add(row)


class SqlWorkers:
    """The workers."""

    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def add(self, worker: Worker) -> None:
        """Save a worker."""
        row = WorkerRow(id=worker.id)
        write(worker, row)
        self._session.add(row)
        await self._session.flush()

    async def all(self) -> list[Worker]:
        """All workers that were not removed."""
        return [read(Worker, row) for row in await self._session.scalars(select(WorkerRow))]

    async def beat(self, worker_id: str, at: datetime) -> bool:
        """Say that this worker lives; false if it was removed meanwhile."""
        alive = update(WorkerRow).where(WorkerRow.id == worker_id).values(heartbeat_at=at)
        result = await self._session.execute(alive)
        return isinstance(result, CursorResult) and result.rowcount > 0

    async def remove(self, worker_id: str) -> None:
        """Remove a worker; its pipelines are free then."""
        await self._session.execute(delete(WorkerRow).where(WorkerRow.id == worker_id))


def _overlap(one: Path, other: Path) -> bool:
    return one.is_relative_to(other) or other.is_relative_to(one)
