"""What a pipeline made: look at the difference, merge it, clear its worktree away."""

from __future__ import annotations

from collections.abc import Sequence

import structlog

from segue.application.pipelines.shared_work import SharedWork
from segue.application.ports.store import Store
from segue.application.ports.workspace import MergePreview, Workspaces
from segue.application.ports.world import Clock
from segue.domain.amounts import count
from segue.domain.audit import AuditKind
from segue.domain.errors import CannotMerge, IllegalMove, RepositoryError, StepNotFound
from segue.domain.final_state import FilesChanged, Finding, FindingKind
from segue.domain.pipeline import Pipeline, PipelineStatus, StepStatus
from segue.domain.workspace import Workspace, WorkspaceKind

log = structlog.get_logger()

_MOST_NAMED = 5
_LONGEST = 120


class Results:
    """The use cases of a pipeline's work."""

    def __init__(
        self, *, store: Store, workspaces: Workspaces, clock: Clock, shared: SharedWork | None = None
    ) -> None:
        self._store = store
        self._clock = clock
        self._workspaces = workspaces
        self._shared = shared

    async def diff(self, pipeline_id: int, step: int | None = None) -> str:
        """What a pipeline, or one of its steps, has changed, as a patch."""
        pipeline, workspace = await self._shown(pipeline_id)
        if step is None:
            first = _first_mark(pipeline) or workspace.base
            return await self._workspaces.diff(workspace, first, _last_commit(pipeline))
        if not 1 <= step <= len(pipeline.steps):
            raise StepNotFound(pipeline_id, step, len(pipeline.steps))
        found = pipeline.steps[step - 1]
        if found.base_mark is None:
            raise IllegalMove(f"step {step} of pipeline {pipeline_id} has not begun, so it changed nothing")
        return await self._workspaces.diff(workspace, found.base_mark, found.end_commit)

    async def files(self, pipeline_id: int) -> FilesChanged | None:
        """What a pipeline has changed, in numbers; none outside of git, or if it has not begun."""
        pipeline = await self._store.read(lambda rows: rows.pipeline(pipeline_id))
        first = _first_mark(pipeline)
        if pipeline.workspace is None or pipeline.workspace.repository is None or first is None:
            return None
        workspace = await self._here(pipeline, pipeline.workspace)
        return await self._workspaces.count_changes(workspace, first, _last_commit(pipeline))

    async def preview_merge(self, pipeline_id: int) -> MergePreview:
        """What merging a pipeline would bring; nothing is changed."""
        return await self._workspaces.preview_merge(await self._mergeable(pipeline_id))

    async def merge(
        self,
        pipeline_id: int,
        *,
        allow_refuted: bool = False,
        by: str | None = None,
        actor: str | None = None,
    ) -> str:
        """Merge what a pipeline made into what the user has checked out; gives the commit.

        Refused while claims of the run are false at its end or tests are weakened, unless that is allowed.
        """
        workspace = await self._mergeable(pipeline_id)
        false = await self._false_findings(pipeline_id)
        if false and not allow_refuted:
            raise _still_false(pipeline_id, false)
        try:
            commit = await self._workspaces.merge(workspace)
        except RepositoryError as error:
            raise CannotMerge(f"cannot merge {pipeline_id}: {error}", *error.hints) from error
        now, allowed = self._clock.now(), [_named(finding) for finding in false]
        await self._store.write(
            lambda rows: rows.audit(
                AuditKind.PIPELINE_MERGED,
                now,
                who=actor,
                pipeline_id=pipeline_id,
                branch=workspace.branch,
                commit=commit,
                by=by,
                allowed=allowed,
            )
        )
        log.info("pipeline_merged", pipeline=pipeline_id, branch=workspace.branch, commit=commit)
        return commit

    async def _false_findings(self, pipeline_id: int) -> list[Finding]:
        result = (await self._store.views.pipeline(pipeline_id)).result
        return result.false_findings if result is not None else []

    async def clean(self, pipeline_id: int, *, force: bool = False, actor: str | None = None) -> Workspace:
        """Remove the worktree of a pipeline that has ended; its branch and commits stay.

        Refused while something in it is in no commit, unless by force.
        """
        pipeline, workspace = await self._opened(pipeline_id)
        if not pipeline.status.is_final:
            raise IllegalMove(f"pipeline {pipeline_id} is {pipeline.status}; its agents need the worktree")
        if workspace.kind is not WorkspaceKind.WORKTREE:
            raise IllegalMove(f"pipeline {pipeline_id} worked in place: there is nothing to clean up")
        if self._shared is not None and self._shared.is_elsewhere(pipeline):
            raise IllegalMove(
                f"the worktree of pipeline {pipeline_id} is {_where(pipeline)}: clean it up there"
            )
        await self._workspaces.remove(workspace, force=force)
        now = self._clock.now()
        await self._store.write(
            lambda rows: rows.audit(
                AuditKind.WORKSPACE_REMOVED,
                now,
                who=actor,
                pipeline_id=pipeline_id,
                path=workspace.path,
                forced=force,
            )
        )
        return workspace

    async def worktree(self, pipeline_id: int) -> str | None:
        """The worktree of a pipeline, if it has one that is on this machine."""
        pipeline, workspace = await self._opened(pipeline_id)
        if self._shared is not None and self._shared.is_elsewhere(pipeline):
            return None  # although all machines may have the same paths
        return workspace.path if await self._workspaces.is_there(workspace) else None

    async def _mergeable(self, pipeline_id: int) -> Workspace:
        """The work of a run that is done, in the repository of the user."""
        pipeline, workspace = await self._opened(pipeline_id)
        if pipeline.status is PipelineStatus.DONE:
            return await self._here(pipeline, workspace, in_folder=True)
        step = next((step for step in pipeline.steps if step.status is not StepStatus.DONE), None)
        at = "" if step is None else f" at step {step.order_index + 1}"
        if pipeline.status.is_final:
            how = "failed" if pipeline.status is PipelineStatus.FAILED else "was aborted"
            sentence = f"pipeline {pipeline_id} {how}{at}, so there is nothing to merge yet"
        else:
            sentence = f"pipeline {pipeline_id} is {pipeline.status}; only what is done can be merged"
        raise CannotMerge(sentence, f"segue pipelines diff {pipeline_id}    read what is there")

    async def _opened(self, pipeline_id: int) -> tuple[Pipeline, Workspace]:
        pipeline = await self._store.read(lambda rows: rows.pipeline(pipeline_id))
        if pipeline.workspace is None:
            raise IllegalMove(f"pipeline {pipeline_id} has not begun, so it changed nothing")
        return pipeline, pipeline.workspace

    async def _shown(self, pipeline_id: int) -> tuple[Pipeline, Workspace]:
        pipeline, workspace = await self._opened(pipeline_id)
        return pipeline, await self._here(pipeline, workspace)

    async def _here(self, pipeline: Pipeline, workspace: Workspace, *, in_folder: bool = False) -> Workspace:
        """The work of a run as this machine has it, made anew where that is elsewhere."""
        shared = self._shared
        if shared is None or not (
            shared.is_to_be_brought(pipeline) if in_folder else shared.is_elsewhere(pipeline)
        ):
            return workspace
        shown = await shared.show(pipeline, in_folder=in_folder)
        if shown is not None:
            return shown
        if in_folder and pipeline.source is not None:
            raise CannotMerge(
                f"cannot merge {pipeline.id}: {pipeline.working_dir} is not its repository here",
                "merge on the machine where that folder is",
            )
        raise RepositoryError(
            f"pipeline {pipeline.id} was worked on {_where(pipeline)}, and only that machine has its files: "
            "ask there"
        )


