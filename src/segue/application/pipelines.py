"""What can be done with a pipeline as a whole: submit, advance, abort."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import structlog

from segue.application.file_handles import is_shortage, wait_out
from segue.application.ports import CatalogSource, Clock, Database, NewPipeline, UnitOfWork
from segue.application.steps import StepMoves
from segue.application.workers import Workers
from segue.domain.audit import AuditKind
from segue.domain.catalog import Catalog, PipelineTemplate, TemplateStep
from segue.domain.errors import (
    IllegalMove,
    InvalidRequest,
    OwnershipLost,
    SegueError,
    StorageError,
    UnknownName,
)
from segue.domain.pipeline import Lease, Pipeline, PipelineStatus
from segue.domain.workspace import Workspace, WorkspaceChoice, WorkspaceKind

log = structlog.get_logger()

CUSTOM = "custom"
"""The template name of a pipeline whose steps were given with it."""
_STORAGE_RETRY_SECONDS = 1.0
_STORAGE_TRIES = 5


@dataclass(frozen=True, kw_only=True, slots=True)
class Submission:
    """What a user asks for: a template or steps of their own, and a prompt."""

    prompt: str
    title: str = ""
    """Made from the prompt if empty."""
    template: str | None = None
    custom_steps: tuple[TemplateStep, ...] | None = None
    branch: str | None = None
    working_dir: str | None = None
    """None for the folder that Segue was started in."""
    step_models: Mapping[str, str] = field(default_factory=dict)
    """Agent name -> model, for this run alone."""
    checks: tuple[str, ...] | None = None
    """Commands that are run after each step, for this run alone; none for those of the template."""
    workspace: WorkspaceChoice = WorkspaceChoice.AUTO
    """A worktree where that can be, in place, or a new git repository."""
    idempotency_key: str | None = None
    """A second submission with the same key gives the first one's pipeline."""


