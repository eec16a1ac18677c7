"""The engine of one machine: each lease is a task of this process, and nothing else is loaded."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor

import structlog

from segue.application.ports.engine import Advance
from segue.domain.pipeline import Lease

log = structlog.get_logger()

_THREADS = 64


class LocalEngine:
    """Runs leases as tasks. The records say where to continue after a crash, so it keeps none of its own."""

    def __init__(self) -> None:
        self._advance: Advance
        self._on_end: Callable[[], None]
        self._runs: dict[Lease, asyncio.Task[None]] = {}
        self._cancelled: set[Lease] = set()
        self._is_ending = False

    async def launch(self, worker_id: str, advance: Advance, on_end: Callable[[], None]) -> None:  # noqa: ARG002
        self._advance, self._on_end = advance, on_end
        # A check holds a thread for as long as it runs; asyncio's own pool has six on two cores.
        threads = ThreadPoolExecutor(max_workers=_THREADS, thread_name_prefix="segue")
        asyncio.get_running_loop().set_default_executor(threads)

    def running(self) -> Collection[Lease]:
        return frozenset(self._runs)

    async def start(self, lease: Lease) -> None:
        if lease in self._runs or self._is_ending:
            return
        run = asyncio.create_task(self._run(lease), name=f"pipeline-{lease.pipeline_id}")
        self._runs[lease] = run
        run.add_done_callback(lambda _: self._ended(lease, run))

    async def _run(self, lease: Lease) -> None:
        while not self._is_ending and await self._advance(lease):
            pass

    def _ended(self, lease: Lease, run: asyncio.Task[None]) -> None:
        del self._runs[lease]
        self._cancelled.discard(lease)
        if not run.cancelled() and (error := run.exception()):
            log.error("run_broke", pipeline=lease.pipeline_id, exc_info=error)
        self._on_end()

    async def stop(self, lease: Lease) -> None:
        if run := self._runs.get(lease):
            # Once only: a second cancellation would interrupt the cleaning up after the first.
            if lease not in self._cancelled:
                self._cancelled.add(lease)
                run.cancel()
            await asyncio.wait({run})

    async def shutdown(self) -> None:
        self._is_ending = True
        await asyncio.gather(*(self.stop(lease) for lease in list(self._runs)))
