"""Runs git on a repository that may be hostile: no program that the repository names is run.

Git never reads the repository's own configuration, but a snapshot of it that names no program
(`configuration.py` says why and how). Only two commands see the real one, to find the repository and to list
its settings; neither looks at content, and git's own protection against repositories of other users holds for
them. For these two, and in case git invents a default, the settings below turn off what has a fixed name.

A repository inside the work tree (a submodule, or one that an agent made) has a configuration of its own,
which git obeys when it looks for changes in there. So no command here may look (`nested.py` opens one as a
repository of its own, with a snapshot of its own): each that compares the work
tree is told `--ignore-submodules=dirty`, and neither `git add` nor `git diff` without two revisions is used.
"""

from __future__ import annotations

import hashlib
import os
import threading
import time
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import gettempdir

from segue.adapters.git.configuration import Configuration, PrivateCommonDir, read_configuration
from segue.adapters.git.processes import MOST_BYTES, SECONDS, Output, read_output, running
from segue.adapters.git.stamps import (
    State,
    are_unchanged,
    configuration_files,
    discovery_files,
    repository_files,
    states_before,
    take_states,
)
from segue.domain.errors import RepositoryError

MOST_SETTINGS = 4_000_000
"""Bytes of configuration that are read; a longer one is refused."""
_MOST_OPEN = 64
"""So many repositories are kept as they were opened."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Repository:
    """A repository and its work tree."""

    top: Path
    """The top of the work tree."""
    folder: Path
    """The folder that was asked for: the top, or one below it."""
    git_dir: Path
    """Where its index lies."""
    common_dir: Path
    """Where its branches lie; all its worktrees have the same."""
    digest: str = "sha1"
    """How ids are made: `sha1` or `sha256`."""
    configuration: Configuration
    """What its configuration said when it was opened."""
    private: PrivateCommonDir
    """What makes git obey that, and not what the configuration says now."""
    seconds: float = SECONDS
    """How long one command may take."""

    def empty_id(self, kind: str) -> str:
        """The id of an empty `blob` or `tree`."""
        return hashlib.new(self.digest, f"{kind} 0\0".encode(), usedforsecurity=False).hexdigest()

    @property
    def prefix(self) -> str:
        """The folder below the top, with a slash at its end; empty at the top."""
        below = os.path.relpath(os.path.realpath(self.folder), os.path.realpath(self.top))
        return "" if below == os.curdir else below.replace(os.sep, "/") + "/"

    def run(
        self,
        *arguments: str,
        stdin: bytes | None = None,
        most_bytes: int = MOST_BYTES,
        environment: Mapping[str, str] | None = None,
        may_fail: bool = False,
    ) -> Output:
        """What a git command prints, up to a limit; a command that fails raises, unless it may."""
        with self.stream(*arguments, stdin=stdin, environment=environment, may_fail=may_fail) as chunks:
            return read_output(chunks, most_bytes)

    def each_field(self, *arguments: str, environment: Mapping[str, str]) -> Iterator[str]:
        """What stands between NULs in all that a command prints, however much that is."""
        rest = b""
        with self.stream(*arguments, environment=environment) as chunks:
            for chunk in chunks:
                *whole, rest = (rest + chunk).split(b"\0")
                yield from map(os.fsdecode, whole)

    @contextmanager
    def stream(
        self,
        *arguments: str,
        stdin: bytes | None = None,
        environment: Mapping[str, str] | None = None,
        may_fail: bool = False,
    ) -> Iterator[Iterator[bytes]]:
        """The output of a git command, piece by piece; leaving early ends it."""
        here = {"GIT_DIR": str(self.git_dir), "GIT_WORK_TREE": str(self.top)}
        variables = {**here, **self.private.environment, **(environment or {})}
        with running(self.top, arguments, stdin, variables, (self.seconds, may_fail)) as chunks:
            yield chunks


@dataclass(frozen=True, slots=True)
class _Opened:
    repository: Repository
    files: Mapping[str, State]
    """All that decided what git answered."""


_opened: OrderedDict[tuple[str, ...], _Opened] = OrderedDict()
_lock = threading.Lock()


def open_repository(folder: Path, *, seconds: float = SECONDS) -> Repository:
    """The repository that a folder belongs to; raises a `RepositoryError` if it belongs to none.

    Git is asked again only when a file that decided its answer has changed.
    """
    if not folder.is_dir():
        raise RepositoryError(f"there is no folder {folder}")
    key = (
        str(folder.absolute()),
        *(os.environ.get(name, "") for name in ("PATH", "HOME", "XDG_CONFIG_HOME")),
    )
    with _lock:
        known = _opened.get(key)
    if known is None or not (known.repository.private.is_there() and are_unchanged(known.files)):
        known = _ask_git(folder, seconds)
    with _lock:
        _opened.pop(key, None)
        if known.files:
            _opened[key] = known
        if len(_opened) > _MOST_OPEN:
            _opened.popitem(last=False)
    return replace(known.repository, folder=folder, seconds=seconds)


def _ask_git(folder: Path, seconds: float) -> _Opened:
    asked = (
        "rev-parse",
        "--is-inside-work-tree",
        "--show-object-format",
        "--show-toplevel",
        "--absolute-git-dir",
    )
    with running(folder, asked, None, {}, (seconds, False)) as chunks:
        answer = b"".join(chunks)
    inside, _, rest = answer.partition(b"\n")
    digest, _, rest = rest.partition(b"\n")
    if inside != b"true":
        raise RepositoryError(f"{folder} is not in the work tree of a git repository")
    top, git_dir = _two_folders(os.fsdecode(rest.removesuffix(b"\n")))
    if not Path(os.path.realpath(folder)).is_relative_to(os.path.realpath(top)):
        raise RepositoryError(f"the repository at {folder} has its work tree elsewhere, at {top}")
    common_dir = _common_dir(git_dir)
    files = take_states([*discovery_files(folder, top), *repository_files(git_dir, common_dir)])
    configuration, sources = _take_snapshot(top, seconds)
    try:
        private = PrivateCommonDir(common_dir, configuration)
    except OSError as error:
        raise RepositoryError(
            f"cannot make a folder for git's settings in {gettempdir()}: {error.strerror}"
        ) from error
    repository = Repository(
        top=top,
        folder=folder,
        git_dir=git_dir,
        common_dir=common_dir,
        digest=digest.decode("ascii"),
        configuration=configuration,
        private=private,
        seconds=seconds,
    )
    return _Opened(repository, {} if sources is None else {**sources, **files})


def _two_folders(text: str) -> tuple[Path, Path]:
    """Two paths that git printed in two lines; a line end may be part of them."""
    lines = text.split("\n")
    for count in range(1, len(lines)):
        first, second = Path("\n".join(lines[:count])), Path("\n".join(lines[count:]))
        if first.is_absolute() and second.is_absolute() and first.is_dir() and second.is_dir():
            return first, second
    return Path(lines[0]), Path(lines[-1])


def _common_dir(git_dir: Path) -> Path:
    """What the `.git` of a worktree shares with the repository it belongs to."""
    try:
        named = (git_dir / "commondir").read_bytes().removesuffix(b"\n")
    except OSError:
        return git_dir
    return Path(os.path.normpath(git_dir / os.fsdecode(named)))


def _take_snapshot(top: Path, seconds: float) -> tuple[Configuration, dict[str, State] | None]:
    """The configuration as it is now, and the files that say it; one too long to be read whole is refused."""
    began = time.time_ns()
    asked = ("config", "--null", "--show-origin", "--list")
    with running(top, asked, None, {}, (seconds, False)) as chunks:
        listed = read_output(chunks, MOST_SETTINGS)
    if listed.is_cut:
        raise RepositoryError(
            f"the git configuration of {top} is longer than {MOST_SETTINGS // 1_000_000} MB, so Segue does "
            "not use it; `git config --list --show-origin` shows where it comes from"
        )
    fields = listed.fields()
    pairs = list(zip(fields[::2], fields[1::2], strict=True))
    sources = configuration_files(top, pairs)
    configuration = read_configuration(entry for _, entry in pairs)
    return configuration, None if sources is None else states_before(began, sources)
