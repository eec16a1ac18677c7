"""Reads beside each other: none waits for a second connection, each sees one state of the records."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress

import pytest
from sqlalchemy import create_engine, make_url, select, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from segue.adapters.storage.database import SqlDatabase, open_database
from segue.adapters.storage.postgres import connect_arguments, limit_reads
from segue.adapters.storage.reader import Reader
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
    "activity_in_step": lambda views: views.activity_in_step(1, 1),
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


async def test_a_read_after_closing_is_refused(database_url: str) -> None:
    opened = await open_database(database_url, readers=1)
    has_begun, may_go_on = asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()

    def read(_session: Session) -> bool:
        loop.call_soon_threadsafe(has_begun.set)
        return may_go_on.wait(120)

    runs = asyncio.create_task(opened.reader.run(read))
    await has_begun.wait()
    in_line = asyncio.create_task(opened.views.last_entry_id())
    await asyncio.sleep(0)
    closing = asyncio.create_task(opened.close())
    await asyncio.sleep(0)
    may_go_on.set()
    assert await runs
    await closing
    for refused in (in_line, opened.views.last_entry_id()):
        with pytest.raises(StorageError, match="is closed"):
            await refused


class Wire:
    """Passes on what goes between a client and a PostgreSQL server, until it is silent."""

    def __init__(self, server_socket: str) -> None:
        self._server_socket = server_socket
        self.is_silent = False
        self.tasks: set[asyncio.Task[None] | None] = set()

    async def pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve a client."""
        self.tasks.add(asyncio.current_task())
        there = await asyncio.open_unix_connection(self._server_socket)
        await asyncio.gather(self._pump(reader, there[1]), self._pump(there[0], writer))

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while data := await reader.read(65_536):
                if not self.is_silent:
                    writer.write(data)
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()


@asynccontextmanager
async def wired(postgres_url: str) -> AsyncIterator[tuple[Wire, str]]:
    """A wire to a server, and the address of the database through it."""
    url = make_url(postgres_url)
    wire = Wire(f"{url.query['host']}/.s.PGSQL.5432")
    async with await asyncio.start_server(wire.pass_on, "127.0.0.1", 0) as listener:
        port = listener.sockets[0].getsockname()[1]
        through = url.set(host="127.0.0.1", port=port, query={})
        yield wire, through.render_as_string(hide_password=False)
        await asyncio.gather(*filter(None, wire.tasks))


async def test_closing_does_not_wait_for_a_server_that_is_silent(postgres_url: str) -> None:
    async with asyncio.timeout(120), wired(postgres_url) as (wire, url):
        opened = await open_database(url, readers=1)
        await opened.views.last_entry_id()
        wire.is_silent = True
        has_begun, loop = asyncio.Event(), asyncio.get_running_loop()

        def read(session: Session) -> object:
            loop.call_soon_threadsafe(has_begun.set)
            return session.scalar(text("SELECT 1"))

        reading = asyncio.create_task(opened.reader.run(read))
        await has_begun.wait()
        await opened.close()
        with pytest.raises(StorageError, match="does not answer"):
            await reading


async def test_a_silent_server_holds_up_no_later_read(postgres_url: str) -> None:
    async with asyncio.timeout(120), wired(postgres_url) as (wire, url):
        engine = create_engine(url.replace("postgresql:", "postgresql+psycopg:"), pool_size=1)
        given_up = threading.Event()
        limit_reads(engine, given_up, seconds=1)
        reader = Reader(engine, threads=1, given_up=given_up)
        assert await reader.run(lambda session: session.scalar(text("SHOW statement_timeout"))) == "30s"
        wire.is_silent = True
        with pytest.raises(StorageError, match="does not answer"):
            await reader.run(lambda session: session.scalar(text("SELECT 1")))
        wire.is_silent = False
        assert await reader.run(lambda session: session.scalar(text("SELECT 1"))) == 1
        await reader.close()


def test_the_address_has_the_last_word_on_limits() -> None:
    given = connect_arguments(make_url("postgresql://here/segue?connect_timeout=3"))
    assert "connect_timeout" not in given
    assert given["tcp_user_timeout"] == 30_000
