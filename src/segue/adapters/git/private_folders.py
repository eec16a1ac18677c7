"""Temporary folders that end with the process that uses them: a later one removes what a kill left over."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
import time
from contextlib import suppress
from functools import cache
from pathlib import Path

_PREFIX = "segue-git-"
_NEW_SECONDS = 3600.0
"""A younger folder may just be on its way to being locked."""


class PrivateFolder:
    """A new folder, locked as long as this process uses it: a kill releases the lock, too."""

    def __init__(self) -> None:
        _remove_left_over(tempfile.gettempdir())
        self.path = Path(tempfile.mkdtemp(prefix=_PREFIX))
        self._lock = os.open(self.path, os.O_RDONLY)
        with suppress(OSError):  # where nothing can be locked, nothing is removed either
            fcntl.flock(self._lock, fcntl.LOCK_SH)

    def remove(self) -> None:
        """Remove it with all that it holds."""
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self._lock)


@cache
def _remove_left_over(place: str) -> None:
    """Once in a process: what Segues that were killed could not remove."""
    for folder in Path(place).glob(f"{_PREFIX}*"):
        with suppress(OSError):  # of another user, or gone
            remove_if_left_over(folder)


def remove_if_left_over(folder: Path) -> None:
    """Remove it unless it is new, or some process uses it."""
    if time.time() - folder.lstat().st_mtime < _NEW_SECONDS:
        return
    lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        if os.fstat(lock).st_uid == os.geteuid():
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)
    finally:
        os.close(lock)
