"""What a pipeline made: look at the difference, merge it, clear its worktree away."""

from __future__ import annotations

import structlog

from segue.application.ports import Database
from segue.application.workspaces import MergePreview, Workspaces
from segue.domain.errors import IllegalMove, StepNotFound
from segue.domain.pipeline import Pipeline, PipelineStatus
from segue.domain.workspace import Workspace, WorkspaceKind

log = structlog.get_logger()


class Results:
    """The use cases of a pipeline's work."""

    def __init__(self, *, database: Database, workspaces: Workspaces) -> None:
        self._database = database
        self._workspaces = workspaces

    async def diff(self, pipeline_id: int, step: int | None = None) -> str:
        """What a pipeline, or one of its steps, has changed, as a patch."""
        pipeline, workspace = await self._opened(pipeline_id)
        if step is None:
            first = next((s.base_mark for s in pipeline.steps if s.base_mark), workspace.base)
            return await self._workspaces.diff(workspace, first, _last_commit(pipeline))
        if not 1 <= step <= len(pipeline.steps):
            raise StepNotFound(pipeline_id, step, len(pipeline.steps))
        found = pipeline.steps[step - 1]
        if found.base_mark is None:
            raise IllegalMove(f"step {step} of pipeline {pipeline_id} has not begun, so it changed nothing")
        return await self._workspaces.diff(workspace, found.base_mark, found.end_commit)

    async def preview_merge(self, pipeline_id: int) -> MergePreview:
        """What merging a pipeline would bring; nothing is changed."""
        return await self._workspaces.preview_merge(await self._done(pipeline_id))

    async def merge(self, pipeline_id: int) -> str:
        """Merge what a pipeline made into what the user has checked out; gives the commit."""
        workspace = await self._done(pipeline_id)
        commit = await self._workspaces.merge(workspace)
        log.info("pipeline_merged", pipeline=pipeline_id, branch=workspace.branch, commit=commit)
        return commit

    async def clean(self, pipeline_id: int, *, force: bool = False) -> Workspace:
        """Remove the worktree of a pipeline that has ended; its branch and commits stay.

        Refused while something in it is in no commit, unless by force.
        """
        pipeline, workspace = await self._opened(pipeline_id)
        if not pipeline.status.is_final:
            raise IllegalMove(f"pipeline {pipeline_id} is {pipeline.status}; its agents need the worktree")
        if workspace.kind is not WorkspaceKind.WORKTREE:
            raise IllegalMove(f"pipeline {pipeline_id} worked in place: there is nothing to clean up")
        await self._workspaces.remove(workspace, force=force)
        return workspace

    async def _done(self, pipeline_id: int) -> Workspace:
        pipeline, workspace = await self._opened(pipeline_id)
        if pipeline.status is not PipelineStatus.DONE:
            raise IllegalMove(
                f"pipeline {pipeline_id} is {pipeline.status}; only what is done can be merged. The rest "
                f"lies on the branch {workspace.branch or '(none)'}"
            )
        return workspace

    async def _opened(self, pipeline_id: int) -> tuple[Pipeline, Workspace]:
        async with self._database.begin() as work:
            pipeline = await work.pipelines.get(pipeline_id)
        if pipeline.workspace is None:
            raise IllegalMove(f"pipeline {pipeline_id} has not begun, so it changed nothing")
        return pipeline, pipeline.workspace


def _last_commit(pipeline: Pipeline) -> str | None:
    """The commit after the last step, if all are done; what lies in the folder now, if not."""
    if pipeline.status is not PipelineStatus.DONE:
        return None
    return next((s.end_commit for s in reversed(pipeline.steps) if s.end_commit), None)
