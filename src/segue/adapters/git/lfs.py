"""Settles changes of files that a filter stands between: the filter is not run, so git may be mistaken."""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from segue.adapters.git.repository import Repository
from segue.domain.evidence.model import Change, ChangeKind

_POINTER = re.compile(rb"version [^\n]+\n(?:[^\n]+\n)*?oid sha256:([0-9a-f]{64})\n")
_LARGEST_POINTER = 2048
_LARGEST_FILE = 4_000_000_000


def settle_filtered(
    repository: Repository,
    changes: Mapping[str, Change],
    old_ids: Mapping[str, str],
    index: Mapping[str, str],
) -> dict[str, Change]:
    """The changes without large files (LFS) that are what they were; what cannot be told is marked."""
    settled = dict(changes)
    modified = [path for path, change in changes.items() if change.kind is ChangeKind.MODIFIED]
    for path, driver in filters_of(repository, modified, index):
        if driver == "lfs" and (was := _pointer(repository, old_ids[path])) is not None:
            if was == _digest(Path(repository.top, path)):
                del settled[path]
        else:
            settled[path] = replace(settled[path], is_certain=False)
    return settled


def filters_of(repository: Repository, paths: list[str], index: Mapping[str, str]) -> list[tuple[str, str]]:
    """The paths that have a filter, with its name."""
    filters = repository.configuration.filters
    if not paths or not filters:
        return []
    names = b"".join(os.fsencode(path) + b"\0" for path in paths)
    fields = repository.run("check-attr", "-z", "--stdin", "filter", stdin=names, environment=index).fields()
    triples = zip(fields[::3], fields[1::3], fields[2::3], strict=False)
    return [(path, value) for path, _, value in triples if value in filters]


def _pointer(repository: Repository, old_id: str) -> str | None:
    """The digest in a pointer to a large file, or none if it is no pointer."""
    found = repository.run("cat-file", "blob", old_id, most_bytes=_LARGEST_POINTER, may_fail=True)
    match = None if found.is_cut else _POINTER.match(found.text)
    return match[1].decode("ascii") if match else None


def _digest(path: Path) -> str | None:
    """The digest of a file in the work tree; links are not followed."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    with os.fdopen(handle, "rb") as file:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode) or found.st_size > _LARGEST_FILE:
            return None
        return hashlib.file_digest(file, "sha256").hexdigest()
