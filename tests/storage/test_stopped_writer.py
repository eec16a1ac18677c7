"""A process that is stopped in the middle of a transaction, as by SIGSTOP, on a shared database."""

from __future__ import annotations

import asyncio
import threading
from datetime import UTC, datetime

from segue.adapters.storage.database import open_database
from segue.adapters.storage.queries import _AUDIT_LOCK, SqlRows
from segue.domain.audit import AuditKind

NOW = datetime(2026, 11, 19, 7, 30, tzinfo=UTC)


async def test_its_locks_are_given_up_and_it_tries_again_when_it_wakes(postgres_url: str) -> None:
    stopped, other = await open_database(postgres_url), await open_database(postgres_url)
    is_in_it, may_wake = threading.Event(), threading.Event()
    times = 0

    def write(rows: SqlRows) -> datetime:
        nonlocal times
        times += 1
        rows.audit(AuditKind.PIPELINE_CREATED, NOW, title="stopped")
        rows._lock(_AUDIT_LOCK)
        is_in_it.set()
        may_wake.wait(120)
        return rows.now()

    async with asyncio.timeout(120):
        writing = asyncio.create_task(stopped.write(write))
        await asyncio.to_thread(is_in_it.wait)
        await other.write(lambda rows: rows.audit(AuditKind.PIPELINE_CREATED, NOW, title="other"))
        may_wake.set()
        await writing
        entries = await other.views.entries_after(0)
    assert times > 1
    assert [entry.payload["title"] for entry in entries if entry.payload] == ["other", "stopped"]
    await stopped.close()
    await other.close()