def _where(pipeline: Pipeline) -> str:
    return f"on another machine, {(pipeline.home or '').partition(':')[0]}"


def _still_false(pipeline_id: int, findings: Sequence[Finding]) -> CannotMerge:
    """Names what is false; the first few of many."""
    named = "; ".join(_named(finding) for finding in findings[:_MOST_NAMED])
    more = len(findings) - _MOST_NAMED
    rest = f"; and {more} more" if more > 0 else ""
    claims = sum(finding.kind is FindingKind.REFUTED for finding in findings)
    parts = [count(claims, "claim") + (" is" if claims == 1 else " are") + " false"] if claims else []
    if weakened := len(findings) - claims:
        parts.append(count(weakened, "test") + (" is" if weakened == 1 else " are") + " weakened")
    return CannotMerge(
        f"cannot merge {pipeline_id}: {' and '.join(parts)} at its end: {named}{rest}",
        f"segue pipelines show {pipeline_id} --step {findings[0].step}    each claim with its evidence",
        f"segue pipelines merge {pipeline_id} --allow-refuted    take it as it is",
    )


def _named(finding: Finding) -> str:
    """A finding in a few words, on one line."""
    text = " ".join(finding.words.split())
    text = text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "\u2026"
    if finding.kind is FindingKind.REFUTED:
        return f'step {finding.step}: "{text}"'
    where = f" in {finding.path}" if finding.path else ""
    return f"step {finding.step}: {text}{where}"


def _first_mark(pipeline: Pipeline) -> str | None:
    return next((step.base_mark for step in pipeline.steps if step.base_mark), None)


def _last_commit(pipeline: Pipeline) -> str | None:
    """The commit after the last step, if all are done; what lies in the folder now, if not."""
    if pipeline.status is not PipelineStatus.DONE:
        return None
    return next((s.end_commit for s in reversed(pipeline.steps) if s.end_commit), None)
