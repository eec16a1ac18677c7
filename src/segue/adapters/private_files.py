"""Keeps what Segue saves from other users of the machine: its folder, and the files of its databases."""

from __future__ import annotations

import os
import stat
import threading
from contextlib import suppress
from pathlib import Path

from segue.domain.errors import StorageError

_OTHERS = 0o077
_WRITTEN_BY_OTHERS = 0o022
_creating = threading.Lock()


def make_data_folder(path: Path, *, tighten: bool, private: tuple[str, ...] = ()) -> None:
    """Make the data folder, and in it those that others have no business in, for this user alone.

    One that is there already is checked, and closed to others if it is to be tightened.
    """
    try:
        path.mkdir(parents=True, exist_ok=True, mode=0o700)
        check_data_folder(path)
        if tighten:
            _close_to_others(path)
        for name in private:
            (path / name).mkdir(exist_ok=True, mode=0o700)
            _close_to_others(path / name)
    except OSError as error:
        raise StorageError(
            f"cannot make the data folder {path}: {error.strerror}. Set SEGUE_DATA_DIR to one "
            "that you can write"
        ) from error


def check_data_folder(path: Path) -> None:
    """`StorageError` if another user could change what is in the data folder; it need not be there yet."""
    try:
        found = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        raise StorageError(
            f"cannot read the data folder {path}: {error.strerror}. Set SEGUE_DATA_DIR to one of your own"
        ) from error
    if found.st_uid != os.geteuid():
        raise StorageError(
            f"the data folder {path} belongs to another user (uid {found.st_uid}). Start Segue as that user, "
            f"give it to yourself with `chown`, or set SEGUE_DATA_DIR to a folder that does not exist yet"
        )
    if found.st_mode & _WRITTEN_BY_OTHERS:
        raise StorageError(
            f"others can write into the data folder {path} (mode {stat.S_IMODE(found.st_mode):04o}). If you "
            f"trust what is in it, run `chmod go-w` on it; else set SEGUE_DATA_DIR to another folder"
        )


def prepare_sqlite_file(path: str) -> None:
    """Make the file of a database for this user alone, or close to others what is there of it.

    SQLite gives the files beside it the mode of this one. What cannot be done here, SQLite says better.
    """
    # No other thread may have the file open when it is closed here: that would release SQLite's locks on it.
    with _creating, suppress(OSError):
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    for name in (path, f"{path}-wal", f"{path}-shm"):
        _close_to_others(Path(name))


def _close_to_others(path: Path) -> None:
    with suppress(OSError):  # it is not there, or its file system knows no modes
        found = path.stat()
        if found.st_uid == os.geteuid() and found.st_mode & _OTHERS:
            path.chmod(stat.S_IMODE(found.st_mode) & ~_OTHERS)
