"""A copy of the index that learns what is in the work tree, and never looks into a repository in there.

`git add` does: for every gitlink it runs `git status` inside, which obeys the configuration in there. So the
changed files are listed and handed to `update-index`, which asks a gitlink for its HEAD and for nothing else.
Only files whose size or time changed are read.

A repository in the work tree stays in a commit as a gitlink if the commit that is checked out has it already.
One that is new is left out of commits, because a gitlink to commits that exist nowhere else holds nothing;
`nested.py` names it, so that its files are not removed with the worktree.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from segue.adapters.git.repository import Repository
from segue.domain.errors import RepositoryError

_LARGEST_INDEX = 1_000_000_000
_GITLINK = "160000"


@contextmanager
def own_index(repository: Repository) -> Iterator[Mapping[str, str]]:
    """The environment that makes git work on a copy of the index."""
    with TemporaryDirectory(prefix="segue-index-") as folder:
        index = Path(folder, "index")
        original = repository.git_dir / "index"
        try:
            found = original.lstat()
            if not stat.S_ISREG(found.st_mode) or found.st_size > _LARGEST_INDEX:
                raise RepositoryError(f"{original} is not an index that git wrote")
            shutil.copyfile(original, index)
            # By its age git knows which files may have changed in the same moment as it was written.
            os.utime(index, ns=(found.st_atime_ns, found.st_mtime_ns))
        except FileNotFoundError:
            pass  # nothing was ever added: an index that is not there is an empty one
        except OSError as error:
            raise RepositoryError(f"cannot copy {original}: {error.strerror}") from error
        yield {"GIT_INDEX_FILE": str(index)}


def look_at_everything(repository: Repository, index: Mapping[str, str]) -> list[str]:
    """Files that git was told to take for unchanged or to skip are looked at, if they are there.

    Gives those that it skips because they are not (a sparse checkout).
    Gitlinks that are in the index alone are taken out of it.
    """
    assumed: list[str] = []
    found: list[str] = []
    skipped: list[str] = []
    for entry in repository.each_field("ls-files", "-z", "-v", environment=index):
        letter, path = entry[:1], entry[2:]
        if letter.islower():
            assumed.append(path)
        if letter in "Ss":
            (skipped if _mode_of(repository.top / path) is None else found).append(path)
    _update(repository, index, assumed, "--no-assume-unchanged")
    _update(repository, index, found, "--no-skip-worktree")
    if links := gitlinks(repository, index):
        _update(repository, index, links - _recorded_gitlinks(repository), "--force-remove")
    return skipped


@dataclass(frozen=True, kw_only=True, slots=True)
class Untracked:
    """What is in the work tree, and neither in the index nor ignored."""

    files: list[str]
    repositories: list[str]
    """Folders with a repository of their own, each with a slash at its end."""
    is_whole: bool


def list_untracked(repository: Repository, index: Mapping[str, str]) -> Untracked:
    """The untracked files; repositories among them are named, not looked into."""
    found = repository.run("ls-files", "-z", "--others", "--exclude-standard", environment=index)
    names = found.fields()
    return Untracked(
        files=[name for name in names if not name.endswith("/")],
        repositories=[name for name in names if name.endswith("/")],
        is_whole=not found.is_cut,
    )


def add_everything(repository: Repository, index: Mapping[str, str]) -> None:
    """Make the index hold all files that are not ignored, as `git add --all` would if it ran no program.

    What git cannot convert is kept as it is; what cannot be read is left as the index has it.
    """
    look_at_everything(repository, index)
    changed = repository.run(
        "diff-files", "-z", "--name-status", "--no-renames", "--ignore-submodules=dirty", environment=index
    )
    untracked = list_untracked(repository, index)
    if changed.is_cut or not untracked.is_whole:
        raise RepositoryError(
            f"too many files changed in {repository.top} to keep them all; add folders that need not be "
            "kept to .gitignore"
        )
    fields = changed.fields()
    links = gitlinks(repository, index)
    gone: list[str] = []
    there: list[str] = []
    for letter, path in [*zip(fields[::2], fields[1::2], strict=True), *(("A", f) for f in untracked.files)]:
        mode = None if letter == "D" else _mode_of(repository.top / path)
        if mode is None or not (_is_content(mode) or (stat.S_ISDIR(mode) and path in links)):
            gone.append(path)
        else:
            there.append(path)
    _update(repository, index, gone, "--force-remove")
    _add(repository, index, list(dict.fromkeys(there)))


def gitlinks(repository: Repository, index: Mapping[str, str]) -> set[str]:
    """The gitlinks in the index."""
    return _links_in(repository.each_field("ls-files", "-z", "--stage", environment=index))


def _recorded_gitlinks(repository: Repository) -> set[str]:
    """The gitlinks in the commit that is checked out."""
    if not repository.run("rev-parse", "--verify", "--quiet", "HEAD^{commit}", may_fail=True).text:
        return set()
    return _links_in(repository.each_field("ls-tree", "-r", "-z", "--full-tree", "HEAD", environment={}))


def _links_in(entries: Iterable[str]) -> set[str]:
    return {entry.partition("\t")[2] for entry in entries if entry.startswith(_GITLINK)}


def _add(repository: Repository, index: Mapping[str, str], paths: Sequence[str]) -> None:
    """Add files; one that git refuses stops all, so it is looked for by halves."""
    try:
        _update(repository, index, paths, "--add", "--remove", "--replace")
    except RepositoryError:
        if len(paths) == 1:
            _add_as_it_is(repository, index, paths[0])
            return
        middle = len(paths) // 2
        _add(repository, index, paths[:middle])
        _add(repository, index, paths[middle:])


def _add_as_it_is(repository: Repository, index: Mapping[str, str], path: str) -> None:
    """Add a file whose attributes ask for a conversion that fails, without it."""
    mode = _mode_of(repository.top / path)
    if mode is None or not stat.S_ISREG(mode):
        return
    made = repository.run("hash-object", "-w", "--no-filters", "--", path, may_fail=True).text.strip()
    if made:
        kind = b"100755" if mode & stat.S_IXUSR else b"100644"
        line = kind + b" " + made + b" 0\t" + os.fsencode(path) + b"\0"
        repository.run("update-index", "-z", "--index-info", stdin=line, environment=index)


def _update(repository: Repository, index: Mapping[str, str], paths: Iterable[str], *options: str) -> None:
    names = b"".join(os.fsencode(path) + b"\0" for path in paths)
    if names:
        repository.run("update-index", *options, "-z", "--stdin", stdin=names, environment=index)


def _mode_of(path: Path) -> int | None:
    try:
        return path.lstat().st_mode
    except OSError:
        return None


def _is_content(mode: int) -> bool:
    return stat.S_ISREG(mode) or stat.S_ISLNK(mode)
