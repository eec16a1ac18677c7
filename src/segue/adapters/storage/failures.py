"""What SQLAlchemy and the drivers say when a database cannot be reached, in one clear sentence."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import URL
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from segue.domain.errors import StorageError


@contextmanager
def translated(url: URL) -> Iterator[None]:
    """A database that cannot be used now is a `StorageError`; a wrong statement stays what it is."""
    try:
        yield
    except (OperationalError, InterfaceError, PoolTimeoutError) as error:
        raise StorageError(f"cannot use the database {_place(url)}: {_cause(error)}") from error


def explain_opening(url: URL, error: Exception) -> str:
    """Why a database could not be opened, and what to do."""
    what_to_do = "Check it"
    if url.get_backend_name() == "postgresql":
        what_to_do = "Check that the server runs and lets you in"
    elif isinstance(error, OperationalError | sqlite3.OperationalError):
        what_to_do = "Check that its folder exists and can be written"
    return f"cannot open the database {_place(url)}: {_cause(error)}. {what_to_do}, or set SEGUE_DATABASE_URL"


def _place(url: URL) -> str:
    is_file = url.get_backend_name() == "sqlite"
    return str(url.database) if is_file else url.render_as_string(hide_password=True)


def _cause(error: Exception) -> str:
    lines = str(error.orig if isinstance(error, DBAPIError) else error).strip().splitlines()
    return lines[0].strip().rstrip(".") if lines else type(error).__name__
