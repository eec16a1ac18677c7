"""One step of a pipeline, in three moves: open_attempt, await_reply, accept; or it is handed over between.

Each move looks at the saved records first and goes on from there, so that it is safe to repeat after a
crash. Each writes its records and its audit entries in one transaction, and checks in it that the lease
still holds. Order in every move: commit what is about to happen, act on the outside, record the result.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from secrets import token_urlsafe
from uuid import uuid4

import structlog

from segue.application.acceptance import Acceptance, receipt_of
from segue.application.attempt_ports import NewAttempt
from segue.application.backends import Message
from segue.application.briefings import Briefer
from segue.application.conversations import Conversation, Conversations, LimitReached
from segue.application.endings import Endings
from segue.application.file_handles import is_shortage
from segue.application.ports import CatalogSource
from segue.application.step_handover import StepHandover
from segue.application.workspaces import WorkspaceRequest
from segue.domain.audit import AuditKind
from segue.domain.errors import AgentFailed, BackendError, CatalogError, RepositoryError, SessionLost
from segue.domain.limits import HandoffLimits
from segue.domain.pipeline import Agent, Attempt, AttemptStatus, Lease, Pipeline, StepStatus

log = structlog.get_logger()


class StepMoves:
    """Brings steps to their end: done, or failed with a reason that a person understands."""

    def __init__(  # noqa: PLR0913  # called in one place, which knows all of it
        self,
        *,
        catalog: CatalogSource,
        endings: Endings,
        briefer: Briefer,
        conversations: Conversations,
        acceptance: Acceptance,
        handover: StepHandover,
        handoff_limits: HandoffLimits | None,
    ) -> None:
        self.endings = endings
        self._catalog = catalog
        self._briefer = briefer
        self._conversations = conversations
        self._acceptance = acceptance
        self._handover = handover
        self._handoff_limits = handoff_limits
        self._workspaces = endings.verification.workspaces
        self._database = endings.database
        self._backends = endings.backends
        self._clock = endings.clock
        self._limits = endings.limits

    async def run(self, lease: Lease, step_id: int) -> None:
        """Run a step to its end; a session that is lost, or hands over, is followed by a new attempt."""
        lost = 0
        while True:
            try:
                mark = await self.prepare(lease, step_id)
                if await self._go_on(lease, step_id, mark):
                    return
                lost = 0
            except SessionLost as error:
                lost += 1
                if lost == self._limits.lost_sessions:
                    await self.endings.fail(
                        lease, step_id, f"its session was lost {lost} times in a row: {error}"
                    )
                    return
                await self.endings.lose(lease, step_id, str(error))
            except (BackendError, RepositoryError, CatalogError) as error:
                if is_shortage(error) and not isinstance(error, AgentFailed):
                    raise  # the turn is repeated, from what the records say
                await self.endings.fail(lease, step_id, str(error))
                return

    async def _go_on(self, lease: Lease, step_id: int, mark: str | None) -> bool:
        """One session's part of the step; false if another one has to go on with it."""
        pipeline, attempt, agent = await self.open_attempt(lease, step_id, mark)
        self.endings.hold(lease, agent)
        talk = self._conversations.of(lease, pipeline, attempt, agent)
        rejoined = attempt.status is AttemptStatus.HANDING_OVER
        if not rejoined:
            limits = self._handoff_limits if await talk.backend.converses(talk.request) else None
            try:
                talk = await self.await_reply(talk, limits)
            except LimitReached as limit:
                talk = await self._handover.begin(talk, limit.reason)
                if talk.attempt.status is not AttemptStatus.HANDING_OVER:
                    talk = await self.await_reply(talk)  # it submitted its handoff this very moment
        if talk.attempt.status is AttemptStatus.HANDING_OVER:
            await self._handover.finish(talk, rejoined=rejoined)
            return False
        await self._acceptance.accept(talk)
        return True

    async def prepare(self, lease: Lease, step_id: int) -> str | None:
        """Make the workspace before the first step, and mark its state before each one.

        Gives a name for the state of the files in which the next session of the step begins.
        """
        async with self._database.begin() as work:
            pipeline = await work.pipelines.hold(lease)
        if pipeline.workspace is None:
            pipeline = await self._open_workspace(lease, pipeline)
        step = pipeline.step(step_id)
        if pipeline.workspace is None:
            return None
        if step.status is StepStatus.RUNNING:
            return await self._mark_again(pipeline, step_id)
        if step.order_index == 0:  # later, scripts may differ by the work of the agents
            place = pipeline.workspace
            await asyncio.to_thread(
                self._catalog.check_copy, pipeline.working_dir, place.path, place.branch or pipeline.branch
            )
        mark = await self._workspaces.mark(pipeline.workspace)
        async with self._database.begin() as work:
            pipeline = await work.pipelines.hold(lease)
            await work.pipelines.save(pipeline.mark_step(step_id, mark, self._clock.now()))
            await work.commit()
        return mark

    async def _open_workspace(self, lease: Lease, pipeline: Pipeline) -> Pipeline:
        workspace = await self._workspaces.open(
            WorkspaceRequest(
                pipeline_id=pipeline.id,
                title=pipeline.title,
                working_dir=pipeline.working_dir,
                branch=pipeline.branch,
                choice=pipeline.workspace_choice,
            )
        )
        now = self._clock.now()
        async with self._database.begin() as work:
            opened = replace(await work.pipelines.hold(lease), workspace=workspace, updated_at=now)
            await work.pipelines.save(opened)
            await work.audit.add(
                AuditKind.WORKSPACE_OPENED,
                now,
                pipeline_id=pipeline.id,
                workspace=workspace.kind,
                path=workspace.path,
                branch=workspace.branch,
                notes=list(workspace.notes),
            )
            await work.commit()
        return opened

    async def open_attempt(
        self, lease: Lease, step_id: int, mark: str | None
    ) -> tuple[Pipeline, Attempt, Agent]:
        """The attempt that is under way, or a new one with its briefing."""
        async with self._database.begin() as work:
            pipeline = await work.pipelines.hold(lease)
            latest = await work.attempts.latest(step_id)
            if latest is not None and not latest[0].status.is_final:
                return pipeline, *latest
            if latest is not None and latest[0].status is AttemptStatus.FAILED:
                # A crash came between the end of the attempt and that of the step: go on there.
                raise AgentFailed(latest[0].error or "its attempt failed")
            if latest is not None and latest[0].status is AttemptStatus.HANDED_OVER:
                await self._handover.refuse_a_loop(work, latest[0])
            step, now = pipeline.step(step_id), self._clock.now()
            if step.status is not StepStatus.RUNNING:
                await work.pipelines.save(pipeline.start_step(step_id, now))
                await work.audit.add(
                    AuditKind.STEP_STARTED,
                    now,
                    pipeline_id=pipeline.id,
                    step_id=step_id,
                    agent=step.agent_name,
                )
            number = latest[0].number + 1 if latest else 1
            wanted = pipeline.plan.agents[step.agent_name].backend
            name, backend = self._backends.get(wanted, step.agent_name)
            attempt, agent = await work.attempts.start(
                NewAttempt(
                    step_id=step_id,
                    number=number,
                    agent_name=step.agent_name,
                    backend=name,
                    key=uuid4().hex,
                    message_id=uuid4().hex,
                    token=token_urlsafe(32),
                    briefing=await self._briefer.render(
                        work, pipeline, step, tools=self._conversations.offers_tools(backend)
                    ),
                    carry_over=await self._briefer.carry_over(work, latest) if latest else "",
                    parent_id=latest[1].id if latest else None,
                    title=pipeline.title,
                    model=step.model,
                    working_dir=pipeline.workspace.path if pipeline.workspace else pipeline.working_dir,
                    base_mark=mark,
                    started_at=now,
                )
            )
            await work.audit.add(
                AuditKind.ATTEMPT_STARTED,
                now,
                pipeline_id=pipeline.id,
                step_id=step_id,
                number=number,
                backend=name,
            )
            await work.commit()
        log.info("attempt_started", pipeline=pipeline.id, step=step_id, number=number, backend=name)
        return await self._reread(lease, attempt, agent)

    async def _mark_again(self, pipeline: Pipeline, step_id: int) -> str | None:
        """The state of the files where a session begins that is not the first of its step."""
        async with self._database.begin() as work:
            latest = await work.attempts.latest(step_id)
        if latest is not None and not latest[0].status.is_final:
            return latest[1].base_mark  # it goes on
        assert pipeline.workspace is not None
        return await self._workspaces.mark(pipeline.workspace)

    async def _reread(self, lease: Lease, attempt: Attempt, agent: Agent) -> tuple[Pipeline, Attempt, Agent]:
        async with self._database.begin() as work:
            return await work.pipelines.hold(lease), attempt, agent

    async def await_reply(self, talk: Conversation, limits: HandoffLimits | None = None) -> Conversation:
        """The conversation with its reply: opens, sends and waits, each only if that was not done before."""
        rejoined = talk.attempt.status is AttemptStatus.SENT
        if talk.agent.session_ref is not None:
            await self._conversations.join(talk)
        if talk.attempt.status is AttemptStatus.OPENING:
            session = await self._conversations.open(talk)
            talk = replace(talk, agent=replace(talk.agent, session_ref=session))
            self.endings.hold(talk.lease, talk.agent)
            sending = talk.attempt.moved(AttemptStatus.SENDING, briefing_sha256=receipt_of(talk.attempt))
            talk = await self._record(talk, sending)
        if talk.attempt.status is AttemptStatus.SENDING:
            message = Message(id=talk.attempt.message_id, text=talk.attempt.text)
            await self._conversations.deliver(talk, message)
            talk = await self._record(talk, talk.attempt.moved(AttemptStatus.SENT), AuditKind.MESSAGE_SENT)
        if talk.attempt.status is AttemptStatus.SENT:
            text = await self._conversations.reply(
                talk, talk.attempt.message_id, rejoined=rejoined, limits=limits
            )
            talk = await self._record(talk, talk.attempt.moved(AttemptStatus.REPLIED, reply=text))
        return talk

    async def _record(
        self, talk: Conversation, attempt: Attempt, kind: AuditKind | None = None
    ) -> Conversation:
        async with self._database.begin() as work:
            await work.pipelines.check(talk.lease)
            await work.attempts.save(attempt, talk.agent)
            if kind is not None:
                await work.audit.add(
                    kind,
                    self._clock.now(),
                    pipeline_id=talk.lease.pipeline_id,
                    step_id=attempt.step_id,
                    sha256=attempt.briefing_sha256,
                )
            await work.commit()
        return replace(talk, attempt=attempt)
