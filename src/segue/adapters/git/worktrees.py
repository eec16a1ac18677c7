"""Git worktrees: made, marked, committed, merged and removed, without touching the user's checkout.

Writers of one repository take turns, by a lock that other processes of ours see too: git's own locks make
whoever comes second fail.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from segue.adapters.git.evidence import own_index
from segue.adapters.git.repository import Repository, open_repository, run_git
from segue.domain.errors import RepositoryError

_MARK = "Segue-Mark"
_IDENTITY = ("Segue", "segue@localhost")


@contextmanager
def taking_turns(repository: Path, locks: Path) -> Iterator[None]:
    """Alone with a repository, among all of our processes on this machine."""
    locks.mkdir(parents=True, exist_ok=True, mode=0o700)
    name = hashlib.sha256(os.fsencode(os.path.realpath(repository))).hexdigest()[:16]
    with (locks / f"{name}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def head_of(repository: Repository) -> str | None:
    """The commit that is checked out; none before the first."""
    output = repository.run("rev-parse", "--verify", "--quiet", "HEAD^{commit}", may_fail=True)
    return output.text.decode("ascii").strip() or None


def branch_exists(repository: Repository, branch: str) -> bool:
    """True if the repository has this branch."""
    name = f"refs/heads/{branch}"
    return bool(repository.run("rev-parse", "--verify", "--quiet", name, may_fail=True).text.strip())


def check_branch(repository: Repository, branch: str) -> None:
    """Raise unless a worktree can have this branch."""
    if not repository.run("check-ref-format", "--branch", branch, may_fail=True).text.strip():
        raise RepositoryError(f'"{branch}" is no name for a branch; use letters, digits, - and /')
    for entry in repository.run("worktree", "list", "--porcelain").text.split(b"\n\n"):
        lines = os.fsdecode(entry).splitlines()
        if f"branch refs/heads/{branch}" in lines:
            where = lines[0].removeprefix("worktree ")
            raise RepositoryError(f'the branch "{branch}" is checked out at {where}; name another one')


def add_worktree(repository: Repository, folder: Path, branch: str, base: str) -> None:
    """A worktree at `folder` on `branch`, which begins at `base` unless it is there already."""
    folder.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    repository.run("worktree", "prune")
    if branch_exists(repository, branch):
        repository.run("worktree", "add", "--quiet", str(folder), branch)
    else:
        repository.run("worktree", "add", "--quiet", "-b", branch, str(folder), base)


def remove_worktree(repository: Repository, folder: Path) -> None:
    """Remove a worktree and all in it; safe to repeat."""
    repository.run("worktree", "remove", "--force", "--force", str(folder), may_fail=True)
    shutil.rmtree(folder, ignore_errors=True)
    repository.run("worktree", "prune")


def is_dirty(repository: Repository) -> int:
    """How many files of the checkout differ from its commit, new ones too."""
    output = repository.run("status", "--porcelain", "-z", "--untracked-files=all", "--no-renames")
    return len(output.fields())


def has_submodules(repository: Repository) -> bool:
    """True if a commit of another repository is part of the tree."""
    return (repository.top / ".gitmodules").is_file()


def mark_state(repository: Repository) -> str:
    """A commit, on no branch, of the files as they are now; index and branches stay as they are."""
    with own_index(repository) as index:
        repository.run("add", "--all", environment=index)
        tree = repository.run("write-tree", environment=index).text.decode("ascii").strip()
    parent = head_of(repository)
    parents = ("-p", parent) if parent else ()
    arguments = ("commit-tree", tree, *parents, "-m", _MARK)
    made = repository.run(*arguments, environment=identity(repository))
    return made.text.decode("ascii").strip()


def commit_all(repository: Repository, message: str, trailer: str) -> str:
    """Commit everything with this message, unless the newest commit has the trailer already."""
    repository.run("add", "--all")
    is_clean = not repository.run("diff-index", "--cached", "--name-only", "HEAD").text
    newest = repository.run("log", "-1", "--format=%B").text.decode("utf-8", "replace")
    if not (is_clean and trailer in newest.splitlines()):
        arguments = ("commit", "--quiet", "--allow-empty", "--no-verify", "--no-gpg-sign", "--file=-")
        repository.run(*arguments, stdin=message.encode(), environment=identity(repository))
    found = head_of(repository)
    assert found is not None  # there is one commit at least
    return found


def make_repository(folder: Path) -> None:
    """`git init`, and a commit of all that is there."""
    run_git(folder, "init", "--quiet")
    repository = open_repository(folder)
    repository.run("add", "--all")
    message = b"Begin: what was there before Segue\n"
    arguments = ("commit", "--quiet", "--allow-empty", "--no-verify", "--no-gpg-sign", "--file=-")
    repository.run(*arguments, stdin=message, environment=identity(repository))


def merge_branch(repository: Repository, branch: str) -> str:
    """Merge a branch into what is checked out; on a conflict everything is as before."""
    if changed := is_dirty(repository):
        raise RepositoryError(
            f"{repository.top} has uncommitted changes in {changed} {'file' if changed == 1 else 'files'}; "
            "commit or stash them, then merge"
        )
    arguments = ("merge", "--no-edit", "--no-verify", "--no-gpg-sign", "--no-ff", branch)
    repository.run(*arguments, environment=identity(repository), may_fail=True)
    unmerged = repository.run("diff", "--name-only", "-z", "--diff-filter=U").fields()
    if unmerged:
        repository.run("merge", "--abort")
        named = ", ".join(unmerged[:5])
        raise RepositoryError(
            f'"{branch}" conflicts with what is checked out in {named}; nothing was changed'
        )
    tip = repository.run("rev-parse", f"refs/heads/{branch}").text
    after = head_of(repository)
    if after is None or repository.run("merge-base", "HEAD", f"refs/heads/{branch}").text != tip:
        raise RepositoryError(
            f'git could not merge "{branch}" into {repository.top}; try `git merge {branch}`'
        )
    return after


def identity(repository: Repository) -> Mapping[str, str]:
    """Who commits: whoever git is set up for, else Segue."""
    name = repository.run("config", "user.name", may_fail=True).text.strip()
    mail = repository.run("config", "user.email", may_fail=True).text.strip()
    if name and mail:
        return {}
    return {
        f"GIT_{role}_{part}": value
        for role in ("AUTHOR", "COMMITTER")
        for part, value in zip(("NAME", "EMAIL"), _IDENTITY, strict=True)
    }
