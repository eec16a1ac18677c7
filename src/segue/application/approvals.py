"""Answering what agents ask: one decision counts."""

from __future__ import annotations

from dataclasses import replace

from segue.application.ports import Clock, Database
from segue.domain.approvals import Approval, ApprovalStatus
from segue.domain.audit import AuditKind
from segue.domain.errors import IllegalMove


class Approvals:
    """The use cases of approvals. Whoever works with the agent brings it the answer."""

    def __init__(self, *, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def decide(
        self, approval_id: int, *, approve: bool, comment: str | None = None, decided_by: str | None = None
    ) -> Approval:
        """Approve or reject what is asked; `IllegalMove` if that is settled already."""
        now = self._clock.now()
        async with self._database.begin() as work:
            asked = await work.approvals.get(approval_id)
            if asked.status is not ApprovalStatus.PENDING:
                raise IllegalMove(f"approval {approval_id} is {asked.status} already; one decision counts")
            status = ApprovalStatus.APPROVED if approve else ApprovalStatus.REJECTED
            decided = replace(asked, status=status, comment=comment, decided_by=decided_by, decided_at=now)
            await work.approvals.save(decided)
            await work.audit.add(
                AuditKind.PERMISSION_DECIDED,
                now,
                pipeline_id=asked.pipeline_id,
                step_id=asked.step_id,
                approval_id=approval_id,
                status=status,
                decided_by=decided_by,
            )
            await work.commit()
        return decided

    async def decide_next(
        self, pipeline_id: int, *, approve: bool, comment: str | None = None, decided_by: str | None = None
    ) -> Approval:
        """Decide on what a run has waited for longest; `IllegalMove` if it waits for nothing."""
        async with self._database.begin() as work:
            await work.pipelines.get(pipeline_id)
            waiting = await work.approvals.pending(pipeline_id)
        if not waiting:
            raise IllegalMove(f"pipeline {pipeline_id} does not wait for an approval")
        first = min(waiting, key=lambda approval: approval.id)
        return await self.decide(first.id, approve=approve, comment=comment, decided_by=decided_by)
