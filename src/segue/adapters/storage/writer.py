"""Runs write transactions in one thread, which commits whatever waits together (group commit).

A transaction is a plain function of its rows. It cannot be cut in half: a caller who is cancelled is told so
after it. One that fails before it has written anything, as at a lost lease, hurts only itself; after any
other failure all that were to be committed together are undone, and each is run again by itself.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, Protocol, TypeVar

from segue.adapters.storage.address import Address
from segue.adapters.storage.failures import explain
from segue.adapters.storage.gateway import WriteConnection
from segue.adapters.storage.queries import SqlRows
from segue.domain.errors import SegueError, StorageError

T = TypeVar("T")

_MOST_TOGETHER = 64
_TRIES = 5
"""How often a transaction is run that another process got in the way of."""


class Connection(WriteConnection, Protocol):
    """A connection that one thread uses."""

    def begin(self) -> None: ...
    def commit(self) -> None: ...
    def rollback(self) -> None: ...
    def close(self) -> None: ...
    def is_conflict(self, error: Exception) -> bool:
        """True if another transaction was in the way: the same again may succeed."""
        ...


@dataclass(slots=True, eq=False)
class _Job:
    """A transaction, and the caller who waits for it in an event loop."""

    act: Callable[[SqlRows], Any]
    loop: asyncio.AbstractEventLoop
    outcome: asyncio.Future[Any]
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    _ticket: list[None] = field(default_factory=lambda: [None])
    """The first to take it decides: the writer, that it is run; its caller, that it is not."""

    def take(self) -> bool:
        """True for the first who asks."""
        try:
            self._ticket.pop()
        except IndexError:
            return False
        return True


_Told = tuple[_Job, Any, Exception | None]
"""A transaction, what it gave, and how it failed."""


def _tell(told: Sequence[_Told]) -> None:
    """Tell the callers in their own loop; one who is cancelled hears that it has ended, and no more."""
    for job, result, failure in told:
        job.ended.set()
        if job.outcome.done():
            continue
        if failure is None:
            job.outcome.set_result(result)
        else:
            job.outcome.set_exception(failure)


class Writer:
    """One thread with one connection, made when something is first written."""

    def __init__(
        self,
        address: Address,
        connect: Callable[[], Connection],
        *,
        errors: tuple[type[Exception], ...],
        user: str,
    ) -> None:
        self._address = address
        self._connect = connect
        self._errors = errors
        """What the driver raises when the database cannot be used now."""
        self._user = user
        self._connection: Connection | None = None
        self._waiting: SimpleQueue[_Job | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._is_closed = False

    async def run(self, act: Callable[[SqlRows], T]) -> T:
        """What a transaction gives; `StorageError` if the database cannot be used now."""
        if self._is_closed:
            raise StorageError("the database is closed: Segue is stopping. Ask again when it runs")
        if self._thread is None:
            self._thread = threading.Thread(target=self._write_forever, name="segue-write", daemon=True)
            self._thread.start()
        loop = asyncio.get_running_loop()
        job = _Job(act, loop, loop.create_future())
        self._waiting.put(job)
        try:
            result: T = await job.outcome
        except asyncio.CancelledError:
            if not job.take():
                await _wait_out(job.ended)
            if not job.outcome.cancelled():  # it came together with the cancellation
                job.outcome.exception()
            raise
        return result

    async def close(self) -> None:
        """Let what waits be written, and close the connection."""
        self._is_closed = True
        if self._thread is not None:
            self._waiting.put(None)
            await asyncio.to_thread(self._thread.join)

    def _write_forever(self) -> None:
        is_open = True
        while is_open:
            first = self._waiting.get()
            batch, is_open = self._take(first)
            wanted = [job for job in batch if job.take()]
            if wanted and not self._commit_together(wanted):
                for job in wanted:
                    self._commit_alone(job)
        self._drop()

    def _take(self, first: _Job | None) -> tuple[list[_Job], bool]:
        """What waits, and whether more may come."""
        batch: list[_Job] = []
        job = first
        while job is not None:
            batch.append(job)
            if len(batch) == _MOST_TOGETHER:
                return batch, True
            try:
                job = self._waiting.get_nowait()
            except Empty:
                return batch, True
        return batch, False

    def _commit_together(self, jobs: Sequence[_Job]) -> bool:
        """One transaction for all; false if each must be run by itself."""
        rows, failure = _attempt(self._begin)
        if rows is None:
            self._refuse(jobs, failure)
            return True
        done: list[_Told] = []
        for job in jobs:
            before = rows.changes
            result, failure = _attempt(partial(job.act, rows))
            if failure is not None and (rows.changes != before or not isinstance(failure, SegueError)):
                self._roll_back()
                return False
            done.append((job, result, failure))
        _, failure = _attempt(rows.flush)
        if failure is not None:
            self._roll_back()
            return False
        self._commit(done)
        return True

    def _commit_alone(self, job: _Job) -> None:
        for left in reversed(range(_TRIES)):
            rows, failure = _attempt(self._begin)
            result = None
            if rows is not None:
                result, failure = _attempt(partial(_run, job, rows))
            if failure is None:
                return self._commit([(job, result, None)])
            is_conflict = self._connection is not None and self._connection.is_conflict(failure)
            self._roll_back()
            if not (is_conflict and left):
                return self._refuse([job], failure)
        return None

    def _begin(self) -> SqlRows:
        self._connection = self._connection or self._connect()
        self._connection.begin()
        return SqlRows(self._connection, self._user)

    def _commit(self, done: Sequence[_Told]) -> None:
        """Make it last; if that fails, nobody knows whether it does, so nothing is run again."""
        assert self._connection is not None
        _, lost = _attempt(self._connection.commit)
        if lost is not None:
            self._roll_back()
        self._hand_over([(job, result, failure or lost) for job, result, failure in done])

    def _refuse(self, jobs: Sequence[_Job], error: Exception | None) -> None:
        self._hand_over([(job, None, error) for job in jobs])

    def _hand_over(self, done: Sequence[_Told]) -> None:
        """Wake each loop once; what a driver raises becomes one sentence."""
        told: dict[asyncio.AbstractEventLoop, list[_Told]] = {}
        for job, result, error in done:
            told.setdefault(job.loop, []).append((job, result, self._explained(error)))
        for loop, outcomes in told.items():
            with suppress(RuntimeError):  # it is closed: nobody waits any more
                loop.call_soon_threadsafe(_tell, outcomes)

    def _explained(self, error: Exception | None) -> Exception | None:
        if not isinstance(error, self._errors):
            return error
        told = StorageError(explain(self._address, error))
        told.__cause__ = error
        return told

    def _roll_back(self) -> None:
        """Undo; a connection on which that fails is given up, which undoes it as well."""
        if self._connection is not None and _attempt(self._connection.rollback)[1] is not None:
            self._drop()

    def _drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()


def _run(job: _Job, rows: SqlRows) -> Any:
    result = job.act(rows)
    rows.flush()
    return result


def _attempt(act: Callable[[], T]) -> tuple[T | None, Exception | None]:
    """What came of it: this thread hands every failure to whoever asked, and survives it."""
    try:
        return act(), None
    except Exception as error:  # noqa: BLE001  # whoever asked raises it
        return None, error


async def _wait_out(ended: asyncio.Event) -> None:
    """Wait, whatever happens to the caller."""
    while not ended.is_set():
        with suppress(asyncio.CancelledError):
            await ended.wait()
