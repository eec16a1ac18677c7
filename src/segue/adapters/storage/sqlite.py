"""SQLite: the revision of a file, a connection that writes, and connections for reads that see one state."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from datetime import datetime
from typing import Any

from segue.adapters.storage.address import Address
from segue.adapters.storage.codec import Row, write_time
from segue.adapters.storage.failures import explain_opening
from segue.adapters.storage.wal import use_wal
from segue.domain.errors import AlreadyThere, StorageError

_READING = ("busy_timeout=30000", "query_only=ON")
_WRITING = ("busy_timeout=30000", "synchronous=FULL", "foreign_keys=ON")
_STATEMENTS = 512
"""How many of them a connection keeps prepared."""


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

    pragmas: tuple[str, ...] = _READING
    has_text_table = True
    now_sql = "strftime('%Y-%m-%d %H:%M:%f000', 'now')"

    def __init__(self, path: str) -> None:
        self._connection = sqlite3.connect(
            path, isolation_level=None, check_same_thread=False, cached_statements=_STATEMENTS
        )
        try:
            for pragma in self.pragmas:
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
        cursor = self._connection.execute(sql, _bound(given))
        names = [column[0] for column in cursor.description or ()]
        return [dict(zip(names, row, strict=True)) for row in cursor]

    def is_stale(self) -> bool:
        """A file does not hang up."""
        return False

    def close(self) -> None:
        """Close the file."""
        self._connection.close()


class SqliteWriter(SqliteConnection):
    """The connection that writes; other processes wait for their turn."""

    pragmas = _WRITING
    is_shared = False

    def begin(self) -> None:
        """A transaction that will write takes its lock at once: a later upgrade could fail half-way."""
        self._connection.execute("BEGIN IMMEDIATE")

    def commit(self) -> None:
        """Make it last."""
        self._connection.execute("COMMIT")

    def rollback(self) -> None:
        """Undo it."""
        self.end()

    def run(self, sql: str, /, **given: Any) -> int:
        """Carry out a statement; gives how many rows it changed."""
        return self._connection.execute(sql, _bound(given)).rowcount

    def run_many(self, sql: str, rows: Sequence[Mapping[str, Any]], /) -> None:
        """Carry out a statement for each row."""
        self._connection.executemany(sql, [_bound(row) for row in rows])

    def insert(self, sql: str, /, **given: Any) -> int:
        """Carry out an INSERT; gives the new id."""
        try:
            # Not RETURNING: a statement that is still open would hold up the COMMIT.
            return self._connection.execute(sql, _bound(given)).lastrowid or 0
        except sqlite3.IntegrityError as error:
            if error.sqlite_errorname == "SQLITE_CONSTRAINT_UNIQUE":
                raise AlreadyThere(str(error)) from error
            raise

    def is_conflict(self, error: Exception) -> bool:  # noqa: ARG002
        """Writers wait for each other, so none is ever in the way."""
        return False


def _bound(given: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: write_time(value) if isinstance(value, datetime) else value for name, value in given.items()
    }
