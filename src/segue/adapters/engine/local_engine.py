"""The engine of one machine: each pipeline is a task of this process, and nothing else is loaded."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor

import structlog

from segue.application.ports.engine import Run, WorkerPolicy
from segue.domain.pipeline import Lease, Offer

log = structlog.get_logger()

_THREADS = 64


class LocalEngine:
    """Runs pipelines as tasks. What finds no place stays where it was, in the records."""

    def __init__(self) -> None:
        self._run: Run
        self._on_end: Callable[[], None]
        self._places = 0
        self._tasks: dict[Lease, asyncio.Task[None]] = {}
        self._cancelled: set[Lease] = set()
        self._is_draining = self._is_ending = False

    async def launch(
        self,
        worker_id: str,  # noqa: ARG002  # nothing is kept by it
        run: Run,
        policy: WorkerPolicy,
        on_end: Callable[[], None],
    ) -> None:
        self._run, self._on_end, self._places = run, on_end, policy.room
        # A check holds a thread for as long as it runs; asyncio's own pool has six on two cores.
        threads = ThreadPoolExecutor(max_workers=_THREADS, thread_name_prefix="segue")
        asyncio.get_running_loop().set_default_executor(threads)

    def running(self) -> Collection[Lease]:
        return frozenset(self._tasks)

    async def drain(self) -> None:
        self._is_draining = True

    async def enqueue(self, offer: Offer) -> bool:
        if self._is_draining or not self._has_place():
            return False
        self._begin(offer)
        return True

    async def start(self, given: Offer | Lease) -> None:
        self._begin(given)

    async def run_in_turn(self, offer: Offer) -> None:
        """Run an offer to its end, once there is a place."""
        while not (self._is_draining or self._is_ending or self._has_place()):
            await asyncio.wait(self._tasks.values(), return_when=asyncio.FIRST_COMPLETED)
        if self._is_draining:
            return
        self._begin(offer)
        if task := self._tasks.get(offer.lease):
            await asyncio.wait({task})

    def _has_place(self) -> bool:
        return len(self._tasks) < self._places

    def _begin(self, given: Offer | Lease) -> None:
        lease = given.lease if isinstance(given, Offer) else given
        if lease in self._tasks or self._is_ending:
            return
        task = asyncio.ensure_future(self._run(given))
        self._tasks[lease] = task
        task.add_done_callback(lambda _: self._ended(lease, task))

    def _ended(self, lease: Lease, task: asyncio.Task[None]) -> None:
        del self._tasks[lease]
        self._cancelled.discard(lease)
        if not task.cancelled() and (error := task.exception()):
            log.error("run_broke", pipeline=lease.pipeline_id, exc_info=error)
        self._on_end()

    async def stop(self, lease: Lease) -> None:
        if task := self._tasks.get(lease):
            # Once only: a second cancellation would interrupt the cleaning up after the first.
            if lease not in self._cancelled:
                self._cancelled.add(lease)
                task.cancel()
            await asyncio.wait({task})

    async def executors(self) -> Collection[str]:
        return ()

    async def forget(self, worker_id: str) -> None:
        """There are no tables."""

    async def shutdown(self) -> None:
        self._is_ending = True
        await asyncio.gather(*(self.stop(lease) for lease in list(self._tasks)))
