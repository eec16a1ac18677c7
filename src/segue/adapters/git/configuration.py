"""The configuration that Segue's git obeys: a snapshot of its own, with nothing in it that names a program.

A repository's `.git/config` can name programs for many occasions, and under names that the repository
invents (`filter.<any>.clean`). Looking for them and turning each off is a race: an agent that writes the file
can name a new one after the look. So git is not shown that file at all. The configuration is listed once; the
settings that change how content and names are stored are copied into a file that Segue writes, and everything
else is dropped: what is not in `_KEPT` does not exist for git, however and whenever it came there.

No option makes git ignore a repository's own configuration, but it reads that from `$GIT_COMMON_DIR/config`.
So an opened repository gets a common folder that only Segue's user can write to: our `config`, and
links to the repository's objects, references and patterns. Hooks are not linked. `GIT_DIR` stays the
repository's: its HEAD and index are real, and its `config.worktree` is not read, because our file does not
enable `extensions.worktreeConfig`. The files of user and system are not read: they are in the snapshot.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from segue.adapters.git.private_folders import PrivateFolder

_KEPT = frozenset(
    {
        "author.email",
        "author.name",
        "committer.email",
        "committer.name",
        "core.attributesfile",
        "core.autocrlf",
        "core.checkroundtripencoding",
        "core.compression",
        "core.eol",
        "core.excludesfile",
        "core.filemode",
        "core.ignorecase",
        "core.logallrefupdates",
        "core.loosecompression",
        "core.precomposeunicode",
        "core.protecthfs",
        "core.protectntfs",
        "core.repositoryformatversion",
        "core.sharedrepository",
        "core.sparsecheckout",
        "core.sparsecheckoutcone",
        "core.symlinks",
        "extensions.compatobjectformat",
        "extensions.objectformat",
        "extensions.refstorage",
        "extensions.relativeworktrees",
        "index.sparse",
        "merge.directoryrenames",
        "merge.renames",
        "merge.renormalize",
        "user.email",
        "user.name",
    }
)
"""All that git is told of the repository's configuration. Nothing here names a program.

Nor does anything hide a change: `core.trustctime` and `core.checkStat` would, so they are not here."""
_TRUE = ("true", "yes", "on", "1")
_LINKED = ("HEAD", "info", "logs", "objects", "packed-refs", "refs", "reftable", "shallow", "worktrees")
_LINKED_IF_THERE = frozenset({"logs", "reftable"})
"""What git could not make behind a link to nothing, or takes for something if a link is there."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Configuration:
    """What a repository's configuration said when it was opened."""

    text: bytes = b""
    """The file that git reads in its place."""
    filters: frozenset[str] = field(default_factory=frozenset)
    """The filters that it names; none is ever run."""
    has_identity: bool = False
    """Whether it says who commits."""
    origin: str | None = None
    """The address of its origin, as it is written there."""
    is_bare: bool = False
    """Whether the repository has no work tree but those that were added."""
    worktree_text: bytes = b""
    """The part that a new worktree needs in a file of its own; empty if git shares all of it."""


def read_configuration(listed: Iterable[str]) -> Configuration:
    """The snapshot, from the fields of `git config --null --list`."""
    kept: dict[str, str | None] = {}
    filters: set[str] = set()
    drivers: set[str] = set()
    is_bare = is_divided = False
    origin = None
    for entry in listed:
        name, has_value, value = entry.partition("\n")
        section, _, rest = name.partition(".")
        middle, _, key = rest.rpartition(".")
        if name in _KEPT:
            kept[name] = value if has_value else None
        elif section == "filter" and key in ("clean", "smudge", "process"):
            filters.add(middle)
        elif section == "merge" and key == "driver":
            drivers.add(middle)
        elif name == "extensions.worktreeconfig":
            is_divided = not has_value or value.lower() in _TRUE
        elif name == "remote.origin.url":
            origin = origin or value  # as git does: of several, it fetches from the first
        elif name == "core.bare":
            is_bare = not has_value or value.lower() in _TRUE
    shared = ("core.repositoryformatversion", "extensions.")
    own = {name: value for name, value in kept.items() if not name.startswith(shared)}
    return Configuration(
        text=_written(kept) + b"".join(map(_failing_driver, sorted(drivers))),
        filters=frozenset(filters),
        has_identity=bool(kept.get("user.name") and kept.get("user.email")),
        origin=origin,
        is_bare=is_bare,
        worktree_text=_written(own) if is_divided else b"",
    )


class PrivateCommonDir:
    """A common folder with our configuration in place of the repository's; removed with this object."""

    def __init__(self, common_dir: Path, configuration: Configuration) -> None:
        folder = PrivateFolder()
        weakref.finalize(self, folder.remove)
        own = folder.path / ".git"
        own.mkdir()
        (own / "config").write_bytes(configuration.text)
        for name in _LINKED:
            if name not in _LINKED_IF_THERE or os.path.lexists(common_dir / name):
                (own / name).symlink_to(common_dir / name)
        self.environment: Mapping[str, str] = {
            "GIT_COMMON_DIR": str(own),
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_SYSTEM": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
        }

    def is_there(self) -> bool:
        """False if somebody cleared the folder for temporary files."""
        return os.path.exists(self.environment["GIT_COMMON_DIR"] + "/config")  # noqa: PTH110 - often asked


def _written(settings: Mapping[str, str | None]) -> bytes:
    lines = []
    for name, value in settings.items():
        section, _, key = name.partition(".")
        lines.append(f"[{section}]\n\t{key}" + ("" if value is None else f" = {_quoted(value)}") + "\n")
    return b"".join(map(os.fsencode, lines))


def _failing_driver(name: str) -> bytes:
    """A merge driver that fails, so that what it would have merged is a conflict and no wrong merge."""
    return b"" if "\n" in name else os.fsencode(f'[merge {_quoted(name)}]\n\tdriver = "false"\n')


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
