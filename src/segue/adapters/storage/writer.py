"""Write transactions and migrations, on SQLAlchemy; loaded when something is written."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, nullcontext, suppress
from typing import Any

from sqlalchemy import URL, Connection, event, make_url, text
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession, create_async_engine

from segue.adapters.storage.address import Address
from segue.adapters.storage.failures import explain, explain_opening
from segue.adapters.storage.migrations import HEAD
from segue.adapters.storage.unit_of_work import SqlUnitOfWork
from segue.domain.errors import StorageError

_MIGRATION_LOCK = 7_301_001
"""Number of the PostgreSQL lock that lets one process at a time migrate."""


class Writer:
    """Hands out write transactions; on SQLite those of this process take turns."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self.engine = _create_engine(address)
        self._turn = None if address.is_postgres else asyncio.Lock()

    @asynccontextmanager
    async def begin(self, on_commit: Sequence[Callable[[], None]]) -> AsyncIterator[SqlUnitOfWork]:
        """One transaction; leaving it without `commit` undoes everything."""
        with _translated(self._address):
            async with self._turn or nullcontext():
                connection = await self.engine.connect()
                try:
                    async with AsyncSession(bind=connection, expire_on_commit=False) as session:
                        yield SqlUnitOfWork(session, on_commit)
                except asyncio.CancelledError:
                    # A BEGIN that was cut off may still be carried out: only closing frees its lock.
                    await asyncio.shield(connection.invalidate())
                    raise
                finally:
                    # A cancelled task must still give its connection back, or the pool runs dry.
                    await asyncio.shield(connection.close())

    async def close(self) -> None:
        """Close every connection."""
        await self.engine.dispose()


async def migrate(address: Address) -> None:
    """Bring the schema to the newest revision; one process at a time."""
    engine = _create_engine(address)
    try:
        async with engine.connect() as connection:
            if address.is_postgres:
                await connection.execute(text(f"SELECT pg_advisory_xact_lock({_MIGRATION_LOCK})"))
            await connection.run_sync(_upgrade)
            await connection.commit()
    except (DBAPIError, OSError) as error:
        raise StorageError(explain_opening(address, _driver_error(error))) from error
    finally:
        await engine.dispose()


def _upgrade(connection: Connection) -> None:
    if connection.dialect.has_table(connection, "alembic_version"):
        present = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
        if present == HEAD:
            return  # another process was first
    from segue.adapters.storage.migrations.running import upgrade  # Alembic is slow to import

    upgrade(connection)


@contextmanager
def _translated(address: Address) -> Iterator[None]:
    """A database that cannot be used now is a `StorageError`; a wrong statement stays what it is."""
    try:
        yield
    except (OperationalError, InterfaceError, PoolTimeoutError) as error:
        raise StorageError(explain(address, _driver_error(error))) from error


def _driver_error(error: Exception) -> Exception:
    orig = error.orig if isinstance(error, DBAPIError) else error
    return orig if isinstance(orig, Exception) else error


def _create_engine(address: Address) -> AsyncEngine:
    # A connection is a thread on SQLite and a process on PostgreSQL: keep a few, make none in a hurry.
    if address.is_postgres:
        from segue.adapters.storage.postgres import connect_arguments

        return create_async_engine(
            make_url(address.target).set(drivername="postgresql+psycopg"),
            pool_size=8,
            max_overflow=0,
            pool_pre_ping=True,
            connect_args=connect_arguments(address.target),
        )
    url = URL.create("sqlite+aiosqlite", database=address.target)
    engine = create_async_engine(url, pool_size=8, max_overflow=0)
    event.listen(engine.sync_engine, "connect", _prepare_sqlite)
    event.listen(engine.sync_engine, "begin", _begin_sqlite)
    event.listen(engine.sync_engine, "invalidate", _undo_sqlite)
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


def _undo_sqlite(connection: Any, _record: object, _error: BaseException | None) -> None:
    # A statement that was cut off continues in its thread, and SQLite keeps a connection that has an open
    # statement, its lock included, beyond its closing. Undoing comes after the statement, and frees the lock.
    with suppress(sqlite3.Error):
        connection.rollback()


def _begin_sqlite(connection: Connection) -> None:
    # A transaction that will write takes its lock at once: a later upgrade could fail half-way.
    connection.exec_driver_sql("BEGIN IMMEDIATE")
