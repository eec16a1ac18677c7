"""How Segue connects to PostgreSQL: no wait for a server that has fallen silent lasts forever."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator
from typing import Any, TypeVar

import psycopg
from sqlalchemy import URL, Engine, event

T = TypeVar("T")

_STATEMENT_SECONDS = 30
"""PostgreSQL itself ends a read after this time."""
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


def connect_arguments(url: URL) -> dict[str, Any]:
    """Limits of time for every connection, where the address does not say its own."""
    return {name: value for name, value in _LIMITS.items() if name not in url.query}


def limit_reads(engine: Engine, given_up: threading.Event, seconds: float = _SILENT_SECONDS) -> None:
    """End what waits for the server on an engine of reads, after a time or when it is given up."""

    class Connection(_LimitedConnection):
        limit = seconds
        is_given_up = staticmethod(given_up.is_set)

    def connect(_dialect: object, _record: object, given: Any, named: Any) -> Any:
        if given_up.is_set():
            raise psycopg.OperationalError(_SILENCE)
        return Connection.connect(*given, **named)

    event.listen(engine, "do_connect", connect)
    event.listen(engine, "connect", _limit_statements)


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
            wanted = next(gen)
            while True:
                ready = yield wanted
                if not ready and (self.is_given_up() or time.monotonic() > end):
                    self.close()
                    raise psycopg.OperationalError(_SILENCE)
                wanted = gen.send(ready)
        except StopIteration as ended:
            result: T = ended.value
            return result


def _limit_statements(connection: Any, _record: object) -> None:
    connection.autocommit = True
    connection.execute(f"SET statement_timeout = '{_STATEMENT_SECONDS}s'")
    connection.autocommit = False
