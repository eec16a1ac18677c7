"""This process as a worker: says that it lives, takes pipelines that nobody owns, obeys orders to stop."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from functools import partial

import structlog

from segue.application.pipelines.transactions import beat, remove_workers, take_again, take_next_lease
from segue.application.ports.engine import Advance, Engine, WorkerPolicy
from segue.application.ports.store import Store
from segue.application.ports.world import Clock, Processes
from segue.domain.errors import SegueError, StorageError
from segue.domain.pipeline import Lease
from segue.domain.workers import Worker

log = structlog.get_logger()


class Workers:
    """The life of one worker among others.

    A pipeline belongs to one worker at a time. A worker's row says that it lives: who finds it gone
    removes the row, which frees its pipelines; taking one raises its lease number, and every move of the
    former owner checks the number in its own transaction. So a false alarm costs one attempt, never two
    writers.
    """

    def __init__(
        self, *, store: Store, engine: Engine, processes: Processes, clock: Clock, policy: WorkerPolicy
    ) -> None:
        self._store = store
        self.engine = engine
        self._processes = processes
        self._clock = clock
        self._policy = policy
        self._worker = processes.me(clock.now())
        self._beating: asyncio.Task[None] | None = None
        self._look = asyncio.Event()
        self._stopping: set[asyncio.Task[None]] = set()
        self._idle_before: set[Lease] = set()

    @property
    def me(self) -> str:
        """This worker's id."""
        return self._worker.id

    def is_hosting(self) -> bool:
        """True if this worker takes up pipelines of others."""
        return self._policy.hosting

    def is_beating(self) -> bool:
        """True while pipelines are moved on here."""
        return self._beating is not None and not self._beating.done()

    def has_room(self) -> bool:
        """True if another pipeline may begin here now."""
        return self.is_beating() and len(self.engine.running()) < self._policy.room

    async def start(self, advance: Advance) -> None:
        """Join the others, take up what a crash left, and begin to beat."""
        await self._store.write(lambda rows: rows.insert(self._worker))
        await self.engine.launch(self.me, advance, self._look.set)
        self._beating = asyncio.create_task(self._beat_forever(), name="segue-worker")
        if self._policy.hosting:
            await self.reap()
        await self._look_for_work()

    async def stop(self) -> None:
        """Leave; pipelines that were running here are free for the next worker."""
        if self._beating is None:
            return
        self._beating.cancel()
        await asyncio.wait({self._beating})
        self._beating = None
        await self.engine.shutdown()
        await self._store.write(lambda rows: rows.delete(self._worker))

    async def reap(self) -> None:
        """Remove workers that are gone; that frees their pipelines."""
        gone = self._gone(await self._store.views.workers())
        if not gone:
            return  # as nearly always: nothing is written, and nobody waits
        for worker in await self._store.write(lambda rows: remove_workers(rows, gone)):
            log.warning("worker_gone", worker=worker.id, pid=worker.pid)

    def _gone(self, workers: Collection[Worker]) -> list[Worker]:
        now = self._clock.now()
        return [each for each in workers if each.id != self.me and self._processes.is_gone(each, now)]

    async def _beat_forever(self) -> None:
        told = ""  # a database that is away for an hour is no news each second
        clock = asyncio.get_running_loop()
        next_beat = clock.time()
        while True:
            try:
                if clock.time() >= next_beat:
                    next_beat = clock.time() + self._policy.beat_seconds
                    await self._beat()
                    if self._policy.hosting:
                        await self.reap()
                await self._look_for_work()
            except (SegueError, OSError) as error:
                if str(error) != told:
                    told = str(error)
                    log.warning("worker_beat_failed", error=told)
            else:
                if told:
                    log.info("worker_beats_again")
                told = ""
            try:
                async with asyncio.timeout_at(next_beat):
                    await self._look.wait()
            except TimeoutError:
                pass
            self._look.clear()

    async def _beat(self) -> None:
        running, now = self.engine.running(), self._clock.now()
        # Slept so long that another worker declared us gone? What it has not taken is still ours.
        learnt = await self._store.write(lambda rows: beat(rows, self._worker, running, now))
        idle = set(learnt.owned) - set(self.engine.running())
        for lease in learnt.orders:
            # Not waited for: an agent that will not stop must not keep us from saying that we live.
            task = asyncio.create_task(self.engine.stop(lease))
            self._stopping.add(task)
            task.add_done_callback(self._stopping.discard)
        await self._restart(idle & self._idle_before)
        self._idle_before = idle

    async def _restart(self, stranded: set[Lease]) -> None:
        """Begin anew what is ours by the records, but has not been moved on here for a whole beat."""
        for lease in stranded:
            log.warning("pipeline_stranded", pipeline=lease.pipeline_id, lease=lease.number)
            again = await self._store.write(partial(take_again, lease=lease, worker_id=self.me))
            await self.begin(again)

    async def begin(self, lease: Lease) -> None:
        """Start a lease that is ours; if the engine cannot now, the next beats see to it."""
        try:
            await self.engine.start(lease)
        except StorageError as error:
            log.warning("start_postponed", pipeline=lease.pipeline_id, error=str(error))

    async def _look_for_work(self) -> None:
        if not self._policy.hosting:
            return
        while len(self.engine.running()) < self._policy.room:
            if not await self._store.read(lambda rows: rows.has_unowned()):
                return
            now = self._clock.now()
            lease = await self._store.write(partial(take_next_lease, worker_id=self.me, at=now))
            if lease is None:
                return
            await self.begin(lease)
