"""Files that an agent reads and writes through Segue: inside the workspace, wherever links and `..` lead."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

READ_LIMIT = 10_000_000
"""Bytes of a file that is handed out in one go."""


class OutsideWorkspace(OSError):
    """A path leads out of the workspace."""


def inside(workspace: str, path: str) -> Path:
    """Where a path leads, if that is inside the workspace."""
    root = Path(os.path.realpath(workspace))
    found = Path(os.path.realpath(root / path))
    if not found.is_relative_to(root):
        raise OutsideWorkspace(f"{path} is outside the working directory {workspace}")
    return found


def read_text(workspace: str, path: str, *, line: int | None, limit: int | None) -> str:
    """The text of a file, or `limit` lines of it from `line` on, which counts from 1."""
    found = inside(workspace, path)
    with _opened(found, os.O_RDONLY) as number, os.fdopen(number, "rb", closefd=False) as file:
        text = file.read(READ_LIMIT).decode("utf-8", "replace")
    if line is None and limit is None:
        return text
    first = max((line or 1) - 1, 0)
    return "".join(text.splitlines(keepends=True)[first : None if limit is None else first + limit])


def write_text(workspace: str, path: str, text: str) -> None:
    """Write a file, with the folders that lead to it."""
    found = inside(workspace, path)
    found.parent.mkdir(parents=True, exist_ok=True)
    with _opened(found, os.O_WRONLY | os.O_CREAT) as number, os.fdopen(number, "wb", closefd=False) as file:
        file.truncate()
        file.write(text.encode("utf-8", "replace"))


@contextmanager
def _opened(path: Path, flags: int) -> Iterator[int]:
    """A plain file, opened without following a link that was put there in between."""
    number = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o666)
    try:
        if not stat.S_ISREG(os.fstat(number).st_mode):
            raise IsADirectoryError(errno.EISDIR, "it is no plain file", str(path))
        yield number
    finally:
        os.close(number)
