"""Brings a schema to the newest revision, on SQLAlchemy and Alembic; loaded when it must be."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import MISSING, fields
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    URL,
    Connection,
    DateTime,
    Engine,
    column,
    create_engine,
    event,
    make_url,
    select,
    table,
    text,
)
from sqlalchemy.exc import DBAPIError

from segue.adapters.private_files import prepare_sqlite_file
from segue.adapters.storage.address import Address
from segue.adapters.storage.failures import explain_opening
from segue.adapters.storage.migrations import HEAD, is_current, is_older, works_with
from segue.domain.errors import StorageError
from segue.domain.workers import IsGone, Worker

_MIGRATION_LOCK = 7_301_001
"""Number of the PostgreSQL lock that lets one process at a time migrate."""


def migrate(address: Address, is_gone: IsGone | None = None) -> None:
    """Bring the schema to the newest revision, one process at a time; an older file is copied first.

    Refused while an older Segue works with the database, unless the newer schema only adds to the older one:
    it would write what the new tables do not take.
    """
    engine = _open(address)
    try:
        with engine.connect() as connection:
            if address.is_postgres:
                connection.execute(text(f"SELECT pg_advisory_xact_lock({_MIGRATION_LOCK})"))
            _upgrade(connection, address, is_gone)
            connection.commit()
    except (DBAPIError, OSError, sqlite3.Error) as error:
        raise StorageError(explain_opening(address, _driver_error(error))) from error
    finally:
        engine.dispose()


def _copy(path: str, to: str) -> None:
    """What an older Segue can still open, should it be needed again; one from an earlier try is replaced."""
    prepare_sqlite_file(to)
    with closing(sqlite3.connect(path)) as present, closing(sqlite3.connect(to)) as kept:
        present.backup(kept)


def _upgrade(connection: Connection, address: Address, is_gone: IsGone | None) -> None:
    if connection.dialect.has_table(connection, "alembic_version"):
        present = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
        if is_current(present):
            return  # another process was first
        if present is not None and is_older(HEAD, present):
            raise StorageError(
                f"the database was made by another version of Segue, a newer one (revision {present}; this "
                f"one has {HEAD}). Use that one, or another database"
            )
        is_additive = present is not None and works_with(present)
        if is_gone is not None and not is_additive and connection.dialect.has_table(connection, "workers"):
            _refuse_beside_others(connection, is_gone)
        if not address.is_postgres and present is not None and is_older(present):
            _copy(address.target, f"{address.target}.{present}")  # nobody writes: the lock is ours
    from segue.adapters.storage.migrations.running import upgrade  # Alembic is slow to import

    upgrade(connection)


def _refuse_beside_others(connection: Connection, is_gone: IsGone) -> None:
    names = [each.name for each in fields(Worker) if each.default is MISSING]  # the others came later
    found = select(
        *(column(name, DateTime(timezone=True) if name == "heartbeat_at" else None) for name in names)
    )
    # Heartbeats are written by the database's clock; that of a file is this machine's.
    is_shared = connection.dialect.name == "postgresql"
    now = connection.scalar(text("SELECT clock_timestamp()")) if is_shared else datetime.now(UTC)
    for row in connection.execute(found.select_from(table("workers"))).mappings():
        beat = row["heartbeat_at"]
        worker = Worker(**{**row, "heartbeat_at": beat if beat.tzinfo else beat.replace(tzinfo=UTC)})
        if not is_gone(worker, now):
            raise StorageError(
                f"an older Segue works with this database (process {worker.pid} on "
                f"{worker.host.partition('/')[0]}). Stop it, then start this one again: the database is "
                "brought up to date then"
            )


def _driver_error(error: Exception) -> Exception:
    orig = error.orig if isinstance(error, DBAPIError) else error
    return orig if isinstance(orig, Exception) else error


def _open(address: Address) -> Engine:
    if address.is_postgres:
        from segue.adapters.storage.postgres import connect_arguments

        url = make_url(address.target).set(drivername="postgresql+psycopg")
        return create_engine(url, connect_args=connect_arguments(address.target))
    engine = create_engine(URL.create("sqlite", database=address.target))
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _prepare_sqlite(connection: Any, _record: object) -> None:
    connection.isolation_level = None  # we say BEGIN ourselves, below
    # Foreign keys stay off: a table that is made anew would take the rows that point to it with it.
    for pragma in ("busy_timeout=30000", "synchronous=FULL"):
        connection.execute(f"PRAGMA {pragma}")


def _begin_sqlite(connection: Connection) -> None:
    connection.exec_driver_sql("BEGIN IMMEDIATE")
