"""The text of a repository before and after a step, read when it is asked for.

Git's own search is not used: by attributes that a repository sets it passes over files, or converts them with
a program that the repository names. Here the work tree's files are opened, no link is followed, and blobs
come from one `cat-file --batch` as they are.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from segue.adapters.git.objects import read_blobs
from segue.adapters.git.repository import Repository
from segue.domain.evidence.sources import MOST_PLACES, FileLine

LARGEST_FILE = 4_000_000
"""Bytes of a file that is still read."""
MOST_BYTES = 256_000_000
"""Bytes that one pass over all files reads."""
_BINARY_SIGN = 8_000
"""A NUL within so many bytes makes a file binary, as it does for git."""


@dataclass(slots=True)
class GitSources:
    """Text of the files of two states: a tree, and another tree or the work tree."""

    repository: Repository
    """Where they are."""
    old_ids: Mapping[str, str]
    """Path -> the id of its content, of every file before."""
    new_ids: Mapping[str, str] | None
    """The same after; none if that is the work tree."""
    new_paths: Collection[str]
    """Every file after."""
    is_whole: bool = True
    """False if files are missing in these lists, or were too large for a search that was made."""
    _texts: dict[tuple[bool, str], str | None] = field(default_factory=dict)

    def has_commit(self, name: str) -> bool | None:
        """True if the id of some commit begins so, also of one that no branch holds any more.

        None of a shallow clone without it: older commits are elsewhere.
        """
        asked = ("rev-parse", "--is-shallow-repository", f"--disambiguate={name}")
        is_shallow, *ids = self.repository.run(*asked).text.decode("ascii").split()
        if ids:
            stdin = "".join(f"{each}\n" for each in ids).encode("ascii")
            kinds = self.repository.run("cat-file", "--batch-check=%(objecttype)", stdin=stdin).text
            if b"commit" in kinds.split():
                return True
        return None if is_shallow == "true" else False

    def text(self, path: str, *, before: bool = False) -> str | None:
        """The text of a file; none if there is none, or if it is not text."""
        if (before, path) not in self._texts:
            self.load([path], before=before)
        return self._texts[before, path]

    def load(self, paths: Collection[str], *, before: bool = False) -> dict[str, str]:
        """The text of many files at once, kept for the next time; what is not text is left out."""
        missing = [path for path in paths if (before, path) not in self._texts]
        left = MOST_BYTES
        for path, content in self._contents(missing, before=before):
            left -= len(content or b"")
            if left < 0:
                break
            self.keep(path, content, before=before)
        for path in missing:
            self._texts.setdefault((before, path), None)
        return {path: text for path in paths if (text := self._texts[before, path]) is not None}

    def keep(self, path: str, content: bytes | None, *, before: bool) -> None:
        """What has been read of a file anyway, for the next time; none if it is too large."""
        is_text = content is not None and not _is_binary(content)
        self._texts[before, path] = _decode(content) if content is not None and is_text else None

    def find(self, names: Collection[str], *, before: bool = False) -> Mapping[str, tuple[FileLine, ...]]:
        """Name -> where it is, in one pass over all files; ask `is_whole` afterwards."""
        found: dict[str, list[FileLine]] = {name: [] for name in names}
        wanted = {name.encode("utf-8", "surrogateescape"): found[name] for name in names if name}
        left = MOST_BYTES
        paths = sorted(self.old_ids if before else self.new_paths)
        for path, content in self._contents(paths, before=before):
            left -= len(content or b"")
            if left < 0:
                self.is_whole = False
                break
            if content is None:
                self.is_whole = False
            elif not _is_binary(content):
                _search(path, content, wanted)
        return {name: tuple(places) for name, places in found.items()}

    def _contents(self, paths: Iterable[str], *, before: bool) -> Iterator[tuple[str, bytes | None]]:
        """Each file that is there with its content; none for one that is too large."""
        ids = self.old_ids if before else self.new_ids
        if ids is not None:
            asked = {path: ids[path] for path in paths if path in ids}
            for blob in read_blobs(self.repository, asked, largest=LARGEST_FILE):
                yield blob.path, blob.content
            return
        top = Path(os.path.realpath(self.repository.top))
        for path in paths:
            if path in self.new_paths and (content := _read_file(top, path)) is not _NOT_A_FILE:
                yield path, content


_NOT_A_FILE = b"\0not a file"


def _read_file(top: Path, path: str) -> bytes | None:
    """The content of a file in the work tree; none if it is too large."""
    place = top / path
    try:
        if not Path(os.path.realpath(place.parent)).is_relative_to(top):
            return _NOT_A_FILE
        handle = os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except (OSError, ValueError):
        return _NOT_A_FILE
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            return _NOT_A_FILE
        content = file.read(LARGEST_FILE + 1)
    if len(content) > LARGEST_FILE:
        return _NOT_A_FILE if _is_binary(content) else None
    return content


def _search(path: str, content: bytes, wanted: Mapping[bytes, list[FileLine]]) -> None:
    for name, places in wanted.items():
        at, line, counted = content.find(name), 1, 0
        while at >= 0 and len(places) < MOST_PLACES:
            line += content.count(b"\n", counted, at)
            counted = at
            places.append(FileLine(path, line))
            end = content.find(b"\n", at + len(name))
            at = content.find(name, end) if end >= 0 else -1


def _is_binary(content: bytes) -> bool:
    return b"\0" in content[:_BINARY_SIGN]


def _decode(content: bytes) -> str:
    return content.decode("utf-8-sig", "replace").replace("\r\n", "\n")
