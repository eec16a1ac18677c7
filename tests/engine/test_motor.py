"""The motor alone: what happens while it is told to end."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
import structlog

from segue.adapters.engine.dbos_engine import DbosEngine
from segue.domain.pipeline import Lease
from tests.postgres import Server


@pytest.fixture(autouse=True)
def all_is_logged() -> None:
    """A command that ran in this process before may have asked for errors alone."""
    structlog.reset_defaults()


async def launched(url: str, advance: Callable[[Lease], Awaitable[bool]]) -> DbosEngine:
    """A motor that runs."""
    engine = DbosEngine(database_url=url)
    await engine.launch("worker", advance, lambda: None)
    return engine


async def test_leases_that_are_just_being_started_end_well(tmp_path: Path) -> None:
    async def advance(_lease: Lease) -> bool:
        return False

    for number in range(3):
        engine = await launched(f"sqlite:///{tmp_path}/engine.db", advance)
        with structlog.testing.capture_logs() as logs:
            starts = [asyncio.create_task(engine.start(Lease(each, number + 1))) for each in range(1, 7)]
            await asyncio.sleep(0.002 * number)
            async with asyncio.timeout(120):
                await engine.shutdown()
                await asyncio.gather(*starts)
        assert logs == []
        assert engine.running() == frozenset()
    with sqlite3.connect(f"{tmp_path}/engine.db") as rows:
        assert rows.execute("SELECT workflow_uuid FROM workflow_status").fetchall() == []
    rows.close()


async def test_it_does_not_wait_for_what_others_do_in_threads(tmp_path: Path) -> None:
    begun, may_end = asyncio.Event(), threading.Event()

    async def advance(_lease: Lease) -> bool:
        begun.set()
        await asyncio.to_thread(may_end.wait)
        return False

    engine = await launched(f"sqlite:///{tmp_path}/engine.db", advance)
    try:
        with structlog.testing.capture_logs() as logs:
            await engine.start(Lease(1, 1))
            await begun.wait()
            await engine.shutdown()
    finally:
        may_end.set()
    assert logs == []  # else it says that it waited in vain


@pytest.mark.thorough
async def test_it_ends_without_its_database() -> None:
    begun = asyncio.Event()

    async def advance(_lease: Lease) -> bool:
        begun.set()
        await asyncio.Event().wait()
        return True

    with Server(tcp=True) as server:
        engine = await launched(server.address, advance)
        await engine.start(Lease(1, 1))
        await begun.wait()
        server.stop()
        with structlog.testing.capture_logs() as logs:
            async with asyncio.timeout(120):
                await engine.shutdown()
    assert [entry["event"] for entry in logs] == ["workflow_lost_its_database"]
    assert "127.0.0.1" in logs[0]["error"]
    assert "exc_info" not in logs[0]
