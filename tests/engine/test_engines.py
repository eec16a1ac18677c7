"""Each engine alone: what both promise, and what happens while one is asked to end."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import psycopg
import pytest
import structlog

from segue.adapters.engine.dbos_engine import DbosEngine
from segue.adapters.engine.local_engine import LocalEngine
from segue.application.ports.engine import Engine
from segue.domain.pipeline import Lease
from tests.postgres import Server

Advance = Callable[[Lease], Awaitable[bool]]
Launch = Callable[[Advance], AbstractAsyncContextManager[Engine]]


@pytest.fixture(autouse=True)
def all_is_logged() -> None:
    """A command that ran in this process before may have asked for errors alone."""
    structlog.reset_defaults()


@pytest.fixture(params=["local", pytest.param("dbos", marks=pytest.mark.thorough)])
def launch(request: pytest.FixtureRequest) -> Launch:
    """Starts an engine of each kind."""
    address = request.getfixturevalue("postgres_url") if request.param == "dbos" else None

    @asynccontextmanager
    async def launched(advance: Advance) -> AsyncIterator[Engine]:
        engine = LocalEngine() if address is None else DbosEngine(database_url=address)
        await engine.launch("worker", advance, lambda: None)
        try:
            yield engine
        finally:
            async with asyncio.timeout(120):
                await engine.shutdown()

    return launched


async def idle(engine: Engine) -> None:
    """Wait until nothing runs."""
    async with asyncio.timeout(120):
        while engine.running():  # noqa: ASYNC110  # it has no event to wait for
            await asyncio.sleep(0.01)


async def test_a_lease_is_advanced_until_nothing_is_left(launch: Launch) -> None:
    moves: list[Lease] = []

    async def advance(lease: Lease) -> bool:
        moves.append(lease)
        return moves.count(lease) < 3

    async with launch(advance) as engine:
        await engine.start(Lease(1, 1))
        await engine.start(Lease(2, 4))
        await idle(engine)
    assert Counter(moves) == {Lease(1, 1): 3, Lease(2, 4): 3}


async def test_a_lease_that_runs_is_not_started_again(launch: Launch) -> None:
    begun, may_end, moves = asyncio.Event(), asyncio.Event(), 0

    async def advance(_lease: Lease) -> bool:
        nonlocal moves
        moves += 1
        begun.set()
        await may_end.wait()
        return False

    async with launch(advance) as engine:
        await engine.start(Lease(1, 1))
        await begun.wait()
        await engine.start(Lease(1, 1))
        assert engine.running() == {Lease(1, 1)}
        may_end.set()
        await idle(engine)
    assert moves == 1


async def test_two_who_stop_a_lease_wait_for_one_clean_up(launch: Launch) -> None:
    begun, clean_ups = asyncio.Event(), 0

    async def advance(_lease: Lease) -> bool:
        nonlocal clean_ups
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0.05)  # a second cancellation would end it here
            clean_ups += 1
        return True

    async with launch(advance) as engine:
        await engine.start(Lease(1, 1))
        await begun.wait()
        await asyncio.gather(engine.stop(Lease(1, 1)), engine.stop(Lease(1, 1)))
        assert clean_ups == 1
        await idle(engine)


async def test_a_lease_that_breaks_is_logged_and_hurts_no_other(launch: Launch) -> None:
    may_end = asyncio.Event()

    async def advance(lease: Lease) -> bool:
        if lease.pipeline_id == 1:
            raise ValueError("a defect")
        await may_end.wait()
        return False

    async with launch(advance) as engine:
        with structlog.testing.capture_logs() as logs:
            await engine.start(Lease(2, 1))
            await engine.start(Lease(1, 1))
            async with asyncio.timeout(120):
                while Lease(1, 1) in engine.running():  # noqa: ASYNC110  # it has no event to wait for
                    await asyncio.sleep(0.01)
        assert [(entry["log_level"], entry["pipeline"]) for entry in logs] == [("error", 1)]
        assert engine.running() == {Lease(2, 1)}
        may_end.set()
        await idle(engine)


async def test_leases_that_are_just_being_started_end_well(launch: Launch) -> None:
    async def advance(_lease: Lease) -> bool:
        return False

    for number in range(3):
        with structlog.testing.capture_logs() as logs:
            async with launch(advance) as engine:
                starts = [asyncio.create_task(engine.start(Lease(each, number + 1))) for each in range(1, 7)]
                await asyncio.sleep(0.002 * number)
            await asyncio.gather(*starts)
        assert logs == []
        assert engine.running() == frozenset()


async def test_it_does_not_wait_for_what_others_do_in_threads(launch: Launch) -> None:
    begun, may_end = asyncio.Event(), threading.Event()

    async def advance(_lease: Lease) -> bool:
        begun.set()
        await asyncio.to_thread(may_end.wait)
        return False

    try:
        with structlog.testing.capture_logs() as logs:
            async with launch(advance) as engine:
                await engine.start(Lease(1, 1))
                await begun.wait()
    finally:
        may_end.set()
    assert logs == []  # else it says that it waited in vain


@pytest.mark.thorough
async def test_dbos_keeps_no_rows_of_leases_that_ended(postgres_url: str) -> None:
    async def advance(_lease: Lease) -> bool:
        return False

    engine = DbosEngine(database_url=postgres_url)
    await engine.launch("worker", advance, lambda: None)
    await engine.start(Lease(1, 1))
    await idle(engine)
    await engine.shutdown()
    with psycopg.connect(postgres_url) as connection:
        assert connection.execute("SELECT workflow_uuid FROM dbos.workflow_status").fetchall() == []


@pytest.mark.thorough
async def test_dbos_ends_without_its_database() -> None:
    begun = asyncio.Event()

    async def advance(_lease: Lease) -> bool:
        begun.set()
        await asyncio.Event().wait()
        return True

    with Server(tcp=True) as server:
        engine = DbosEngine(database_url=server.address)
        await engine.launch("worker", advance, lambda: None)
        await engine.start(Lease(1, 1))
        await begun.wait()
        server.stop()
        with structlog.testing.capture_logs() as logs:
            async with asyncio.timeout(120):
                await engine.shutdown()
    assert [entry["event"] for entry in logs] == ["workflow_lost_its_database"]
    assert "127.0.0.1" in logs[0]["error"]
    assert "exc_info" not in logs[0]
