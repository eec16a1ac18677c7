"""Audit entries, or activity, to live subscribers: without a gap, from any id on.

The database is the only source. One reader a process looks for new entries, at once after a commit of this
process and every now and then for those of others, and keeps the last ones at hand; subscribers are served
from there, and from the database where they are further behind. So a commit costs one read, however many
subscribe, and a slow subscriber costs nothing: it holds no queue.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Generic, Protocol, TypeVar

import structlog

from segue.domain.errors import StorageError

log = structlog.get_logger()
T = TypeVar("T")

_PAGE = 500
_AT_HAND = 2000
_PAUSE = 0.02
"""Seconds between two reads: commits come in bursts, and one read takes them all."""


class Numbered(Protocol):
    """What can be followed: rows whose ids are their order."""

    @property
    def id(self) -> int: ...
    @property
    def pipeline_id(self) -> int | None: ...


E = TypeVar("E", bound=Numbered)


class ReadAfter(Protocol[E]):
    """Reads what comes after an id, in order."""

    def __call__(
        self, after: int, /, *, pipeline_id: int | None = None, limit: int = 500
    ) -> Awaitable[list[E]]: ...


class SharedFeed(Generic[E]):
    """Follows one table while anybody subscribes."""

    def __init__(
        self, read_after: ReadAfter[E], read_last: Callable[[], Awaitable[int]], *, look_seconds: float = 0.5
    ) -> None:
        self._read_after = read_after
        self._read_last = read_last
        self._look_seconds = look_seconds
        self._subscribers = 0
        self._reader: asyncio.Task[None] | None = None
        self._committed = asyncio.Event()
        self._news = asyncio.Condition()
        self._beginning = asyncio.Lock()
        self._recent: deque[E] = deque(maxlen=_AT_HAND)
        self._first = 0
        """Every entry with an id above this and up to `_last` is at hand."""
        self._last = 0

    def wake(self) -> None:
        """Something was committed here."""
        self._committed.set()

    @asynccontextmanager
    async def subscribe(
        self, *, after: int | None = None, pipeline_id: int | None = None
    ) -> AsyncIterator[AsyncIterator[E]]:
        """All entries after an id; from now on if none is given."""
        self._subscribers += 1
        try:
            async with self._beginning:
                if self._reader is None:
                    self._first = self._last = await self._patiently(self._read_last)
                    self._recent.clear()
                    self._reader = asyncio.create_task(self._read(), name="segue-feed")
            if after is None or after > self._last:
                # An id that is not there yet is one of another database: begin with what comes next.
                newest = await self._patiently(self._read_last)
                after = newest if after is None else min(after, newest)
            yield self._entries(after, pipeline_id)
        finally:
            self._subscribers -= 1
            if not self._subscribers and self._reader is not None:
                reader, self._reader = self._reader, None
                reader.cancel()
                await asyncio.wait({reader})

    async def _read(self) -> None:
        while True:
            self._committed.clear()
            page = await self._patiently(partial(self._read_after, self._last, limit=_PAGE))
            if page:
                async with self._news:
                    for entry in page:
                        if len(self._recent) == _AT_HAND:
                            self._first = self._recent[0].id
                        self._recent.append(entry)
                    self._last = page[-1].id
                    self._news.notify_all()
            if len(page) < _PAGE:
                await asyncio.sleep(_PAUSE)
                try:
                    async with asyncio.timeout(self._look_seconds):
                        await self._committed.wait()
                except TimeoutError:
                    continue

    async def _patiently(self, read: Callable[[], Awaitable[T]]) -> T:
        """What was read; a database that is away for a while is asked again."""
        while True:
            try:
                return await read()
            except StorageError as error:
                log.warning("feed_interrupted", error=str(error))
                await asyncio.sleep(self._look_seconds)

    async def _entries(self, last: int, pipeline_id: int | None) -> AsyncIterator[E]:
        while True:
            page = await self._next_page(last, pipeline_id)
            for entry in page:
                last = entry.id
                if pipeline_id is None or entry.pipeline_id == pipeline_id:
                    yield entry

    async def _next_page(self, last: int, pipeline_id: int | None) -> list[E]:
        """What comes after `last`: from the database if it is no longer at hand, else when it comes."""
        if last < self._first:
            known = self._last
            reading = partial(self._read_after, last, pipeline_id=pipeline_id, limit=_PAGE)
            if page := await self._patiently(reading):
                return page
            # Nothing of this pipeline stands between `last` and what was known when we asked.
            last = max(last, known)
        async with self._news:
            await self._news.wait_for(lambda: self._last > last)
            return [entry for entry in self._recent if entry.id > last]
