"""The files of a work tree as they are now, kept as a commit: on no branch, or on the branch of a worktree.

All is done on a copy of the index, so that a lock which an agent left behind is no hindrance.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import mkstemp

from segue.adapters.git.index import add_everything, own_index
from segue.adapters.git.objects import Commit, read_commit, read_commits
from segue.adapters.git.repository import Repository
from segue.adapters.git.stamps import read_small_file

_MARK = "Segue-Mark"
_TIP = "refs/worktree/segue/tip"
"""The newest commit of ours in a worktree: what an agent resets or leaves behind is found by it."""
_IDENTITY = ("Segue", "segue@localhost")
_LOCK_SECONDS = 1.0


def head_of(repository: Repository) -> str | None:
    """The commit that is checked out; none before the first."""
    return commit_of(repository, "HEAD")


def commit_of(repository: Repository, name: str) -> str | None:
    """The commit of a full name of a reference; none if there is none."""
    found = read_commit(repository, name)
    return None if found is None else found.id


def mark_state(repository: Repository) -> str:
    """A commit of the files as they are now; index and branches stay as they are."""
    with own_index(repository) as index:
        found = add_everything(repository, index)
        if found.head is not None and found.is_clean:
            return found.head
        tree = _tree_of_index(repository, index)
    head = None if found.head is None else read_commit(repository, found.head)
    if head is not None and head.tree == tree:
        return head.id
    return commit_tree(repository, tree, [head.id] if head else [], _MARK)


def commit_state(repository: Repository, branch: str, message: str, trailer: str | None) -> str:
    """Commit the files of a worktree on its branch, wherever its agent has left HEAD.

    With the trailer in the newest commit, or without a trailer, nothing is committed if nothing has changed.
    """
    name = f"refs/heads/{branch}"
    known = {each.id: each for each in read_commits(repository, ["HEAD", name, _TIP]) if each is not None}
    parents = _independent(repository, list(known))
    break_locks(repository, branch)
    with own_index(repository) as index:
        tree = write_tree(repository, index, known)
        newest = parents[0]
        is_same = len(parents) == 1 and known[newest].tree == tree
        if not (is_same and (trailer is None or trailer in known[newest].message.splitlines())):
            newest = commit_tree(repository, tree, parents, message)
        moves = f"update {name} {newest}\nupdate {_TIP} {newest}\n"
        repository.run("update-ref", "--stdin", stdin=os.fsencode(moves))
        if read_small_file(repository.git_dir / "HEAD") != os.fsencode(f"ref: {name}\n"):
            repository.run("symbolic-ref", "HEAD", name)
        _replace_index(repository, Path(index["GIT_INDEX_FILE"]))
    return newest


def begin_history(repository: Repository, message: str) -> None:
    """The first commit of a repository, with all that is there."""
    with own_index(repository) as index:
        tree = write_tree(repository, index, {})
        commit = commit_tree(repository, tree, [], message)
        repository.run("update-ref", "HEAD", commit)
        _replace_index(repository, Path(index["GIT_INDEX_FILE"]))


def set_branch(repository: Repository, branch: str, commit: str) -> None:
    """Let a branch of ours name a commit; only our own processes move it, and they take turns."""
    break_branch_lock(repository, branch)
    repository.run("update-ref", f"refs/heads/{branch}", commit)


def break_branch_lock(repository: Repository, branch: str) -> None:
    """Remove the lock that a killed git left on a branch of ours."""
    _break_locks(_lock_of_branch(repository, branch))


def break_locks(repository: Repository, branch: str) -> None:
    """Remove the locks that a killed git left in a worktree."""
    private = (repository.git_dir / f"{name}.lock" for name in ("index", "HEAD", _TIP))
    _break_locks(*private, _lock_of_branch(repository, branch))


def _lock_of_branch(repository: Repository, branch: str) -> Path:
    return repository.common_dir / "refs" / "heads" / f"{branch}.lock"


def _break_locks(*locks: Path) -> None:
    """Remove locks, after a moment for a git that is at work."""
    deadline = time.monotonic() + _LOCK_SECONDS
    while any(lock.exists() for lock in locks) and time.monotonic() < deadline:
        time.sleep(0.05)
    for lock in locks:
        with suppress(OSError):  # git itself tells what it cannot do then
            lock.unlink()


def _identity(repository: Repository) -> Mapping[str, str]:
    if repository.configuration.has_identity:
        return {}
    return {
        f"GIT_{role}_{part}": value
        for role in ("AUTHOR", "COMMITTER")
        for part, value in zip(("NAME", "EMAIL"), _IDENTITY, strict=True)
    }


def write_tree(repository: Repository, index: Mapping[str, str], known: Mapping[str, Commit]) -> str:
    """All files that are not ignored; repositories that an agent made inside are left out.

    If they are those of the commit that is checked out, and that is known, its tree is named.
    """
    found = add_everything(repository, index)
    if found.is_clean and found.head and found.head in known:
        return known[found.head].tree
    return _tree_of_index(repository, index)


def _tree_of_index(repository: Repository, index: Mapping[str, str]) -> str:
    # A partial clone lacks the content of files that were never checked out, and need not have it.
    return repository.run("write-tree", "--missing-ok", environment=index).text.decode("ascii").strip()


def commit_tree(repository: Repository, tree: str, parents: Sequence[str], message: str) -> str:
    """A commit of a tree, on no branch; the author is the identity that git is set up with, else Segue."""
    named = [part for parent in parents for part in ("-p", parent)]
    arguments = ("commit-tree", "--no-gpg-sign", tree, *named, "-F", "-")
    made = repository.run(*arguments, stdin=message.encode(), environment=_identity(repository))
    return made.text.decode("ascii").strip()


def _independent(repository: Repository, commits: Sequence[str]) -> list[str]:
    """Those commits that no other one of them contains, in their order."""
    if len(set(commits)) < 2:
        return list(dict.fromkeys(commits))
    found = repository.run("merge-base", "--independent", *commits).text.decode("ascii").split()
    return [commit for commit in dict.fromkeys(commits) if commit in found]


def _replace_index(repository: Repository, index: Path) -> None:
    """A new file takes the place of the index: an agent may have put a link where ours would go."""
    handle, name = mkstemp(prefix="index.segue.", dir=repository.git_dir)
    with os.fdopen(handle, "wb") as fresh, index.open("rb") as source:
        shutil.copyfileobj(source, fresh)
    found = index.stat()
    Path(name).chmod(found.st_mode)
    os.utime(name, ns=(found.st_atime_ns, found.st_mtime_ns))
    Path(name).replace(repository.git_dir / "index")
