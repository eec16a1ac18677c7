"""Audit entries to live subscribers, without a gap, from any id on.

The database is the only source: a subscriber reads what comes after the last id it saw. A commit in this
process wakes it at once; commits of other processes are found by looking again. So is a database that was
away for a while.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import structlog

from segue.application.ports import Views
from segue.domain.audit import AuditEntry
from segue.domain.errors import StorageError

log = structlog.get_logger()

_PAGE = 200


class PollingFeed:
    """Reads on wake-up and every `look_seconds`. A slow subscriber costs nothing: it holds no queue."""

    def __init__(self, views: Views, *, look_seconds: float = 0.5) -> None:
        self._views = views
        self._look_seconds = look_seconds
        self._subscribers: set[asyncio.Event] = set()

    def wake(self) -> None:
        """Something was committed here."""
        for event in self._subscribers:
            event.set()

    @asynccontextmanager
    async def subscribe(
        self, *, after: int | None = None, pipeline_id: int | None = None
    ) -> AsyncIterator[AsyncIterator[AuditEntry]]:
        """All entries after an id; from now on if none is given."""
        woken = asyncio.Event()
        self._subscribers.add(woken)
        try:
            start = await self._views.last_entry_id() if after is None else after
            yield self._entries(woken, start, pipeline_id)
        finally:
            self._subscribers.discard(woken)

    async def _entries(
        self, woken: asyncio.Event, last: int, pipeline_id: int | None
    ) -> AsyncIterator[AuditEntry]:
        while True:
            woken.clear()
            try:
                page = await self._views.entries_after(last, pipeline_id=pipeline_id, limit=_PAGE)
            except StorageError as error:
                log.warning("feed_interrupted", error=str(error))
                page = []
            for entry in page:
                last = entry.id
                yield entry
            if len(page) < _PAGE:
                try:
                    async with asyncio.timeout(self._look_seconds):
                        await woken.wait()
                except TimeoutError:
                    continue
