"""Opens Segue on a folder, so that a program can run pipelines there."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Literal

from segue import bootstrap
from segue.adapters.catalog.project import read_project
from segue.adapters.checks.functions import CheckFunction, CheckFunctions
from segue.application.pipelines.submit import PipelineRequest
from segue.application.ports.backend import AgentBackend
from segue.application.ports.engine import WorkerPolicy
from segue.application.segue import Segue
from segue.domain.audit import AuditKind
from segue.domain.errors import (
    BackendUnavailable,
    IllegalMove,
    InvalidRequest,
    NotTrusted,
    SettingsError,
    describe_known,
)
from segue.domain.handoff.custom_notation import CustomNotation
from segue.domain.pipeline import Pipeline
from segue.domain.template import REACTIONS, PipelineTemplate, StepType, TemplateStep
from segue.domain.workspace import WorkspaceChoice
from segue.running.events import AgentAsked, RunEvent
from segue.running.loops import borrow_loop, log_as_libraries_do
from segue.running.result import Result
from segue.running.run import Run
from segue.settings import Settings, load_settings

Template = str | PipelineTemplate | Sequence[TemplateStep]
"""The name of a template of the catalog, a template, or steps in order."""
Backend = str | AgentBackend | type[AgentBackend]
"""The name of a back end, or one of your own: the class, or an object of it."""
_ROOM_SECONDS = 0.05
_LAST_MOVE_SECONDS = 5.0
"""How long a run that has ended may take to close its agent's session, before it is cut off."""
_CLOSED = "its program closed Segue"


class OpenSegue:
    """Segue, open on a folder: `open_segue` gives it."""

    def __init__(self, app: Segue, folder: Path, checks: CheckFunctions) -> None:
        self.folder = folder
        """Where the agents of its runs work, or the repository that they have worktrees of."""
        self._app = app
        self._checks = checks
        self._submitting = asyncio.Lock()
        self._closing = asyncio.Event()
        self._attached: set[int] = set()
        """Runs that are aborted when Segue is closed."""

    async def run(  # noqa: PLR0913  # what can be said of a run; all but two have a default
        self,
        template: Template,
        prompt: str,
        *,
        title: str = "",
        checks: Sequence[str | CheckFunction] | None = None,
        models: Mapping[str, str] | None = None,
        branch: str | None = None,
        workspace: Literal["auto", "in_place", "init_git"] = "auto",
        key: str | None = None,
        detach: bool = False,
    ) -> Run:
        """Begin a run, once fewer than `max_running` others are under way here.

        `checks` are run after each step, in place of those of the template: commands, or functions that are
        given the folder. `models` names another model for an agent. With a `key` that was used before, it
        gives the run that was begun then, and continues it if it was interrupted. When Segue is closed, a run
        that has not ended is aborted; with `detach` it is only interrupted, and its agent may finish.
        """
        name, steps = _read_template(template)
        request = PipelineRequest(
            template=name,
            custom_steps=steps,
            prompt=prompt,
            title=title,
            working_dir=str(self.folder),
            branch=branch,
            step_models=models or {},
            checks=self._named(checks),
            workspace=_read_choice(workspace),
            idempotency_key=key,
        )
        async with self._submitting:  # so that nobody else takes the place that is free
            await self._wait_for_room()
            pipeline = await self._app.pipelines.submit(request)
            if not pipeline.status.is_final and pipeline.worker_id != self._app.workers.me:
                await self._continue(pipeline.id)
        if not detach:
            self._attached.add(pipeline.id)
        return self._run_of(pipeline)

    async def get_run(self, run_id: int) -> Run:
        """A run that was begun before, here or elsewhere; `PipelineNotFound` if there is none."""
        detail = await self._app.views.pipeline(run_id)
        places = {step.id: (step.order_index + 1, step.agent_name) for step in detail.steps}
        return Run(self._app, run_id, title=detail.title, places=places, closing=self._closing)

    async def resume(self, run_id: int) -> Run:
        """Continue a run that was interrupted, here; `IllegalMove` if it has ended or runs elsewhere."""
        async with self._submitting:
            await self._wait_for_room()
            await self._app.pipelines.resume(run_id)
        self._attached.add(run_id)
        return await self.get_run(run_id)

    def _run_of(self, pipeline: Pipeline) -> Run:
        places = {step.id: (step.order_index + 1, step.agent_name) for step in pipeline.steps}
        return Run(self._app, pipeline.id, title=pipeline.title, places=places, closing=self._closing)

    async def _continue(self, run_id: int) -> None:
        """A run of an earlier program: continued here unless another Segue has it."""
        with suppress(IllegalMove):
            await self._app.pipelines.resume(run_id)

    async def _wait_for_room(self) -> None:
        while not self._app.workers.has_room():
            if self._closing.is_set():
                raise IllegalMove("this Segue is closed; begin runs inside of `async with open_segue(...)`")
            await asyncio.sleep(_ROOM_SECONDS)

    def _named(self, checks: Sequence[str | CheckFunction] | None) -> tuple[str, ...] | None:
        if isinstance(checks, str):
            raise InvalidRequest(f'"checks" is a list: write checks=["{checks}"]')
        if checks is None:
            return None
        return tuple(each if isinstance(each, str) else self._checks.add(each) for each in checks)

    async def close(self) -> None:
        """Abort what still runs here and is not detached; who follows a run is told."""
        self._closing.set()
        await asyncio.gather(*(self._end(run_id) for run_id in sorted(self._attached)))
        with suppress(TimeoutError):
            async with asyncio.timeout(_LAST_MOVE_SECONDS):
                while self._attached & self._running():  # noqa: ASYNC110  # the engine tells its own worker alone
                    await asyncio.sleep(_ROOM_SECONDS)

    def _running(self) -> set[int]:
        return {lease.pipeline_id for lease in self._app.workers.engine.running()}

    async def _end(self, run_id: int) -> None:
        detail = await self._app.views.pipeline(run_id)
        if detail.status.is_final or detail.worker_id != self._app.workers.me:
            return
        with suppress(IllegalMove):  # it has ended, or is being aborted, this moment
            await self._app.pipelines.abort(run_id, _CLOSED)