class Pipelines:
    """The use cases of pipelines."""

    def __init__(
        self, *, database: Database, catalog: CatalogSource, workers: Workers, moves: StepMoves, clock: Clock
    ) -> None:
        self._database = database
        self._catalog = catalog
        self._workers = workers
        self._moves = moves
        self._endings = moves.endings
        self._workspaces = moves.endings.verification.workspaces
        self._engine = workers.engine
        self._clock = clock

    async def submit(self, wanted: Submission) -> Pipeline:
        """Save a run and begin it, or leave it pending while all places are taken."""
        new = await asyncio.to_thread(self._check, wanted)
        place = await self._workspaces.check(new.working_dir, new.branch, new.workspace_choice)
        async with self._database.begin() as work:
            if wanted.idempotency_key and (old := await work.pipelines.find_by_key(wanted.idempotency_key)):
                return _same(old, new)
            if place.kind is WorkspaceKind.IN_PLACE:
                await _refuse_two_in_place(work, new.working_dir, place)
            pipeline = await work.pipelines.add(new)
            await work.audit.add(
                AuditKind.PIPELINE_CREATED,
                new.created_at,
                pipeline_id=pipeline.id,
                title=new.title,
                template=new.template,
            )
            lease = None
            if self._workers.has_room():
                lease = await work.pipelines.lease(pipeline.id, self._workers.me)
                await work.audit.add(AuditKind.PIPELINE_STARTED, self._clock.now(), pipeline_id=pipeline.id)
            pipeline = await work.pipelines.get(pipeline.id)
            await work.commit()
        if lease:
            await self._workers.begin(lease)
        log.info("pipeline_submitted", pipeline=pipeline.id, template=new.template, status=pipeline.status)
        return pipeline

    async def clean_up(self) -> None:
        """Remove what earlier runs of Segue left on this machine, and nobody needs."""
        if self._workers.is_hosting():
            await self._endings.sweep()

    async def settle(self) -> None:
        """Let sessions that are being closed be closed; to be called once nothing is moved on here."""
        await self._endings.settle()

    async def resume(self, pipeline_id: int) -> Pipeline:
        """Go on, in this process, with a run that was interrupted."""
        await self._workers.reap()
        async with self._database.begin() as work:
            pipeline = await work.pipelines.get(pipeline_id)
            if pipeline.status.is_final:
                raise IllegalMove(
                    f"pipeline {pipeline_id} is {pipeline.status}; there is nothing to go on with"
                )
            if pipeline.worker_id is not None:
                raise IllegalMove(f"pipeline {pipeline_id} is being run by another Segue; watch it instead")
            folder = pipeline.working_dir
            await asyncio.to_thread(self._catalog.check_copy, folder, folder, None)
            lease = await work.pipelines.lease(pipeline_id, self._workers.me)
            await work.audit.add(AuditKind.PIPELINE_RESUMED, self._clock.now(), pipeline_id=pipeline_id)
            await work.commit()
        await self._workers.begin(lease)
        return pipeline

    async def advance(self, lease: Lease) -> bool:
        """Run the next step of a pipeline; true if there may be another. The engine's outermost move."""
        try:
            try:
                return await self._take_turn(lease)
            except StorageError as error:
                # The records say where to go on, once they can be reached again.
                log.warning("storage_failed", pipeline=lease.pipeline_id, error=str(error))
                await asyncio.sleep(_STORAGE_RETRY_SECONDS)
                return True
            except (SegueError, OSError) as error:
                await wait_out(error)
                return True
        except asyncio.CancelledError:
            await _insist(lambda: self._let_go(lease))
            raise
        except OwnershipLost:
            await self._endings.abandon(lease)
            return False
        except Exception as error:
            log.exception("pipeline_broke", pipeline=lease.pipeline_id)
            broken = error
            await _insist(lambda: self._break(lease, broken))
            return False
        finally:
            self._endings.let_go(lease)

    async def _take_turn(self, lease: Lease) -> bool:
        async with self._database.begin() as work:
            pipeline = await work.pipelines.hold(lease)
        if pipeline.status is not PipelineStatus.RUNNING:
            return False
        if pipeline.abort_reason is not None:
            await self._endings.abort(lease)
        elif (step := pipeline.next_step()) is None:
            await self._finish(lease)
        else:
            await self._moves.run(lease, step.id)
        return True

    async def abort(self, pipeline_id: int, reason: str = "aborted by the user") -> None:
        """Stop a run for good: its agent's session first. Returns when that is done."""
        await self._workers.reap()
        async with self._database.begin() as work:
            asked = await work.pipelines.get(pipeline_id)
            if asked.abort_reason is None or asked.worker_id is not None or asked.status.is_final:
                asked = asked.request_abort(reason, self._clock.now())
            await work.pipelines.save(asked)
            await work.audit.add(
                AuditKind.PIPELINE_ABORT_REQUESTED, asked.updated_at, pipeline_id=pipeline_id, reason=reason
            )
            # Raising the segment makes sure that nobody moves it on between here and the end.
            ownerless = None if asked.worker_id else await work.pipelines.lease(pipeline_id, None)
            await work.commit()
        if ownerless:
            with suppress(OwnershipLost):  # a worker took it up this moment: it sees the request itself
                await self._endings.abort(ownerless)
        elif asked.worker_id == self._workers.me:
            await self._engine.stop(Lease(pipeline_id, asked.segment))
        await self._await_end(pipeline_id, asked.worker_id)

    async def _let_go(self, lease: Lease) -> None:
        """The task is being stopped: because of an abort, a lost lease, or because Segue stops."""
        async with self._database.begin() as work:
            orders = await work.pipelines.orders([lease])
        if lease not in orders:
            log.info("pipeline_paused", pipeline=lease.pipeline_id)
        elif orders[lease] is None:
            await self._endings.abandon(lease)
        else:
            await self._endings.abort(lease)

    async def _await_end(self, pipeline_id: int, worker_id: str | None, seconds: float = 60.0) -> None:
        deadline = asyncio.get_running_loop().time() + seconds
        while not (await self._database.views.pipeline(pipeline_id)).status.is_final:
            if asyncio.get_running_loop().time() > deadline:
                raise SegueError(
                    f"pipeline {pipeline_id} belongs to worker {worker_id}, which has not stopped it within "
                    f"{seconds:g} s; the abort stays requested"
                )
            await asyncio.sleep(0.1)

    async def _finish(self, lease: Lease) -> None:
        """All steps are done, but the pipeline does not say so yet."""
        async with self._database.begin() as work:
            pipeline = await work.pipelines.hold(lease)
            now = self._clock.now()
            await work.pipelines.save(pipeline.complete(now))
            await work.audit.add(AuditKind.PIPELINE_DONE, now, pipeline_id=pipeline.id)
            await work.commit()

    async def _break(self, lease: Lease, error: Exception) -> None:
        async with self._database.begin() as work:
            step = (await work.pipelines.hold(lease)).next_step()
        if step is not None:
            reason = f"Segue itself broke ({type(error).__name__}: {error}); the log has the details"
            await self._endings.fail(lease, step.id, reason)

    def _check(self, wanted: Submission) -> NewPipeline:
        if not wanted.prompt.strip():
            raise InvalidRequest('"prompt" is empty: say what is to be done')
        folder = _folder_of(wanted.working_dir or ".")
        catalog = self._catalog.load(str(folder))
        name, template = _template(wanted, catalog)
        if wanted.checks is not None:
            template = template.with_checks(_checked(wanted.checks))
        if unknown := set(wanted.step_models) - {step.agent for step in template.steps}:
            raise UnknownName(
                "agent", min(unknown), {step.agent for step in template.steps}, where="this pipeline"
            )
        steps = tuple(
            step.model_copy(update={"model": wanted.step_models.get(step.agent, step.model)})
            for step in template.steps
        )
        return NewPipeline(
            title=wanted.title.strip() or _title_of(wanted.prompt),
            template=name,
            prompt=wanted.prompt,
            branch=wanted.branch,
            working_dir=str(folder),
            plan=catalog.plan(template.model_copy(update={"steps": steps})),
            idempotency_key=wanted.idempotency_key,
            workspace_choice=wanted.workspace,
            created_at=self._clock.now(),
        )


