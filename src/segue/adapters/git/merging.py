"""Merges the branch of a pipeline into what the user has checked out, wholly or not at all.

`git merge` would stash first, and thereby look into submodules. So the tree is merged outside of the
checkout, which then moves to the new commit.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

from segue.adapters.git.lfs import filters_of
from segue.adapters.git.repository import Repository
from segue.adapters.git.states import commit_of, commit_tree, head_of
from segue.domain.errors import RepositoryError

_BEGUN = {
    "MERGE_HEAD": "merge",
    "rebase-merge": "rebase",
    "rebase-apply": "rebase",
    "CHERRY_PICK_HEAD": "cherry-pick",
    "REVERT_HEAD": "revert",
    "BISECT_LOG": "bisection",
}
"""What the user may be in the middle of, by the file that git keeps meanwhile."""


def count_changed(repository: Repository) -> int:
    """How many files of the checkout differ from its commit, new ones too."""
    return len(_uncommitted(repository))


def _uncommitted(repository: Repository) -> list[str]:
    asked = ("--porcelain", "-z", "--untracked-files=all", "--no-renames", "--ignore-submodules=dirty")
    return [field[3:] for field in repository.run("status", *asked).fields()]


def changed_by(repository: Repository, branch: str) -> list[str]:
    """The files that merging a branch would change; none where there is nothing to merge."""
    name = f"refs/heads/{branch}"
    if commit_of(repository, name) is None or head_of(repository) is None:
        return []
    return _changed(repository, name)


def why_not(repository: Repository, branch: str) -> str | None:
    """Why a branch cannot be merged into what is checked out now; none if it can. Nothing is changed."""
    try:
        _prepare(repository, branch)
    except RepositoryError as error:
        return str(error)
    return None


def merge_branch(repository: Repository, branch: str) -> str:
    """Merge a branch into what is checked out; if that cannot be, everything is as before."""
    head, tip, tree = _prepare(repository, branch)
    if tree is None:
        return head
    commit = commit_tree(repository, tree, [head, tip], f"Merge branch '{branch}'\n")
    repository.run("update-index", "-q", "--refresh", "--ignore-submodules", may_fail=True)
    repository.run("read-tree", "-m", "-u", head, commit)
    moves = f"update ORIG_HEAD {head}\nupdate HEAD {commit} {head}\n"
    try:
        repository.run("update-ref", "-m", f"merge {branch}", "--stdin", stdin=moves.encode("ascii"))
    except RepositoryError as error:
        repository.run("read-tree", "-m", "-u", commit, head)
        raise RepositoryError(
            f"nothing was merged and nothing changed, because {error}; merge again when no other git is at "
            "work there"
        ) from error
    return commit


def _prepare(repository: Repository, branch: str) -> tuple[str, str, str | None]:
    """What is checked out, the branch, and the tree of both; no tree if there is nothing to merge."""
    name = f"refs/heads/{branch}"
    tip = commit_of(repository, name)
    if tip is None:
        raise RepositoryError(f'there is no branch "{branch}" in {repository.top} any more')
    _check_checkout(repository, branch, name)
    head = head_of(repository)
    if head is None:
        raise RepositoryError(f"{repository.top} has no commit yet to merge into; commit something first")
    if _contains(repository, head, tip):
        return head, tip, None
    _check_submodules(repository, branch, head, tip)
    tree = _merged_tree(repository, branch, head, tip)
    _check_ignored(repository, branch, head, tree)
    return head, tip, tree


def _merged_tree(repository: Repository, branch: str, head: str, tip: str) -> str:
    """The tree of two commits; the checkout is not touched."""
    asked = ("merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", head, tip)
    try:
        return repository.run(*asked).fields()[0]
    except RepositoryError as error:
        conflicts = repository.run(*asked, may_fail=True).fields()[1:]
        if conflicts:
            named = ", ".join(conflicts[:5])
            raise RepositoryError(
                f'"{branch}" conflicts with what is checked out in {named}; nothing was changed',
                hints=(f"git merge {branch}    resolve it by hand",),
            ) from error
        raise RepositoryError(
            f'git could not merge "{branch}" into {repository.top}; Segue needs git 2.38 or newer for that. '
            f"Try `git merge {branch}`"
        ) from error


def _check_checkout(repository: Repository, branch: str, name: str) -> None:
    if begun := next((what for file, what in _BEGUN.items() if (repository.git_dir / file).exists()), None):
        raise RepositoryError(f"a {begun} is under way in {repository.top}; finish or abort it, then merge")
    if changed := _uncommitted(repository):
        more = "" if len(changed) == 1 else f" and {len(changed) - 1} more"
        have, them = ("has", "it") if len(changed) == 1 else ("have", "them")
        raise RepositoryError(
            f"{changed[0]}{more} {have} uncommitted changes",
            hints=(f"commit or stash {them}, then merge again",),
        )
    if filtered := filters_of(repository, _changed(repository, name), {}):
        path, driver = filtered[0]
        raise RepositoryError(
            f'"{branch}" changes {path}, which git\'s filter "{driver}" writes; Segue runs no filters, so '
            f"merge it with `git merge {branch}`"
        )


def _check_submodules(repository: Repository, branch: str, head: str, tip: str) -> None:
    """Raise if both sides moved a submodule: to merge that, git would look into it."""
    asked = ("merge-base", "--all", head, tip)
    for base in repository.run(*asked, may_fail=True).text.decode("ascii").split():
        ours, theirs = _moved(repository, base, head), _moved(repository, base, tip)
        if both := sorted(path for path in ours.keys() & theirs.keys() if ours[path] != theirs[path]):
            raise RepositoryError(
                f'"{branch}" conflicts with what is checked out in the submodule {both[0]}; nothing was '
                "changed"
            )


def _moved(repository: Repository, base: str, commit: str) -> dict[str, str]:
    """The submodules that are not as they were, each with what it is now."""
    asked = ("diff-tree", "-r", "-z", "--raw", "--no-renames", base, commit)
    fields = repository.each_field(*asked, environment={})
    pairs = zip(fields, fields, strict=False)
    return {path: about.split(" ")[3] for about, path in pairs if "160000" in about[1:14]}


def _check_ignored(repository: Repository, branch: str, head: str, tree: str) -> None:
    """Raise if moving from one tree to the other would overwrite what git ignores.

    The checkout has no changes, so what is there and not tracked is ignored. The merged tree tells, not the
    branch: a renamed folder takes along files that the branch does not have.
    """
    asked = ("diff-tree", "-r", "-z", "--name-only", "--no-renames", "--diff-filter=AT", head, tree)
    there = list(_in_the_way(repository.top, _names(repository, branch, *asked)))
    tracked = set(repository.run("ls-files", "-z").fields()) if there else set()
    if lost := sorted(set(there) - tracked):
        raise RepositoryError(
            f'"{branch}" would overwrite {lost[0]}, which git ignores in {repository.top}; move it away, '
            "then merge"
        )


def _in_the_way(top: Path, added: Iterable[str]) -> Iterator[str]:
    """What is in the work tree where files are to be: each itself, in a folder there, or in place of one."""
    for path in added:
        place = top / path
        if place.is_dir() and not place.is_symlink():
            for folder, folders, files in os.walk(place):
                found = [*files, *(name for name in folders if Path(folder, name).is_symlink())]
                yield from (os.path.relpath(Path(folder, name), top) for name in found)
        elif os.path.lexists(place):
            yield path
        for above in PurePosixPath(path).parents[:-1]:
            if (top / above).is_symlink() or (top / above).is_file():
                yield str(above)


def _changed(repository: Repository, name: str) -> list[str]:
    asked = ("diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", f"HEAD...{name}", "--")
    return _names(repository, name, *asked)


def _names(repository: Repository, name: str, *asked: str) -> list[str]:
    found = repository.run(*asked)
    if found.is_cut:
        raise RepositoryError(f"{name} changes too many files to name them; merge it with `git merge {name}`")
    return found.fields()


def _contains(repository: Repository, head: str, commit: str) -> bool:
    """True if the history of one commit has the other one."""
    return not repository.run("rev-list", "--max-count=1", commit, f"^{head}").text.strip()
