"""Puts a SQLite file into WAL mode, in which readers and a writer do not wait for each other."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing

from segue.adapters.private_files import prepare_sqlite_file

BUSY_SECONDS = 30.0
"""How long somebody else may hold the file."""


def use_wal(path: str) -> None:
    """The mode stays with the file: to be called once before it is used, by however many processes.

    While the mode is changed, SQLite refuses others at once, whatever their busy time-out is.
    """
    prepare_sqlite_file(path)
    end = time.monotonic() + BUSY_SECONDS
    with closing(sqlite3.connect(path, timeout=BUSY_SECONDS)) as connection:
        while True:
            try:
                connection.execute("PRAGMA journal_mode=WAL")
                return
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > end:
                    raise
                time.sleep(0.02)
