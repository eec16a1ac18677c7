"""What a run has made, kept where another machine can get it, and brought to this one.

Only where several machines share the records: on one machine there is nothing of all this.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath

import structlog

from segue.application.file_handles import is_shortage
from segue.application.ports.shared import SharedRepositories, Work
from segue.application.ports.store import Reads, Store
from segue.application.ports.world import Clock
from segue.domain.errors import RepositoryError
from segue.domain.pipeline import Pipeline, Step, StepStatus
from segue.domain.repository_source import Bundle, RepositorySource
from segue.domain.trust import CarriedProject
from segue.domain.workers import Worker
from segue.domain.workspace import Workspace, WorkspaceKind, branch_name

log = structlog.get_logger()


_RETRY_SECONDS = (2.0, 10.0, 30.0)
_ONLY_HERE = "its files are on this machine alone: no other one can continue it"


@dataclass(frozen=True, kw_only=True, slots=True)
class SharedRun:
    """A run as other machines can know it."""

    source: RepositorySource | None
    """None if only one machine can work on it."""
    bundles: tuple[Bundle, ...] = ()
    """What is to be saved with it."""
    notes: tuple[str, ...] = ()
    """What the user should know."""


class SharedWork:
    """The use cases of commits that outlive the machine on which they were made."""

    def __init__(self, *, store: Store, repositories: SharedRepositories, clock: Clock) -> None:
        self._store = store
        self._repositories = repositories
        self._clock = clock

    @property
    def home(self) -> str:
        """This machine's data folder."""
        return self._repositories.home

    def is_elsewhere(self, pipeline: Pipeline) -> bool:
        """True if its worktree is on another machine, or was."""
        return pipeline.workspace is not None and pipeline.home not in (None, self.home)

    def what_is_lost(self, pipeline: Pipeline) -> str:
        """Why a session on another machine ends, for the agent that continues its step."""
        machine = (pipeline.home or "").partition(":")[0]
        return (
            f"the machine on which it ran ({machine}) is gone, and with it what the step had changed: the "
            "working directory is as the step before left it"
        )

    def is_to_be_brought(self, pipeline: Pipeline) -> bool:
        """True if its commits are not in the repository of its folder by themselves."""
        place = pipeline.workspace
        is_in_clone = place is not None and self._repositories.is_clone(place)
        return is_in_clone or self.is_elsewhere(pipeline)

    async def remove_strays(self) -> None:
        """Remove worktrees of runs that another machine continued, or that have another one here by now.

        Nobody may be at work in them: sessions that are over have been ended.
        """
        for folder, pipeline_id in (await self._repositories.worktrees()).items():
            if await self._store.read(lambda rows, at=folder, of=pipeline_id: self._is_stray(rows, at, of)):  # type: ignore[misc]
                try:
                    await self._repositories.remove_stray(folder)
                except RepositoryError as error:
                    log.warning("stray_left", pipeline=pipeline_id, path=folder, error=str(error))

    def _is_stray(self, rows: Reads, folder: str, pipeline_id: int) -> bool:
        found = rows.first(Pipeline, id=pipeline_id)
        if found is None or found.workspace is None or found.home is None:
            return False
        if found.home == self.home:
            return not _is_inside(found.workspace.path, folder)
        neighbours = {each.id for each in rows.find(Worker, home=self.home)}
        return found.worker_id not in neighbours  # else one of them may be making it this moment

    async def describe(self, place: Workspace, project: CarriedProject | None) -> SharedRun:
        """How other machines get what a run begins from, with what the user trusts of its project."""
        if place.kind is not WorkspaceKind.WORKTREE or place.base is None:
            return SharedRun(source=None, notes=(_ONLY_HERE,))
        source = replace(await self._repositories.describe(place), project=project)
        known = await self._store.read(lambda rows: rows.begun_from(source.name))
        try:
            content = await self._repositories.keep_base(place, source, known)
        except RepositoryError as error:
            return _only_here(error)
        return self._shared(source, source.base, content)

    def _shared(
        self, source: RepositorySource, tip: str, content: bytes | None, step: Step | None = None
    ) -> SharedRun:
        if content is None:
            return SharedRun(source=source)
        bundle = Bundle(
            pipeline_id=step.pipeline_id if step is not None else None,
            step_id=step.id if step is not None else None,
            repository=source.name,
            tip=tip,
            content=content,
            created_at=self._clock.now(),
        )
        return SharedRun(source=source, bundles=(bundle,))

    async def open(self, pipeline: Pipeline) -> Workspace | None:
        """A worktree of a clone for a run that begins here; none if its folder is on this machine."""
        source = pipeline.source
        if source is None or await self._repositories.has(source, source.base, pipeline.working_dir):
            return None
        branch = pipeline.branch or branch_name(pipeline.id, pipeline.title)
        return await self._restore(await self._work(pipeline, source, branch, source.base), pipeline.id)

    async def keep(self, pipeline: Pipeline, step: Step, commit: str | None) -> SharedRun:
        """Put the commit of a step where others can get it: by pushing it, or as a bundle to be saved."""
        source, place = pipeline.source, pipeline.workspace
        if source is None or place is None or commit is None:
            return SharedRun(source=source)
        before = _last_commit(pipeline, source)
        tips = [commit] if step.base_mark in (None, before) else [commit, step.base_mark or ""]
        try:
            content = await self._repositories.keep(place, source, tips, before)
        except RepositoryError as error:
            log.warning("only_here", pipeline=pipeline.id, error=str(error))
            return _only_here(error)
        return self._shared(source, commit, content, step)

    async def restore(self, pipeline: Pipeline) -> Workspace:
        """The worktree of a run whose machine is gone, at the commit of its last step that is done."""
        source, branch = _needed(pipeline)
        work = await self._work(pipeline, source, branch, _last_commit(pipeline, source))
        return await self._restore(work, pipeline.id)

    async def _restore(self, work: Work, pipeline_id: int) -> Workspace:
        """Ask once more while the origin cannot be reached."""
        for seconds in _RETRY_SECONDS:
            try:
                return await self._repositories.restore(work, pipeline_id)
            except RepositoryError as error:
                log.warning("not_restored", pipeline=pipeline_id, error=str(error))
                await asyncio.sleep(seconds)
        return await self._repositories.restore(work, pipeline_id)

    async def show(self, pipeline: Pipeline, *, in_folder: bool = False) -> Workspace | None:
        """The branch of a run as far as its last step that is done, made anew here.

        None if it can only be looked at elsewhere. With `in_folder`, in the user's repository, and none
        without it.
        """
        source = pipeline.source
        if source is None:
            return None
        folder: str | None = pipeline.working_dir
        if not await self._repositories.has(source, source.base, folder):
            folder = None
        if folder is None and in_folder:
            return None
        source, branch = _needed(pipeline)
        work = await self._work(pipeline, source, branch, _last_commit(pipeline, source), folder)
        return await self._repositories.show(work, folder)

    async def _work(
        self,
        pipeline: Pipeline,
        source: RepositorySource,
        branch: str,
        commit: str,
        folder: str | None = None,
    ) -> Work:
        """What is needed for a commit; of the database, only what is not here yet."""
        bundles: Sequence[Bundle] = ()
        if not await self._repositories.has(source, commit, folder):
            has_base = await self._repositories.has(source, source.base, folder)
            bundles = await self._store.read(
                lambda rows: _read_bundles(rows, pipeline.id, source, with_base=not has_base)
            )
        return Work(source=source, branch=branch, commit=commit, bundles=[each.content for each in bundles])


