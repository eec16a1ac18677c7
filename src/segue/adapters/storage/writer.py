"""Runs write transactions in one thread, which commits whatever waits together (group commit).

A transaction is a plain function of its rows. It cannot be cut in half: a caller who is cancelled is told so
after it. One that fails before it has written anything, as at a lost lease, hurts only itself; after any
other failure all that were to be committed together are undone, and each is run again by itself.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
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


@dataclass(slots=True)
class _Job:
    act: Callable[[SqlRows], Any]
    outcome: Future[Any] = field(default_factory=Future)

    def is_wanted(self) -> bool:
        """False if its caller is gone; from here on, it cannot be cancelled any more."""
        return self.outcome.running() or self.outcome.set_running_or_notify_cancel()


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
        job = _Job(act)
        self._waiting.put(job)
        outcome = asyncio.wrap_future(job.outcome)
        try:
            return await asyncio.shield(outcome)
        except asyncio.CancelledError:
            if not job.outcome.cancel():
                await _ended(outcome)
            raise

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
            wanted = [job for job in batch if job.is_wanted()]
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
        done: list[_Done] = []
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

    def _commit(self, done: Sequence[_Done]) -> None:
        """Make it last; if that fails, nobody knows whether it does, so nothing is run again."""
        assert self._connection is not None
        _, lost = _attempt(self._connection.commit)
        if lost is not None:
            self._roll_back()
        for job, result, failure in done:
            if lost is not None or failure is not None:
                self._refuse([job], failure or lost)
            else:
                job.outcome.set_result(result)

    def _refuse(self, jobs: Sequence[_Job], error: Exception | None) -> None:
        """Tell the callers; what a driver raises becomes one sentence."""
        for job in jobs:
            told = error
            if isinstance(error, self._errors):
                told = StorageError(explain(self._address, error))
                told.__cause__ = error
            job.outcome.set_exception(told)

    def _roll_back(self) -> None:
        """Undo; a connection on which that fails is given up, which undoes it as well."""
        if self._connection is not None and _attempt(self._connection.rollback)[1] is not None:
            self._drop()

    def _drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()


_Done = tuple[_Job, Any, Exception | None]
"""A transaction, what it gave, and how it failed."""


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


async def _ended(outcome: asyncio.Future[Any]) -> None:
    """Wait, whatever happens to the caller; what came of it, nobody asks any more."""
    while not outcome.done():
        try:
            await asyncio.wait({outcome})
        except asyncio.CancelledError:
            continue
    if not outcome.cancelled():
        outcome.exception()
