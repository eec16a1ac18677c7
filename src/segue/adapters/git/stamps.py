"""Tells whether a repository can be used as it was opened: every file that decided that is as it was.

Git is asked once where a repository is and what its configuration says. What it answered depends on a few
files, whose state is kept: a change to one of them, even within its size and second, changes its inode or its
time of change, and git is asked again.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path

_LONGEST = 16_384
State = tuple[int, ...] | None
"""What tells one state of a file from another; of a folder, only that it is the same one."""


def state_of(path: str) -> State:
    """The state of a file or folder, and of what a link leads to; none if nothing is there."""
    try:
        found = os.lstat(path)
        leads_to = os.stat(path) if stat.S_ISLNK(found.st_mode) else None  # noqa: PTH116 - a text is faster
    except (OSError, ValueError):
        return None
    return _signs(found) + (_signs(leads_to) if leads_to else ())


def _signs(found: os.stat_result) -> tuple[int, ...]:
    same = (found.st_dev, found.st_ino, found.st_mode, found.st_uid)
    if stat.S_ISDIR(found.st_mode):
        return same
    return (*same, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


def take_states(paths: Iterable[Path | str]) -> dict[str, State]:
    """The state of each."""
    return {str(path): state_of(str(path)) for path in paths}


def states_before(moment: int, paths: Iterable[Path | str]) -> dict[str, State] | None:
    """The state that each has had since a moment in nanoseconds; none if one may have changed since."""
    found = take_states(paths)
    return None if any(state and state[-1] >= moment for state in found.values()) else found


def are_unchanged(states: Mapping[str, State]) -> bool:
    """True if each is in the state that is given."""
    return all(state_of(path) == state for path, state in states.items())


def discovery_files(folder: Path, top: Path) -> list[Path]:
    """What git looks at to find the repository of a folder: up to its top, in each folder on the way."""
    last, place = Path(os.path.realpath(top)), Path(os.path.realpath(folder))
    found = [folder, top]
    for each in (place, *place.parents):
        found += [each / ".git", each / "HEAD"]
        if each == last:
            break
    return found


def repository_files(git_dir: Path, common_dir: Path) -> list[Path]:
    """What decides how a repository is laid out, and its own configuration."""
    return [
        git_dir,
        git_dir / "commondir",
        git_dir / "config.worktree",
        common_dir,
        common_dir / "config",
        common_dir / "logs",
        common_dir / "reftable",
    ]


def configuration_files(top: Path, listed: Iterable[tuple[str, str]]) -> list[Path] | None:
    """The files that a listed configuration came from or could come from; none if that changes with HEAD.

    `listed` are the fields of `git config --show-origin`: where from, and a name with its value.
    """
    home = os.environ.get("HOME", "")
    found = [
        Path("/etc/gitconfig"),
        Path(home, ".gitconfig"),
        Path(os.environ.get("XDG_CONFIG_HOME") or Path(home, ".config"), "git", "config"),
    ]
    for origin, entry in listed:
        if not origin.startswith("file:"):
            continue
        file = top / origin.removeprefix("file:")
        if file not in found:
            found.append(file)
        name, _, value = entry.partition("\n")
        if name.startswith("includeif.onbranch:") or (name.startswith("include") and value.startswith("%(")):
            return None
        if name == "include.path" or (name.startswith("includeif.") and name.endswith(".path")):
            found.append(file.parent / Path(value).expanduser())
    return found


def read_small_file(path: Path) -> bytes:
    """A small file that git or an agent wrote; nothing if it is not one."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return b""
    try:
        return os.read(handle, _LONGEST) if stat.S_ISREG(os.fstat(handle).st_mode) else b""
    finally:
        os.close(handle)
