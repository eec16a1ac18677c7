"""SQLite: the revision of a file, and connections for reads, whose transactions see one state."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import Any

from segue.adapters.storage.address import Address
from segue.adapters.storage.codec import Row
from segue.adapters.storage.failures import explain_opening
from segue.adapters.wal import use_wal
from segue.domain.errors import StorageError

_PRAGMAS = ("busy_timeout=30000", "query_only=ON")


ERRORS = (sqlite3.OperationalError, sqlite3.InterfaceError)
"""What the driver raises when the database cannot be used now."""


def read_revision(address: Address) -> str | None:
    """The revision of the schema, none if there is none yet; `StorageError` says why that is not known.

    The file is made, and brought into the mode in which readers and a writer do not wait for each other.
    """
    try:
        use_wal(address.target)
        with closing(sqlite3.connect(address.target)) as connection:
            named = "SELECT 1 FROM sqlite_master WHERE name = 'alembic_version'"
            if connection.execute(named).fetchone() is None:
                return None
            found = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    except (sqlite3.Error, OSError) as error:
        raise StorageError(explain_opening(address, error)) from error
    return found[0] if found else None


class SqliteConnection:
    """A connection for reads, used by one thread at a time."""

    def __init__(self, path: str) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        try:
            for pragma in _PRAGMAS:
                self._connection.execute(f"PRAGMA {pragma}")
        except BaseException:
            self._connection.close()
            raise

    def begin(self) -> None:
        """From the first statement on, the same state is seen."""
        self._connection.execute("BEGIN")

    def end(self) -> None:
        """Give that state up."""
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")

    def all(self, sql: str, /, **given: Any) -> list[Row]:
        """The rows that a statement gives; `:name` in it stands for what is given."""
        cursor = self._connection.execute(sql, given)
        names = [column[0] for column in cursor.description or ()]
        return [dict(zip(names, row, strict=True)) for row in cursor]

    def is_stale(self) -> bool:
        """A file does not hang up."""
        return False

    def close(self) -> None:
        """Close the file."""
        self._connection.close()
