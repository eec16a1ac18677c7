"""Opens the database, brings it to the newest schema, and hands out transactions and views."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import cached_property, partial
from typing import TYPE_CHECKING

from segue.adapters.storage import sqlite
from segue.adapters.storage.address import Address, parse_address
from segue.adapters.storage.migrations import HEAD
from segue.adapters.storage.reader import THREADS, Reader
from segue.adapters.storage.views import SqlViews

if TYPE_CHECKING:
    from segue.adapters.storage.unit_of_work import SqlUnitOfWork
    from segue.adapters.storage.writer import Writer


class SqlDatabase:
    """The records of Segue. Writers of this process take turns; readers never wait for them."""

    def __init__(self, address: Address, *, readers: int) -> None:
        self._address = address
        self.reader = _open_reader(address, readers)
        self.views = SqlViews(self.reader)
        self.on_commit: Sequence[Callable[[], None]] = ()
        """Called after every commit of this process, so that readers can look again."""

    @cached_property
    def writer(self) -> Writer:
        """What writes, loaded when something is first written: who only reads does without it."""
        from segue.adapters.storage.writer import Writer

        return Writer(self._address)

    @asynccontextmanager
    async def begin(self) -> AsyncIterator[SqlUnitOfWork]:
        """One write transaction; leaving it without `commit` undoes everything."""
        async with self.writer.begin(self.on_commit) as work:
            yield work

    async def close(self) -> None:
        """Close every connection."""
        await self.reader.close()
        if "writer" in vars(self):
            await self.writer.close()


async def open_database(url: str, *, readers: int = THREADS) -> SqlDatabase:
    """Open the database at `url`, made and migrated if need be; `StorageError` says why not.

    `readers` is how many reads run at once; the others wait in line.
    """
    address = parse_address(url)
    if await asyncio.to_thread(_read_revision, address) != HEAD:
        from segue.adapters.storage.writer import migrate

        await migrate(address)
    return SqlDatabase(address, readers=readers)


def _open_reader(address: Address, threads: int) -> Reader:
    if not address.is_postgres:
        connect = partial(sqlite.SqliteConnection, address.target)
        return Reader(address, connect, errors=sqlite.ERRORS, threads=threads)
    from segue.adapters.storage import postgres

    given_up = threading.Event()
    dial = partial(postgres.PostgresConnection, address.target, given_up)
    return Reader(address, dial, errors=postgres.ERRORS, threads=threads, given_up=given_up)


def _read_revision(address: Address) -> str | None:
    if not address.is_postgres:
        return sqlite.read_revision(address)
    from segue.adapters.storage import postgres

    return postgres.read_revision(address)
