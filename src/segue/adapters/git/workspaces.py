"""Workspaces in git: a worktree for each pipeline, or the user's own folder where that cannot be."""

from __future__ import annotations

import asyncio
import os
from dataclasses import replace
from pathlib import Path

from segue.adapters.git.evidence import observe_repository
from segue.adapters.git.merging import changed_by, count_changed, merge_branch, why_not
from segue.adapters.git.nested import left_behind
from segue.adapters.git.repository import Repository, open_repository
from segue.adapters.git.states import commit_state, head_of, mark_state
from segue.adapters.git.worktrees import (
    add_worktree,
    check_branch,
    find_worktree,
    free_branch,
    has_submodules,
    is_free,
    make_repository,
    open_worktree,
    remove_worktree,
    taking_turns,
)
from segue.application.ports.workspace import MergePreview, StepCommit, WorkspaceRequest
from segue.domain.errors import RepositoryError
from segue.domain.evidence.model import Evidence
from segue.domain.evidence.sources import Observed
from segue.domain.final_state import FilesChanged
from segue.domain.workspace import Workspace, WorkspaceChoice, WorkspaceKind, branch_name

_MOST_DIFF = 20_000_000
"""Bytes of a patch that are shown."""
_SHOWN = (
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--submodule=short",
    "--src-prefix=a/",
    "--dst-prefix=b/",
    "-M",
)


