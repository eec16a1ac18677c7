"""Runs reads on threads of their own: one hop, one connection and one transaction a read.

A read is a plain function of a connection. It cannot wait for another read, so a read never holds one
connection while it asks for a second. Reads that find all threads busy wait in line, without a limit of time.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol, TypeVar

from segue.adapters.storage.address import Address
from segue.adapters.storage.failures import explain
from segue.adapters.storage.gateway import ReadConnection
from segue.domain.errors import StorageError

T = TypeVar("T")

THREADS = 4
"""How many reads run at once. A read takes a few milliseconds: more threads gain nothing."""
_CLOSING_SECONDS = 3.0
"""How long reads may still run when the database is closed, where they wait for a server."""


class KeptConnection(ReadConnection, Protocol):
    """A connection that cannot write, used by one thread at a time."""

    def begin(self) -> None:
        """From the first statement on, the same state is seen."""
        ...

    def end(self) -> None:
        """Give that state up."""
        ...

    def is_stale(self) -> bool:
        """True if the server hung up: another connection may work."""
        ...

    def close(self) -> None: ...


class Reader:
    """Reads on as many connections as there are threads, each made when it is first needed."""

    def __init__(
        self,
        address: Address,
        connect: Callable[[], KeptConnection],
        *,
        errors: tuple[type[Exception], ...],
        threads: int = THREADS,
        given_up: threading.Event | None = None,
    ) -> None:
        self._address = address
        self._connect = connect
        self._errors = errors
        """What the driver raises when the database cannot be used now."""
        self._given_up = given_up or threading.Event()
        """Set when nobody waits any longer for reads that wait for a server."""
        self._closed = False
        self._idle: deque[KeptConnection] = deque()
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="segue-read")

    async def run(self, read: Callable[[ReadConnection], T]) -> T:
        """What a read gives; `StorageError` if the database cannot be used now."""
        self._check_open()
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._run, read)

    def _run(self, read: Callable[[ReadConnection], T]) -> T:
        self._check_open()  # it may have waited in line
        try:
            while True:
                connection, is_new = self._take()
                try:
                    found = _transact(connection, read)
                except self._errors:
                    was_stale = connection.is_stale()
                    connection.close()
                    if is_new or not was_stale:
                        raise
                except BaseException:
                    self._idle.append(connection)
                    raise
                else:
                    self._idle.append(connection)
                    return found
        except self._errors as error:
            raise StorageError(explain(self._address, error)) from error

    def _take(self) -> tuple[KeptConnection, bool]:
        """A connection, and whether it is new."""
        try:
            return self._idle.pop(), False
        except IndexError:
            return self._connect(), True

    def _check_open(self) -> None:
        if self._closed:
            raise StorageError("the database is closed: Segue is stopping. Ask again when it runs")

    async def close(self) -> None:
        """Let the reads that run end, refuse those that wait in line, and close the connections."""
        self._closed = True
        ending = asyncio.ensure_future(asyncio.to_thread(self._threads.shutdown))
        await asyncio.wait({ending}, timeout=_CLOSING_SECONDS)
        self._given_up.set()
        await ending
        while self._idle:
            self._idle.pop().close()


def _transact(connection: KeptConnection, read: Callable[[ReadConnection], T]) -> T:
    connection.begin()
    try:
        return read(connection)
    finally:
        connection.end()
