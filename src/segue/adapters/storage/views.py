"""Reads for people and programs, straight from the tables."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import fields
from typing import Any, TypeVar

from sqlalchemy import Row, Select, bindparam, case, func, or_, select
from sqlalchemy.orm import Session, joinedload

from segue.adapters.storage.mapping import (
    read,
    read_activity,
    read_approval,
    read_entry,
    read_usage,
    read_workspace,
)
from segue.adapters.storage.reader import Reader
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
from segue.adapters.storage.tokens import TokenReading
from segue.application.run_results import EndedRun, RunResult, result_of
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

T = TypeVar("T")


class SqlViews(SessionReading, TokenReading):
    """Each read is one function of one session, in one transaction: it sees one state of the records."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    async def _read(self, act: Callable[[Session], T]) -> T:
        return await self._reader.run(act)

    async def pipelines(self, wanted: PipelineFilter) -> PipelinePage:
        """Some pipelines, newest first."""
        query = _pipelines(PipelineView).order_by(PipelineRow.id.desc()).limit(wanted.limit + 1)
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
        found = await self._read(lambda session: [_pipeline_view(row) for row in session.execute(query)])
        items = found[: wanted.limit]
        return PipelinePage(items=items, next_cursor=items[-1].id if len(found) > wanted.limit else None)

    async def pipeline(self, pipeline_id: int) -> PipelineDetail:
        """A run with its steps and their newest handoffs."""
        return await self._read(lambda session: _pipeline(session, pipeline_id))

    async def check_pipeline(self, pipeline_id: int) -> None:
        """`PipelineNotFound` unless it is there."""
        query = select(PipelineRow.id).where(PipelineRow.id == pipeline_id)
        if await self._read(lambda session: session.scalar(query)) is None:
            raise PipelineNotFound(pipeline_id)

    async def step(self, pipeline_id: int, number: int) -> StepDetail:
        """A step by its place in the run, 1 for the first, with all its tries."""
        return await self._read(lambda session: _step(session, pipeline_id, number))

    async def entries_after(
        self, entry_id: int, *, pipeline_id: int | None = None, limit: int = 500
    ) -> list[AuditEntry]:
        """Audit entries after an id, in order. Plain rows: this is read after every commit."""
        table = AuditEventRow.__table__
        query = select(table).where(table.c.id > entry_id).order_by(table.c.id).limit(limit)
        if pipeline_id is not None:
            query = query.where(table.c.pipeline_id == pipeline_id)
        return await self._read(lambda session: [read_entry(row) for row in session.execute(query)])

    async def last_entry_id(self) -> int:
        """The id of the newest audit entry, 0 if there is none."""
        return await self._read(lambda session: session.scalar(select(func.max(AuditEventRow.id)))) or 0

    async def activity_after(
        self, activity_id: int, *, pipeline_id: int | None = None, limit: int = 500
    ) -> list[Activity]:
        """What agents did after an id, in order."""
        table = ActivityRow.__table__
        query = select(table).where(table.c.id > activity_id).order_by(table.c.id).limit(limit)
        if pipeline_id is not None:
            query = query.where(table.c.pipeline_id == pipeline_id)
        return await self._read(lambda session: [read_activity(row) for row in session.execute(query)])

    async def last_activity_id(self) -> int:
        """The id of the newest activity, 0 if there is none."""
        return await self._read(lambda session: session.scalar(select(func.max(ActivityRow.id)))) or 0

    async def activity_of(self, agent_id: int) -> list[Activity]:
        """All that was done in one session."""
        table = ActivityRow.__table__
        query = select(table).where(table.c.agent_id == agent_id).order_by(table.c.id)
        return await self._read(lambda session: [read_activity(row) for row in session.execute(query)])

    async def activity_in_step(self, pipeline_id: int, step_id: int) -> list[Activity]:
        """All that was done in the sessions of one step."""
        table = ActivityRow.__table__
        of_step = (table.c.pipeline_id == pipeline_id, table.c.step_id == step_id)
        query = select(table).where(*of_step).order_by(table.c.id)
        return await self._read(lambda session: [read_activity(row) for row in session.execute(query)])

    async def conflicts(self, working_dir: str) -> list[PipelineView]:
        """The unfinished pipelines that were submitted for a folder."""
        final = [status for status in PipelineStatus if status.is_final]
        query = (
            _pipelines(PipelineView)
            .where(PipelineRow.working_dir == working_dir, PipelineRow.status.not_in(final))
            .order_by(PipelineRow.id)
        )
        return await self._read(lambda session: [_pipeline_view(row) for row in session.execute(query)])

    async def approvals(self, *, pipeline_id: int | None = None, everything: bool = False) -> list[Approval]:
        """Pending questions, oldest first; with `everything`, those that are settled too."""
        return await self._read(lambda session: _approvals(session, pipeline_id, everything=everything))


def _pipelines(kind: type[PipelineView]) -> Select[Any]:
    """The columns of a view: the plan is large, and nobody reads it here."""
    table = PipelineRow.__table__
    names = [field.name for field in fields(kind) if field.name in table.c]
    return select(*(table.c[name] for name in names), table.c.workspace_json)


def _pipeline_view(row: Row[Any]) -> PipelineView:
    workspace = read_workspace(row.workspace_json)
    return read(PipelineView, row, status=PipelineStatus(row.status), workspace=workspace)


