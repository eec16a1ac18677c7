"""Workspaces in git: a worktree for each pipeline, or the user's own folder where that cannot be."""

from __future__ import annotations

import asyncio
from pathlib import Path

from segue.adapters.git.evidence import collect_evidence
from segue.adapters.git.repository import Repository, open_repository
from segue.adapters.git.worktrees import (
    add_worktree,
    check_branch,
    commit_all,
    has_submodules,
    head_of,
    is_dirty,
    make_repository,
    mark_state,
    merge_branch,
    remove_worktree,
    taking_turns,
)
from segue.application.workspaces import StepCommit, WorkspaceRequest
from segue.domain.errors import RepositoryError
from segue.domain.ledger.evidence import Evidence
from segue.domain.workspace import Workspace, WorkspaceChoice, WorkspaceKind, branch_name

_MOST_DIFF = 20_000_000
"""Bytes of a patch that are shown."""


class GitWorkspaces:
    """Keeps worktrees under one folder, one for each pipeline of one database."""

    def __init__(self, *, root: Path) -> None:
        self._root = root
        self._locks = root / "locks"

    async def check(self, working_dir: str, branch: str | None, choice: WorkspaceChoice) -> Workspace:
        """What `open` would give for this folder."""
        return await asyncio.to_thread(self._check, Path(working_dir), branch, choice)

    async def open(self, wanted: WorkspaceRequest) -> Workspace:
        """Make the workspace of a pipeline, or find the one that was made before."""
        return await asyncio.to_thread(self._open, wanted)

    async def mark(self, workspace: Workspace) -> str | None:
        """A commit, on no branch, of the files as they are."""
        if workspace.repository is None:
            return None
        return await asyncio.to_thread(self._mark, workspace)

    async def evidence(self, workspace: Workspace, since: str | None) -> Evidence | None:
        """What changed since a mark."""
        if workspace.repository is None or since is None:
            return None
        return await asyncio.to_thread(collect_evidence, Path(workspace.path), since)

    async def commit(self, workspace: Workspace, about: StepCommit) -> str | None:
        """Commit all there is in a worktree; in the user's own folder nothing is committed."""
        if workspace.kind is not WorkspaceKind.WORKTREE:
            return None
        return await asyncio.to_thread(self._commit, workspace, about)

    async def diff(self, workspace: Workspace, since: str | None, until: str | None) -> str:
        """The difference as a patch."""
        if workspace.repository is None or since is None:
            raise RepositoryError(f"{workspace.path} is not in a git repository, so there is no diff")
        return await asyncio.to_thread(self._diff, workspace, since, until)

    async def merge(self, workspace: Workspace) -> str:
        """Merge the branch into what the user has checked out."""
        if workspace.repository is None or workspace.branch is None:
            raise RepositoryError("this pipeline worked in place: there is no branch to merge")
        return await asyncio.to_thread(self._merge, Path(workspace.repository), workspace.branch)

    async def remove(self, workspace: Workspace) -> None:
        """Remove a worktree; its branch and commits stay."""
        if workspace.kind is WorkspaceKind.WORKTREE and workspace.repository is not None:
            await asyncio.to_thread(self._remove, workspace)

    def _check(self, folder: Path, branch: str | None, choice: WorkspaceChoice) -> Workspace:
        repository = _repository_of(folder)
        if choice is WorkspaceChoice.INIT_GIT and repository is None:
            kind = WorkspaceKind.WORKTREE
            return Workspace(kind=kind, path=str(folder), repository=str(folder), branch=branch)
        if choice is WorkspaceChoice.IN_PLACE or repository is None or head_of(repository) is None:
            return _in_place(folder, repository, choice)
        if branch is not None:
            check_branch(repository, branch)
        return Workspace(
            kind=WorkspaceKind.WORKTREE,
            path=str(folder),
            repository=str(repository.top),
            branch=branch,
            base=head_of(repository),
            notes=_notes(repository),
        )

    def _open(self, wanted: WorkspaceRequest) -> Workspace:
        folder = Path(wanted.working_dir)
        if wanted.choice is WorkspaceChoice.INIT_GIT and _repository_of(folder) is None:
            with taking_turns(folder, self._locks):
                if _repository_of(folder) is None:
                    make_repository(folder)
        found = self._check(folder, None, wanted.choice)
        repository = _repository_of(folder)
        if found.kind is WorkspaceKind.IN_PLACE or repository is None or found.base is None:
            return found
        place = self._root / str(wanted.pipeline_id)
        branch = wanted.branch or branch_name(wanted.pipeline_id, wanted.title)
        with taking_turns(repository.top, self._locks):
            if not _is_worktree(place):
                remove_worktree(repository, place)
                check_branch(repository, branch)
                add_worktree(repository, place, branch, found.base)
        inside = place / repository.prefix
        inside.mkdir(parents=True, exist_ok=True)
        return Workspace(
            kind=WorkspaceKind.WORKTREE,
            path=str(inside),
            repository=found.repository,
            branch=branch,
            base=head_of(open_repository(place)),
            notes=found.notes,
        )

    def _mark(self, workspace: Workspace) -> str:
        with taking_turns(Path(workspace.repository or ""), self._locks):
            return mark_state(open_repository(Path(workspace.path)))

    def _commit(self, workspace: Workspace, about: StepCommit) -> str:
        trailer = f"Segue-Step: {about.pipeline_id}/{about.step}"
        message = "\n".join(
            [
                f"{about.agent_name}: {about.title}"[:100].replace("\n", " "),
                "",
                f"Segue-Pipeline: {about.pipeline_id}",
                trailer,
                f"Segue-Agent: {about.agent_name}".replace("\n", " "),
                f"Segue-Handoff: sha256:{about.handoff_hash}",
                "",
            ]
        )
        with taking_turns(Path(workspace.repository or ""), self._locks):
            return commit_all(open_repository(Path(workspace.path)), message, trailer)

    def _diff(self, workspace: Workspace, since: str, until: str | None) -> str:
        folder = Path(workspace.path if Path(workspace.path).is_dir() else workspace.repository or "")
        end = until or (self._mark(workspace) if _is_worktree(folder) else workspace.branch or "HEAD")
        repository = open_repository(folder)
        shown = ("diff", "--no-ext-diff", "--no-textconv", "--no-color", "-M", since, end, "--")
        output = repository.run(*shown, most_bytes=_MOST_DIFF)
        cut = "\n(the rest is left out)\n" if output.is_cut else ""
        return output.text.decode("utf-8", "replace") + cut

    def _merge(self, top: Path, branch: str) -> str:
        with taking_turns(top, self._locks):
            return merge_branch(open_repository(top), branch)

    def _remove(self, workspace: Workspace) -> None:
        top = Path(workspace.repository or "")
        place = next(
            (p for p in (Path(workspace.path), *Path(workspace.path).parents) if p.parent == self._root), None
        )
        if place is None:
            raise RepositoryError(f"{workspace.path} is no worktree of this Segue, so it is left alone")
        with taking_turns(top, self._locks):
            remove_worktree(open_repository(top), place)


