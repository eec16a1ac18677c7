"""Folders that are filled once, whole or not at all, whoever else is at it."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from segue.domain.errors import BackendUnavailable


def filled_once(
    target: Path, is_filled: Callable[[], bool], fill: Callable[[Path], None], say: Callable[[str], None]
) -> bool:
    """Fill a folder beside the target and put it in its place; False if it was filled already."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with _alone(target.parent / ".lock", say):
            if is_filled():
                return False
            _clear_leftovers(target.parent)
            with tempfile.TemporaryDirectory(dir=target.parent, prefix=".new-") as staging:
                room = Path(staging) / "room"
                room.mkdir()
                fill(room)
                if target.exists():
                    target.rename(Path(staging) / "old")
                room.rename(target)
            return True
    except OSError as error:
        raise BackendUnavailable(
            f"{target} cannot be written ({error.strerror or error}); free it, or choose another folder with "
            "SEGUE_DATA_DIR"
        ) from error


def _clear_leftovers(folder: Path) -> None:
    """What a process left that was killed: we alone are at work here now."""
    for leftover in folder.glob(".new-*"):
        shutil.rmtree(leftover, ignore_errors=True)


@contextmanager
def _alone(path: Path, say: Callable[[str], None]) -> Iterator[None]:
    """Hold a lock that ends with the process, however it ends."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("another process is at it; waiting for it")
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