def _pipeline(session: Session, pipeline_id: int) -> PipelineDetail:
    row = session.execute(_PIPELINE, {"pipeline_id": pipeline_id}).one_or_none()
    if row is None:
        raise PipelineNotFound(pipeline_id)
    status, steps = PipelineStatus(row.status), _steps(session, pipeline_id)
    return read(
        PipelineDetail,
        row,
        status=status,
        workspace=read_workspace(row.workspace_json),
        steps=steps,
        approvals=_approvals(session, pipeline_id),
        result=_result(row, status, steps) if status.is_final else None,
    )


def _result(row: Row[Any], status: PipelineStatus, steps: list[StepView]) -> RunResult:
    ended = EndedRun(
        status=status,
        reason=row.reason,
        steps=steps,
        final_json=row.final_json,
        began=row.created_at,
        ended=row.updated_at,
    )
    return result_of(ended)


def _steps(session: Session, pipeline_id: int) -> list[StepView]:
    """The steps of a run in their order, with their newest handoffs; none if there is no such run."""
    of_run = {"pipeline_id": pipeline_id}
    handoffs = {
        row.step_id: read(
            HandoffView,
            row,
            metadata=_loaded(row.metadata_json),
            ledger=_loaded(row.ledger_json),
            evidence=_loaded(row.evidence_json),
        )
        for row in session.execute(_NEWEST_HANDOFFS, of_run)
    }
    attempts = {row.step_id: row for row in session.execute(_ATTEMPTS, of_run)}
    usage: dict[int, Usage] = {}
    for step_id, text in session.execute(_USAGE, of_run):
        assert step_id is not None  # joined by it
        usage[step_id] = usage.get(step_id, Usage()) + (read_usage(text) or Usage())
    return [
        read(
            StepView,
            row,
            status=StepStatus(row.status),
            attempts=attempts[row.id].begun if row.id in attempts else 0,
            handovers=attempts[row.id].handed_over if row.id in attempts else 0,
            repairs=attempts[row.id].repairs if row.id in attempts else 0,
            backend=attempts[row.id].backend if row.id in attempts else None,
            latest_handoff=handoffs.get(row.id),
            usage=usage.get(row.id),
        )
        for row in session.execute(_STEPS, of_run)
    ]


def _step(session: Session, pipeline_id: int, number: int) -> StepDetail:
    steps = _steps(session, pipeline_id)
    if not steps:
        raise PipelineNotFound(pipeline_id)  # every run has a step
    if not 1 <= number <= len(steps):
        raise StepNotFound(pipeline_id, number, len(steps))
    step = steps[number - 1]
    begun = select(AttemptRow).where(AttemptRow.step_id == step.id).order_by(AttemptRow.number)
    rows = session.scalars(begun.options(joinedload(AttemptRow.agent).lazyload(AgentRow.handoffs))).all()
    asked = select(RepairRow).where(RepairRow.attempt_id.in_([row.id for row in rows]))
    repairs = session.scalars(asked.order_by(RepairRow.id)).all()
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
                repairs=[
                    read(RepairView, each, ledger=_loaded(each.ledger_json))
                    for each in repairs
                    if each.attempt_id == row.id
                ],
                text=join_text(row.briefing, row.carry_over),
            )
            for row in rows
        ],
    )


def _loaded(text: str | None) -> dict[str, Any] | None:
    found: dict[str, Any] | None = json.loads(text) if text else None
    return found


def _approvals(session: Session, pipeline_id: int | None, *, everything: bool = False) -> list[Approval]:
    table = ApprovalRow.__table__
    query = select(table).order_by(table.c.id)
    if pipeline_id is not None:
        query = query.where(table.c.pipeline_id == pipeline_id)
    if not everything:
        query = query.where(table.c.status == ApprovalStatus.PENDING)
    return [read_approval(row) for row in session.execute(query)]


# What a run is read by, made once: it is read more often than anything else.
_OF_RUN = StepRow.pipeline_id == bindparam("pipeline_id")
_PIPELINE = (
    _pipelines(PipelineDetail)
    .add_columns(PipelineRow.__table__.c.final_json)
    .where(PipelineRow.id == bindparam("pipeline_id"))
)
_STEPS = select(StepRow.__table__).where(_OF_RUN).order_by(StepRow.order_index)
_NEWEST_HANDOFFS = select(HandoffRow.__table__).where(
    HandoffRow.id.in_(
        select(func.max(HandoffRow.id))
        .join(StepRow, HandoffRow.step_id == StepRow.id)
        .where(_OF_RUN)
        .group_by(HandoffRow.step_id)
    )
)
_USAGE = (
    select(AgentRow.step_id, AgentRow.usage_json)
    .join(StepRow, AgentRow.step_id == StepRow.id)
    .where(_OF_RUN, AgentRow.usage_json.is_not(None))
    .order_by(AgentRow.id)
)
"""What each session of each step has used."""
_REPAIRS = (
    select(func.count())
    .select_from(RepairRow)
    .join(AttemptRow, RepairRow.attempt_id == AttemptRow.id)
    .where(AttemptRow.step_id == StepRow.id)
    .correlate(StepRow)
    .scalar_subquery()
)
_ATTEMPTS = (
    select(
        AttemptRow.step_id,
        func.count().label("begun"),
        func.count(case((AttemptRow.status == AttemptStatus.HANDED_OVER, 1))).label("handed_over"),
        func.max(AgentRow.backend).label("backend"),
        _REPAIRS.label("repairs"),
    )
    .join(StepRow, AttemptRow.step_id == StepRow.id)
    .join(AgentRow, AttemptRow.agent_id == AgentRow.id)
    .where(_OF_RUN)
    .group_by(AttemptRow.step_id, StepRow.id)
)
"""How many tries of each step were begun, and how many of them handed over; on what; and the repairs."""
