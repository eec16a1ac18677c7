"""What agents did, and what they asked: the stores of activity and approvals."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from datetime import datetime

from sqlalchemy import insert, select, text, update
from sqlalchemy.ext.asyncio import AsyncSession

from segue.adapters.storage.mapping import read_approval, write
from segue.adapters.storage.tables import ActivityRow, ApprovalRow
from segue.application.ports import NewActivity, NewApproval
from segue.domain.approvals import Approval, ApprovalStatus
from segue.domain.errors import ApprovalNotFound

_ACTIVITY_LOCK = 7_301_003
"""Number of the PostgreSQL lock that makes activity ids commit in their order."""


class SqlActivity:
    """What agents did."""

    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def add(self, new: Sequence[NewActivity]) -> None:
        """Add some, in their order."""
        if not new:
            return
        if self._session.get_bind().dialect.name != "sqlite":
            # Readers resume from an id: a smaller id must never become visible after a larger one.
            await self._session.execute(text(f"SELECT pg_advisory_xact_lock({_ACTIVITY_LOCK})"))
        rows = [
            {
                "kind": one.kind,
                "pipeline_id": one.pipeline_id,
                "step_id": one.step_id,
                "agent_id": one.agent_id,
                "payload_json": json.dumps(dict(one.payload)),
                "created_at": one.created_at,
            }
            for one in new
        ]
        await self._session.execute(insert(ActivityRow), rows)


class SqlApprovals:
    """Questions to a person."""

    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def ask(self, new: NewApproval) -> tuple[Approval, bool]:
        """The approval for this question, and whether it is new."""
        asked = select(ApprovalRow).where(
            ApprovalRow.attempt_id == new.attempt_id, ApprovalRow.request_ref == new.request_ref
        )
        if row := (await self._session.scalars(asked)).one_or_none():
            return read_approval(row), False
        row = ApprovalRow(status=ApprovalStatus.PENDING)
        write(new, row)
        self._session.add(row)
        await self._session.flush()
        return read_approval(row), True

    async def get(self, approval_id: int) -> Approval:
        """The approval with this id, held until the end of the transaction."""
        return read_approval(await self._row(approval_id))

    async def of_attempt(self, attempt_id: int) -> Collection[Approval]:
        """All that was asked in a try."""
        found = select(ApprovalRow).where(ApprovalRow.attempt_id == attempt_id).order_by(ApprovalRow.id)
        return [read_approval(row) for row in await self._session.scalars(found)]

    async def pending(self, pipeline_id: int) -> Collection[Approval]:
        """What waits for an answer in a run, oldest first."""
        found = select(ApprovalRow).where(
            ApprovalRow.pipeline_id == pipeline_id, ApprovalRow.status == ApprovalStatus.PENDING
        )
        return [read_approval(row) for row in await self._session.scalars(found.order_by(ApprovalRow.id))]

    async def save(self, approval: Approval) -> None:
        """Write what changed."""
        write(approval, await self._row(approval.id))

    async def void(self, step_id: int, at: datetime) -> None:
        """Nobody needs an answer any more."""
        open_ones = update(ApprovalRow).where(
            ApprovalRow.step_id == step_id, ApprovalRow.status == ApprovalStatus.PENDING
        )
        changed = open_ones.values(status=ApprovalStatus.VOID, decided_at=at)
        await self._session.execute(changed.execution_options(synchronize_session=False))

    async def _row(self, approval_id: int) -> ApprovalRow:
        row = await self._session.get(ApprovalRow, approval_id, with_for_update=True)
        if row is None:
            raise ApprovalNotFound(approval_id)
        return row
