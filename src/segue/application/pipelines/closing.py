"""How a step ends other than done: failed, lost or aborted."""

from __future__ import annotations

from dataclasses import replace

import structlog

from segue.application.conversations.registry import Conversations
from segue.application.handoffs.synthetic import SyntheticHandoffs
from segue.application.pipelines.ending import Ended, end_attempt
from segue.application.pipelines.run import LeasedRun
from segue.application.pipelines.transactions import (
    abort_run,
    close_step,
    fail_attempt,
    lose_attempt,
)
from segue.application.ports.store import Store
from segue.application.ports.world import Clock
from segue.domain.attempt import AttemptStatus
from segue.domain.handoff_record import HandoffRecord
from segue.domain.pipeline import StepStatus

log = structlog.get_logger()


class StepCloser:
    """Ends steps and records why. Sessions are stopped first, then the records say so."""

    def __init__(
        self, *, store: Store, clock: Clock, conversations: Conversations, synthetic: SyntheticHandoffs
    ) -> None:
        self._store = store
        self._clock = clock
        self._conversations = conversations
        self._synthetic = synthetic

    async def fail(self, run: LeasedRun, step_id: int, reason: str) -> None:
        """The step, and with it the pipeline, has failed.

        The attempt is marked first, so that a crash in here never runs it again; then its session is stopped.
        """
        attempt = run.attempts.get(step_id)
        if attempt is not None and not attempt.status.is_final:
            now = self._clock.now()
            ended = self._ended(run, step_id, AttemptStatus.FAILED, reason)
            await self._store.write(lambda rows: fail_attempt(rows, run.lease, ended, now))
            self._take(run, ended)
        left = None
        if attempt is not None and attempt.status is not AttemptStatus.HANDED_OVER:
            left = await self._stop(run, step_id, reason)
        pipeline, now = run.pipeline, self._clock.now()
        failed = pipeline.fail_step(step_id, reason, now)
        await self._store.write(lambda rows: close_step(rows, run.lease, pipeline, failed, step_id, left))
        run.pipeline = failed
        log.warning("step_failed", pipeline=pipeline.id, step=step_id, reason=reason)

    async def abort(self, run: LeasedRun) -> None:
        """Carry out an abort that was asked for: sessions first, then the records."""
        pipeline, left, open_steps = run.pipeline, [], []
        for step in pipeline.steps:
            attempt = run.attempts.get(step.id)
            if step.status is StepStatus.RUNNING and attempt is not None and not attempt.status.is_final:
                open_steps.append(step.id)
                left.append(await self._stop(run, step.id, pipeline.abort_reason or "it was aborted"))
        aborted = pipeline.abort(self._clock.now())
        reason = aborted.reason or "aborted"
        ended = [self._ended(run, each, AttemptStatus.ABORTED, reason) for each in open_steps]
        await self._store.write(lambda rows: abort_run(rows, run.lease, pipeline, aborted, ended, left))
        run.pipeline = aborted
        log.info("pipeline_aborted", pipeline=pipeline.id, reason=aborted.reason)

    async def lose(self, run: LeasedRun, step_id: int, error: str, *, is_elsewhere: bool = False) -> None:
        """The session is gone; the next attempt gets to know it. What is left of it is stopped first.

        One that was on another machine is stopped by the next Segue there.
        """
        # Its session may be lost to this process alone, because another one has joined it.
        await self._store.write(lambda rows: rows.fence(run.lease))
        if is_elsewhere:
            nowhere, session = replace(run.pipeline, workspace=None), run.sessions[step_id]
            left = await self._synthetic.record(nowhere, session, error, self._clock.now())
        else:
            left = await self._stop(run, step_id, error)
        now = self._clock.now()
        ended = self._ended(run, step_id, AttemptStatus.LOST, error)
        saved = await self._store.write(lambda rows: lose_attempt(rows, run.lease, ended, left, now))
        self._take(run, ended)
        run.handoffs[step_id] = saved or left
        log.warning("session_lost", pipeline=run.pipeline.id, step=step_id, error=error)

    async def _stop(self, run: LeasedRun, step_id: int, reason: str) -> HandoffRecord:
        """Stop the session of a step; gives what can be told of its work."""
        talk = self._conversations.find(run.sessions[step_id], run.lease)
        await self._conversations.release(talk, abort=True)
        run.sessions[step_id] = talk.session
        return await self._synthetic.record(run.pipeline, talk.session, reason, self._clock.now())

    def _ended(self, run: LeasedRun, step_id: int, status: AttemptStatus, error: str) -> Ended:
        session = self._conversations.find(run.sessions[step_id], run.lease).session
        return end_attempt(run.attempts[step_id], session, status, self._clock.now(), error=error)

    def _take(self, run: LeasedRun, ended: Ended) -> None:
        run.attempts[ended.step_id], run.sessions[ended.step_id] = ended.attempt[1], ended.session[1]