def _only_here(error: RepositoryError) -> SharedRun:
    """A run that no other machine can continue; that is no reason for it to fail."""
    if is_shortage(error):
        raise error  # the turn is repeated
    return SharedRun(source=None, notes=(f"{error}: {_ONLY_HERE}",))


def _read_bundles(
    rows: Reads, pipeline_id: int, source: RepositorySource, *, with_base: bool
) -> Sequence[Bundle]:
    begun: Sequence[Bundle] = ()
    if with_base:
        begun = rows.find(Bundle, repository=source.name, pipeline_id=None)
        last = max((each.id for each in begun if each.tip == source.base), default=0)
        begun = [each for each in begun if each.id <= last]
    return [*begun, *rows.find(Bundle, pipeline_id=pipeline_id)]


def _is_inside(path: str, folder: str) -> bool:
    """True if a path is a folder, or in it."""
    return PurePath(path).is_relative_to(folder)


def _last_commit(pipeline: Pipeline, source: RepositorySource) -> str:
    done = [step.end_commit for step in pipeline.steps if step.status is StepStatus.DONE and step.end_commit]
    return done[-1] if done else source.base


def _needed(pipeline: Pipeline) -> tuple[RepositorySource, str]:
    """What a worktree is made anew of."""
    if pipeline.source is None or pipeline.workspace is None:
        machine = (pipeline.home or "").partition(":")[0]
        raise RepositoryError(f"the files of pipeline {pipeline.id} are on {machine} alone")
    return pipeline.source, pipeline.workspace.branch or branch_name(pipeline.id, pipeline.title)


def moved_here(pipeline: Pipeline, workspace: Workspace, home: str) -> Pipeline:
    """A run whose worktree was made anew: the step that is under way begins from the last one's commit."""
    assert pipeline.source is not None
    begins = _last_commit(pipeline, pipeline.source)
    steps = tuple(
        replace(step, base_mark=begins) if step.status is StepStatus.RUNNING else step
        for step in pipeline.steps
    )
    return replace(pipeline, workspace=workspace, home=home, steps=steps)
