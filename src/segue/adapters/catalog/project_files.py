"""Files of a project that nobody but the user and root can change, and their digests."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path

from segue.domain.errors import CatalogError, UnsafeProject


def digest(path: Path, root: Path) -> str:
    """The SHA-256 of a script; of a link to a program outside of the project, of where it leads."""
    with opened(path) as file:
        if leads_out(path, root):  # as the interpreter of a virtual environment does
            return hashlib.sha256(os.fsencode(f"-> {path.resolve()}")).hexdigest()
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def opened(path: Path) -> Iterator[BufferedReader]:
    """A regular file that nobody but the user and root can change."""
    try:
        number = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        found = os.fstat(number)
        if not stat.S_ISREG(found.st_mode):
            os.close(number)
            raise CatalogError(f"cannot read {path}: it is not a regular file")
        with os.fdopen(number, "rb") as file:
            check_safe(path, found)
            yield file
    except OSError as error:
        raise CatalogError(f"cannot read {path}: {error.strerror}") from error


def leads_out(path: Path, root: Path) -> bool:
    """True for a symbolic link, or a path over one, to somewhere outside of the project."""
    return not path.resolve().is_relative_to(root)


def check_inside(path: Path, root: Path) -> None:
    """`UnsafeProject` if a path leads out of the project."""
    if leads_out(path, root):
        raise UnsafeProject(
            f"{path} is a symbolic link that leads out of the project, to {path.resolve()}: put the file "
            "itself there, or remove it"
        )


def check_safe(path: Path, found: os.stat_result) -> None:
    """`UnsafeProject` if another user could change a file or folder."""
    if found.st_uid not in (0, os.geteuid()):
        raise UnsafeProject(
            f"{path} belongs to another user (id {found.st_uid}), who could run programs as you. If you know "
            f"it to be yours: sudo chown {os.geteuid()} {path}"
        )
    if found.st_mode & stat.S_IWOTH:
        raise UnsafeProject(f"every user of this machine can write {path}: run chmod o-w {path}")
