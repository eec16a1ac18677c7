"""The whole life of a workspace on a repository: open, mark, work, evidence, commit, diff, merge, remove."""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from segue.adapters.git.workspaces import GitWorkspaces
from segue.application.ports.workspace import StepCommit, WorkspaceRequest
from segue.domain.evidence.model import ChangeKind, Evidence
from segue.domain.workspace import Workspace, WorkspaceChoice
from tests.git.repositories import git, lines, write

ABOUT = StepCommit(pipeline_id=1, step=1, agent_name="dev", title="Add a.", handoff_hash="0" * 64)
_OF_THE_USER = ("index", "HEAD", "config", "refs/stash", "logs/refs/stash")


@dataclass(frozen=True)
class Flow:
    """One pipeline's workspace on a repository."""

    repo: Path
    spaces: GitWorkspaces

    def wanted(
        self, branch: str | None = None, choice: WorkspaceChoice = WorkspaceChoice.AUTO, number: int = 1
    ) -> WorkspaceRequest:
        return WorkspaceRequest(
            pipeline_id=number, title="Add a.", working_dir=str(self.repo), branch=branch, choice=choice
        )

    async def open(self, branch: str | None = None, number: int = 1) -> Workspace:
        return await self.spaces.open(self.wanted(branch, number=number))

    async def step(
        self, space: Workspace, work: Callable[[Path], object]
    ) -> tuple[Evidence | None, str | None, str]:
        """Mark, let the agent work, look, commit, and show."""
        mark = await self.spaces.mark(space)
        work(Path(space.path))
        evidence = await self.spaces.evidence(space, mark)
        commit = await self.spaces.commit(space, ABOUT)
        return evidence, commit, await self.spaces.diff(space, mark, commit)

    async def whole(self, work: Callable[[Path], object]) -> tuple[Evidence, Workspace]:
        """All of it, with a merge into a clean checkout."""
        before = checkout_of(self.repo)
        space = await self.open()
        evidence, commit, _ = await self.step(space, work)
        assert evidence is not None
        assert commit is not None
        assert git(self.repo, "rev-parse", f"refs/heads/{space.branch}") == commit
        assert checkout_of(self.repo) == before, "the user's checkout was touched"
        await self.spaces.merge(space)
        await self.spaces.remove(space)
        assert not Path(space.path).exists()
        assert space.path not in git(self.repo, "worktree", "list")
        return evidence, space


def flow_of(repo: Path, tmp_path: Path) -> Flow:
    return Flow(repo, GitWorkspaces(root=tmp_path / "worktrees"))


def checkout_of(repo: Path) -> str:
    """A hash of all that the user has: files, index, HEAD and settings."""
    found = hashlib.sha256()
    for folder, names, files in os.walk(repo):
        names[:] = sorted(name for name in names if name != ".git")
        for path in (Path(folder, name) for name in sorted([*names, *files])):
            found.update(os.fsencode(path) + b"\0")
            if path.is_symlink():
                found.update(os.fsencode(path.readlink()))
            elif path.is_file():
                found.update(path.read_bytes())
    for path in (repo / ".git" / name for name in _OF_THE_USER):
        found.update(path.read_bytes() if path.exists() else b"-")
    return found.hexdigest()


def kinds(evidence: Evidence) -> dict[str, ChangeKind]:
    return {path: change.kind for path, change in evidence.changes.items()}


def change(folder: Path) -> None:
    write(folder, {"a.txt": lines(6), "new.txt": "new\n"})


def run(folder: Path, *command: str) -> None:
    """A command of the agent's, whatever comes of it."""
    subprocess.run(command, cwd=folder, capture_output=True, timeout=120, check=False)


def does(*commands: str) -> Callable[[Path], None]:
    """An agent that runs shell commands."""
    identity = "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b; "
    return lambda folder: run(folder, "sh", "-c", identity + "; ".join(commands))
