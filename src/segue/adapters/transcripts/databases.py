"""Opens the databases of other tools to read only; what is damaged in them is nothing, or a sentence."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from segue.domain.errors import InvalidRequest

_MAGIC = b"SQLite format 3\0"
LONGEST_ROW = 16_000_000
"""Bytes; a longer one holds pictures, and is skipped."""


def is_database(path: Path) -> bool:
    """True if it is a database and no text."""
    with path.open("rb") as stream:
        return stream.read(len(_MAGIC)) == _MAGIC


@contextmanager
def reading_only(path: Path, what: str) -> Iterator[sqlite3.Connection]:
    """The database, which is not changed; a sentence where it cannot be read as `what`."""
    try:
        with closing(_open(path)) as database:
            database.row_factory = sqlite3.Row
            database.text_factory = lambda data: data.decode("utf-8", "replace")
            yield database
    except sqlite3.Error as error:
        raise InvalidRequest(f"{path} cannot be read as {what} ({error})") from error


def columns_of(path: Path, table: str) -> frozenset[str]:
    """The columns of a table; none if there is no such table, or no database that can be read."""
    try:
        with closing(_open(path)) as database:
            return frozenset(str(row[1]) for row in database.execute(f"PRAGMA table_info({table})"))
    except sqlite3.Error:
        return frozenset()


def decoded(data: Any) -> Any:
    """The JSON in a column; none if it is damaged, or nothing."""
    try:
        return json.loads(data, strict=False)
    except (TypeError, ValueError, RecursionError):
        return None


def _open(path: Path) -> sqlite3.Connection:
    address = f"file:{quote(str(path.absolute()))}?mode=ro"
    database = sqlite3.connect(address, uri=True, timeout=5)
    try:
        database.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()
    except sqlite3.OperationalError:
        database.close()  # nobody writes to it and its folder is write-protected
        database = sqlite3.connect(address + "&immutable=1", uri=True, timeout=5)
    return database
