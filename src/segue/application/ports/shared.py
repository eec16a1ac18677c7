"""The port to repositories that several machines work on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from segue.domain.repository_source import RepositorySource
from segue.domain.workspace import Workspace


@dataclass(frozen=True, kw_only=True, slots=True)
class Work:
    """A commit of a run, and what is needed to have it here."""

    source: RepositorySource
    branch: str
    commit: str
    bundles: Sequence[bytes] = ()
    """What the database has of it, the oldest first."""


class SharedRepositories(Protocol):
    """Makes the repository of a run known to other machines, and makes it anew on this one."""

    @property
    def home(self) -> str:
        """This machine's data folder, among all that work with the same database."""
        ...

    async def describe(self, workspace: Workspace) -> RepositorySource:
        """The repository of a workspace, at its base."""
        ...

    async def keep_base(
        self, workspace: Workspace, source: RepositorySource, known: Sequence[str]
    ) -> bytes | None:
        """Push what a run begins from, or give a bundle of it; none if others can get it. `TooLarge` if not.

        `known` are commits that others have already.
        """
        ...

    async def has(self, source: RepositorySource, commit: str, folder: str | None = None) -> bool:
        """True if it is in this folder's repository; in the clone of this machine if none is named."""
        ...

    def is_clone(self, workspace: Workspace) -> bool:
        """True if it belongs to a clone of this machine."""
        ...

    async def worktrees(self) -> Mapping[str, int]:
        """The worktrees of this machine, each with the run that it was made for."""
        ...

    async def remove_stray(self, folder: str) -> None:
        """Remove a worktree that nobody needs; what is not committed in it is kept on its branch."""
        ...

    async def keep(
        self, workspace: Workspace, source: RepositorySource, tips: Sequence[str], before: str
    ) -> bytes | None:
        """Push the first of these commits; if that cannot be, a bundle of all. `TooLarge` if neither can be.

        `before` is the commit that others have already.
        """
        ...

    async def restore(self, work: Work, pipeline_id: int) -> Workspace:
        """A worktree of this machine's clone at the commit, on the branch."""
        ...

    async def show(self, work: Work, folder: str | None = None) -> Workspace:
        """The branch at the commit, without a worktree: in this folder's repository, or in the clone."""
        ...
