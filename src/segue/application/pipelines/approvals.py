"""What people decide: one decision counts, and it needs no server."""

from __future__ import annotations

from segue.application.conversations.transactions import decide_approval
from segue.application.pipelines.transactions_deciding import HumanDecision, decide_waiting
from segue.application.pipelines.workers import Workers
from segue.application.ports.store import Reads, Store
from segue.application.ports.world import Clock
from segue.domain.approvals import Approval, ApprovalKind, ApprovalStatus
from segue.domain.errors import IllegalMove
from segue.domain.pipeline import Pipeline


class Approvals:
    """The use cases of approvals. Of a permission, the recorder brings the agent the answer."""

    def __init__(self, *, store: Store, clock: Clock, workers: Workers) -> None:
        self._store = store
        self._clock = clock
        self._workers = workers

    async def decide(self, approval_id: int, decision: HumanDecision) -> Approval:
        """Approve, reject or answer what is asked; `IllegalMove` if that is settled already."""
        asked = await self._store.read(lambda rows: rows.get(Approval, approval_id))
        now = self._clock.now()
        if asked.waits_without_agent:
            decided = await self._store.write(lambda rows: decide_waiting(rows, approval_id, decision, now))
            self._workers.look_for_work()
            return decided
        if decision.is_answer:
            raise IllegalMove(f"approval {asked.id} waits for no answer; approve or reject it")
        return await self._store.write(
            lambda rows: decide_approval(
                rows,
                asked,
                approve=decision.approve,
                comment=decision.comment,
                decided_by=decision.decided_by,
                at=now,
                actor=decision.actor,
            )
        )

    async def decide_next(
        self, pipeline_id: int, decision: HumanDecision, *, is_answer: bool = False
    ) -> Approval:
        """Decide on what a run has waited for longest; `IllegalMove` if it waits for nothing of the kind."""

        def waiting(rows: Reads) -> tuple[Approval, ...]:
            rows.get(Pipeline, pipeline_id)
            return rows.find(Approval, pipeline_id=pipeline_id, status=ApprovalStatus.PENDING)

        found = await self._store.read(waiting)
        if not found:
            raise IllegalMove(f"pipeline {pipeline_id} does not wait for an approval")
        if is_answer:
            found = tuple(each for each in found if each.kind in _ANSWERED)
            if not found:
                raise IllegalMove(f"pipeline {pipeline_id} does not wait for an answer; approve or reject it")
        return await self.decide(found[0].id, decision)


_ANSWERED = (ApprovalKind.QUESTION, ApprovalKind.REVIEW)
"""What can be answered in words."""
