"""Commits and files by their names, as many as are asked for from one `git cat-file --batch`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from segue.adapters.git.repository import Repository
from segue.domain.errors import RepositoryError

_LARGEST_COMMIT = 4_000_000
_FOUND = re.compile(rb"([0-9a-f]{40,64}) ([a-z]+) (\d+)")


@dataclass(frozen=True, kw_only=True, slots=True)
class Commit:
    """A commit of a repository."""

    id: str
    tree: str
    message: str
    """Without its head."""


class Blob(NamedTuple):
    """A file at the path that was asked for."""

    path: str
    content: bytes | None
    """None of a file that is too large."""
    size: int
    lines: int
    """How many it has; the last need not end."""


def read_commits(repository: Repository, names: Sequence[str]) -> list[Commit | None]:
    """The commit that each revision names; none for one that names none."""
    for name in names:
        if not name or name.startswith("-") or "\0" in name or "\n" in name:
            raise RepositoryError(f'"{name}" is not a revision')
    asked = "".join(f"{name}^{{commit}}\n" for name in names)
    with repository.stream("cat-file", "--batch", stdin=asked.encode("utf-8", "surrogateescape")) as chunks:
        reader = _BatchReader(chunks, _LARGEST_COMMIT)
        found = [reader.next_object() for _ in names]
    return [None if each is None else _read_commit(each) for each in found]


def read_commit(repository: Repository, name: str) -> Commit | None:
    """The commit that a revision names; none if it names none."""
    return read_commits(repository, [name])[0]


def read_blobs(repository: Repository, ids: Mapping[str, str], *, largest: int) -> Iterator[Blob]:
    """The content of each path whose blob is there, by one process; up to a size."""
    paths: dict[str, list[str]] = {}
    for path, blob in ids.items():
        paths.setdefault(blob, []).append(path)
    if not paths:
        return
    asked = "".join(f"{blob}\n" for blob in paths).encode("ascii")
    with repository.stream("cat-file", "--batch", "--buffer", stdin=asked) as chunks:
        reader = _BatchReader(chunks, largest)
        for named in paths.values():
            found = reader.next_object()
            if found is not None and found.kind == b"blob":
                yield from (Blob(path, found.content, found.size, found.lines) for path in named)


class _Object(NamedTuple):
    id: str
    kind: bytes
    content: bytes | None
    size: int
    lines: int


def _read_commit(found: _Object) -> Commit:
    if found.content is None:
        raise RepositoryError(f"the commit {found.id} is longer than {_LARGEST_COMMIT // 1_000_000} MB")
    head, _, message = found.content.partition(b"\n\n")
    tree = head.partition(b"\n")[0].removeprefix(b"tree ").decode("ascii")
    return Commit(id=found.id, tree=tree, message=message.decode("utf-8", "replace"))


@dataclass(slots=True)
class _BatchReader:
    """Takes apart what `cat-file --batch` prints, an answer to each question in turn."""

    chunks: Iterator[bytes]
    largest: int
    _waiting: bytes = b""

    def next_object(self) -> _Object | None:
        """None for one that is not there, or whose name fits several."""
        head = _FOUND.fullmatch(self._line())
        if head is None:
            return None
        size = int(head[3])
        content, lines = self._take(size)
        self._take(1)
        return _Object(head[1].decode("ascii"), head[2], content, size, lines)

    def _line(self) -> bytes:
        while b"\n" not in self._waiting:
            self._waiting += self._more()
        line, _, self._waiting = self._waiting.partition(b"\n")
        return line

    def _take(self, size: int) -> tuple[bytes | None, int]:
        """So many bytes, and their lines; of more than are kept no bytes, but they are read."""
        parts, left, lines, last = [], size, 0, b"\n"
        while left > 0:
            self._waiting = self._waiting or self._more()
            part, self._waiting = self._waiting[:left], self._waiting[left:]
            left -= len(part)
            lines, last = lines + part.count(b"\n"), part[-1:]
            if size <= self.largest:
                parts.append(part)
        return b"".join(parts) if size <= self.largest else None, lines + (last != b"\n")

    def _more(self) -> bytes:
        found = next(self.chunks, b"")
        if not found:
            raise RepositoryError("git cat-file ended before it had answered all")
        return found
