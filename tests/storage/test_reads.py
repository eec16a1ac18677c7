"""Reads beside each other: none waits for a second connection, each sees one state of the records."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping

import pytest
from sqlalchemy import select, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from segue.adapters.storage.database import SqlDatabase, open_database
from segue.adapters.storage.tables import PipelineRow
from segue.adapters.storage.views import SqlViews
from segue.application.views import PipelineFilter
from segue.domain.errors import StorageError
from tests.storage.test_sessions_tables import new_session
from tests.storage.test_unit_of_work import add_pipelines

READS: Mapping[str, Callable[[SqlViews], Awaitable[object]]] = {
    "pipelines": lambda views: views.pipelines(PipelineFilter(text="1", limit=1)),
    "pipeline": lambda views: views.pipeline(1),
    "check_pipeline": lambda views: views.check_pipeline(1),
    "step": lambda views: views.step(1, 1),
    "entries_after": lambda views: views.entries_after(0),
    "last_entry_id": lambda views: views.last_entry_id(),
    "activity_after": lambda views: views.activity_after(0),
    "last_activity_id": lambda views: views.last_activity_id(),
    "activity_of": lambda views: views.activity_of(1),
    "conflicts": lambda views: views.conflicts("/"),
    "approvals": lambda views: views.approvals(everything=True),
    "sessions": lambda views: views.sessions(),
    "session": lambda views: views.session(1),
    "lineage": lambda views: views.lineage(1),
    "token": lambda views: views.token("0" * 64),
    "tokens": lambda views: views.tokens(),
    "has_code": lambda views: views.has_code("0" * 64),
}


@pytest.fixture
async def narrow(database: SqlDatabase, database_url: str) -> AsyncIterator[SqlDatabase]:
    """A database with a pipeline and a session, that has one connection for reads."""
    await add_pipelines(database, 1)
    async with database.begin() as work:
        await work.sessions.add(new_session("k1"))
        await work.commit()
    opened = await open_database(database_url, readers=1)
    yield opened
    await opened.close()


async def test_every_read_needs_one_connection_only(narrow: SqlDatabase) -> None:
    public = inspect.getmembers(SqlViews, inspect.iscoroutinefunction)
    assert {name for name, _ in public if not name.startswith("_")} == set(READS)
    async with asyncio.timeout(120):
        for read in READS.values():
            alone = await read(narrow.views)
            together = await asyncio.gather(*(read(narrow.views) for _ in range(10)))
            assert together == [alone] * 10


async def test_a_read_sees_one_state_of_the_records(database: SqlDatabase) -> None:
    await add_pipelines(database, 1)
    has_read, may_go_on = asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()

    def read_twice(session: Session) -> list[list[int]]:
        first = list(session.scalars(select(PipelineRow.id)))
        loop.call_soon_threadsafe(has_read.set)
        assert may_go_on.wait(120)
        return [first, list(session.scalars(select(PipelineRow.id)))]

    reading = asyncio.create_task(database.reader.run(read_twice))
    await has_read.wait()
    await add_pipelines(database, 1)
    may_go_on.set()
    assert await reading == [[1], [1]]
    assert len((await database.views.pipelines(PipelineFilter())).items) == 2


async def test_a_read_cannot_write(database: SqlDatabase) -> None:
    with pytest.raises((StorageError, DBAPIError)):
        await database.reader.run(lambda session: session.execute(text("DELETE FROM pipelines")))


async def test_who_stops_waiting_for_a_read_costs_the_others_nothing(narrow: SqlDatabase) -> None:
    may_go_on = threading.Event()
    reads = [asyncio.create_task(narrow.reader.run(lambda _: may_go_on.wait(120))) for _ in range(3)]
    await asyncio.sleep(0)
    for read in reads:
        read.cancel()
    await asyncio.gather(*reads, return_exceptions=True)
    may_go_on.set()
    assert (await narrow.views.pipeline(1)).id == 1
