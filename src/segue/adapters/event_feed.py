"""Audit entries, or activity, to live subscribers: without a gap, from any id on.

The database is the only source. One reader a process looks for new entries, at once after a commit of this
process and every now and then for those of others, and keeps the last ones at hand; subscribers are served
from there, and from the database where they are further behind. So a commit costs one read, however many
subscribe, and a slow subscriber costs nothing: it holds no queue. They are served page by page: what came at
once is handed on at once.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from itertools import takewhile
from typing import Generic, Protocol, TypeVar

import structlog

from segue.domain.errors import StorageError

log = structlog.get_logger()
T = TypeVar("T")

_PAGE = 500
_AT_HAND = 2000
_PAUSE = 0.02
"""Seconds between two reads: commits come in bursts, and one read takes them all."""
_PAUSE_FOR_EACH = 0.004
"""And as many for each subscriber: many of them are woken less often, or nothing else would run."""


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
        self._news = asyncio.Event()
        self._beginning = asyncio.Lock()
        self._recent: deque[E] = deque(maxlen=_AT_HAND)
        self._first = 0
        """Every entry with an id above this and up to `_last` is at hand."""
        self._last = 0
        self._newest: list[E] = []
        """What was read last, for the many who had come as far as `_before_newest`."""
        self._before_newest = 0

    def wake(self) -> None:
        """Something was committed here."""
        self._committed.set()

    @asynccontextmanager
    async def subscribe(
        self, *, after: int | None = None, pipeline_id: int | None = None
    ) -> AsyncIterator[AsyncIterator[E]]:
        """All entries after an id; from now on if none is given."""
        async with self.subscribe_pages(after=after, pipeline_id=pipeline_id) as pages:
            yield (entry async for page in pages for entry in page)

    @asynccontextmanager
    async def subscribe_pages(
        self, *, after: int | None = None, pipeline_id: int | None = None
    ) -> AsyncIterator[AsyncIterator[list[E]]]:
        """The same, page by page; no page is empty."""
        self._subscribers += 1
        try:
            async with self._beginning:
                if self._reader is None:
                    self._first = self._last = await self._patiently(self._read_last)
                    self._recent.clear()
                    self._newest, self._before_newest = [], 0
                    self._reader = asyncio.create_task(self._read(), name="segue-feed")
            if after is None or after > self._last:
                # An id that is not there yet is one of another database: begin with what comes next.
                newest = await self._patiently(self._read_last)
                after = newest if after is None else min(after, newest)
            yield self._pages(after, pipeline_id)
        finally:
            self._subscribers -= 1
            if not self._subscribers and self._reader is not None:
                reader, self._reader = self._reader, None
                reader.cancel()
                await asyncio.wait({reader})
                if self._reader is None:  # nobody came meanwhile
                    self._recent.clear()
                    self._newest = []

    async def _read(self) -> None:
        while True:
            self._committed.clear()
            page = await self._patiently(partial(self._read_after, self._last, limit=_PAGE))
            if page:
                for entry in page:
                    if len(self._recent) == _AT_HAND:
                        self._first = self._recent[0].id
                    self._recent.append(entry)
                self._newest, self._before_newest, self._last = page, self._last, page[-1].id
                self._news.set()  # wakes those who wait now
                self._news.clear()
            if len(page) < _PAGE:
                await asyncio.sleep(_PAUSE + _PAUSE_FOR_EACH * self._subscribers)
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

    async def _pages(self, last: int, pipeline_id: int | None) -> AsyncIterator[list[E]]:
        while True:
            page = await self._next_page(last, pipeline_id)
            if page:
                last = page[-1].id
            if pipeline_id is not None:
                page = [entry for entry in page if entry.pipeline_id == pipeline_id]
            if page:
                yield page

    async def _next_page(self, last: int, pipeline_id: int | None) -> list[E]:
        """What comes after `last`: from the database if it is no longer at hand, else when it comes."""
        if last < self._first:
            known = self._last
            reading = partial(self._read_after, last, pipeline_id=pipeline_id, limit=_PAGE)
            if page := await self._patiently(reading):
                return page
            # Nothing of this pipeline stands between `last` and what was known when we asked.
            last = max(last, known)
        while self._last <= last:
            await self._news.wait()
        if last == self._before_newest:
            return self._newest
        return [*takewhile(lambda entry: entry.id > last, reversed(self._recent))][::-1]