@asynccontextmanager
async def open_segue(  # what can be said of it; all have a default
    folder: str | Path = ".",
    *,
    backend: Backend | None = None,
    notation: CustomNotation | None = None,
    trust: bool = False,
    data_dir: str | Path | None = None,
    settings: Mapping[str, Any] | None = None,
) -> AsyncIterator[OpenSegue]:
    """Open Segue on a folder; leaving it aborts runs that have not ended and stops all that was started.

    `backend` drives agents whose profile names none. `trust` says yes to what the project's `.segue/`
    configures and runs, as it is now, like `segue trust --yes`; without it, a project that is not trusted is
    `NotTrusted`. `data_dir` is where the database is; by default the one that the command line uses.
    `settings` are any others, by name.
    """
    place = _read_folder(folder)
    overrides: dict[str, Any] = {**(settings or {}), "data_dir": data_dir}
    own = None if backend is None or isinstance(backend, str) else backend
    name = backend if isinstance(backend, str) else _name_of(own) if own is not None else None
    overrides |= {"backend": name} if name is not None else {}
    loaded = await asyncio.to_thread(_load, place, overrides, trust=trust)
    backends = {} if own is None or name is None else {name: _made(own, name, loaded)}
    checks = CheckFunctions()
    log_as_libraries_do()
    policy = WorkerPolicy(hosting=False, room=loaded.max_running)
    async with (
        borrow_loop(),
        bootstrap.open_segue(
            loaded, policy=policy, backends=backends, notation=notation, checks=checks
        ) as app,
    ):
        await app.start()
        opened = OpenSegue(app, place, checks)
        try:
            yield opened
        finally:
            await opened.close()