class GitWorkspaces:
    """Keeps worktrees under one folder, one for each pipeline of one database."""

    def __init__(self, *, root: Path) -> None:
        self._root = root
        self._locks = root / "locks"

    async def check(self, working_dir: str, branch: str | None, choice: WorkspaceChoice) -> Workspace:
        """What `open` would give for this folder."""
        return await asyncio.to_thread(self._check, Path(working_dir), branch, choice)

    async def open(self, request: WorkspaceRequest) -> Workspace:
        """Make the workspace of a pipeline, or find the one that was made before."""
        return await asyncio.to_thread(self._open, request)

    async def mark(self, workspace: Workspace) -> str | None:
        """A commit, on no branch, of the files as they are."""
        if workspace.repository is None:
            return None
        return await asyncio.to_thread(self._mark, workspace)

    async def evidence(self, workspace: Workspace, since: str | None) -> Evidence | None:
        """What changed since a mark."""
        found = await self.observe(workspace, since)
        return None if found is None else found.evidence

    async def observe(self, workspace: Workspace, since: str | None) -> Observed | None:
        """What changed since a mark, with the text of both states."""
        if workspace.repository is None or since is None:
            return None
        return await asyncio.to_thread(self._observe, workspace, since)

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

    async def count_changes(self, workspace: Workspace, since: str, until: str | None) -> FilesChanged:
        """How many files and lines differ."""
        return await asyncio.to_thread(self._count, workspace, since, until)

    async def preview_merge(self, workspace: Workspace) -> MergePreview:
        """What merging the branch would change, and the repositories inside that are not part of it."""
        if workspace.repository is None or workspace.branch is None:
            return MergePreview(changed=(), left_out=())
        return await asyncio.to_thread(self._preview, workspace, workspace.branch)

    async def merge(self, workspace: Workspace) -> str:
        """Merge the branch into what the user has checked out."""
        if workspace.repository is None or workspace.branch is None:
            raise RepositoryError("this pipeline worked in place: there is no branch to merge")
        return await asyncio.to_thread(self._merge, Path(workspace.repository), workspace.branch)

    async def is_there(self, workspace: Workspace) -> bool:
        """True if it is a worktree below our folder."""
        if workspace.kind is not WorkspaceKind.WORKTREE or not Path(workspace.path).is_relative_to(
            self._root
        ):
            return False
        return await asyncio.to_thread(self._place_of(workspace).is_dir)

    async def remove(self, workspace: Workspace, *, force: bool = False) -> None:
        """Remove a worktree; its branch and commits stay."""
        if workspace.kind is WorkspaceKind.WORKTREE and workspace.repository is not None:
            await asyncio.to_thread(self._remove, workspace, force)

    def _check(self, folder: Path, branch: str | None, choice: WorkspaceChoice) -> Workspace:
        return self._choose(folder, _repository_of(folder), branch, choice)

    def _choose(
        self, folder: Path, repository: Repository | None, branch: str | None, choice: WorkspaceChoice
    ) -> Workspace:
        if choice is WorkspaceChoice.INIT_GIT and not _has_commit(repository):
            kind = WorkspaceKind.WORKTREE
            return Workspace(kind=kind, path=str(folder), repository=str(folder), branch=branch)
        head = None if repository is None else head_of(repository)
        if choice is WorkspaceChoice.IN_PLACE or repository is None or head is None:
            return _in_place(folder, repository, choice, head)
        if branch is not None:
            check_branch(repository, branch)
        return Workspace(
            kind=WorkspaceKind.WORKTREE,
            path=str(folder),
            repository=str(repository.top),
            branch=branch,
            base=head,
            notes=_notes(repository),
        )

    def _open(self, request: WorkspaceRequest) -> Workspace:
        folder = Path(request.working_dir)
        if request.choice is WorkspaceChoice.INIT_GIT:
            with taking_turns(folder, self._locks):
                if not _has_commit(_repository_of(folder)):
                    make_repository(folder)
        repository = _repository_of(folder)
        found = self._choose(folder, repository, None, request.choice)
        if found.kind is WorkspaceKind.IN_PLACE or repository is None or found.base is None:
            return found
        with taking_turns(repository.top, self._locks):
            place, branch = self._worktree(repository, request, found.base)
        made = open_worktree(repository, place)
        return Workspace(
            kind=WorkspaceKind.WORKTREE,
            path=str(folder_in(place, repository.prefix)),
            repository=found.repository,
            branch=branch,
            base=head_of(made),
            notes=found.notes,
        )

    def _worktree(self, repository: Repository, request: WorkspaceRequest, base: str) -> tuple[Path, str]:
        """The worktree that was made for this pipeline before a crash, or a new one.

        Another one in its place, of a database that is gone, may hold somebody's work: it is left alone.
        """
        name = branch_name(request.pipeline_id, request.title)
        place, number = self._root / str(request.pipeline_id), 1
        while not is_free(repository, place):
            made = find_worktree(repository, place)
            if made is not None and (branch := _fresh_branch(repository, made, request.branch, name)):
                return place, branch
            number += 1
            place = self._root / f"{request.pipeline_id}-{number}"
        remove_worktree(repository, place)
        if request.branch is not None:
            check_branch(repository, request.branch)
        branch = request.branch or free_branch(repository, name, base)
        add_worktree(repository, place, branch, base)
        return place, branch

    def _inside(self, workspace: Workspace) -> Repository:
        """The repository as it is seen from the folder that agents work in."""
        if workspace.kind is WorkspaceKind.IN_PLACE:
            return open_repository(Path(workspace.path))
        place = self._place_of(workspace)
        found = open_worktree(open_repository(Path(workspace.repository or "")), place)
        return replace(found, folder=folder_in(place, str(Path(workspace.path).relative_to(place))))

    def _place_of(self, workspace: Workspace) -> Path:
        path = Path(workspace.path)
        place = next((p for p in (path, *path.parents) if p.parent == self._root), None)
        if place is None:
            raise RepositoryError(f"{workspace.path} is no worktree of this Segue, so it is left alone")
        return place

    def _observe(self, workspace: Workspace, since: str) -> Observed:
        return observe_repository(self._inside(workspace), since)

    def _mark(self, workspace: Workspace) -> str:
        with taking_turns(Path(workspace.repository or ""), self._locks):
            return mark_state(self._inside(workspace))

    def _commit(self, workspace: Workspace, about: StepCommit) -> str:
        trailer = f"Segue-Step: {about.pipeline_id}/{about.step}"
        if about.round > 1:
            trailer += f"\nSegue-Round: {about.round}"
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
            return commit_state(self._inside(workspace), workspace.branch or "", message, trailer)

    def _diff(self, workspace: Workspace, since: str, until: str | None) -> str:
        repository, end = self._end_of(workspace, until)
        output = repository.run("diff", *_SHOWN, since, end, "--", most_bytes=_MOST_DIFF)
        cut = "\n(the rest is left out)\n" if output.is_cut else ""
        return output.text.decode("utf-8", "replace") + cut

    def _end_of(self, workspace: Workspace, until: str | None) -> tuple[Repository, str]:
        """The user's repository, and a name in it for the end of the work."""
        is_there = workspace.kind is WorkspaceKind.IN_PLACE or self._place_of(workspace).is_dir()
        end = until or (self._mark(workspace) if is_there else f"refs/heads/{workspace.branch}")
        return open_repository(Path(workspace.repository or "")), end

    def _count(self, workspace: Workspace, since: str, until: str | None) -> FilesChanged:
        repository, end = self._end_of(workspace, until)
        options = ("--numstat", "-z", "--no-renames", "--no-ext-diff", "--no-textconv")
        fields = repository.run("diff", *options, since, end, "--", most_bytes=_MOST_DIFF).fields()
        numbers = [field.split("\t")[:2] for field in fields]
        lines = [(int(more), int(less)) for more, less in numbers if more != "-"]  # a binary file has none
        additions, deletions = (sum(each) for each in zip(*lines, strict=True)) if lines else (0, 0)
        return FilesChanged(count=len(numbers), additions=additions, deletions=deletions)

    def _preview(self, workspace: Workspace, branch: str) -> MergePreview:
        repository = open_repository(Path(workspace.repository or ""))
        made = find_worktree(repository, self._place_of(workspace))
        inside = left_behind(made) if made else []
        on = repository.run("symbolic-ref", "--quiet", "--short", "HEAD", may_fail=True).text
        return MergePreview(
            changed=tuple(changed_by(repository, branch)),
            left_out=tuple(inside),
            refusal=why_not(repository, branch),
            into=os.fsdecode(on).strip() or None,
        )

    def _merge(self, top: Path, branch: str) -> str:
        with taking_turns(top, self._locks):
            return merge_branch(open_repository(top), branch)

    def _remove(self, workspace: Workspace, force: bool) -> None:
        """What nobody has committed, after a failed step, is kept on the branch first."""
        top, place = Path(workspace.repository or ""), self._place_of(workspace)
        with taking_turns(top, self._locks):
            repository = open_repository(top)
            if place.is_dir():
                made = open_worktree(repository, place)
                commit_state(made, workspace.branch or "", "Keep what was not committed\n", None)
                if not force and (lost := left_behind(made)):
                    raise RepositoryError(
                        f"{place} was not removed: no commit of this repository holds {', '.join(lost[:5])} "
                        "in it; move that away, then clean up again, or use --force to delete it"
                    )
            remove_worktree(repository, place)


