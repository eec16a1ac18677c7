"""One contract, both engines: what is offered or started runs once, within its places, and can be stopped."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import UTC, datetime

import psycopg
import pytest
import structlog

from segue.adapters.engine.dbos_engine import DbosEngine
from segue.adapters.engine.local_engine import LocalEngine
from segue.application.ports.engine import Engine, Run, WorkerPolicy
from segue.domain.pipeline import Lease, Offer
from tests.postgres import Server

Launch = Callable[[Run], AbstractAsyncContextManager[Engine]]
CREATED = datetime(2026, 11, 19, 7, 30, 0, 123456, tzinfo=UTC)
ROOM = 2


@pytest.fixture(autouse=True)
def all_is_logged() -> None:
    """A command that ran in this process before may have asked for errors alone."""
    structlog.reset_defaults()


@pytest.fixture(params=["local", pytest.param("dbos", marks=pytest.mark.thorough)])
def launch(request: pytest.FixtureRequest) -> Launch:
    """Starts an engine of each kind, with two places."""
    address = request.getfixturevalue("postgres_url") if request.param == "dbos" else None

    @asynccontextmanager
    async def launched(run: Run) -> AsyncIterator[Engine]:
        engine = LocalEngine() if address is None else DbosEngine(database_url=address)
        await engine.launch("worker", run, WorkerPolicy(room=ROOM), lambda: None)
        try:
            yield engine
        finally:
            async with asyncio.timeout(120):
                await engine.shutdown()

    return launched


def offer(pipeline_id: int, number: int = 0) -> Offer:
    return Offer(pipeline_id, number, CREATED)


async def until(holds: Callable[[], bool]) -> None:
    """Wait for what has no event."""
    async with asyncio.timeout(120):
        while not holds():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def test_a_lease_that_runs_is_not_started_again(launch: Launch) -> None:
    may_end, given = asyncio.Event(), []

    async def run(lease: Offer | Lease) -> None:
        given.append(lease)
        await may_end.wait()

    async with launch(run) as engine:
        await engine.start(Lease(1, 1))
        await until(lambda: given != [])
        await engine.start(Lease(1, 1))
        assert engine.running() == {Lease(1, 1)}
        may_end.set()
        await until(lambda: not engine.running())
    assert given == [Lease(1, 1)]


async def test_an_offer_is_run_once_however_often_it_is_made(launch: Launch) -> None:
    may_end, given = asyncio.Event(), []

    async def run(taken: Offer | Lease) -> None:
        given.append(taken)
        await may_end.wait()

    async with launch(run) as engine:
        for _ in range(3):
            await engine.enqueue(offer(1))
        await until(lambda: given != [])
        await engine.enqueue(offer(1))
        assert engine.running() == {Lease(1, 1)}
        may_end.set()
        await until(lambda: not engine.running())
    assert given == [offer(1)]


async def test_the_next_number_is_another_offer(launch: Launch) -> None:
    given: list[Offer | Lease] = []

    async def run(taken: Offer | Lease) -> None:
        given.append(taken)

    async with launch(run) as engine:
        for number in range(3):
            await engine.enqueue(offer(1, number))
            await until(lambda number=number: given[-1:] == [offer(1, number)])  # type: ignore[misc]
    assert given == [offer(1, number) for number in range(3)]


async def test_offers_keep_to_the_places_and_each_gets_one(launch: Launch) -> None:
    ran: Counter[int] = Counter()
    at_once, most = 0, 0

    async def run(taken: Offer | Lease) -> None:
        nonlocal at_once, most
        at_once += 1
        most = max(most, at_once)
        ran[taken.pipeline_id] += 1
        await asyncio.sleep(0.02)
        at_once -= 1

    waiting = [offer(number) for number in range(7)]
    async with launch(run) as engine, asyncio.timeout(120):
        while waiting:
            waiting = [each for each in waiting if not await engine.enqueue(each)]
            await asyncio.sleep(0.01)
        await until(lambda: len(ran) == 7)
    assert set(ran.values()) == {1}
    assert most <= ROOM


async def test_what_is_started_at_once_waits_for_no_place_and_takes_one(launch: Launch) -> None:
    may_end, given = asyncio.Event(), []

    async def run(taken: Offer | Lease) -> None:
        given.append(taken)
        await may_end.wait()

    async with launch(run) as engine:
        for number in range(ROOM + 1):
            await engine.start(Lease(number, 1))
        await until(lambda: len(given) == ROOM + 1)
        await engine.enqueue(offer(9))
        await asyncio.sleep(0.3)
        assert offer(9) not in given
        may_end.set()
        while not given.count(offer(9)):
            await engine.enqueue(offer(9))
            await asyncio.sleep(0.01)


async def test_two_who_stop_a_lease_wait_for_one_clean_up(launch: Launch) -> None:
    begun, clean_ups = asyncio.Event(), 0

    async def run(_given: Offer | Lease) -> None:
        nonlocal clean_ups
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0.05)  # a second cancellation would end it here
            clean_ups += 1

    async with launch(run) as engine:
        await engine.enqueue(offer(1))
        await begun.wait()
        await asyncio.gather(engine.stop(Lease(1, 1)), engine.stop(Lease(1, 1)))
        assert clean_ups == 1
        assert engine.running() == frozenset()


async def test_a_run_that_breaks_is_logged_and_hurts_no_other(launch: Launch) -> None:
    may_end = asyncio.Event()

    async def run(given: Offer | Lease) -> None:
        if given.pipeline_id == 1:
            raise ValueError("a defect")
        await may_end.wait()

    async with launch(run) as engine:
        with structlog.testing.capture_logs() as logs:
            await engine.start(Lease(2, 1))
            await engine.enqueue(offer(1))
            await until(lambda: logs != [])
        assert [(entry["log_level"], entry["pipeline"]) for entry in logs] == [("error", 1)]
        assert engine.running() == {Lease(2, 1)}
        may_end.set()
        await until(lambda: not engine.running())


async def test_what_is_just_being_started_ends_well(launch: Launch) -> None:
    async def run(_given: Offer | Lease) -> None:
        await asyncio.sleep(0)

    for number in range(3):
        with structlog.testing.capture_logs() as logs:
            async with launch(run) as engine:
                starts = [asyncio.create_task(engine.start(Lease(each, number + 1))) for each in range(1, 4)]
                queued = [asyncio.create_task(engine.enqueue(offer(each, number))) for each in range(4, 7)]
                await asyncio.sleep(0.002 * number)
                await asyncio.gather(*starts, *queued)
        assert logs == []
        assert engine.running() == frozenset()


async def test_it_does_not_wait_for_what_others_do_in_threads(launch: Launch) -> None:
    begun, may_end = asyncio.Event(), threading.Event()

    async def run(_given: Offer | Lease) -> None:
        begun.set()
        await asyncio.to_thread(may_end.wait)

    try:
        with structlog.testing.capture_logs() as logs:
            async with launch(run) as engine:
                await engine.enqueue(offer(1))
                await begun.wait()
    finally:
        may_end.set()
    assert logs == []  # else it says that it waited in vain


def workflows(address: str) -> list[tuple[str, str]]:
    """The rows of DBOS: id and state."""
    with psycopg.connect(address) as connection:
        found = connection.execute("SELECT workflow_uuid, status FROM dbos.workflow_status ORDER BY 1")
        return found.fetchall()


@pytest.mark.thorough
async def test_dbos_keeps_no_rows_of_what_ended(postgres_url: str) -> None:
    ran: list[int] = []

    async def run(given: Offer | Lease) -> None:
        ran.append(given.pipeline_id)

    engine = DbosEngine(database_url=postgres_url)
    await engine.launch("worker", run, WorkerPolicy(), lambda: None)
    for number in range(5):
        await engine.enqueue(offer(number))
    await until(lambda: len(ran) == 5)
    await until(lambda: workflows(postgres_url) == [])
    await engine.shutdown()


@pytest.mark.thorough
async def test_what_a_dead_worker_took_is_forgotten_and_can_be_offered_again(postgres_url: str) -> None:
    taken: list[Offer | Lease] = []

    async def run(given: Offer | Lease) -> None:
        taken.append(given)

    first = DbosEngine(database_url=postgres_url)
    await first.launch("first", run, WorkerPolicy(), lambda: None)
    await first.shutdown()
    with psycopg.connect(postgres_url) as connection:  # as a worker leaves it that is killed
        connection.execute(
            "INSERT INTO dbos.workflow_status (workflow_uuid, status, name, executor_id, queue_name, "
            "created_at, updated_at, priority, application_version) "
            "VALUES (%s, 'PENDING', 'segue.run', 'killed', 'pipelines', 0, 0, 0, '2')",
            [f"pipeline-1-0-{int(CREATED.timestamp())}123456"],
        )
    engine = DbosEngine(database_url=postgres_url)
    await engine.launch("second", run, WorkerPolicy(), lambda: None)
    await engine.enqueue(offer(1))
    assert await engine.executors() == {"killed"}
    await engine.forget("killed")
    await engine.enqueue(offer(1))
    await until(lambda: taken == [offer(1)])
    await engine.shutdown()


@pytest.mark.thorough
async def test_dbos_ends_without_its_database() -> None:
    begun = asyncio.Event()

    async def run(_given: Offer | Lease) -> None:
        begun.set()
        await asyncio.Event().wait()

    with Server(tcp=True) as server:
        engine = DbosEngine(database_url=server.address)
        await engine.launch("worker", run, WorkerPolicy(), lambda: None)
        await engine.enqueue(offer(1))
        await begun.wait()
        server.stop()
        with structlog.testing.capture_logs() as logs:
            async with asyncio.timeout(120):
                await engine.shutdown()
    assert {entry["event"] for entry in logs} == {"engine_not_tidied"}
    assert "127.0.0.1" in logs[0]["error"]
    assert "exc_info" not in logs[0]
