"""Runs reads on threads of their own: one hop, one connection and one transaction a read.

A read is a plain function of a session. It cannot wait for another read, so a read never holds one connection
while it asks for a second. Reads that find all threads busy wait in line, without a limit of time.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from sqlalchemy import Engine
from sqlalchemy.orm import Session

from segue.adapters.storage.failures import translated
from segue.domain.errors import StorageError

T = TypeVar("T")

THREADS = 4
"""How many reads run at once. A read takes a few milliseconds: more threads gain nothing."""
_CLOSING_SECONDS = 3.0
"""How long reads may still run when the database is closed, where they wait for a server."""


class Reader:
    """Reads on an engine whose pool has a connection for each thread."""

    def __init__(self, engine: Engine, *, threads: int, given_up: threading.Event) -> None:
        self._engine = engine
        self._given_up = given_up
        """Set when nobody waits any longer for reads that wait for a server."""
        self._closed = False
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="segue-read")

    async def run(self, read: Callable[[Session], T]) -> T:
        """What a read gives; `StorageError` if the database cannot be used now."""
        self._check_open()
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._run, read)

    def _run(self, read: Callable[[Session], T]) -> T:
        self._check_open()  # it may have waited in line
        with translated(self._engine.url), Session(self._engine) as session:
            return read(session)

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
        self._engine.dispose()
