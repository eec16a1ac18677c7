"""PostgreSQL: connections for reads and one that writes; no wait for a silent server lasts forever."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from functools import cache
from typing import Any, TypeVar

import psycopg
from psycopg import errors
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import dict_row

from segue.adapters.storage.address import Address
from segue.adapters.storage.codec import Row
from segue.adapters.storage.failures import explain_opening
from segue.domain.errors import AlreadyThere, StorageError

T = TypeVar("T")

_STATEMENT_SECONDS = 30
"""PostgreSQL itself ends a read after this time."""
_ASLEEP_SECONDS = 5
"""A transaction is a few statements: who pauses for so long between two of them was stopped."""
_SILENT_SECONDS = 40.0
"""A server that has not done so by then does not answer any more."""
_SILENCE = "the server does not answer"
_LIMITS = {
    "connect_timeout": 10,
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
}


def connect_arguments(target: str) -> dict[str, Any]:
    """Limits of time for every connection, where the address does not say its own."""
    said = conninfo_to_dict(target)
    return {name: value for name, value in _LIMITS.items() if name not in said}


ERRORS = (psycopg.OperationalError, psycopg.InterfaceError, errors.IdleInTransactionSessionTimeout)
"""What the driver raises when the database cannot be used now."""


def read_revision(address: Address) -> str | None:
    """The revision of the schema, none if there is none yet; `StorageError` says why that is not known."""
    try:
        with psycopg.connect(address.target, **connect_arguments(address.target)) as connection:
            if connection.execute("SELECT to_regclass('alembic_version')").fetchone() == (None,):
                return None
            found = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    except (psycopg.Error, OSError) as error:
        raise StorageError(explain_opening(address, error)) from error
    return found[0] if found else None


class PostgresConnection:
    """A connection for reads, used by one thread at a time."""

    has_text_table = False
    now_sql = "clock_timestamp()"

    def __init__(self, target: str, given_up: threading.Event, seconds: float = _SILENT_SECONDS) -> None:
        class Connection(_LimitedConnection):
            limit = seconds
            is_given_up = staticmethod(given_up.is_set)

        if given_up.is_set():
            raise psycopg.OperationalError(_SILENCE)
        self._connection = Connection.connect(target, row_factory=dict_row, **connect_arguments(target))
        self._connection.autocommit = True
        self._connection.execute(f"SET statement_timeout = '{_STATEMENT_SECONDS}s'")
        self._connection.autocommit = False
        self._prepare()

    def _prepare(self) -> None:
        self._connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        self._connection.read_only = True

    def begin(self) -> None:
        """The driver begins with the first statement."""

    def end(self) -> None:
        """Give up the state that was seen."""
        if not self._connection.closed:
            self._connection.rollback()

    def all(self, sql: str, /, **given: Any) -> list[Row]:
        """The rows that a statement gives; `:name` in it stands for what is given."""
        return self._connection.execute(_with_psycopg_names(sql), given).fetchall()

    def is_stale(self) -> bool:
        """True if the server hung up while nobody used this connection."""
        return self._connection.broken  # one that fell silent was closed here, so it is not

    def close(self) -> None:
        """Hang up."""
        self._connection.close()


class PostgresWriter(PostgresConnection):
    """The connection that writes; other processes write at the same time."""

    is_shared = True

    def _prepare(self) -> None:
        """It sees what others have committed when each statement begins.

        If this process is stopped, or vanishes, in the middle of a transaction, the server undoes it: others
        wait for its locks, and cannot say meanwhile that they live.
        """
        self._connection.execute(f"SET idle_in_transaction_session_timeout = '{_ASLEEP_SECONDS}s'")
        self._connection.commit()

    def commit(self) -> None:
        """Make it last."""
        self._connection.commit()

    def rollback(self) -> None:
        """Undo it; an error if the connection is lost, which undoes it as well."""
        self._connection.rollback()

    def run(self, sql: str, /, **given: Any) -> int:
        """Carry out a statement; gives how many rows it changed."""
        return self._connection.execute(_with_psycopg_names(sql), given).rowcount

    def run_many(self, sql: str, rows: Sequence[Mapping[str, Any]], /) -> None:
        """Carry out a statement for each row."""
        self._connection.cursor().executemany(_with_psycopg_names(sql), rows)

    def insert(self, sql: str, /, **given: Any) -> int:
        """Carry out an INSERT; gives the new id."""
        try:
            found = self._connection.execute(f"{_with_psycopg_names(sql)} RETURNING id", given).fetchone()
        except errors.UniqueViolation as error:
            raise AlreadyThere(str(error).splitlines()[0]) from error
        return int(found["id"]) if found is not None else 0

    def is_conflict(self, error: Exception) -> bool:
        """True if another transaction was in the way."""
        return isinstance(error, (errors.DeadlockDetected, errors.SerializationFailure))


@cache
def _with_psycopg_names(sql: str) -> str:
    return re.sub(r":(\w+)", r"%(\1)s", sql.replace("%", "%%"))


class _LimitedConnection(psycopg.Connection[Any]):
    """A connection that is closed if its server does not answer."""

    limit: float
    is_given_up: Callable[[], bool]

    def wait(self, gen: Generator[Any, Any, T], *args: Any, **named: Any) -> T:
        """What the driver waits for; an error if it does not come."""
        return super().wait(self._limited(gen), *args, **named)

    def _limited(self, gen: Generator[Any, Any, T]) -> Generator[Any, Any, T]:
        """The steps of the driver, which takes one when it can read or write, and ten times a second."""
        end = time.monotonic() + self.limit
        try:
            request = next(gen)
            while True:
                ready = yield request
                if not ready and (self.is_given_up() or time.monotonic() > end):
                    self.close()
                    raise psycopg.OperationalError(_SILENCE)
                request = gen.send(ready)
        except StopIteration as ended:
            result: T = ended.value
            return result
