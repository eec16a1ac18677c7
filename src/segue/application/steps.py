"""One step of a pipeline, in three moves: open_attempt, await_reply, accept_handoff.

Each move looks at the saved records first and goes on from there, so that it is safe to repeat after a
crash. Each writes its records and its audit entries in one transaction, and checks in it that the lease
still holds. Order in every move: commit what is about to happen, act on the outside, record the result.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from secrets import token_urlsafe
from typing import Any, TypeVar
from uuid import uuid4

import structlog

from segue.application.backends import AgentBackend, Message, Reply, SessionRequest, ToolServer
from segue.application.briefings import Briefer
from segue.application.endings import Endings
from segue.application.ports import (
    NewAttempt,
    NewHandoff,
    UnitOfWork,
)
from segue.application.submissions import read_handoff
from segue.application.watching import Watching
from segue.domain.audit import AuditKind
from segue.domain.errors import AgentFailed, BackendError, BackendUnavailable, SessionLost
from segue.domain.handoff import Handoff, check_handoff
from segue.domain.permissions import DEFAULT_RULES
from segue.domain.pipeline import Agent, Attempt, AttemptStatus, Lease, Pipeline, Step, StepStatus
from segue.domain.sessions import Reason

log = structlog.get_logger()
T = TypeVar("T")

ToolsFor = Callable[[str], ToolServer]
"""Segue's own tools for the attempt with a token."""

_CUT_OFF = """
## An earlier attempt was cut off

Attempt {number} at this step ended before it could hand off: {error}. It may have left unfinished work in
the working directory. Look at what is there before you begin, and go on from it.
"""


