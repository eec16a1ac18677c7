"""Repositories of several machines: described, bundled, and made again where the folder is missing."""

from __future__ import annotations

import asyncio
import os
import re
import socket
from collections.abc import Mapping, Sequence
from pathlib import Path
from secrets import token_hex

import structlog

from segue.adapters.git.bundles import MOST_BYTES, has_commit, make_bundle, missing_from
from segue.adapters.git.clones import bring_commit, clone_folder, open_clone
from segue.adapters.git.nested import left_behind
from segue.adapters.git.repository import Repository, open_repository
from segue.adapters.git.states import commit_of, commit_state, head_of, mark_state, set_branch
from segue.adapters.git.transport import push
from segue.adapters.git.workspaces import folder_in
from segue.adapters.git.worktrees import (
    add_worktree,
    checked_out_at,
    find_worktree,
    is_free,
    remove_worktree,
    taking_turns,
)
from segue.application.ports.shared import Work
from segue.domain.errors import RepositoryError, TooLarge
from segue.domain.repository_source import RepositorySource, shared_address
from segue.domain.workspace import Workspace, WorkspaceKind

log = structlog.get_logger()

_HOME = "home"
_PUSHED = "segue/"
_NAMED = re.compile(r"(\d+)(?:-\d+)?")
"""The folder of a worktree: the number of its run, and another one if that was taken."""
_MEGABYTE = 1_000_000


class GitSharedRepositories:
    """Knows the clones of this machine, and the worktrees that `GitWorkspaces` keeps under `root`."""

    def __init__(self, *, root: Path, clones: Path, push_to: str | None) -> None:
        self._root = root
        self._clones = clones
        self._locks = root / "locks"
        self._push_to = push_to
        self.home = read_home(root)
        """This machine's data folder, among all that work with the same database."""

    async def describe(self, workspace: Workspace) -> RepositorySource:
        """The repository of a workspace, at its base."""
        return await asyncio.to_thread(self._describe, workspace)

    async def keep_base(
        self, workspace: Workspace, source: RepositorySource, known: Sequence[str]
    ) -> bytes | None:
        """Push the base, or give a bundle of it; none if others can fetch it."""
        return await asyncio.to_thread(self._keep_base, workspace, source, known)

    async def has(self, source: RepositorySource, commit: str, folder: str | None = None) -> bool:
        """True if the commit is there."""
        place = Path(folder) if folder is not None else clone_folder(self._clones, source)
        return await asyncio.to_thread(_has, place, commit)

    def is_clone(self, workspace: Workspace) -> bool:
        """True if it belongs to a clone of this machine."""
        return workspace.repository is not None and Path(workspace.repository).parent == self._clones

    async def worktrees(self) -> Mapping[str, int]:
        """The worktrees of this machine, by their folders."""
        names = [(_NAMED.fullmatch(each.name), each) for each in self._root.iterdir()]
        return {str(folder): int(found[1]) for found, folder in names if found is not None}

    async def remove_stray(self, folder: str) -> None:
        """Remove a worktree that nobody needs."""
        await asyncio.to_thread(self._remove_stray, Path(folder))

    async def keep(
        self, workspace: Workspace, source: RepositorySource, tips: Sequence[str], before: str
    ) -> bytes | None:
        """Push the first of these commits, or give a bundle of all; none if it was pushed."""
        return await asyncio.to_thread(self._keep, workspace, source, tips, before)

    async def restore(self, work: Work, pipeline_id: int) -> Workspace:
        """A worktree of the clone."""
        return await asyncio.to_thread(self._restore, work, pipeline_id)

    async def show(self, work: Work, folder: str | None = None) -> Workspace:
        """The branch alone."""
        return await asyncio.to_thread(self._show, work, folder)

    def _describe(self, workspace: Workspace) -> RepositorySource:
        repository = open_repository(Path(workspace.repository or ""))
        named = commit_of(repository, f"refs/heads/{workspace.branch}") if workspace.branch else None
        url = shared_address(repository.configuration.origin)
        return RepositorySource(
            name=url or f"{socket.gethostname()}:{repository.top}",
            url=url,
            base=named or workspace.base or "",
            below=open_repository(Path(workspace.path)).prefix.rstrip("/"),
            digest=repository.digest,
            push_to=url if self._push_to == "origin" else self._push_to,
        )

    def _keep_base(
        self, workspace: Workspace, source: RepositorySource, known: Sequence[str]
    ) -> bytes | None:
        repository, base = open_repository(Path(workspace.repository or "")), source.base
        missing = missing_from(repository, base, known, fetched=source.url is not None)
        if missing is None or self._has_pushed(repository, source, base, f"{_PUSHED}base-{base[:12]}"):
            return None
        if not missing and (repository.common_dir / "shallow").exists():
            raise TooLarge(f"{repository.top} is a shallow clone without an origin")
        return _bundle(repository, [base], missing, f"what {repository.top} has and its origin does not")

    def _keep(
        self, workspace: Workspace, source: RepositorySource, tips: Sequence[str], before: str
    ) -> bytes | None:
        repository = open_repository(Path(workspace.repository or ""))
        branch = _PUSHED + (workspace.branch or "").removeprefix(_PUSHED)
        if self._has_pushed(repository, source, tips[0], branch):
            return None
        return _bundle(repository, tips, [before], "what the step has changed")

    def _has_pushed(self, repository: Repository, source: RepositorySource, commit: str, branch: str) -> bool:
        """True if it is where steps are pushed; if it cannot be pushed now, a bundle takes its place."""
        if source.push_to is None:
            return False
        try:
            push(repository, source.push_to, commit, branch)
        except RepositoryError as error:
            log.warning("not_pushed", branch=branch, error=str(error))
            return False
        return True

    def _restore(self, work: Work, pipeline_id: int) -> Workspace:
        with taking_turns(clone_folder(self._clones, work.source), self._locks):
            clone = open_clone(self._clones, work.source)
            bring_commit(clone, work.source, work.commit, work.bundles)
            place = self._worktree(clone, work, pipeline_id)
        return Workspace(
            kind=WorkspaceKind.WORKTREE,
            path=str(folder_in(place, work.source.below)),
            repository=str(clone.top),
            branch=work.branch,
            base=work.source.base,
            notes=(f"agents work in a worktree of {clone.top}, a clone of {work.source.name}",),
        )

    def _worktree(self, clone: Repository, work: Work, pipeline_id: int) -> Path:
        """A new worktree, or the one that was made for this before a crash. Others are left alone."""
        place, number = self._root / str(pipeline_id), 1
        while not is_free(clone, place):
            made = find_worktree(clone, place)
            if made is not None and head_of(made) == work.commit == mark_state(made):
                return place
            number += 1
            place = self._root / f"{pipeline_id}-{number}"
        remove_worktree(clone, place)
        set_branch(clone, work.branch, work.commit)
        add_worktree(clone, place, work.branch, work.commit, force=True)
        return place

    def _remove_stray(self, folder: Path) -> None:
        made = open_repository(folder)
        repository = open_repository(made.common_dir.parent)
        with taking_turns(repository.top, self._locks):
            if find_worktree(repository, folder) is None:
                raise RepositoryError(f"{folder} is not a worktree of {repository.top}")
            on = made.run("symbolic-ref", "--quiet", "HEAD", may_fail=True).text
            branch = os.fsdecode(on).strip().removeprefix("refs/heads/")
            if branch:
                commit_state(made, branch, "Keep what was not committed\n", None)
            if not branch or (lost := left_behind(made)):
                raise RepositoryError(f"no commit holds {lost[0] if branch else 'what is in it'}")
            remove_worktree(repository, folder)

    def _show(self, work: Work, folder: str | None) -> Workspace:
        top = Path(folder) if folder is not None else clone_folder(self._clones, work.source)
        with taking_turns(top, self._locks):
            repository = open_repository(top) if folder else open_clone(self._clones, work.source)
            bring_commit(repository, work.source, work.commit, work.bundles)
            branch = _free_name(repository, work)
            set_branch(repository, branch, work.commit)
        return Workspace(
            kind=WorkspaceKind.WORKTREE,
            path=str(self._root / "elsewhere"),
            repository=str(repository.top),
            branch=branch,
            base=work.source.base,
        )


