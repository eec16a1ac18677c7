"""Attempts, the agent sessions they run in, and their repair turns."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from sqlalchemy import func, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import joinedload

from segue.adapters.storage.mapping import read_attempt, read_repair, write_usage
from segue.adapters.storage.tables import AgentRow, AttemptRow, RepairRow
from segue.application.attempt_ports import NewAttempt
from segue.domain.pipeline import Agent, Attempt, AttemptStatus, Repair
from segue.domain.usage import Usage

_CHANGING = ("status", "briefing_sha256", "reply", "error", "handover_reason", "finished_at")


class SqlAttempts:
    """Attempts and the agent sessions they run in."""

    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def start(self, attempt: NewAttempt) -> tuple[Attempt, Agent]:
        """Save a new try and its session, before anything is opened."""
        agent = AgentRow(
            name=attempt.agent_name,
            backend=attempt.backend,
            key=attempt.key,
            parent_id=attempt.parent_id,
            step_id=attempt.step_id,
            title=attempt.title,
            model=attempt.model,
            working_dir=attempt.working_dir,
            base_mark=attempt.base_mark,
            started_at=attempt.started_at,
        )
        row = AttemptRow(
            step_id=attempt.step_id,
            agent=agent,
            number=attempt.number,
            status=AttemptStatus.OPENING,
            briefing=attempt.briefing,
            carry_over=attempt.carry_over,
            message_id=attempt.message_id,
            token=attempt.token,
            started_at=attempt.started_at,
        )
        self._session.add(row)
        await self._session.flush()
        return read_attempt(row)

    async def latest(self, step_id: int) -> tuple[Attempt, Agent] | None:
        """The newest try at a step."""
        newest = (
            select(AttemptRow)
            .where(AttemptRow.step_id == step_id)
            .order_by(AttemptRow.number.desc())
            .limit(1)
            .options(joinedload(AttemptRow.agent).lazyload(AgentRow.handoffs))
        )
        row = (await self._session.scalars(newest)).one_or_none()
        return read_attempt(row) if row else None

    async def handed_over(self, step_id: int) -> int:
        """How many sessions of a step handed over to the next one."""
        counted = select(func.count(AttemptRow.id)).where(
            AttemptRow.step_id == step_id, AttemptRow.status == AttemptStatus.HANDED_OVER
        )
        return int(await self._session.scalar(counted) or 0)

    async def save(self, attempt: Attempt, agent: Agent) -> None:
        """Write what changed."""
        # No row of these is changed through the session, so there is nothing to bring in line.
        for row, value, changing in (
            (AttemptRow, attempt, _CHANGING),
            (AgentRow, agent, ("session_ref", "ended_at")),
        ):
            changed = {name: getattr(value, name) for name in changing}
            where = update(row).where(row.id == value.id).values(changed)
            await self._session.execute(where.execution_options(synchronize_session=False))

    async def by_token(self, token: str) -> tuple[Attempt, Agent] | None:
        """The try that this token opens tools to."""
        found = (
            select(AttemptRow)
            .where(AttemptRow.token == token)
            .options(joinedload(AttemptRow.agent).lazyload(AgentRow.handoffs))
            .execution_options(populate_existing=True)
        )
        row = (await self._session.scalars(found)).one_or_none()
        return read_attempt(row) if row else None

    async def submit(self, attempt_id: int, *, submitted: str | None, blockers: str | None) -> None:
        """Keep what the agent gave through a tool; none leaves it as it is."""
        given = {"submitted_json": submitted, "blockers_json": blockers}
        changed = {name: value for name, value in given.items() if value is not None}
        where = update(AttemptRow).where(AttemptRow.id == attempt_id).values(changed)
        await self._session.execute(where.execution_options(synchronize_session=False))

    async def forget_submission(self, attempt_id: int) -> None:
        """What the agent submitted did not pass: the next submission counts."""
        where = update(AttemptRow).where(AttemptRow.id == attempt_id).values(submitted_json=None)
        await self._session.execute(where.execution_options(synchronize_session=False))

    async def add_repair(  # noqa: PLR0913 (the columns of a row)
        self,
        attempt_id: int,
        *,
        number: int,
        message_id: str,
        text: str,
        rejected_json: str | None,
        ledger_json: str | None,
        at: datetime,
    ) -> Repair:
        """Save a repair turn before it is sent."""
        row = RepairRow(
            attempt_id=attempt_id,
            number=number,
            message_id=message_id,
            text=text,
            rejected_json=rejected_json,
            ledger_json=ledger_json,
            status=AttemptStatus.SENDING,
            created_at=at,
        )
        self._session.add(row)
        await self._session.flush()
        return read_repair(row)

    async def save_repair(self, repair: Repair) -> None:
        """Write how far a repair turn has come."""
        where = update(RepairRow).where(RepairRow.id == repair.id)
        changed = where.values(status=repair.status, reply=repair.reply)
        await self._session.execute(changed.execution_options(synchronize_session=False))

    async def repairs(self, attempt_id: int) -> list[Repair]:
        """The repair turns of a try, in order."""
        found = select(RepairRow).where(RepairRow.attempt_id == attempt_id).order_by(RepairRow.number)
        return [read_repair(row) for row in await self._session.scalars(found)]

    async def save_usage(self, agent_id: int, usage: Usage) -> None:
        """Write what a session has used so far."""
        where = update(AgentRow).where(AgentRow.id == agent_id).values(usage_json=write_usage(usage))
        await self._session.execute(where.execution_options(synchronize_session=False))

    async def in_use(self, sessions: Collection[str]) -> Collection[str]:
        """Those of the sessions that have not ended, by reference or key."""
        wanted = select(AgentRow.key, AgentRow.session_ref).where(
            AgentRow.ended_at.is_(None), or_(AgentRow.key.in_(sessions), AgentRow.session_ref.in_(sessions))
        )
        return {name for row in await self._session.execute(wanted) for name in row if name is not None}