async def _refuse_two_in_place(work: UnitOfWork, working_dir: str, place: Workspace) -> None:
    # Where there is a commit, runs that have not begun yet will have worktrees, unless they are told not to.
    choices = {WorkspaceChoice.IN_PLACE} | (set() if place.base else {WorkspaceChoice.AUTO})
    if (other := await work.pipelines.in_place(working_dir, counting=choices)) is not None:
        raise IllegalMove(
            f"pipeline {other} works in {working_dir} itself, or around or below it, and two would spoil "
            "each other's work. Wait for it, abort it, or make the folder a git repository: each run has its "
            "own worktree then"
        )


async def _insist(act: Callable[[], Awaitable[None]]) -> None:
    """Do what must be done although the database may be away for a while."""
    for _ in range(_STORAGE_TRIES):
        try:
            return await act()
        except (StorageError, OSError) as error:
            if not (isinstance(error, StorageError) or is_shortage(error)):
                raise
            log.warning("storage_failed", error=str(error))
            await asyncio.sleep(_STORAGE_RETRY_SECONDS)
    return await act()


def _folder_of(name: str) -> Path:
    try:
        folder = Path(name).expanduser().resolve()
        if folder.is_dir():
            return folder
    except (OSError, RuntimeError, ValueError) as error:
        raise InvalidRequest(f'"working_dir" is no usable path: {error}') from error
    raise InvalidRequest(f'"working_dir" {folder} is not a folder')


def _template(wanted: Submission, catalog: Catalog) -> tuple[str, PipelineTemplate]:
    if (wanted.template is None) == (wanted.custom_steps is None):
        raise InvalidRequest('give either "template" or "custom_steps", and not both')
    if wanted.template is not None:
        return wanted.template, catalog.template(wanted.template)
    if not wanted.custom_steps:
        raise InvalidRequest('"custom_steps" is empty: give at least one step')
    return CUSTOM, PipelineTemplate(steps=wanted.custom_steps)


def _checked(checks: tuple[str, ...]) -> tuple[str, ...]:
    if any(not command.strip() or "\0" in command for command in checks):
        raise InvalidRequest("a check is empty: name the command that is to be run, such as `pytest -q`")
    return checks


def _title_of(prompt: str) -> str:
    line = prompt.strip().splitlines()[0]
    return line if len(line) <= 72 else line[:71].rstrip() + "…"


def _same(old: Pipeline, new: NewPipeline) -> Pipeline:
    same = (old.prompt, old.template, old.working_dir, old.branch, old.plan.template)
    if same != (new.prompt, new.template, new.working_dir, new.branch, new.plan.template):
        raise InvalidRequest(
            f'the idempotency key "{new.idempotency_key}" was used for pipeline {old.id}, which asks for '
            "something else; use a new key"
        )
    return old
