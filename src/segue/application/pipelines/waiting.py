"""A run that waits for a person: what is asked, and how it continues with the answer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta

import structlog

from segue.application.conversations.registry import Conversations
from segue.application.handoffs.step_work import StepWork
from segue.application.pipelines.run import LeasedRun
from segue.application.pipelines.transactions_deciding import begin_approval_step, wait_for_approval
from segue.application.ports.store import Store
from segue.application.ports.world import Clock
from segue.domain.approvals import Approval, ApprovalKind
from segue.domain.handoff_record import HandoffRecord
from segue.domain.pipeline import Pipeline, Step
from segue.domain.session import SessionMessage
from segue.domain.template import Reaction

log = structlog.get_logger()


@dataclass(frozen=True, kw_only=True, slots=True)
class HumanQuestion:
    """What a person is asked."""

    kind: ApprovalKind
    title: str
    reference: str
    """The same for the same question, so that nothing is asked twice."""
    recommendation: str = ""
    """The answer that the agent recommends; empty if it recommends none."""
    remind_after_hours: float | None = None
    """None for the setting's."""
    timeout: float | None = None
    """Seconds after which no decision counts as no; none for never."""


def question_about(
    message: SessionMessage, kind: ApprovalKind, title: str, advice: str = ""
) -> HumanQuestion:
    """What is asked about the answer of an agent to a message."""
    return HumanQuestion(kind=kind, title=title, reference=f"{kind}-{message.id}", recommendation=advice)


class Waiting:
    """Asks people. Nothing is held meanwhile: no worker, no task, no process of an agent."""

    def __init__(
        self, *, store: Store, clock: Clock, conversations: Conversations, remind_after_hours: float
    ) -> None:
        self._store = store
        self._clock = clock
        self._conversations = conversations
        self._remind_after_hours = remind_after_hours

    async def at_step(self, run: LeasedRun, step: Step) -> None:
        """A step of a person: ask, and rest."""
        own = run.pipeline.plan.template.steps[step.order_index]
        question = HumanQuestion(
            kind=ApprovalKind.STEP,
            title=step.description.strip() or f"May the run continue after step {step.order_index}?",
            reference=f"step-{step.id}-{step.round}",
            remind_after_hours=own.remind_after_hours,
            timeout=own.timeout,
        )
        pipeline, asked = run.pipeline, self._approval(run, step, question)
        moved = await self._store.write(lambda rows: begin_approval_step(rows, run.lease, pipeline, asked))
        self._take(run, moved, asked)

    async def ask(
        self, run: LeasedRun, work: StepWork, question: HumanQuestion, record: HandoffRecord | None
    ) -> None:
        """Ask how a step is to continue; its attempt stays open, and its session rests.

        `record` is what its agent handed off, if that is not saved yet.
        """
        pipeline = run.pipeline
        asked = self._approval(run, work.step, question, session_id=work.session.id)
        moved = await self._store.write(
            lambda rows: wait_for_approval(rows, run.lease, pipeline, asked, record)
        )
        if isinstance(moved, str):
            self._take(run, moved, asked)
            return
        waiting, saved = moved
        if saved is not None:
            run.handoffs[work.step.id] = saved
        self._take(run, waiting, asked)
        await self._conversations.rest(work.talk)

    def _approval(
        self, run: LeasedRun, step: Step, question: HumanQuestion, *, session_id: int | None = None
    ) -> Approval:
        now, timeout = self._clock.now(), question.timeout
        own = run.pipeline.plan.template.steps[step.order_index]
        hours = question.remind_after_hours or self._remind_after_hours
        return Approval(
            pipeline_id=run.pipeline.id,
            step_id=step.id,
            session_id=session_id,
            request_ref=question.reference,
            kind=question.kind,
            title=question.title,
            back_to=own.back_to if own.rejection is Reaction.BACK_TO else None,
            recommendation=question.recommendation,
            created_at=now,
            next_at=now + timedelta(hours=hours),
            expires_at=now + timedelta(seconds=timeout) if timeout is not None else None,
        )

    def _take(self, run: LeasedRun, moved: Pipeline | str, asked: Approval) -> None:
        """What was written, as the lease holder knows it; a text is why the run is to be aborted."""
        if isinstance(moved, str):
            run.pipeline = replace(run.pipeline, abort_reason=moved)
            return
        run.pipeline = moved
        log.info("waiting_for_approval", pipeline=moved.id, step=asked.step_id, kind=asked.kind)
