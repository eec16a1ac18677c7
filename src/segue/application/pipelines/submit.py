"""What can be done with a pipeline as a whole: submit, resume, abort."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

import structlog

from segue.application.conversations.registry import Conversations
from segue.application.pipelines.closing import StepCloser
from segue.application.pipelines.leases import resume_run
from segue.application.pipelines.run import load_run
from segue.application.pipelines.shared_work import SharedWork
from segue.application.pipelines.transactions import create_pipeline, request_abort
from segue.application.pipelines.transactions_deciding import restart_run
from segue.application.pipelines.workers import Workers
from segue.application.ports.store import Store
from segue.application.ports.workspace import Workspaces
from segue.application.ports.world import CatalogSource, Clock
from segue.domain.catalog import Catalog, Plan
from segue.domain.errors import (
    AlreadyThere,
    InvalidRequest,
    LeaseLost,
    SegueError,
)
from segue.domain.pipeline import Lease, Pipeline, Step
from segue.domain.repository_source import Bundle
from segue.domain.template import PipelineTemplate, TemplateStep
from segue.domain.workspace import Workspace, WorkspaceChoice

log = structlog.get_logger()

_SUBMISSIONS_AT_ONCE = 4
"""The others wait in line, so that a burst of them leaves room for reads and for the steps under way."""
CUSTOM = "custom"
"""The template name of a pipeline whose steps were given with it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PipelineRequest:
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
    """Index, name or agent of a step -> model, for this run alone."""
    checks: tuple[str, ...] | None = None
    """Commands that are run after each step, for this run alone; none for those of the template."""
    workspace: WorkspaceChoice = WorkspaceChoice.AUTO
    """A worktree where that can be, in place, or a new git repository."""
    idempotency_key: str | None = None
    """A second submission with the same key gives the first one's pipeline."""