def run_pipeline(  # noqa: PLR0913  # the most used of what `open_segue` and `run` take
    template: Template,
    prompt: str,
    *,
    folder: str | Path = ".",
    backend: Backend | None = None,
    checks: Sequence[str | CheckFunction] | None = None,
    trust: bool = False,
    on_event: Callable[[RunEvent], None] | None = None,
) -> Result:
    """Run a pipeline to its end, from a program without an event loop. Ctrl-C aborts it.

    So does a step that waits for a person: `IllegalMove`.
    """

    async def run_to_end() -> Result:
        async with open_segue(folder, backend=backend, trust=trust) as segue:
            run = await segue.run(template, prompt, checks=checks)
            async for event in run.events():
                if on_event is not None:
                    on_event(event)
                if event.kind == AuditKind.APPROVAL_REQUESTED and isinstance(event, AgentAsked):
                    raise IllegalMove(
                        f"run {run.id} waits for a person: {event.title}. Nobody can answer here, so it was "
                        "aborted; use `open_segue` and `Run.answer`, or a template that does not wait"
                    )
            return await run.result()

    with suppress(RuntimeError):
        asyncio.get_running_loop()
        raise InvalidRequest(
            "an event loop is running here, as in a notebook: use `async with open_segue(...)` in its place"
        )
    return asyncio.run(run_to_end())


def _load(folder: Path, overrides: Mapping[str, Any], *, trust: bool) -> Settings:
    if unknown := set(overrides) - set(Settings.model_fields):
        known = describe_known(min(unknown), Settings.model_fields)
        raise SettingsError(f'open_segue: unknown setting "{min(unknown)}". {known}')
    given = "given to open_segue"
    if trust and (project := read_project(folder)) is not None:
        store = bootstrap.open_trust(load_settings(with_project=False, given=given, **overrides))
        try:
            store.check(project.content)
        except NotTrusted:
            store.trust(project.content)
    return load_settings(folder, given=given, **overrides)


def _read_folder(folder: str | Path) -> Path:
    try:
        place = Path(folder).expanduser().resolve()
        if place.is_dir():
            return place
    except (OSError, RuntimeError, ValueError) as error:
        raise InvalidRequest(f"open_segue: {str(folder)!r} is not a usable path: {error}") from error
    raise InvalidRequest(f"open_segue: {place} is not a folder")


def _name_of(backend: AgentBackend | type[AgentBackend]) -> str:
    """Its dotted path: so another Segue finds it that continues the run, if it can import it."""
    kind = backend if isinstance(backend, type) else type(backend)
    if not issubclass(kind, AgentBackend):
        raise InvalidRequest(
            f"the back end {kind.__qualname__} is not a subclass of AgentBackend, nor a name; "
            "`from segue import AgentBackend` has the methods that it needs"
        )
    if missing := sorted(kind.__abstractmethods__):
        raise InvalidRequest(f"the back end {kind.__qualname__} lacks {', '.join(missing)}")
    return f"{kind.__module__}:{kind.__qualname__}"


def _made(backend: AgentBackend | type[AgentBackend], name: str, settings: Settings) -> AgentBackend:
    if not isinstance(backend, type):
        return backend
    try:
        return backend(sessions_dir=settings.sessions_dir)
    except TypeError as error:
        raise BackendUnavailable(f"the back end {name} cannot be made: {error}") from error


def _read_template(template: Template) -> tuple[str | None, tuple[TemplateStep, ...] | None]:
    """The name of a template, or steps that need nothing from around them."""
    if isinstance(template, str):
        return template, None
    if not isinstance(template, PipelineTemplate):
        if not all(isinstance(step, TemplateStep) for step in template):
            raise InvalidRequest("a run needs the name of a template, a PipelineTemplate or TemplateSteps")
        return None, tuple(template)
    return None, tuple(
        step.model_copy(
            update={
                "checks": template.checks_of(index) if template.checks else step.checks,
                **{key: template.reaction_to(index, key) for key in REACTIONS},
            }
        )
        if step.type is StepType.AGENT
        else step
        for index, step in enumerate(template.steps)
    )


def _read_choice(workspace: str) -> WorkspaceChoice:
    try:
        return WorkspaceChoice(workspace)
    except ValueError as error:
        known = describe_known(workspace, list(WorkspaceChoice))
        raise InvalidRequest(f'"workspace" is wrong: there is no "{workspace}". {known}') from error
