"""Runs reads on threads of their own: one hop, one connection and one transaction a read.

A read is a plain function of a session. It cannot wait for another read, so a read never holds one connection
while it asks for a second. Reads that find all threads busy wait in line, without a limit of time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from sqlalchemy import Engine
from sqlalchemy.orm import Session

from segue.adapters.storage.failures import translated

T = TypeVar("T")

THREADS = 4
"""How many reads run at once. A read takes a few milliseconds: more threads gain nothing."""


class Reader:
    """Reads on an engine whose pool has a connection for each thread."""

    def __init__(self, engine: Engine, *, threads: int) -> None:
        self._engine = engine
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="segue-read")

    async def run(self, read: Callable[[Session], T]) -> T:
        """What a read gives; `StorageError` if the database cannot be used now."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._run, read)

    def _run(self, read: Callable[[Session], T]) -> T:
        with translated(self._engine.url), Session(self._engine) as session:
            return read(session)

    async def close(self) -> None:
        """Let the reads that run end, and close their connections."""
        await asyncio.to_thread(self._threads.shutdown)
        self._engine.dispose()