def folder_in(place: Path, below: str) -> Path:
    """A folder of a worktree, made if need be; an agent may have put something else there."""
    folder = place / below
    if not Path(os.path.realpath(folder)).is_relative_to(os.path.realpath(place)):
        raise RepositoryError(f"{folder} leads out of its worktree; an agent put a link there")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RepositoryError(f"{folder} is no folder any more: {error.strerror}") from error
    return folder


def _fresh_branch(repository: Repository, made: Repository, named: str | None, own: str) -> str | None:
    """The branch of a worktree in which nobody has worked yet, if it is this pipeline's."""
    head, name = head_of(made), made.run("symbolic-ref", "--quiet", "HEAD", may_fail=True).text
    branch = os.fsdecode(name).strip().removeprefix("refs/heads/")
    if head is None or mark_state(made) != head:
        return None
    if named is not None:
        return branch if branch == named else None
    has_commits = repository.run("rev-list", "--max-count=1", head, "^HEAD").text.strip()
    is_own = branch.startswith((own, own.replace("/", "-", 1)))
    return branch if is_own and not has_commits else None


def _has_commit(repository: Repository | None) -> bool:
    return repository is not None and head_of(repository) is not None


def _repository_of(folder: Path) -> Repository | None:
    if folder.is_dir() and not _may_be_in_git(folder):
        return None  # as git would say, for a hundredth of what a process costs
    try:
        return open_repository(folder)
    except RepositoryError as error:
        if "not a git repository" in str(error) or "git is not on the PATH" in str(error):
            return None
        raise


def _may_be_in_git(folder: Path) -> bool:
    """False if nothing at or above a folder could make it part of a repository: no `.git`, no bare one."""
    real = Path(os.path.realpath(folder))
    return any(
        os.path.lexists(each / ".git") or os.path.lexists(each / "objects") for each in (real, *real.parents)
    )


def _in_place(
    folder: Path, repository: Repository | None, choice: WorkspaceChoice, head: str | None
) -> Workspace:
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
        base=head,
        notes=(note,),
    )


def _notes(repository: Repository) -> tuple[str, ...]:
    notes = []
    if changed := count_changed(repository):
        files = "1 file is" if changed == 1 else f"{changed} files are"
        notes.append(f"{files} not committed in {repository.top}: agents do not see that work")
    if has_submodules(repository):
        notes.append("its submodules are empty in the worktree: agents do not see them")
    if repository.configuration.filters and _uses_lfs(repository):
        notes.append("files in Git LFS are pointers in the worktree")
    return tuple(notes)


def _uses_lfs(repository: Repository) -> bool:
    try:
        attributes = (repository.top / ".gitattributes").read_bytes()
    except OSError:
        return False
    return b"filter=lfs" in attributes[:1_000_000]
