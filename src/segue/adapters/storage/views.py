"""Reads for people and programs, straight from the tables."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sqlalchemy import case, func, or_, select
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession
from sqlalchemy.orm import lazyload

from segue.adapters.storage.failures import translated
from segue.adapters.storage.mapping import (
    read,
    read_activity,
    read_approval,
    read_entry,
    read_usage,
    read_workspace,
)
from segue.adapters.storage.sessions import SessionReading
from segue.adapters.storage.tables import (
    ActivityRow,
    AgentRow,
    ApprovalRow,
    AttemptRow,
    AuditEventRow,
    HandoffRow,
    PipelineRow,
    RepairRow,
    StepRow,
)
from segue.application.views import (
    AttemptView,
    HandoffView,
    PipelineDetail,
    PipelineFilter,
    PipelinePage,
    PipelineView,
    RepairView,
    StepDetail,
    StepView,
)
from segue.domain.activity import Activity
from segue.domain.approvals import Approval, ApprovalStatus
from segue.domain.audit import AuditEntry
from segue.domain.errors import PipelineNotFound, StepNotFound
from segue.domain.pipeline import AttemptStatus, PipelineStatus, StepStatus, join_text
from segue.domain.sessions import Reason
from segue.domain.usage import Usage


class SqlViews(SessionReading):
    """Each read is a short transaction of its own."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine

    @asynccontextmanager
    async def _reading(self) -> AsyncIterator[AsyncSession]:
        with translated(self._engine.url):
            async with AsyncSession(self._engine) as session:
                yield session

    async def pipelines(self, wanted: PipelineFilter) -> PipelinePage:
        """Some pipelines, newest first."""
        newest = select(PipelineRow).order_by(PipelineRow.id.desc()).options(lazyload(PipelineRow.steps))
        query = newest.limit(wanted.limit + 1)
        if wanted.status is not None:
            query = query.where(PipelineRow.status == wanted.status)
        if wanted.template is not None:
            query = query.where(PipelineRow.template == wanted.template)
        if wanted.text:
            query = query.where(
                or_(
                    PipelineRow.title.icontains(wanted.text, autoescape=True),
                    PipelineRow.prompt.icontains(wanted.text, autoescape=True),
                )
            )
        if wanted.before is not None:
            query = query.where(PipelineRow.id < wanted.before)
        async with self._reading() as session:
            rows = list(await session.scalars(query))
        items = [_pipeline_view(row) for row in rows[: wanted.limit]]
        return PipelinePage(items=items, next_cursor=items[-1].id if len(rows) > wanted.limit else None)

    async def pipeline(self, pipeline_id: int) -> PipelineDetail:
        """A run with its steps and their newest handoffs."""
        async with self._reading() as session:
            row = await session.get(PipelineRow, pipeline_id)
            if row is None:
                raise PipelineNotFound(pipeline_id)
            handoffs = await self._newest_handoffs(session, pipeline_id)
            attempts = await self._attempt_counts(session, pipeline_id)
            usage = await self._usage(session, pipeline_id)
            waiting = await self.approvals(pipeline_id=pipeline_id)
            return read(
                PipelineDetail,
                row,
                status=PipelineStatus(row.status),
                workspace=read_workspace(row.workspace_json),
                steps=[
                    read(
                        StepView,
                        step,
                        status=StepStatus(step.status),
                        attempts=attempts.get(step.id, (0, 0))[0],
                        handovers=attempts.get(step.id, (0, 0))[1],
                        latest_handoff=handoffs.get(step.id),
                        usage=usage.get(step.id),
                    )
                    for step in row.steps
                ],
                approvals=waiting,
            )

    async def step(self, pipeline_id: int, number: int) -> StepDetail:
        """A step by its place in the run, 1 for the first, with all its tries."""
        pipeline = await self.pipeline(pipeline_id)
        if not 1 <= number <= len(pipeline.steps):
            raise StepNotFound(pipeline_id, number, len(pipeline.steps))
        step = pipeline.steps[number - 1]
        tries = select(AttemptRow).where(AttemptRow.step_id == step.id).order_by(AttemptRow.number)
        async with AsyncSession(self._engine) as session:
            rows = list(await session.scalars(tries))
            asked = select(RepairRow).where(RepairRow.attempt_id.in_([row.id for row in rows]))
            repairs = list(await session.scalars(asked.order_by(RepairRow.id)))
        return read(
            StepDetail,
            step,
            tries=[
                read(
                    AttemptView,
                    row,
                    status=AttemptStatus(row.status),
                    backend=row.agent.backend,
                    session=row.agent_id,
                    handover_reason=None if row.handover_reason is None else Reason(row.handover_reason),
                    usage=read_usage(row.agent.usage_json),
                    repairs=[read(RepairView, each) for each in repairs if each.attempt_id == row.id],
                    text=join_text(row.briefing, row.carry_over),
                )
                for row in rows
            ],
        )

    async def entries_after(
        self, entry_id: int, *, pipeline_id: int | None = None, limit: int = 500
    ) -> list[AuditEntry]:
        """Audit entries after an id, in order. Plain rows: this is read after every commit."""
        table = AuditEventRow.__table__
        query = select(table).where(table.c.id > entry_id).order_by(table.c.id).limit(limit)
        if pipeline_id is not None:
            query = query.where(table.c.pipeline_id == pipeline_id)
        async with self._reading() as session:
            return [read_entry(row) for row in await session.execute(query)]

    async def last_entry_id(self) -> int:
        """The id of the newest audit entry, 0 if there is none."""
        async with self._reading() as session:
            return await session.scalar(select(func.max(AuditEventRow.id))) or 0

    async def activity_after(
        self, activity_id: int, *, pipeline_id: int | None = None, limit: int = 500
    ) -> list[Activity]:
        """What agents did after an id, in order."""
        table = ActivityRow.__table__
        query = select(table).where(table.c.id > activity_id).order_by(table.c.id).limit(limit)
        if pipeline_id is not None:
            query = query.where(table.c.pipeline_id == pipeline_id)
        async with self._reading() as session:
            return [read_activity(row) for row in await session.execute(query)]

    async def last_activity_id(self) -> int:
        """The id of the newest activity, 0 if there is none."""
        async with self._reading() as session:
            return await session.scalar(select(func.max(ActivityRow.id))) or 0

    async def activity_of(self, agent_id: int) -> list[Activity]:
        """All that was done in one session."""
        table = ActivityRow.__table__
        async with self._reading() as session:
            rows = await session.execute(
                select(table).where(table.c.agent_id == agent_id).order_by(table.c.id)
            )
            return [read_activity(row) for row in rows]

    async def conflicts(self, working_dir: str) -> list[PipelineView]:
        """The unfinished pipelines that were submitted for a folder."""
        final = [status for status in PipelineStatus if status.is_final]
        query = (
            select(PipelineRow)
            .where(PipelineRow.working_dir == working_dir, PipelineRow.status.not_in(final))
            .order_by(PipelineRow.id)
            .options(lazyload(PipelineRow.steps))
        )
        async with self._reading() as session:
            return [_pipeline_view(row) for row in await session.scalars(query)]

    async def approvals(self, *, pipeline_id: int | None = None, everything: bool = False) -> list[Approval]:
        """Pending questions, oldest first; with `everything`, those that are settled too."""
        query = select(ApprovalRow).order_by(ApprovalRow.id)
        if pipeline_id is not None:
            query = query.where(ApprovalRow.pipeline_id == pipeline_id)
        if not everything:
            query = query.where(ApprovalRow.status == ApprovalStatus.PENDING)
        async with self._reading() as session:
            return [read_approval(row) for row in await session.scalars(query)]

    async def _newest_handoffs(self, session: AsyncSession, pipeline_id: int) -> dict[int, HandoffView]:
        newest = (
            select(func.max(HandoffRow.id))
            .join(StepRow, HandoffRow.step_id == StepRow.id)
            .where(StepRow.pipeline_id == pipeline_id)
            .group_by(HandoffRow.step_id)
        )
        rows = await session.scalars(select(HandoffRow).where(HandoffRow.id.in_(newest)))
        return {
            row.step_id: read(
                HandoffView,
                row,
                metadata=json.loads(row.metadata_json) if row.metadata_json else None,
                ledger=json.loads(row.ledger_json) if row.ledger_json else None,
            )
            for row in rows
            if row.step_id is not None
        }

    async def _usage(self, session: AsyncSession, pipeline_id: int) -> dict[int, Usage]:
        """Step id -> what all its sessions used."""
        reported = (
            select(AgentRow.step_id, AgentRow.usage_json)
            .join(StepRow, AgentRow.step_id == StepRow.id)
            .where(StepRow.pipeline_id == pipeline_id, AgentRow.usage_json.is_not(None))
            .order_by(AgentRow.id)
        )
        total: dict[int, Usage] = {}
        for step_id, text in await session.execute(reported):
            assert step_id is not None  # joined by it
            total[step_id] = total.get(step_id, Usage()) + (read_usage(text) or Usage())
        return total

    async def _attempt_counts(self, session: AsyncSession, pipeline_id: int) -> dict[int, tuple[int, int]]:
        """Step id -> how many tries were begun, and how many of them handed over."""
        handed_over = AttemptRow.status == AttemptStatus.HANDED_OVER
        counted = (
            select(AttemptRow.step_id, func.count(), func.count(case((handed_over, 1))))
            .join(StepRow, AttemptRow.step_id == StepRow.id)
            .where(StepRow.pipeline_id == pipeline_id)
            .group_by(AttemptRow.step_id)
        )
        return {step_id: (begun, over) for step_id, begun, over in await session.execute(counted)}


def _pipeline_view(row: PipelineRow) -> PipelineView:
    workspace = read_workspace(row.workspace_json)
    return read(PipelineView, row, status=PipelineStatus(row.status), workspace=workspace)
