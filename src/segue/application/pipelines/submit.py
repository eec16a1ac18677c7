"""What can be done with a pipeline as a whole: submit, resume, abort."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import structlog

from segue.application.conversations.registry import Conversations
from segue.application.pipelines.closing import StepCloser
from segue.application.pipelines.run import load_run
from segue.application.pipelines.transactions import create_pipeline, request_abort, take_lease
from segue.application.pipelines.workers import Workers
from segue.application.ports.store import Store
from segue.application.ports.workspace import Workspaces
from segue.application.ports.world import CatalogSource, Clock
from segue.domain.catalog import Catalog, PipelineTemplate, TemplateStep
from segue.domain.errors import (
    AlreadyThere,
    InvalidRequest,
    LeaseLost,
    SegueError,
    UnknownName,
)
from segue.domain.pipeline import Lease, Pipeline, Step
from segue.domain.workspace import WorkspaceChoice

log = structlog.get_logger()

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
    """Agent name -> model, for this run alone."""
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
    ) -> None:
        self._store = store
        self._catalog = catalog
        self._workspaces = workspaces
        self._workers = workers
        self._engine = workers.engine
        self._conversations = conversations
        self._closer = closer
        self._clock = clock

    async def submit(self, request: PipelineRequest, *, actor: str | None = None) -> Pipeline:
        """Save a run and begin it, or leave it pending while all places are taken.

        `actor` is who asks for it, none for the user whose process this is.
        """
        new = await asyncio.to_thread(self._check, request)
        place = await self._workspaces.check(new.working_dir, new.branch, new.workspace_choice)
        worker_id = self._workers.me if self._workers.has_room() else None
        try:
            pipeline, lease = await self._store.write(
                lambda rows: create_pipeline(rows, new, place, worker_id=worker_id, actor=actor)
            )
        except AlreadyThere as error:
            raise InvalidRequest(
                f'the idempotency key "{new.idempotency_key}" is being used right now; ask again'
            ) from error
        if lease:
            await self._workers.begin(lease)
        log.info("pipeline_submitted", pipeline=pipeline.id, template=new.template, status=pipeline.status)
        return pipeline

    async def clean_up(self) -> None:
        """Remove what earlier runs of Segue left on this machine, and nobody needs."""
        if self._workers.is_hosting():
            await self._conversations.sweep()

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
        lease = await self._store.write(lambda rows: take_lease(rows, pipeline_id, self._workers.me, now))
        await self._workers.begin(lease)
        return pipeline

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
        if unknown := set(request.step_models) - {step.agent for step in template.steps}:
            raise UnknownName(
                "agent", min(unknown), {step.agent for step in template.steps}, where="this pipeline"
            )
        steps = tuple(
            step.model_copy(update={"model": request.step_models.get(step.agent, step.model)})
            for step in template.steps
        )
        plan = catalog.plan(template.model_copy(update={"steps": steps}))
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
            steps=tuple(
                Step(
                    agent_name=step.agent,
                    order_index=index,
                    description=step.description,
                    model=step.model or plan.agents[step.agent].model,
                    timeout=step.timeout or plan.agents[step.agent].timeout,
                )
                for index, step in enumerate(plan.template.steps)
            ),
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
