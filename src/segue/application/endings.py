"""How a step ends other than done: failed, lost, aborted, or taken over by another worker."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace

import structlog

from segue.application.backends import Backends
from segue.application.ports import Clock, Database, NewHandoff, UnitOfWork
from segue.application.verification import Verification
from segue.domain.audit import AuditKind
from segue.domain.errors import BackendError, RepositoryError
from segue.domain.evidence.model import Evidence
from segue.domain.evidence.record import evidence_as_json
from segue.domain.handoff import Handoff, OutputNotation, redact, render_handoff
from segue.domain.pipeline import Agent, AttemptStatus, Lease, StepStatus
from segue.domain.sessions import Reason
from segue.domain.synthetic import synthesize

log = structlog.get_logger()


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """How long and how often."""

    step_timeout: float = 600.0
    """Seconds a step may take unless its template or profile says otherwise."""
    open_timeout: float = 180.0
    """Seconds a back end may take to open a session or to take a message."""
    stop_timeout: float = 30.0
    """Seconds a back end may take to abort or close a session."""
    late_reply_timeout: float = 10.0
    """Seconds to fetch a reply after a restart, when the step's own time is over already."""
    lost_sessions: int = 3
    """After so many lost sessions in one go, the step fails."""


class Endings:
    """Stops sessions and writes down why. Sessions are stopped first, then the records say so."""

    def __init__(
        self,
        *,
        database: Database,
        backends: Backends,
        clock: Clock,
        limits: Limits,
        verification: Verification,
    ) -> None:
        self.verification = verification
        self.database = database
        self.backends = backends
        self.clock = clock
        self.limits = limits
        self._held: dict[Lease, Agent] = {}
        self._releasing: set[asyncio.Task[None]] = set()

    def hold(self, lease: Lease, agent: Agent) -> None:
        """Remember which session a lease works with."""
        self._held[lease] = agent

    def let_go(self, lease: Lease) -> None:
        """The lease works with no session any more."""
        self._held.pop(lease, None)

    async def fail(self, lease: Lease, step_id: int, reason: str) -> None:
        """The step, and with it the pipeline, has failed.

        The attempt is marked first, so that a crash in here never runs it again; then its session is stopped.
        """
        async with self.database.begin() as work:
            await work.pipelines.check(lease)
            latest = await work.attempts.latest(step_id)
            await self._end_attempt(work, step_id, AttemptStatus.FAILED, reason)
            await work.commit()
        left = None
        if latest is not None and latest[0].status is not AttemptStatus.HANDED_OVER:
            await self.release(latest[1], abort=True)
            left = await self._left_by(lease, latest[1], reason)
        now = self.clock.now()
        async with self.database.begin() as work:
            pipeline = await work.pipelines.hold(lease)
            await self._keep(work, lease, left)
            failed = pipeline.fail_step(step_id, reason, now)
            await work.pipelines.save(failed)
            await work.audit.add(
                AuditKind.STEP_FAILED, now, pipeline_id=pipeline.id, step_id=step_id, reason=reason
            )
            await work.audit.add(
                AuditKind.PIPELINE_FAILED, now, pipeline_id=pipeline.id, reason=failed.reason
            )
            await work.commit()
        log.warning("step_failed", pipeline=lease.pipeline_id, step=step_id, reason=reason)

    async def abort(self, lease: Lease) -> None:
        """Carry out an abort that was asked for: sessions first, then the records."""
        async with self.database.begin() as work:
            pipeline = await work.pipelines.hold(lease)
            running = [s for s in pipeline.steps if s.status is StepStatus.RUNNING]
            latest = [await work.attempts.latest(step.id) for step in running]
        left = []
        for found in latest:
            if found is not None and not found[0].status.is_final:
                await self.release(found[1], abort=True)
                reason = pipeline.abort_reason or "it was aborted"
                left.append(await self._left_by(lease, found[1], reason))
        now = self.clock.now()
        async with self.database.begin() as work:
            aborted = (await work.pipelines.hold(lease)).abort(now)
            for handoff in left:
                await self._keep(work, lease, handoff)
            await work.pipelines.save(aborted)
            for step in running:
                await self._end_attempt(work, step.id, AttemptStatus.ABORTED, aborted.reason or "aborted")
                await work.audit.add(
                    AuditKind.STEP_ABORTED,
                    now,
                    pipeline_id=aborted.id,
                    step_id=step.id,
                    reason=aborted.reason,
                )
            await work.audit.add(
                AuditKind.PIPELINE_ABORTED, now, pipeline_id=aborted.id, reason=aborted.reason
            )
            await work.commit()
        log.info("pipeline_aborted", pipeline=lease.pipeline_id, reason=aborted.reason)

    async def abandon(self, lease: Lease) -> None:
        """Another worker owns the pipeline now: stop what only this machine can stop, write nothing."""
        log.warning("lease_lost", pipeline=lease.pipeline_id, segment=lease.segment)
        agent = self._held.pop(lease, None)
        if agent is None or agent.id in {other.id for other in self._held.values()}:
            return  # nothing was begun, or a newer lease in this process has joined the session
        _, backend = self.backends.get(agent.backend, agent.name)
        if backend.local_sessions:
            await self.release(agent, abort=True)

    async def release(self, agent: Agent, *, abort: bool = False) -> None:
        """Abort and close a session; goes on to its end even if whoever asked for it is stopped meanwhile."""
        releasing = asyncio.create_task(self._release(agent, abort=abort))
        self._releasing.add(releasing)
        releasing.add_done_callback(self._releasing.discard)
        await asyncio.shield(releasing)

    async def settle(self) -> None:
        """Wait until every session that is being released is gone; each has its limit."""
        if self._releasing:
            await asyncio.wait(tuple(self._releasing))

    async def _release(self, agent: Agent, *, abort: bool) -> None:
        """What cannot be stopped in time is logged, never waited for."""
        session = agent.session_ref or agent.key
        try:
            _, backend = self.backends.get(agent.backend, agent.name)
            async with asyncio.timeout(self.limits.stop_timeout):
                if abort:
                    await backend.abort(session)
                await backend.close(session)
        except (BackendError, TimeoutError) as error:
            log.warning("session_not_released", agent=agent.name, session=session, error=str(error))

    async def lose(self, lease: Lease, step_id: int, error: str) -> None:
        """The session is gone; the next attempt is told so. What is left of it is stopped first."""
        async with self.database.begin() as work:
            latest = await work.attempts.latest(step_id)
        left = None
        if latest is not None:
            await self.release(latest[1], abort=True)
            left = await self._left_by(lease, latest[1], error)
        async with self.database.begin() as work:
            await work.pipelines.check(lease)
            await self._keep(work, lease, left)
            await self._end_attempt(work, step_id, AttemptStatus.LOST, error)
            await work.audit.add(
                AuditKind.ATTEMPT_LOST,
                self.clock.now(),
                pipeline_id=lease.pipeline_id,
                step_id=step_id,
                reason=error,
            )
            await work.commit()
        log.warning("session_lost", pipeline=lease.pipeline_id, step=step_id, error=error)

    async def _left_by(self, lease: Lease, agent: Agent, reason: str) -> NewHandoff:
        """The handoff that an agent could not write any more."""
        handoff, evidence = await self.synthetic(lease, agent, reason)
        return NewHandoff(
            agent_id=agent.id,
            step_id=agent.step_id,
            reason=Reason.TASK_BOUNDARY,
            content_md=render_handoff(handoff, OutputNotation.YAML),
            metadata_json=handoff.to_json(),
            ledger_json=None,
            evidence_json=evidence_as_json(evidence),
            is_synthetic=True,
            created_at=self.clock.now(),
        )

    async def synthetic(self, lease: Lease, agent: Agent, reason: str) -> tuple[Handoff, Evidence | None]:
        """What the agent left, as git and its log show it; its session must have stopped."""
        async with self.database.begin() as work:
            pipeline = await work.pipelines.hold(lease)
        assert agent.step_id is not None  # sessions of steps only end here
        _, backend = self.backends.get(agent.backend, agent.name)
        try:
            evidence = await self.verification.evidence(
                pipeline,
                pipeline.step(agent.step_id),
                agent,
                knows_commands=backend.capabilities.tool_log,
                logs_all=backend.capabilities.whole_log,
            )
        except RepositoryError as error:
            log.warning("no_evidence", pipeline=pipeline.id, error=str(error))
            evidence, reason = None, f"{reason} (what it changed could not be read: {error})"
        handoff = synthesize(
            reason=reason,
            evidence=evidence,
            commands=await self.verification.commands(agent),
            last_words=redact(await self.verification.last_words(agent))[0],
        )
        return handoff, evidence

    async def _keep(self, work: UnitOfWork, lease: Lease, left: NewHandoff | None) -> None:
        if left is None:
            return
        handoff_id = await work.handoffs.add(left)
        await work.audit.add(
            AuditKind.HANDOFF_CREATED,
            left.created_at,
            pipeline_id=lease.pipeline_id,
            step_id=left.step_id,
            handoff_id=handoff_id,
            is_synthetic=True,
        )

    async def sweep(self) -> None:
        """Release sessions on this machine that have ended by the records, but were never released."""
        for backend in self.backends.with_leftovers():
            there = (
                await backend.leftovers()
            )  # first, so that whoever opens one now is in the records already
            async with self.database.begin() as work:
                used = await work.attempts.in_use(there)
            for session in set(there) - set(used):
                await backend.close(session)
                log.info("leftover_removed", session=session)

    async def _end_attempt(self, work: UnitOfWork, step_id: int, status: AttemptStatus, error: str) -> None:
        latest = await work.attempts.latest(step_id)
        if latest is not None and not latest[0].status.is_final:
            now = self.clock.now()
            attempt = latest[0].moved(status, error=error, finished_at=now)
            await work.attempts.save(attempt, replace(latest[1], ended_at=now))
        await work.approvals.void(step_id, self.clock.now())
