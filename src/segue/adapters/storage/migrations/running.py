"""Runs the migrations inside this process, on a connection that is open already."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from alembic.util.exc import CommandError
from sqlalchemy import Connection

from segue.domain.errors import StorageError


def upgrade(connection: Connection, revision: str = "head") -> None:
    """Bring the schema up to a revision."""
    try:
        command.upgrade(_config(connection), revision)
    except CommandError as error:
        raise StorageError(
            f"the database was made by another version of Segue ({error}). Use that one, or another database"
        ) from error


def downgrade(connection: Connection, revision: str) -> None:
    """Take the schema back to a revision; `base` is an empty database."""
    command.downgrade(_config(connection), revision)


def newest_revision() -> str | None:
    """The last revision in the folder."""
    return ScriptDirectory.from_config(_config(None)).get_current_head()


def _config(connection: Connection | None) -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    config.attributes["connection"] = connection
    return config
