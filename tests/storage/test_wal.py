"""A SQLite file that many processes open at once for the first time."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest

from segue.adapters.storage.wal import use_wal


def test_somebody_who_holds_the_file_is_waited_for(tmp_path: Path) -> None:
    path = str(tmp_path / "a.db")
    with closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as holder:
        holder.execute("CREATE TABLE t (a)")
        holder.execute("BEGIN EXCLUSIVE")
        with closing(sqlite3.connect(path, timeout=0)) as other, pytest.raises(sqlite3.OperationalError):
            other.execute("PRAGMA journal_mode=WAL")
        threading.Timer(0.5, lambda: holder.execute("COMMIT")).start()
        use_wal(path)
    with closing(sqlite3.connect(path)) as found:
        assert found.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / "b.db").write_text("Dear diary, " * 100)
    with pytest.raises(sqlite3.DatabaseError, match="not a database"):
        use_wal(str(tmp_path / "b.db"))
