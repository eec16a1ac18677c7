"""Git worktrees: made, found again and removed, without touching the user's checkout.

Writers of one repository take turns, by a lock that other processes of ours see too: git's own locks make
whoever comes second fail.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from segue.adapters.git.processes import run_git
from segue.adapters.git.repository import Repository, open_repository
from segue.adapters.git.stamps import read_small_file
from segue.adapters.git.states import begin_history, break_branch_lock, commit_of
from segue.domain.errors import RepositoryError

_UNFINISHED = "Segue is making it"
_OWN = "segue/"


@contextmanager
def taking_turns(repository: Path, locks: Path) -> Iterator[None]:
    """Alone with a repository, among all of our processes on this machine."""
    locks.mkdir(parents=True, exist_ok=True, mode=0o700)
    name = hashlib.sha256(os.fsencode(os.path.realpath(repository))).hexdigest()[:16]
    with (locks / f"{name}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def check_branch(repository: Repository, branch: str) -> None:
    """Raise unless a worktree can have this branch."""
    named = repository.run("check-ref-format", "--branch", branch, may_fail=True).text
    if named != os.fsencode(branch) + b"\n":
        raise RepositoryError(f'"{branch}" is no name for a branch; use letters, digits, - and /')
    if where := checked_out_at(repository, branch):
        raise RepositoryError(f'the branch "{branch}" is checked out at {where}; name another one')
    if other := _in_the_way(repository, branch):
        raise RepositoryError(
            f'there can be no branch "{branch}" beside the branch "{other}"; name another one'
        )


def free_branch(repository: Repository, wanted: str, base: str) -> str:
    """A branch of our own that has no work on it yet: the name that is wanted, or one like it."""
    if _in_the_way(repository, wanted):
        wanted = wanted.replace(_OWN, "segue-", 1)
    number, name = 1, wanted
    while commit_of(repository, f"refs/heads/{name}") not in (None, base) or checked_out_at(repository, name):
        number += 1
        name = f"{wanted}-{number}"
    return name


def add_worktree(
    repository: Repository, folder: Path, branch: str, base: str, *, force: bool = False
) -> None:
    """A worktree at `folder` on `branch`, which begins at `base` unless it is there already.

    By force, although another worktree may have it checked out.

    It is locked until it is whole. Its files are written by a git that knows the settings which hold there:
    a repository can have some for worktrees alone.
    """
    worktrees = repository.common_dir / "worktrees"
    try:
        folder.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        worktrees.mkdir(exist_ok=True)
    except OSError as error:
        raise RepositoryError(f"cannot make {error.filename}: {error.strerror}") from error
    asked = ("worktree", "add", "--quiet", "--no-checkout", "--lock", "--reason", _UNFINISHED)
    if commit_of(repository, f"refs/heads/{branch}"):
        # Git takes the branch of a bare repository for checked out, because our settings do not say "bare".
        is_of_bare = repository.configuration.is_bare and _branch_of(repository.common_dir) == branch
        repository.run(*asked, *(["--force"] if is_of_bare or force else []), str(folder), branch)
    else:
        break_branch_lock(repository, branch)
        repository.run(*asked, "--no-track", "-b", branch, str(folder), base)
    _connect(repository, folder)
    if text := repository.configuration.worktree_text:
        (open_repository(folder).git_dir / "config.worktree").write_bytes(text)
    made = open_repository(folder)
    made.run("reset", "--hard", "--quiet")
    (made.git_dir / "locked").unlink()


def find_worktree(repository: Repository, folder: Path) -> Repository | None:
    """The worktree at a folder, if it is one of this repository and whole."""
    found = _worktree_at(repository, folder)
    return None if found is None or (found.git_dir / "locked").exists() else found


def is_free(repository: Repository, folder: Path) -> bool:
    """True if a worktree can be made at this folder: nothing is there, or one that was not finished."""
    if not os.path.lexists(folder):
        return True
    found = _worktree_at(repository, folder)
    return (found.git_dir / "locked").exists() if found else folder.is_dir() and not any(folder.iterdir())


def open_worktree(repository: Repository, folder: Path) -> Repository:
    """The worktree at a folder; if an agent removed its `.git`, that is repaired."""
    if not folder.is_dir():
        raise RepositoryError(f"there is no folder {folder}")
    found = _worktree_at(repository, folder)
    if found is None and _connect(repository, folder):
        found = _worktree_at(repository, folder)
    if found is None:
        raise RepositoryError(
            f"{folder} is no worktree of {repository.top} any more: its .git was replaced; what is left "
            "there is not touched"
        )
    return found


def remove_worktree(repository: Repository, folder: Path) -> None:
    """Remove a worktree and all in it; safe to repeat. Other worktrees are not looked at."""
    shutil.rmtree(folder, ignore_errors=True)
    if folder.is_dir():  # a folder in it may be read-only
        for path, _, _ in os.walk(folder):
            Path(path).chmod(0o700)
        shutil.rmtree(folder, ignore_errors=True)
    if any(_places_of(repository, folder)):
        repository.run("worktree", "remove", "--force", "--force", str(folder), may_fail=True)
    with suppress(OSError):  # others are there
        (repository.common_dir / "worktrees").rmdir()
    if folder.exists():
        raise RepositoryError(f"{folder} could not be removed; remove it yourself")


def has_submodules(repository: Repository) -> bool:
    """True if a commit of another repository is part of the tree."""
    return (repository.top / ".gitmodules").is_file()


def make_repository(folder: Path) -> None:
    """`git init`, and a commit of all that is there; safe to repeat."""
    run_git(folder, "init", "--quiet")
    begin_history(open_repository(folder), "Begin: what was there before Segue\n")


def _places_of(repository: Repository, folder: Path, likely: str = "") -> Iterator[Path]:
    """Where the repository keeps what it knows of the worktree at a folder; a likely name is tried first."""
    named = {os.fsencode(path / ".git") for path in (folder, Path(os.path.realpath(folder)))}
    worktrees = repository.common_dir / "worktrees"
    for place in (
        *([worktrees / likely] if likely not in ("", ".", "..") else []),
        *sorted(worktrees.glob("*")),
    ):
        if read_small_file(place / "gitdir").removesuffix(b"\n") in named:
            yield place


def _connect(repository: Repository, folder: Path) -> bool:
    """Make the `.git` of a worktree name its place in the repository; true if the repository knows it.

    Git itself would write there the path of the common folder that it was given, which is a passing one of
    ours; and its `worktree repair` would follow a link that an agent put there.
    """
    dot_git = folder / ".git"
    present = read_small_file(dot_git)
    likely = os.path.basename(os.fsdecode(present.strip()))  # noqa: PTH119 - of a line, not a path
    for place in _places_of(repository, folder, likely):
        line = b"gitdir: " + os.fsencode(os.path.realpath(place)) + b"\n"
        if present == line:
            return True
        if dot_git.is_symlink() or not dot_git.is_dir():
            dot_git.unlink(missing_ok=True)
            with dot_git.open("xb") as file:
                file.write(line)
            return True
    return False


def _worktree_at(repository: Repository, folder: Path) -> Repository | None:
    """Git looks for repositories upwards: one around the folder is not meant."""
    dot_git = folder / ".git"
    if not dot_git.is_file():
        return None
    if not dot_git.is_symlink():
        _connect(repository, folder)  # after a crash it may name a passing folder that is gone
    try:
        found = open_repository(folder)
    except RepositoryError:
        return None
    is_here = os.path.realpath(found.top) == os.path.realpath(folder)
    is_ours = os.path.realpath(found.common_dir) == os.path.realpath(repository.common_dir)
    return found if is_here and is_ours else None


def checked_out_at(repository: Repository, branch: str) -> str | None:
    """The folder in which a branch is checked out, if there is one."""
    listed = repository.run("worktree", "list", "--porcelain", "-z").text
    for at, entry in enumerate(listed.split(b"\0\0")):
        lines = os.fsdecode(entry).split("\0")
        if f"branch refs/heads/{branch}" not in lines:
            continue
        if at > 0:
            return lines[0].removeprefix("worktree ")
        # The first is the main work tree; git takes the folder around our common folder for it.
        if not repository.configuration.is_bare:
            return str(repository.common_dir.parent)
    return None


def _branch_of(git_dir: Path) -> str | None:
    """The branch that a HEAD names."""
    try:
        named = (git_dir / "HEAD").read_bytes()
    except OSError:
        return None
    return os.fsdecode(named.removeprefix(b"ref: refs/heads/").removesuffix(b"\n"))


def _in_the_way(repository: Repository, branch: str) -> str | None:
    """A branch that cannot stand beside this one: git keeps `a` and `a/b` as a file and a folder."""
    parts = branch.split("/")
    for above in ("/".join(parts[:count]) for count in range(1, len(parts))):
        if commit_of(repository, f"refs/heads/{above}"):
            return above
    asked = ("for-each-ref", "--count=1", "--format=%(refname:lstrip=2)", f"refs/heads/{branch}/")
    return os.fsdecode(repository.run(*asked).text).strip() or None