def _repository_of(folder: Path) -> Repository | None:
    try:
        return open_repository(folder)
    except RepositoryError as error:
        if "not a git repository" in str(error) or "git is not on the PATH" in str(error):
            return None
        raise


def _is_worktree(place: Path) -> bool:
    return (place / ".git").exists()


def _in_place(folder: Path, repository: Repository | None, choice: WorkspaceChoice) -> Workspace:
    lost = "no branch of its own, and no commit after each step"
    if repository is None:
        note = (
            f"{folder} is not in a git repository: {lost}, and claims about files cannot be checked. "
            "--init-git makes it one"
        )
    elif choice is WorkspaceChoice.IN_PLACE:
        note = f"agents work in your own checkout: {lost}"
    else:
        note = f"the repository has no commit yet, so agents work in place: {lost}. Commit something first"
    return Workspace(
        kind=WorkspaceKind.IN_PLACE,
        path=str(folder),
        repository=str(repository.top) if repository else None,
        base=head_of(repository) if repository else None,
        notes=(note,),
    )


def _notes(repository: Repository) -> tuple[str, ...]:
    notes = []
    if changed := is_dirty(repository):
        files = "1 file is" if changed == 1 else f"{changed} files are"
        notes.append(f"{files} not committed in {repository.top}: agents do not see that work")
    if has_submodules(repository):
        notes.append("its submodules are empty in the worktree: agents do not see them")
    if repository.has_filters and _uses_lfs(repository):
        notes.append("files in Git LFS are pointers in the worktree")
    return tuple(notes)


def _uses_lfs(repository: Repository) -> bool:
    try:
        attributes = (repository.top / ".gitattributes").read_bytes()
    except OSError:
        return False
    return b"filter=lfs" in attributes[:1_000_000]