def read_home(root: Path) -> str:
    """The name of a data folder, made once and gone with it: what takes its place has another one."""
    file = root / _HOME
    try:
        root.mkdir(parents=True, exist_ok=True, mode=0o700)
        aside = root / f".{_HOME}-{token_hex(4)}"
        if not file.exists():
            aside.write_text(f"{socket.gethostname()}:{token_hex(6)}", encoding="utf-8")
            try:
                os.link(aside, file)  # of two processes, one makes it
            except FileExistsError:
                pass
            finally:
                aside.unlink()
        return file.read_text(encoding="utf-8")
    except OSError as error:
        raise RepositoryError(f"cannot write {file}: {error.strerror}") from error


def _free_name(repository: Repository, work: Work) -> str:
    """The branch of the run, or one beside it if that has other commits or is checked out."""
    tip = commit_of(repository, f"refs/heads/{work.branch}")
    if tip in (None, work.commit):
        return work.branch
    is_behind = not repository.run("rev-list", "--max-count=1", tip or "", f"^{work.commit}").text.strip()
    if is_behind and checked_out_at(repository, work.branch) is None:
        return work.branch
    return f"{work.branch}-{work.commit[:7]}"


def _has(folder: Path, commit: str) -> bool:
    try:
        return folder.is_dir() and has_commit(open_repository(folder), commit)
    except RepositoryError:
        return False


def _bundle(repository: Repository, tips: Sequence[str], without: Sequence[str], what: str) -> bytes:
    bundle = make_bundle(repository, tips, without)
    if bundle is None:
        raise TooLarge(f"{what} is more than {MOST_BYTES // _MEGABYTE} MB")
    return bundle