class StepMoves:
    """Brings steps to their end: done, or failed with a reason that a person understands."""

    def __init__(self, *, endings: Endings, briefer: Briefer, tools_for: ToolsFor | None = None) -> None:
        self.endings = endings
        self._briefer = briefer
        self._tools_for = tools_for
        self._watching = Watching(database=endings.database, clock=endings.clock)
        self._database = endings.database
        self._backends = endings.backends
        self._clock = endings.clock
        self._limits = endings.limits

    async def run(self, lease: Lease, step_id: int) -> None:
        """Run a step to its end; a session that is lost is followed by a new attempt."""
        for lost in range(1, self._limits.lost_sessions + 1):
            try:
                pipeline, attempt, agent = await self.open_attempt(lease, step_id)
                self.endings.hold(lease, agent)
                attempt, agent = await self.await_reply(lease, pipeline, attempt, agent)
                await self.accept_handoff(lease, attempt, agent)
                return
            except SessionLost as error:
                if lost == self._limits.lost_sessions:
                    await self.endings.fail(
                        lease, step_id, f"its session was lost {lost} times in a row: {error}"
                    )
                    return
                await self.endings.lose(lease, step_id, str(error))
            except BackendError as error:
                await self.endings.fail(lease, step_id, str(error))
                return

    async def open_attempt(self, lease: Lease, step_id: int) -> tuple[Pipeline, Attempt, Agent]:
        """The attempt that is under way, or a new one with its briefing."""
        async with self._database.begin() as work:
            pipeline = await work.pipelines.hold(lease)
            latest = await work.attempts.latest(step_id)
            if latest is not None and not latest[0].status.is_final:
                return pipeline, *latest
            if latest is not None and latest[0].status is AttemptStatus.FAILED:
                # A crash came between the end of the attempt and that of the step: go on there.
                raise AgentFailed(latest[0].error or "its attempt failed")
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
            name, backend = self._backends.get(pipeline.plan.agents[step.agent_name].backend, step.agent_name)
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
                        work, pipeline, step, tools=self._gives_tools(backend)
                    ),
                    carry_over=_carry_over(latest[0]) if latest else "",
                    parent_id=latest[1].id if latest else None,
                    started_at=now,
                )
            )
            await work.audit.add(
                AuditKind.ATTEMPT_STARTED,
                now,
                pipeline_id=pipeline.id,
                step_id=step_id,
                number=number,
                backend=agent.backend,
            )
            await work.commit()
        log.info("attempt_started", pipeline=pipeline.id, step=step_id, number=number, backend=agent.backend)
        return pipeline, attempt, agent

    async def await_reply(
        self, lease: Lease, pipeline: Pipeline, attempt: Attempt, agent: Agent
    ) -> tuple[Attempt, Agent]:
        """The attempt with its reply: opens, sends and waits, each only if that was not done before."""
        step = pipeline.step(attempt.step_id)
        _, backend = self._backends.get(agent.backend, agent.name)
        request = self._request(pipeline, attempt, agent, backend)
        opening, rejoined = self._limits.open_timeout, attempt.status is AttemptStatus.SENT
        if agent.session_ref is not None:
            joined = backend.resume(request, agent.session_ref)
            await _within(opening, joined, f"{agent.backend} did not give the session back")
        if attempt.status is AttemptStatus.OPENING:
            session = await _within(opening, backend.open(request), f"{agent.backend} did not open a session")
            agent = replace(agent, session_ref=session)
            self.endings.hold(lease, agent)
            attempt = await self._record(lease, attempt.moved(AttemptStatus.SENDING), agent)
        session = agent.session_ref or ""
        if attempt.status is AttemptStatus.SENDING:
            message = Message(id=attempt.message_id, text=attempt.text)
            taken = backend.send(request, session, message)
            await _within(opening, taken, f"{agent.backend} did not take the briefing")
            attempt = await self._record(
                lease, attempt.moved(AttemptStatus.SENT), agent, AuditKind.MESSAGE_SENT
            )
        if attempt.status is AttemptStatus.SENT:
            left = self._time_left(step, attempt, rejoined=rejoined)
            async with self._watching.of(lease, attempt, agent, backend):
                text = await self._reply(step, left, backend.wait(session, attempt.message_id))
            attempt = await self._record(lease, attempt.moved(AttemptStatus.REPLIED, reply=text), agent)
        return attempt, agent

    async def accept_handoff(self, lease: Lease, attempt: Attempt, agent: Agent) -> None:
        """Take the handoff out of the reply; the step is done."""
        attempt = await self._with_submission(attempt)
        reply = attempt.reply or ""
        if not reply.strip() and attempt.submitted_json is None:
            raise AgentFailed("its reply was empty, so there is nothing to hand off")
        handoff, notation = await asyncio.to_thread(read_handoff, attempt)
        now = self._clock.now()
        async with self._database.begin() as work:
            pipeline = await work.pipelines.hold(lease)
            handoff_id = await work.handoffs.add(
                NewHandoff(
                    agent_id=agent.id,
                    step_id=attempt.step_id,
                    reason=Reason.TASK_BOUNDARY,
                    content_md=reply,
                    metadata_json=handoff.to_json() if handoff else None,
                    created_at=now,
                )
            )
            moved = pipeline.finish_step(attempt.step_id, now)
            await work.pipelines.save(moved)
            await work.attempts.save(
                attempt.moved(AttemptStatus.DONE, finished_at=now), replace(agent, ended_at=now)
            )
            await work.approvals.void(attempt.step_id, now)
            await self._audit_handoff(work, moved.step(attempt.step_id), handoff_id, handoff, notation)
            await work.audit.add(AuditKind.STEP_DONE, now, pipeline_id=pipeline.id, step_id=attempt.step_id)
            if moved.status.is_final:
                await work.audit.add(AuditKind.PIPELINE_DONE, now, pipeline_id=pipeline.id)
            await work.commit()
        event = "handoff_extracted" if handoff else "handoff_extraction_failed"
        (log.info if handoff else log.warning)(event, pipeline=pipeline.id, step=attempt.step_id)
        await self.endings.release(agent)

    async def _with_submission(self, attempt: Attempt) -> Attempt:
        """The attempt with what its agent gave through tools while we waited."""
        async with self._database.begin() as work:
            latest = await work.attempts.latest(attempt.step_id)
        given = latest[0] if latest else attempt
        return replace(attempt, submitted_json=given.submitted_json, blockers_json=given.blockers_json)

    async def _record(
        self, lease: Lease, attempt: Attempt, agent: Agent, kind: AuditKind | None = None
    ) -> Attempt:
        async with self._database.begin() as work:
            await work.pipelines.check(lease)
            await work.attempts.save(attempt, agent)
            if kind is not None:
                await work.audit.add(
                    kind, self._clock.now(), pipeline_id=lease.pipeline_id, step_id=attempt.step_id
                )
            await work.commit()
        return attempt

    def _time_left(self, step: Step, attempt: Attempt, *, rejoined: bool) -> float:
        allowed = step.timeout or self._limits.step_timeout
        left = (attempt.started_at + timedelta(seconds=allowed) - self._clock.now()).total_seconds()
        # After a restart the reply may be there already: time to fetch it is given in any case.
        return max(min(left, allowed), self._limits.late_reply_timeout) if rejoined else left

    async def _reply(self, step: Step, seconds: float, waiting: Awaitable[Reply]) -> str:
        try:
            async with asyncio.timeout(seconds):
                reply = await waiting
        except TimeoutError:
            allowed = step.timeout or self._limits.step_timeout
            raise AgentFailed(
                f"it timed out after {allowed:g} s and its session was aborted. If it needs longer, set "
                f'"timeout" in its step or profile, or SEGUE_STEP_TIMEOUT'
            ) from None
        return reply.text.replace("\0", "\ufffd")  # which no database keeps

    def _gives_tools(self, backend: AgentBackend) -> bool:
        return backend.capabilities.mcp and self._tools_for is not None

    def _request(
        self, pipeline: Pipeline, attempt: Attempt, agent: Agent, backend: AgentBackend
    ) -> SessionRequest:
        step, profile = pipeline.step(attempt.step_id), pipeline.plan.agents[agent.name]
        tools = None
        if backend.capabilities.mcp and self._tools_for is not None and attempt.token is not None:
            tools = self._tools_for(attempt.token)
        return SessionRequest(
            key=agent.key,
            agent_name=agent.name,
            profile=profile,
            permissions=(*DEFAULT_RULES, *profile.permissions),
            tools=tools,
            model=step.model,
            working_dir=pipeline.working_dir,
            title=f"segue {pipeline.id}.{step.order_index + 1} {agent.name}: {pipeline.title}",
        )

    async def _audit_handoff(
        self, work: UnitOfWork, step: Step, handoff_id: int, handoff: Handoff | None, notation: str
    ) -> None:
        problems = check_handoff(handoff) if handoff else []
        facts: dict[str, Any] = {
            "handoff_id": handoff_id,
            "has_structured_data": handoff is not None,
            "notation": notation,
            "problems": sorted({problem.code for problem in problems}),
        }
        where = {"pipeline_id": step.pipeline_id, "step_id": step.id}
        await work.audit.add(AuditKind.HANDOFF_CREATED, self._clock.now(), **where, **facts)
        if handoff is None:
            await work.audit.add(AuditKind.HANDOFF_EXTRACTION_FAILED, self._clock.now(), **where)


def _carry_over(earlier: Attempt) -> str:
    return _CUT_OFF.format(number=earlier.number, error=(earlier.error or "no reason is known").rstrip("."))


async def _within(seconds: float, act: Awaitable[T], otherwise: str) -> T:
    try:
        async with asyncio.timeout(seconds):
            return await act
    except TimeoutError:
        raise BackendUnavailable(f"{otherwise} within {seconds:g} s") from None
