"""Opens the database, brings it to the newest schema, and runs transactions and reads on it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

from segue.adapters.storage import sqlite
from segue.adapters.storage.address import Address, parse_address
from segue.adapters.storage.migrations import is_current
from segue.adapters.storage.queries import SqlReads, SqlRows
from segue.adapters.storage.reader import THREADS, Reader
from segue.adapters.storage.views import SqlViews
from segue.adapters.storage.writer import Writer
from segue.domain.workers import IsGone

T = TypeVar("T")


class SqlStore:
    """The records of Segue. Writers of this process take turns; readers never wait for them."""

    def __init__(self, reader: Reader, writer: Writer) -> None:
        self.reader = reader
        self.writer = writer
        self.views = SqlViews(reader)
        self.on_commit: Sequence[Callable[[], None]] = ()
        """Called after every commit of this process, so that readers can look again."""

    async def write(self, act: Callable[[SqlRows], T]) -> T:
        """One transaction: committed if `act` returns, undone if it raises."""
        try:
            result = await self.writer.run(act)
        except asyncio.CancelledError:
            self._tell()  # it may have been committed before
            raise
        self._tell()
        return result

    def _tell(self) -> None:
        for tell in self.on_commit:
            tell()

    async def read(self, act: Callable[[SqlReads], T]) -> T:
        """What `act` finds in one state of the records."""
        return await self.reader.run(lambda rows: act(SqlReads(rows)))

    async def close(self) -> None:
        """Close every connection."""
        await self.reader.close()
        await self.writer.close()


async def open_database(
    url: str, *, readers: int = THREADS, user: str = "unknown", is_gone: IsGone | None = None
) -> SqlStore:
    """Open the database at `url`, made and migrated if need be; `StorageError` says why not.

    `readers` is how many reads run at once; the others wait in line. `user` is whose process this is: the
    audit trail names them where somebody else is not known to have done something. With `is_gone`, no
    database is migrated that an older Segue still works with.
    """
    address = parse_address(url)
    present = await asyncio.to_thread(_read_revision, address)
    if not is_current(present):
        from segue.adapters.storage.migrating import migrate

        await asyncio.to_thread(migrate, address, is_gone)
    if not address.is_postgres:
        return SqlStore(
            Reader(
                address,
                partial(sqlite.SqliteConnection, address.target),
                errors=sqlite.ERRORS,
                threads=readers,
            ),
            Writer(address, partial(sqlite.SqliteWriter, address.target), errors=sqlite.ERRORS, user=user),
        )
    from segue.adapters.storage import postgres

    given_up, errors = threading.Event(), postgres.ERRORS
    return SqlStore(
        Reader(
            address,
            partial(postgres.PostgresConnection, address.target, given_up),
            errors=errors,
            threads=readers,
            given_up=given_up,
        ),
        Writer(
            address,
            partial(postgres.PostgresWriter, address.target, threading.Event()),
            errors=errors,
            user=user,
        ),
    )


def _read_revision(address: Address) -> str | None:
    if not address.is_postgres:
        return sqlite.read_revision(address)
    from segue.adapters.storage import postgres

    return postgres.read_revision(address)
