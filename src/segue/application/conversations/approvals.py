"""Answering what agents ask: one decision counts."""

from __future__ import annotations

from segue.application.conversations.transactions import decide_approval
from segue.application.ports.store import Reads, Store
from segue.application.ports.world import Clock
from segue.domain.approvals import Approval, ApprovalStatus
from segue.domain.errors import IllegalMove
from segue.domain.pipeline import Pipeline


class Approvals:
    """The use cases of approvals. The recorder brings the agent the answer."""

    def __init__(self, *, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def decide(
        self,
        approval_id: int,
        *,
        approve: bool,
        comment: str | None = None,
        decided_by: str | None = None,
        actor: str | None = None,
    ) -> Approval:
        """Approve or reject what is asked; `IllegalMove` if that is settled already."""
        asked = await self._store.read(lambda rows: rows.get(Approval, approval_id))
        now = self._clock.now()
        return await self._store.write(
            lambda rows: decide_approval(
                rows, asked, approve=approve, comment=comment, decided_by=decided_by, at=now, actor=actor
            )
        )

    async def decide_next(
        self,
        pipeline_id: int,
        *,
        approve: bool,
        comment: str | None = None,
        decided_by: str | None = None,
        actor: str | None = None,
    ) -> Approval:
        """Decide on what a run has waited for longest; `IllegalMove` if it waits for nothing."""

        def waiting(rows: Reads) -> tuple[Approval, ...]:
            rows.get(Pipeline, pipeline_id)
            return rows.find(Approval, pipeline_id=pipeline_id, status=ApprovalStatus.PENDING)

        found = await self._store.read(waiting)
        if not found:
            raise IllegalMove(f"pipeline {pipeline_id} does not wait for an approval")
        return await self.decide(
            found[0].id, approve=approve, comment=comment, decided_by=decided_by, actor=actor
        )
