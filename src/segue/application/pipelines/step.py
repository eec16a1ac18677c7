"""One step of a pipeline: begun, its reply awaited, its handoff accepted; or handed over between.

Each move is safe to repeat after a crash. Order in every move: commit what is about to happen, act on the
outside, record the result.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from secrets import token_urlsafe
from uuid import uuid4

import structlog

from segue.application.conversations.registry import Conversations
from segue.application.conversations.timeouts import LimitReached, Limits
from segue.application.file_handles import is_shortage
from segue.application.handoffs.step_work import StepWork
from segue.application.pipelines.acceptance import Acceptance
from segue.application.pipelines.briefing import BriefingRenderer
from segue.application.pipelines.closing import StepCloser
from segue.application.pipelines.gates import GateRunner
from segue.application.pipelines.run import LeasedRun
from segue.application.pipelines.shared_work import SharedWork, moved_here
from segue.application.pipelines.step_handover import StepHandover
from segue.application.pipelines.transactions import Begun, begin_attempt, open_workspace, share_run
from segue.application.pipelines.waiting import Waiting
from segue.application.ports.backend import Backends
from segue.application.ports.store import Store
from segue.application.ports.workspace import WorkspaceRequest, Workspaces
from segue.application.ports.world import CatalogSource, Clock
from segue.domain.attempt import Attempt, AttemptStatus, join_text
from segue.domain.briefing.carry_over import write_carry_over
from segue.domain.errors import AgentFailed, BackendError, CatalogError, RepositoryError, SessionLost
from segue.domain.pipeline import Pipeline, StepStatus
from segue.domain.repository_source import Bundle
from segue.domain.session import HandoffLimits, MessageKind, Session
from segue.domain.template import StepType
from segue.domain.workspace import Workspace

log = structlog.get_logger()

_LOST = "Since then {why}. What is said below to be done in files is to be done again.\n\n"


class StepRunner:
    """Brings steps to their end: done, or failed with a reason that a person understands."""

    def __init__(  # noqa: PLR0913  # called in one place, which knows all of it
        self,
        *,
        store: Store,
        backends: Backends,
        clock: Clock,
        limits: Limits,
        catalog: CatalogSource,
        workspaces: Workspaces,
        closer: StepCloser,
        waiting: Waiting,
        gates: GateRunner,
        briefings: BriefingRenderer,
        conversations: Conversations,
        acceptance: Acceptance,
        handover: StepHandover,
        handoff_limits: HandoffLimits | None,
        max_handoffs: int,
        shared: SharedWork | None = None,
    ) -> None:
        self._store = store
        self._backends = backends
        self._clock = clock
        self._limits = limits
        self._catalog = catalog
        self._workspaces = workspaces
        self._closer = closer
        self._waiting = waiting
        self._gates = gates
        self._briefings = briefings
        self._conversations = conversations
        self._acceptance = acceptance
        self._handover = handover
        self._handoff_limits = handoff_limits
        self._max_handoffs = max_handoffs
        self._shared = shared

    async def run(self, run: LeasedRun, step_id: int) -> None:
        """Run a step to its end, or until its run waits or is to be aborted.

        A session that is lost, or hands over, is followed by a new attempt.
        """
        if run.pipeline.step(step_id).kind is not StepType.AGENT:
            await self._without_agent(run, step_id)
            return
        lost = 0
        while True:
            try:
                if self._shared is not None and self._shared.is_elsewhere(run.pipeline):
                    await self._move_here(run, step_id, self._shared)
                work = await self._open_attempt(run, step_id)
                if work is None or await self._go_on(run, work):
                    return
                lost = 0
            except SessionLost as error:
                lost += 1
                if lost == self._limits.lost_sessions:
                    await self._closer.fail(
                        run, step_id, f"its session was lost {lost} times in a row: {error}"
                    )
                    return
                await self._closer.lose(run, step_id, str(error))
            except (BackendError, RepositoryError, CatalogError) as error:
                if is_shortage(error) and not isinstance(error, AgentFailed):
                    raise  # the turn is repeated, from what the records say
                await self._closer.fail(run, step_id, str(error))
                return

    async def _without_agent(self, run: LeasedRun, step_id: int) -> None:
        """A step in which a person or commands decide."""
        step = run.pipeline.step(step_id)
        if step.kind is StepType.APPROVAL:
            await self._waiting.at_step(run, step)
            return
        try:
            await self._gates.run(run, step_id, await self._prepare(run, step_id))
        except (BackendError, RepositoryError, CatalogError) as error:
            if is_shortage(error):
                raise
            await self._closer.fail(run, step_id, str(error))

    async def _go_on(self, run: LeasedRun, work: StepWork) -> bool:
        """One session's part of the step; false if another one has to continue it."""
        if work.attempt.status is not AttemptStatus.HANDING_OVER:
            limits = None
            if self._handoff_limits is not None and await work.talk.backend.converses(work.talk.request):
                limits = self._handoff_limits
            try:
                await self._await_reply(work, limits)
            except LimitReached as limit:
                moved = await self._handover.begin(work, limit.reason)
                if moved is None:
                    await self._await_reply(work, None)  # it submitted its handoff this very moment
                else:
                    work = replace(work, attempt=moved)
                    run.attempts[work.step.id] = moved
        if work.attempt.status is AttemptStatus.HANDING_OVER:
            await self._handover.finish(run, work)
            return False
        await self._acceptance.accept(run, work)
        return True

    async def _await_reply(self, work: StepWork, limits: HandoffLimits | None) -> None:
        """Open, send and wait, each only if that was not done before."""
        (briefing,) = work.talk.said(MessageKind.BRIEFING)
        await work.talk.exchange(briefing, since=work.attempt.started_at, limits=limits)

    async def _open_attempt(self, run: LeasedRun, step_id: int) -> StepWork | None:
        """The attempt that is under way, or a new one with its briefing; none if the run is to be aborted."""
        latest = run.attempts.get(step_id)
        is_new_round = run.pipeline.step(step_id).status is StepStatus.PENDING
        if latest is not None and latest.status is AttemptStatus.FAILED and not is_new_round:
            # A crash came between the end of the attempt and that of the step: continue there.
            raise AgentFailed(latest.error or "its attempt failed")
        if latest is not None and not latest.status.is_final:
            talk = await self._conversations.resumed(run.sessions[step_id], run.lease)
            step = run.pipeline.step(step_id)
            return StepWork(lease=run.lease, pipeline=run.pipeline, step=step, attempt=latest, talk=talk)
        mark = await self._prepare(run, step_id)
        begun = await self._begin(run, step_id, latest, mark)
        if isinstance(begun, str):
            run.pipeline = replace(run.pipeline, abort_reason=begun)
            return None
        run.pipeline = begun.pipeline
        run.attempts[step_id], run.sessions[step_id] = begun.attempt, begun.session
        log.info(
            "attempt_started",
            pipeline=run.pipeline.id,
            step=step_id,
            number=begun.attempt.number,
            backend=begun.session.backend,
        )
        return StepWork(
            lease=run.lease,
            pipeline=run.pipeline,
            step=run.pipeline.step(step_id),
            attempt=begun.attempt,
            talk=self._conversations.of(begun.session, lease=run.lease, messages=(begun.briefing,)),
        )

    async def _begin(
        self, run: LeasedRun, step_id: int, before: Attempt | None, mark: str | None
    ) -> Begun | str:
        pipeline, now = run.pipeline, self._clock.now()
        step = pipeline.step(step_id)
        profile = pipeline.plan.agents[step.agent_name]
        name, backend = self._backends.get(profile.backend, step.agent_name)
        rendered = self._briefings.render(run, step, tools=self._conversations.offers_tools(backend))
        if before is None or step.status is StepStatus.PENDING:
            carry_over = step.returned
        else:
            carry_over = write_carry_over(before, run.handoffs.get(step_id))
        session = Session(
            name=step.agent_name,
            backend=name,
            key=uuid4().hex,
            token=token_urlsafe(32),
            parent_id=before.session_id if before is not None else None,
            step_id=step_id,
            title=pipeline.title,
            model=step.model,
            working_dir=pipeline.workspace.path if pipeline.workspace else pipeline.working_dir,
            profile=profile,
            timeout=step.timeout,
            base_mark=mark,
            started_at=now,
        )
        attempt = Attempt(
            step_id=step_id,
            session_id=0,
            number=before.number + 1 if before is not None else 1,
            carry_over=carry_over,
            left_out=rendered.left_out,
            over_budget=rendered.over_budget,
            started_at=now,
        )
        return await self._store.write(
            lambda rows: begin_attempt(
                rows,
                run.lease,
                pipeline,
                session,
                attempt,
                briefing=join_text(rendered.text, carry_over),
                before=before,
                max_handoffs=self._max_handoffs,
            )
        )

    async def _prepare(self, run: LeasedRun, step_id: int) -> str | None:
        """Make the workspace before the first step; gives a name for the state of its files now."""
        if run.pipeline.workspace is None:
            await self._open_workspace(run)
        place, step = run.pipeline.workspace, run.pipeline.step(step_id)
        if place is None:
            return None
        if step.order_index == 0 and step.status is StepStatus.PENDING:
            # Later, scripts may differ by the work of the agents.
            await asyncio.to_thread(self._check_scripts, run.pipeline, place)
            if self._shared is not None and run.pipeline.source is None:
                await self._share(run, place, self._shared)
        return await self._workspaces.mark(place)

    def _check_scripts(self, pipeline: Pipeline, place: Workspace) -> None:
        """`NotTrusted` unless the scripts in a worktree are those that were trusted, here or elsewhere."""
        folder, branch, source = pipeline.working_dir, place.branch or pipeline.branch, pipeline.source
        if self._shared is None or source is None or not self._shared.is_to_be_brought(pipeline):
            self._catalog.check_copy(folder, place.path, branch)
        elif source.project is not None:
            self._catalog.check_carried(source.project, folder, place.path, branch)

    async def _open_workspace(self, run: LeasedRun) -> None:
        pipeline, shared = run.pipeline, self._shared
        workspace = await shared.open(pipeline) if shared is not None else None
        if workspace is None:
            workspace = await self._workspaces.open(
                WorkspaceRequest(
                    pipeline_id=pipeline.id,
                    title=pipeline.title,
                    working_dir=pipeline.working_dir,
                    branch=pipeline.branch,
                    choice=pipeline.workspace_choice,
                )
            )
        opened = replace(pipeline, updated_at=self._clock.now())
        bundles: Sequence[Bundle] = ()
        if shared is not None:
            opened = replace(opened, home=shared.home)
            if pipeline.source is not None and pipeline.source.base != workspace.base:
                known = await shared.describe(workspace, pipeline.source.project)
                opened, bundles = replace(opened, source=known.source), known.bundles
        opened = replace(opened, workspace=workspace)
        run.pipeline = await self._store.write(
            lambda rows: open_workspace(rows, run.lease, pipeline, opened, bundles)
        )

    async def _share(self, run: LeasedRun, place: Workspace, shared: SharedWork) -> None:
        """Let other machines continue a run that only this one may begin, or say why they cannot."""
        before = run.pipeline
        project = await asyncio.to_thread(self._catalog.carry, before.working_dir)
        known = await shared.describe(place, project)
        told = replace(before, source=known.source, updated_at=self._clock.now()).noted(*known.notes)
        run.pipeline = await self._store.write(
            lambda rows: share_run(rows, run.lease, before, told, known.bundles)
        )

    async def _move_here(self, run: LeasedRun, step_id: int, shared: SharedWork) -> None:
        """The machine of the worktree is gone: its session is lost, and the worktree is made anew here."""
        attempt, why = run.attempts.get(step_id), shared.what_is_lost(run.pipeline)
        if attempt is not None and not attempt.status.is_final:
            await self._closer.lose(run, step_id, why, is_elsewhere=True)
        workspace, before, now = await shared.restore(run.pipeline), run.pipeline, self._clock.now()
        moved = replace(moved_here(before, workspace, shared.home), updated_at=now)
        left = run.handoffs.get(step_id)
        if left is not None and attempt is not None and attempt.status is AttemptStatus.HANDED_OVER:
            told = _LOST.format(why=why) + (left.injection_prompt or "")
            left = replace(left, id=0, injection_prompt=told, created_at=now)
        else:
            left = None
        run.pipeline = await self._store.write(
            lambda rows: open_workspace(rows, run.lease, before, moved, left=left)
        )
        if left is not None:
            run.handoffs[step_id] = left
        log.info("moved_here", pipeline=before.id, path=workspace.path)
