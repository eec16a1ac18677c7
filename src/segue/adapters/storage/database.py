"""Opens the database, brings it to the newest schema, and hands out transactions and views."""

from __future__ import annotations

import asyncio
import re
import sqlite3
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, nullcontext, suppress
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url, text
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession, create_async_engine

from segue.adapters.storage.failures import explain_opening, translated
from segue.adapters.storage.migrations import HEAD
from segue.adapters.storage.postgres import connect_arguments, limit_reads
from segue.adapters.storage.reader import THREADS, Reader
from segue.adapters.storage.unit_of_work import SqlUnitOfWork
from segue.adapters.storage.views import SqlViews
from segue.adapters.wal import use_wal
from segue.domain.errors import StorageError

_DRIVERS = {
    "sqlite": "sqlite+aiosqlite",
    "postgresql": "postgresql+psycopg",
    "postgres": "postgresql+psycopg",
}
_WRITE = "segue_write"
_MIGRATION_LOCK = 7_301_001
"""Number of the PostgreSQL lock that lets one process at a time migrate."""


class SqlDatabase:
    """The records of Segue. Writers of this process take turns; readers never wait for them."""

    def __init__(self, engine: AsyncEngine, *, readers: int) -> None:
        self._engine = engine
        self._write_turn = asyncio.Lock() if engine.dialect.name == "sqlite" else None
        given_up = threading.Event()
        read_engine = _create_read_engine(engine.url, readers, given_up)
        self.reader = Reader(read_engine, threads=readers, given_up=given_up)
        self.views = SqlViews(self.reader)
        self.on_commit: Sequence[Callable[[], None]] = ()
        """Called after every commit of this process, so that readers can look again."""

    @asynccontextmanager
    async def begin(self) -> AsyncIterator[SqlUnitOfWork]:
        """One write transaction; leaving it without `commit` undoes everything."""
        with translated(self._engine.url):
            async with self._write_turn or nullcontext():
                connection = await self._engine.connect()
                try:
                    await connection.execution_options(**{_WRITE: True})
                    async with AsyncSession(bind=connection, expire_on_commit=False) as session:
                        yield SqlUnitOfWork(session, self.on_commit)
                except asyncio.CancelledError:
                    # A BEGIN that was cut off may still be carried out: only closing frees its lock.
                    await asyncio.shield(connection.invalidate())
                    raise
                finally:
                    # A cancelled task must still give its connection back, or the pool runs dry.
                    await asyncio.shield(connection.close())

    async def close(self) -> None:
        """Let go of every connection."""
        await self.reader.close()
        await self._engine.dispose()


async def open_database(url: str, *, readers: int = THREADS) -> SqlDatabase:
    """Open the database at `url`, made and migrated if need be; `StorageError` says why not.

    `readers` is how many reads run at once; the others wait in line.
    """
    engine = _create_engine(url)
    try:
        if engine.dialect.name == "sqlite":
            # A failure inside aiosqlite leaves a thread behind that may print a traceback while Python ends.
            await asyncio.to_thread(use_wal, str(engine.url.database))
        async with engine.connect() as connection:
            await connection.execution_options(**{_WRITE: True})
            if engine.dialect.name == "postgresql":
                await connection.execute(text(f"SELECT pg_advisory_xact_lock({_MIGRATION_LOCK})"))
            await connection.run_sync(_migrate)
            await connection.commit()
    except (DBAPIError, sqlite3.Error, OSError) as error:
        await engine.dispose()
        raise StorageError(explain_opening(engine.url, error)) from error
    except BaseException:
        await engine.dispose()
        raise
    return SqlDatabase(engine, readers=readers)


def _create_engine(url: str) -> AsyncEngine:
    try:
        parsed = make_url(url)
        if parsed.get_backend_name() == "sqlite" and parsed.database in (None, "", ":memory:"):
            raise StorageError(
                f'"{url}" is a database in memory, which would not outlive a crash. Give '
                "sqlite:///path/to/segue.db in SEGUE_DATABASE_URL"
            )
        named = parsed.set(drivername=_DRIVERS[parsed.get_backend_name()])
        # A connection is a thread on SQLite and a process on PostgreSQL: keep a few, make none in a hurry.
        # These are for writers, who take turns on SQLite; reads have their own.
        is_sqlite = named.get_backend_name() == "sqlite"
        engine = create_async_engine(
            named,
            pool_size=8,
            max_overflow=0,
            pool_pre_ping=not is_sqlite,
            connect_args={} if is_sqlite else connect_arguments(named),
        )
    except (ArgumentError, KeyError, ValueError) as error:
        shown = re.sub(r"(://[^:/@]*):[^@]*@", r"\1:***@", url)
        raise StorageError(
            f'"{shown}" is no database address that Segue can use. Give sqlite:///path/to/segue.db or '
            "postgresql://user@host/name in SEGUE_DATABASE_URL"
        ) from error
    if engine.dialect.name == "sqlite":
        event.listen(engine.sync_engine, "connect", _prepare_sqlite)
        event.listen(engine.sync_engine, "begin", _begin_sqlite)
        event.listen(engine.sync_engine, "invalidate", _undo_sqlite)
    return engine


def _create_read_engine(url: URL, connections: int, given_up: threading.Event) -> Engine:
    """The engine of reads: it cannot write, and each of its transactions sees one state of the records."""
    if url.get_backend_name() == "sqlite":
        # The driver that is awaited would change threads several times for each statement.
        engine = create_engine(url.set(drivername="sqlite"), pool_size=connections, max_overflow=0)
        event.listen(engine, "connect", _prepare_sqlite)
        event.listen(engine, "connect", _forbid_writing)
        event.listen(engine, "begin", _begin_sqlite)
        return engine
    engine = create_engine(
        url,
        pool_size=connections,
        max_overflow=0,
        pool_pre_ping=True,
        connect_args=connect_arguments(url),
        isolation_level="REPEATABLE READ",
        execution_options={"postgresql_readonly": True},
    )
    limit_reads(engine, given_up)
    return engine


def _prepare_sqlite(connection: Any, _record: object) -> None:
    connection.isolation_level = None  # we say BEGIN ourselves, below
    try:
        cursor = connection.cursor()
        for pragma in ("busy_timeout=30000", "synchronous=FULL", "foreign_keys=ON"):
            cursor.execute(f"PRAGMA {pragma}")
        cursor.close()
    except BaseException:
        connection.close()  # the pool does not know it yet, so nobody else would
        raise


def _forbid_writing(connection: Any, _record: object) -> None:
    connection.execute("PRAGMA query_only=ON")


def _undo_sqlite(connection: Any, _record: object, _error: BaseException | None) -> None:
    # A statement that was cut off goes on in its thread, and SQLite keeps a connection that has an open
    # statement, its lock included, beyond its closing. Undoing comes after the statement, and frees the lock.
    with suppress(sqlite3.Error):
        connection.rollback()


def _begin_sqlite(connection: Connection) -> None:
    # A transaction that will write takes its lock at once: a later upgrade could fail half-way.
    writes = connection.get_execution_options().get(_WRITE)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _migrate(connection: Connection) -> None:
    if connection.dialect.has_table(connection, "alembic_version"):
        present = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
        if present == HEAD:
            return
    from segue.adapters.storage.migrations.running import upgrade  # noqa: PLC0415  # Alembic is slow to import

    upgrade(connection)
