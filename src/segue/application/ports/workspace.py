"""The port to workspaces: where agents work, what they changed, what is kept of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from segue.domain.evidence.model import Evidence
from segue.domain.evidence.sources import Observed
from segue.domain.final_state import FilesChanged
from segue.domain.workspace import Workspace, WorkspaceChoice


@dataclass(frozen=True, kw_only=True, slots=True)
class WorkspaceRequest:
    """What a workspace is opened for."""

    pipeline_id: int
    title: str
    working_dir: str
    """The folder that the user named."""
    branch: str | None
    """The branch that the user named; none for one of Segue's own."""
    choice: WorkspaceChoice


@dataclass(frozen=True, kw_only=True, slots=True)
class StepCommit:
    """What the commit after a step says."""

    pipeline_id: int
    step: int
    """Its number, 1 for the first."""
    round: int = 1
    """Counts how often it was begun anew."""
    agent_name: str
    title: str
    handoff_hash: str


@dataclass(frozen=True, kw_only=True, slots=True)
class MergePreview:
    """What a merge would bring, and what it would not."""

    changed: tuple[str, ...]
    """Every file that it changes, adds or removes."""
    left_out: tuple[str, ...]
    """What no commit holds of the worktree: repositories of their own, files with names that git refuses."""
    refusal: str | None = None
    """Why it cannot be merged now, in one sentence; none if it can."""
    into: str | None = None
    """The branch that is checked out; none if none is."""


class Workspaces(Protocol):
    """Makes workspaces and looks into them. Every failure is a `SegueError` with one clear sentence."""

    async def check(self, working_dir: str, branch: str | None, choice: WorkspaceChoice) -> Workspace:
        """What `open` would give for this folder, without making it; an error if it cannot be."""
        ...

    async def open(self, request: WorkspaceRequest) -> Workspace:
        """Make the workspace of a pipeline, or find the one that was made before."""
        ...

    async def mark(self, workspace: Workspace) -> str | None:
        """A name for the present state of the files, to compare with later; none outside of git."""
        ...

    async def evidence(self, workspace: Workspace, since: str | None) -> Evidence | None:
        """What changed since a mark; none outside of git."""
        ...

    async def observe(self, workspace: Workspace, since: str | None) -> Observed | None:
        """The same, with the text before and now to look further into it."""
        ...

    async def commit(self, workspace: Workspace, about: StepCommit) -> str | None:
        """Commit all there is, once for each step; none if nothing is committed here."""
        ...

    async def diff(self, workspace: Workspace, since: str | None, until: str | None) -> str:
        """The difference between two marks, or to the present state, as a patch."""
        ...

    async def count_changes(self, workspace: Workspace, since: str, until: str | None) -> FilesChanged:
        """How many files and lines differ between two marks, or from one to the present state."""
        ...

    async def preview_merge(self, workspace: Workspace) -> MergePreview:
        """What `merge` would change; nothing is changed yet."""
        ...

    async def merge(self, workspace: Workspace) -> str:
        """Merge the branch into what the user has checked out; gives the new commit."""
        ...

    async def is_there(self, workspace: Workspace) -> bool:
        """True if it is a worktree that is on this machine."""
        ...

    async def remove(self, workspace: Workspace, *, force: bool = False) -> None:
        """Remove a worktree; its branch and commits stay.

        Refused while something in it is in no commit, unless by force.
        """
        ...
