"""A copy of the index that learns what is in the work tree, and never looks into a repository in there.

`git add` does: for every gitlink it runs `git status` inside, which obeys the configuration in there. So the
changed files are listed, by a `git status` that is kept from looking inside, and handed to `update-index`,
which asks a gitlink for its HEAD and for nothing else. Only files whose size or time changed are read.

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
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from segue.adapters.git.processes import MOST_BYTES
from segue.adapters.git.repository import Repository
from segue.domain.errors import RepositoryError

MOST_IGNORED_BYTES = 16_000_000
"""Of the names of ignored files, so much is read."""
_LARGEST_INDEX = 1_000_000_000
_GITLINK = "160000"
_STATUS = (
    "--porcelain=v2",
    "-z",
    "--branch",
    "--no-ahead-behind",
    "--untracked-files=all",
    "--no-renames",
    "--ignore-submodules=dirty",
)


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


class Entry(NamedTuple):
    """A file of an index."""

    mode: str
    id: str
    path: str


@dataclass(slots=True)
class WorkTree:
    """What the files of a work tree are, beside its index and the commit that is checked out."""

    head: str | None = None
    """The commit that is checked out; none before the first, and if HEAD names none."""
    entries: list[Entry] = field(default_factory=list)
    """The files of the index; one with a conflict is there up to three times."""
    skipped: list[str] = field(default_factory=list)
    """Those that git skips and that are not there (a sparse checkout)."""
    changed: list[str] = field(default_factory=list)
    """Those that are not as the index has them."""
    gone: set[str] = field(default_factory=set)
    """Those of these that are not there."""
    untracked: list[str] = field(default_factory=list)
    """Files that are neither in the index nor ignored."""
    repositories: list[str] = field(default_factory=list)
    """Folders with a repository of their own, not in the index, each with a slash at its end."""
    ignored: list[str] = field(default_factory=list)
    are_ignored_whole: bool = True
    is_whole: bool = True
    """False if there is more than was read, of what is not ignored."""
    is_staged: bool = False
    """Whether the index differs from the commit."""
    _new_links: list[str] = field(default_factory=list)

    @property
    def is_clean(self) -> bool:
        """True if all is as in the commit that is checked out."""
        is_same = not (self.is_staged or self.changed or self.untracked or self.repositories)
        return self.head is not None and self.is_whole and is_same

    @property
    def gitlinks(self) -> set[str]:
        """The gitlinks in the index."""
        return {entry.path for entry in self.entries if entry.mode == _GITLINK}


def look(repository: Repository, index: Mapping[str, str], *, ignored: bool = False) -> WorkTree:
    """What is in the work tree, by two processes; the copied index learns which files are as it has them.

    Files that git was told to take for unchanged or to skip are looked at, if they are there. Gitlinks that
    are in the index alone are taken out of it. Repositories in the work tree are named, not looked into.
    """
    entries, skipped = _read_index(repository, index)
    found = _read_status(repository, index, ignored=ignored)
    if links := set(found._new_links):
        _update(repository, index, links, "--force-remove")
        found = _read_status(repository, index, ignored=ignored)
        entries = [entry for entry in entries if entry.path not in links]
    found.entries, found.skipped = entries, skipped
    return found


def _read_index(repository: Repository, index: Mapping[str, str]) -> tuple[list[Entry], list[str]]:
    entries: list[Entry] = []
    assumed: list[str] = []
    found: list[str] = []
    skipped: list[str] = []
    for line in repository.each_field("ls-files", "-z", "-v", "--stage", environment=index):
        about, _, path = line.partition("\t")
        letter, mode, blob, _ = about.split(" ")
        entries.append(Entry(mode, blob, path))
        if letter.islower():
            assumed.append(path)
        if letter in "Ss":
            (skipped if _mode_of(repository.top / path) is None else found).append(path)
    _update(repository, index, assumed, "--no-assume-unchanged")
    _update(repository, index, found, "--no-skip-worktree")
    return entries, skipped


def _read_status(repository: Repository, index: Mapping[str, str], *, ignored: bool) -> WorkTree:
    try:
        return _ask_status(repository, index, ignored=ignored)
    except RepositoryError:
        # HEAD may name a commit that is not there: then it is as if there were none.
        folder = Path(index["GIT_INDEX_FILE"]).parent
        (folder / "HEAD").write_text("ref: refs/heads/segue/none/such\n", encoding="ascii")
        return _ask_status(repository, {**index, "GIT_DIR": str(folder)}, ignored=ignored)


def _ask_status(repository: Repository, index: Mapping[str, str], *, ignored: bool) -> WorkTree:
    # What it finds out about the copied index it may write there: the next command need not look again.
    environment = {**index, "GIT_OPTIONAL_LOCKS": "1"}
    asked = (*_STATUS, *(["--ignored=traditional"] if ignored else []))
    found = WorkTree()
    size = ignored_size = 0
    for line in repository.each_field("status", *asked, environment=environment):
        if line.startswith("! "):
            found.ignored.append(line[2:])
            ignored_size += len(line)
            if ignored_size > MOST_IGNORED_BYTES:  # they come last
                found.are_ignored_whole = False
                break
            continue
        size += len(line)
        if size > MOST_BYTES:
            found.is_whole = found.are_ignored_whole = False
            break
        _read_line(repository, line, found)
    return found


def _read_line(repository: Repository, line: str, found: WorkTree) -> None:
    """A line of `git status --porcelain=v2`."""
    kind, _, rest = line.partition(" ")
    if kind == "#":
        name, _, value = rest.partition(" ")
        if name == "branch.oid" and value != "(initial)":
            found.head = value
    elif kind == "?":
        (found.repositories if rest.endswith("/") else found.untracked).append(rest)
    elif kind in "1u":
        _read_change(repository, rest, found, is_conflict=kind == "u")


def _read_change(repository: Repository, text: str, found: WorkTree, *, is_conflict: bool) -> None:
    if is_conflict:
        _, _, base, in_head, theirs, *_, path = text.split(" ", 9)
        staged, changed, in_index = "U", "U", _GITLINK if _GITLINK in (base, theirs) else ""
    else:
        states, _, in_head, in_index, *_, path = text.split(" ", 7)
        staged, changed = states[0], states[1]
    found.is_staged |= staged != "."
    if changed != ".":
        found.changed.append(path)
    if changed == "D" or (is_conflict and _mode_of(repository.top / path) is None):
        found.gone.add(path)
    if in_index == _GITLINK != in_head:
        found._new_links.append(path)


def add_everything(repository: Repository, index: Mapping[str, str]) -> WorkTree:
    """Make the index hold all files that are not ignored, as `git add --all` would if it ran no program.

    What git cannot convert is kept as it is; what cannot be read is left as the index has it.
    """
    found = look(repository, index)
    if not found.is_whole:
        raise RepositoryError(
            f"too many files changed in {repository.top} to keep them all; add folders that need not be "
            "kept to .gitignore"
        )
    links = found.gitlinks
    gone: list[str] = []
    there: list[str] = []
    for path in [*found.changed, *found.untracked]:
        mode = None if path in found.gone else _mode_of(repository.top / path)
        if mode is None or not (_is_content(mode) or (stat.S_ISDIR(mode) and path in links)):
            gone.append(path)
        else:
            there.append(path)
    _update(repository, index, gone, "--force-remove")
    _add(repository, index, list(dict.fromkeys(there)))
    return found


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
