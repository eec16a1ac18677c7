"""Reads beside each other: none waits for a second connection, each sees one state of the records."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from functools import partial
from operator import methodcaller

import psycopg
import pytest
from sqlalchemy import make_url

from segue.adapters.storage.address import parse_address
from segue.adapters.storage.codec import Row
from segue.adapters.storage.database import SqlStore, open_database
from segue.adapters.storage.gateway import ReadConnection
from segue.adapters.storage.postgres import ERRORS, PostgresConnection, connect_arguments
from segue.adapters.storage.reader import Reader
from segue.adapters.storage.views import SqlViews
from segue.application.views import AuditFilter, PipelineFilter
from segue.domain.errors import StorageError
from tests.storage.test_store import NOW, add_pipelines, new_pipeline, new_session

READS: Mapping[str, Callable[[SqlViews], Awaitable[object]]] = {
    "audit": lambda views: views.audit(AuditFilter()),
    "read_audit": lambda views: views.read_audit(list),
    "verify_audit": lambda views: views.verify_audit(),
    "pipelines": lambda views: views.pipelines(PipelineFilter(text="1", limit=1)),
    "pipeline": lambda views: views.pipeline(1),
    "check_pipeline": lambda views: views.check_pipeline(1),
    "step": lambda views: views.step(1, 1),
    "entries_after": lambda views: views.entries_after(0),
    "last_entry_id": lambda views: views.last_entry_id(),
    "activity_after": lambda views: views.activity_after(0),
    "last_activity_id": lambda views: views.last_activity_id(),
    "activity_of": lambda views: views.activity_of(1),
    "activity_in_step": lambda views: views.activity_in_step(1),
    "conflicts": lambda views: views.conflicts("/"),
    "approvals": lambda views: views.approvals(everything=True),
    "inbox": lambda views: views.inbox(),
    "workers": lambda views: views.workers(),
    "sessions": lambda views: views.sessions(),
    "session": lambda views: views.session(1),
    "lineage": lambda views: views.lineage(1),
    "token": lambda views: views.token("0" * 64),
    "tokens": lambda views: views.tokens(),
    "left_of_pipelines": lambda views: views.left_of_pipelines(NOW),
    "has_code": lambda views: views.has_code("0" * 64),
}


@pytest.fixture
async def narrow(database: SqlStore, database_url: str) -> AsyncIterator[SqlStore]:
    """A database with a pipeline and a session, that has one connection for reads."""
    await add_pipelines(database, 1)
    await database.write(lambda rows: rows.insert(new_session("k1")))
    opened = await open_database(database_url, readers=1)
    yield opened
    await opened.close()


async def test_every_read_needs_one_connection_only(narrow: SqlStore) -> None:
    public = inspect.getmembers(SqlViews, inspect.iscoroutinefunction)
    assert {name for name, _ in public if not name.startswith("_")} == set(READS)
    async with asyncio.timeout(120):
        for read in READS.values():
            alone = await read(narrow.views)
            together = await asyncio.gather(*(read(narrow.views) for _ in range(10)))
            assert together == [alone] * 10


async def test_a_read_sees_one_state_of_the_records(database: SqlStore) -> None:
    await add_pipelines(database, 1)
    has_read, may_go_on = asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()

    def read_twice(rows: ReadConnection) -> list[list[Row]]:
        first = rows.all("SELECT id FROM pipelines")
        loop.call_soon_threadsafe(has_read.set)
        assert may_go_on.wait(120)
        return [first, rows.all("SELECT id FROM pipelines")]

    reading = asyncio.create_task(database.reader.run(read_twice))
    await has_read.wait()
    await add_pipelines(database, 1)
    may_go_on.set()
    assert await reading == [[{"id": 1}], [{"id": 1}]]
    assert len((await database.views.pipelines(PipelineFilter())).items) == 2


async def test_a_read_cannot_write(database: SqlStore) -> None:
    with pytest.raises((StorageError, psycopg.Error)):
        await database.reader.run(lambda rows: rows.all("DELETE FROM pipelines"))


async def test_who_stops_waiting_for_a_read_costs_the_others_nothing(narrow: SqlStore) -> None:
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

    def read(_rows: ReadConnection) -> bool:
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

        def read(rows: ReadConnection) -> object:
            loop.call_soon_threadsafe(has_begun.set)
            return rows.all("SELECT 1")

        reading = asyncio.create_task(opened.reader.run(read))
        await has_begun.wait()
        await opened.close()
        with pytest.raises(StorageError, match="does not answer"):
            await reading


async def test_a_silent_server_holds_up_no_later_read(postgres_url: str) -> None:
    async with asyncio.timeout(120), wired(postgres_url) as (wire, url):
        given_up = threading.Event()
        connect = partial(PostgresConnection, url, given_up, seconds=1)
        reader = Reader(parse_address(url), connect, errors=ERRORS, threads=1, given_up=given_up)
        shown = await reader.run(lambda rows: rows.all("SHOW statement_timeout"))
        assert shown == [{"statement_timeout": "30s"}]
        wire.is_silent = True
        with pytest.raises(StorageError, match="does not answer"):
            await reader.run(lambda rows: rows.all("SELECT 1"))
        wire.is_silent = False
        assert await reader.run(lambda rows: rows.all("SELECT 1 AS one")) == [{"one": 1}]
        await reader.close()


async def test_a_connection_that_the_server_ended_is_replaced(postgres_url: str) -> None:
    opened = await open_database(postgres_url, readers=1)
    pid = "SELECT pg_backend_pid() AS pid"
    (before,) = await opened.reader.run(lambda rows: rows.all(pid))
    with psycopg.connect(postgres_url) as other:
        other.execute("SELECT pg_terminate_backend(%s, 120000)", [before["pid"]])
    (after,) = await opened.reader.run(lambda rows: rows.all(pid))
    assert after != before
    await opened.close()


@pytest.mark.parametrize("words", ["100%", "a_b", "c/d", "Ünder"])
async def test_words_are_found_as_they_are_written(database: SqlStore, words: str) -> None:
    for prompt in (f"Say {words.upper() if words.isascii() else words} twice", "100 a-b cd Under"):
        await database.write(methodcaller("insert", replace(new_pipeline(), prompt=prompt)))
    found = await database.views.pipelines(PipelineFilter(text=words))
    assert [each.id for each in found.items] == [1]


def test_the_address_has_the_last_word_on_limits() -> None:
    given = connect_arguments("postgresql://here/segue?connect_timeout=3")
    assert "connect_timeout" not in given
    assert given["tcp_user_timeout"] == 30_000
