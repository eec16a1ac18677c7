"""This process as a worker: says that it lives, offers pipelines that nobody owns, obeys orders to stop."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import partial

import structlog

from segue.application.clock import SharedClock
from segue.application.pipelines.leases import (
    beat,
    is_full,
    join_workers,
    leave_workers,
    release_lease,
    remove_silent,
    take_again,
    take_lease,
)
from segue.application.pipelines.transactions_deciding import fire_due_approvals
from segue.application.ports.engine import Engine, WorkerPolicy
from segue.application.ports.store import Reads, Store
from segue.application.ports.world import Processes
from segue.domain.errors import SegueError, StorageError
from segue.domain.pipeline import Lease, Offer
from segue.domain.workers import Worker

log = structlog.get_logger()

Advance = Callable[[Lease], Awaitable[bool]]
"""Moves a pipeline on by one step; true if there is more to do."""

_OFFER_AGAIN_SECONDS = 5.0
"""An offer that nobody has taken is made again: who took it from the queue may have died with it."""
_LOOK_FOR_LEFTOVERS = 10
"""At every so many beats a host looks for what dead workers left in the engine."""
_RETRY_SECONDS = 1.0
_LATE_BEATS = 5.0
"""Who has not said for so many beats that it lives cannot tell how long others were silent."""


class Workers:
    """The life of one worker among others.

    A pipeline belongs to one worker at a time. A worker's row says that it lives, by the database's clock:
    who finds it gone removes the row, which frees its pipelines. A host offers what is free to the engine;
    taking an offer raises the lease number, and every move of the former owner checks the number in its own
    transaction. So a false alarm costs one attempt, never two writers.
    """

    def __init__(
        self,
        *,
        store: Store,
        engine: Engine,
        processes: Processes,
        clock: SharedClock,
        policy: WorkerPolicy,
        home: str | None = None,
    ) -> None:
        self._store = store
        self.engine = engine
        self._processes = processes
        self._clock = clock
        self._policy = policy
        self.worker = replace(processes.me(clock.now()), home=home)
        """This worker's row."""
        self._advance: Advance
        self._held: set[Lease] = set()
        """The leases that are moved on here."""
        self._offered: dict[Offer, float] = {}
        self._beating: asyncio.Task[None] | None = None
        self._look = asyncio.Event()
        self._stopping: set[asyncio.Task[None]] = set()
        self._idle_before: set[Lease] = set()
        self._is_draining = False
        self._has_ended = asyncio.Event()
        self._watching: tuple[float, datetime] | None = None
        """The last beat, and since when there was one at least every few seconds; none before the first."""

    @property
    def me(self) -> str:
        """This worker's id."""
        return self.worker.id

    def is_hosting(self) -> bool:
        """True if this worker takes up pipelines of others."""
        return self._policy.hosting

    def is_beating(self) -> bool:
        """True while pipelines are moved on here."""
        return self._beating is not None and not self._beating.done()

    def has_room(self) -> bool:
        """True if another pipeline may begin here now, whatever others run."""
        waits_for_others = self._policy.hosting and self._policy.overall is not None
        if self._is_draining or not self.is_beating():
            return False
        return not waits_for_others and len(self.engine.running()) < self._policy.room

    async def start(self, advance: Advance) -> None:
        """Join the others, take up what a crash left, and begin to beat."""
        self._advance = advance
        self._note(await self._store.write(lambda rows: join_workers(rows, self.worker)))
        await self.engine.launch(self.me, self._run, self._policy, self._on_end)
        self._beating = asyncio.create_task(self._beat_forever(), name="segue-worker")
        if self._policy.hosting:
            await self.reap()
            await self._forget_the_dead()
            await self._sweep()

    def _on_end(self) -> None:
        self._look.set()
        self._has_ended.set()

    def is_draining(self) -> bool:
        """True once nothing new is taken up here."""
        return self._is_draining

    async def drain(self) -> None:
        """Take up nothing new, and leave each pipeline here after the step that is under way."""
        self._is_draining = True
        await self.engine.drain()
        while self.engine.running():
            self._has_ended.clear()
            await self._has_ended.wait()

    async def take_clock(self) -> None:
        """Take the database's clock, without joining the workers."""
        self._clock.follow(await self._store.read(lambda rows: rows.now()))

    async def stop(self) -> None:
        """Leave; pipelines that were running here are free for the next worker."""
        if self._beating is None:
            return
        self._beating.cancel()
        await asyncio.wait({self._beating})
        self._beating = None
        await self.engine.shutdown()
        await self._store.write(lambda rows: leave_workers(rows, self.worker))

    async def begin(self, lease: Lease) -> None:
        """Start a lease that is ours; if the engine cannot now, the next beats see to it."""
        try:
            await self.engine.start(lease)
        except StorageError as error:
            log.warning("start_postponed", pipeline=lease.pipeline_id, error=str(error))

    def look_for_work(self) -> None:
        """Something may be free: do not wait for the next beat."""
        self._look.set()

    async def reap(self) -> None:
        """Remove workers that are gone; that frees their pipelines."""
        now, workers = await self._store.read(lambda rows: (rows.now(), rows.find(Worker)))
        await self._remove(self._gone(workers, now))

    def _gone(self, workers: Collection[Worker], now: datetime) -> list[Worker]:
        """Nobody is judged by a silence that this worker slept through itself, as when a computer slept."""
        heard = self._watching[1] if self._watching is not None else None
        return [
            each
            for each in workers
            if each.id != self.me
            and self._processes.is_gone(
                each if heard is None else replace(each, heartbeat_at=max(each.heartbeat_at, heard)), now
            )
        ]

    async def _remove(self, gone: Collection[Worker]) -> None:
        for worker in gone:
            # A crash in between repeats both.
            await self.engine.forget(worker.id)
            if await self._store.write(partial(remove_silent, worker=worker)):
                log.warning("worker_gone", worker=worker.id, host=worker.host, pid=worker.pid)
                self._offered.clear()

    async def _forget_the_dead(self) -> None:
        """Delete what workers without a row left in the engine."""
        left = await self.engine.executors()  # first: who joins after this is in the rows that are read next
        if left:
            living = {each.id for each in await self._store.read(lambda rows: rows.find(Worker))}
            for worker_id in sorted(set(left) - living - {self.me}):
                await self.engine.forget(worker_id)

    async def _run(self, given: Offer | Lease) -> None:
        """Bring a pipeline to its end, or to where it waits."""
        try:
            lease = given if isinstance(given, Lease) else await self._take(given)
            if lease is None:
                return
            self._held.add(lease)
            try:
                while await self._advance(lease):
                    if self._is_draining:
                        with suppress(SegueError):  # then it is free when we have left
                            await self._store.write(partial(release_lease, lease=lease))
                        break
            finally:
                self._held.discard(lease)
        finally:
            if isinstance(given, Offer):
                self._offered.pop(given, None)

    async def _take(self, offer: Offer) -> Lease | None:
        while True:
            now = self._clock.now()
            try:
                return await self._store.write(
                    lambda rows, at=now: take_lease(  # type: ignore[misc]
                        rows, offer, self.worker, at, overall=self._policy.overall
                    )
                )
            except StorageError as error:
                log.warning("storage_failed", pipeline=offer.pipeline_id, error=str(error))
                await asyncio.sleep(_RETRY_SECONDS)

    async def _beat_forever(self) -> None:
        told = ""  # a database that is away for an hour is no news each second
        clock = asyncio.get_running_loop()
        next_beat, beats = clock.time(), 0
        while True:
            try:
                if clock.time() >= next_beat:
                    next_beat = clock.time() + self._policy.beat_seconds
                    beats += 1
                    await self._beat()
                    if self._policy.hosting and beats % _LOOK_FOR_LEFTOVERS == 0:
                        await self._forget_the_dead()
                await self._sweep()
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
        held = frozenset(self._held)
        # Slept so long that another worker declared us gone? What it has not taken is still ours.
        learnt = await self._store.write(lambda rows: beat(rows, self.worker, held))
        self._note(learnt.now)
        for lease in learnt.orders:
            # Not waited for: an agent that will not stop must not keep us from saying that we live.
            task = asyncio.create_task(self.engine.stop(lease))
            self._stopping.add(task)
            task.add_done_callback(self._stopping.discard)
        idle = set(learnt.owned) - set(self.engine.running())
        if not self._is_draining:
            await self._restart(idle & self._idle_before)
        self._idle_before = idle
        if self._policy.hosting:
            await self._remove(self._gone(learnt.workers, learnt.now))
            await self._remind(learnt.now)

    async def _remind(self, now: datetime) -> None:
        """Remind people of what waits too long, and end what nobody decided in time."""
        if await self._store.read(lambda rows: rows.due_approvals(now)):
            await self._store.write(lambda rows: fire_due_approvals(rows, now))

    def _note(self, now: datetime) -> None:
        """Take the database's clock; after a pause, watch the others anew."""
        self._clock.follow(now)
        moment = asyncio.get_running_loop().time()
        late = _LATE_BEATS * max(self._policy.beat_seconds, 1.0)
        if self._watching is None or moment - self._watching[0] > late:
            self._watching = moment, now
        else:
            self._watching = moment, self._watching[1]

    async def _restart(self, stranded: set[Lease]) -> None:
        """Begin anew what is ours by the records, but has not been moved on here for a whole beat."""
        for lease in stranded:
            log.warning("pipeline_stranded", pipeline=lease.pipeline_id, lease=lease.number)
            again = await self._store.write(partial(take_again, lease=lease, worker=self.worker))
            await self.begin(again)

    async def _sweep(self) -> None:
        """Offer every unfinished pipeline that nobody owns and that may run now."""
        if self._is_draining or not self._policy.hosting:
            return
        offers = await self._store.read(self._read_offers)
        now = asyncio.get_running_loop().time()
        self._offered = {each: self._offered[each] for each in offers if each in self._offered}
        running = self.engine.running()
        for offer in offers:
            is_known = now - self._offered.get(offer, -_OFFER_AGAIN_SECONDS) < _OFFER_AGAIN_SECONDS
            if is_known or offer.lease in running:
                continue
            if offer.is_at_home:
                # The queue would give it to any host.
                if len(self.engine.running()) < self._policy.room:
                    await self.engine.start(offer)
                continue
            if not await self.engine.enqueue(offer):
                break
            self._offered[offer] = now

    def _read_offers(self, rows: Reads) -> Sequence[Offer]:
        if is_full(rows, self._policy.overall):
            return ()
        return rows.offers(limit=2 * self._policy.room, home=self.worker.home)