class Pipelines:
    """The use cases of pipelines."""

    def __init__(  # noqa: PLR0913  # called in one place, which knows all of it
        self,
        *,
        store: Store,
        catalog: CatalogSource,
        workspaces: Workspaces,
        workers: Workers,
        conversations: Conversations,
        closer: StepCloser,
        clock: Clock,
        shared: SharedWork | None = None,
    ) -> None:
        self._store = store
        self._catalog = catalog
        self._workspaces = workspaces
        self._workers = workers
        self._engine = workers.engine
        self._conversations = conversations
        self._closer = closer
        self._clock = clock
        self._places = asyncio.Semaphore(_SUBMISSIONS_AT_ONCE)
        self._shared = shared

    async def submit(self, request: PipelineRequest, *, actor: str | None = None) -> Pipeline:
        """Save a run and begin it, or leave it pending while all places are taken.

        `actor` is who asks for it, none for the user whose process this is.
        """
        async with self._places:
            return await self._submit(request, actor)

    async def _submit(self, request: PipelineRequest, actor: str | None) -> Pipeline:
        new = await asyncio.to_thread(self._check, request)
        place = await self._workspaces.check(new.working_dir, new.branch, new.workspace_choice)
        bundles: Sequence[Bundle] = ()
        if self._shared is not None:
            new, bundles = await self._share(new, place, self._shared)
        worker = self._workers.worker if self._workers.has_room() else None
        try:
            pipeline, lease = await self._store.write(
                lambda rows: create_pipeline(rows, new, place, worker=worker, bundles=bundles, actor=actor)
            )
        except AlreadyThere as error:
            raise InvalidRequest(
                f'the idempotency key "{new.idempotency_key}" is being used right now; ask again'
            ) from error
        if lease:
            await self._workers.begin(lease)
        else:
            self._workers.look_for_work()
        log.info("pipeline_submitted", pipeline=pipeline.id, template=new.template, status=pipeline.status)
        return pipeline

    async def _share(
        self, new: Pipeline, place: Workspace, shared: SharedWork
    ) -> tuple[Pipeline, Sequence[Bundle]]:
        """A run that any machine may begin; or only this one, if its files are here alone."""
        known = await shared.describe(place, await asyncio.to_thread(self._catalog.carry, new.working_dir))
        if known.source is not None:
            return replace(new, source=known.source), known.bundles
        return replace(new, home=shared.home if self._workers.is_beating() else None), ()

    async def clean_up(self) -> None:
        """Remove what earlier runs of Segue left on this machine, and nobody needs."""
        if self._workers.is_hosting():
            await self._conversations.sweep()
            if self._shared is not None:
                await self._shared.remove_strays()

    async def settle(self) -> None:
        """Let sessions that are being closed be closed; to be called once nothing is moved on here."""
        await self._conversations.settle()

    async def resume(self, pipeline_id: int) -> Pipeline:
        """Continue, in this process, a run that was interrupted."""
        await self._workers.reap()
        pipeline = await self._store.read(lambda rows: rows.pipeline(pipeline_id))
        if not pipeline.status.is_final and pipeline.worker_id is None:
            folder = pipeline.working_dir
            await asyncio.to_thread(self._catalog.check_copy, folder, folder, None)
        now = self._clock.now()
        lease = await self._store.write(lambda rows: resume_run(rows, pipeline_id, self._workers.worker, now))
        await self._workers.begin(lease)
        return pipeline

    async def restart(self, pipeline_id: int, note: str = "", *, actor: str | None = None) -> Pipeline:
        """Begin again at the first step that is not done; `IllegalMove` unless it failed or was aborted."""
        await self._workers.reap()
        now = self._clock.now()
        restarted = await self._store.write(
            lambda rows: restart_run(rows, pipeline_id, note, now, actor=actor)
        )
        self._workers.look_for_work()
        return restarted

    async def abort(
        self, pipeline_id: int, reason: str = "aborted by the user", *, actor: str | None = None
    ) -> None:
        """Stop a run for good: its agent's session first. Returns when that is done."""
        await self._workers.reap()
        now = self._clock.now()
        asked, ownerless = await self._store.write(
            lambda rows: request_abort(rows, pipeline_id, reason, now, actor=actor)
        )
        if ownerless:
            with suppress(LeaseLost):  # a worker took it up this moment: it sees the request itself
                await self._closer.abort(await self._store.read(lambda rows: load_run(rows, ownerless)))
        elif asked.worker_id == self._workers.me:
            await self._engine.stop(Lease(pipeline_id, asked.lease_number))
        await self._await_end(pipeline_id, asked.worker_id)

    async def _await_end(self, pipeline_id: int, worker_id: str | None, seconds: float = 60.0) -> None:
        deadline = asyncio.get_running_loop().time() + seconds
        while not (await self._store.views.pipeline(pipeline_id)).status.is_final:
            if asyncio.get_running_loop().time() > deadline:
                raise SegueError(
                    f"pipeline {pipeline_id} belongs to worker {worker_id}, which has not stopped it within "
                    f"{seconds:g} s; the abort stays requested"
                )
            await asyncio.sleep(0.1)

    def _check(self, request: PipelineRequest) -> Pipeline:
        if not request.prompt.strip():
            raise InvalidRequest('"prompt" is empty: say what is to be done')
        folder = _folder_of(request.working_dir or ".")
        catalog = self._catalog.load(str(folder))
        name, template = _template(request, catalog)
        if request.checks is not None:
            template = template.with_checks(_checked(request.checks))
        plan = catalog.plan(template.with_models(request.step_models))
        now = self._clock.now()
        return Pipeline(
            title=request.title.strip() or _title_of(request.prompt),
            template=name,
            prompt=request.prompt,
            branch=request.branch,
            working_dir=str(folder),
            plan=plan,
            idempotency_key=request.idempotency_key,
            workspace_choice=request.workspace,
            created_at=now,
            updated_at=now,
            steps=_steps_of(plan),
        )


def _steps_of(plan: Plan) -> tuple[Step, ...]:
    names = plan.template.step_names
    return tuple(
        Step(
            agent_name=step.agent or f"__{step.type}__",
            order_index=index,
            name=names[index],
            kind=step.type,
            description=step.description,
            model=step.model or (plan.agents[step.agent].model if step.agent else None),
            timeout=step.timeout or (plan.agents[step.agent].timeout if step.agent else None),
        )
        for index, step in enumerate(plan.template.steps)
    )


def _folder_of(name: str) -> Path:
    try:
        folder = Path(name).expanduser().resolve()
        if folder.is_dir():
            return folder
    except (OSError, RuntimeError, ValueError) as error:
        raise InvalidRequest(f'"working_dir" is no usable path: {error}') from error
    raise InvalidRequest(f'"working_dir" {folder} is not a folder')


def _template(request: PipelineRequest, catalog: Catalog) -> tuple[str, PipelineTemplate]:
    if (request.template is None) == (request.custom_steps is None):
        raise InvalidRequest('give either "template" or "custom_steps", and not both')
    if request.template is not None:
        return request.template, catalog.template(request.template)
    if not request.custom_steps:
        raise InvalidRequest('"custom_steps" is empty: give at least one step')
    return CUSTOM, PipelineTemplate(steps=request.custom_steps)


def _checked(checks: tuple[str, ...]) -> tuple[str, ...]:
    if any(not command.strip() or "\0" in command for command in checks):
        raise InvalidRequest("a check is empty: name the command that is to be run, such as `pytest -q`")
    return checks


def _title_of(prompt: str) -> str:
    line = prompt.strip().splitlines()[0]
    return line if len(line) <= 72 else line[:71].rstrip() + "…"
