"""How the schema comes to be, and what is said when it cannot."""

from __future__ import annotations

import asyncio
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Connection, create_engine, inspect, text

from segue.adapters.processes import LocalProcesses
from segue.adapters.storage.database import SqlStore, open_database
from segue.adapters.storage.migrations import HEAD
from segue.adapters.storage.migrations.running import downgrade, newest_revision, upgrade
from segue.adapters.storage.queries import SqlRows
from segue.adapters.storage.trail_tables import Base
from segue.application.views import PipelineFilter
from segue.domain.errors import StorageError

TABLES = {*Base.metadata.tables, "alembic_version"}
TEXT_TABLE = "pipelines_text"
"""The index of texts of SQLite, with the tables that it keeps for itself."""


@contextmanager
def connected(url: str) -> Iterator[Connection]:
    """A plain connection that knows nothing of Segue."""
    engine = create_engine(url.replace("postgresql://", "postgresql+psycopg://"))
    with engine.begin() as connection:
        yield connection
    engine.dispose()


def ask(url: str, question: Callable[[Connection], Any]) -> Any:
    """An answer from the database."""
    with connected(url) as connection:
        return question(connection)


def table_names(url: str) -> set[str]:
    names = ask(url, lambda connection: inspect(connection).get_table_names())
    return {name for name in names if not name.startswith(TEXT_TABLE)}


def differences(connection: Connection) -> list[Any]:
    """What a new migration would have to change; none if models and migrations agree."""
    # SQLite gives defaults back in quotes, so they are compared on PostgreSQL alone.
    defaults = connection.dialect.name == "postgresql"
    options: dict[str, Any] = {"compare_type": True, "compare_server_default": defaults}
    options["include_name"] = lambda name, _kind, _parents: TEXT_TABLE not in (name or "")
    context = MigrationContext.configure(connection, opts=options)
    return list(compare_metadata(context, Base.metadata))


async def refused(url: str) -> str:
    """The sentence that is said when a database cannot be opened."""
    with pytest.raises(StorageError) as caught:
        await open_database(url)
    sentence = str(caught.value)
    assert "\n" not in sentence
    assert len(sentence) < 400
    return sentence


def test_the_head_that_start_up_compares_is_the_newest_revision() -> None:
    assert newest_revision() == HEAD


def test_up_from_empty_then_down_to_nothing_then_up_again(database_url: str) -> None:
    with connected(database_url) as connection:
        upgrade(connection)
    assert table_names(database_url) == TABLES
    with connected(database_url) as connection:
        downgrade(connection, "base")
    assert table_names(database_url) == {"alembic_version"}
    with connected(database_url) as connection:
        upgrade(connection)
    assert table_names(database_url) == TABLES


def test_the_models_and_the_migrations_do_not_drift_apart(database_url: str) -> None:
    with connected(database_url) as connection:
        upgrade(connection)
    assert ask(database_url, differences) == []


def test_a_drift_would_be_seen(database_url: str) -> None:
    with connected(database_url) as connection:
        upgrade(connection)
        connection.execute(text("ALTER TABLE handoffs DROP COLUMN injection_prompt"))
    assert ask(database_url, differences) != []


async def test_opening_makes_the_newest_schema_and_opening_again_changes_nothing(database_url: str) -> None:
    for _ in range(2):
        database = await open_database(database_url)
        assert (await database.views.pipelines(PipelineFilter())).items == []
        await database.close()
    version = "SELECT version_num FROM alembic_version"
    assert ask(database_url, lambda connection: connection.execute(text(version)).scalar()) == HEAD


@pytest.mark.thorough
async def test_processes_that_open_a_new_database_at_once_all_succeed(database_url: str) -> None:
    program = (
        "import asyncio, sys\n"
        "from segue.adapters.storage.database import open_database\n"
        "import segue.adapters.storage.migrations.running\n"
        "async def main():\n"
        "    print('ready', flush=True); sys.stdin.readline()\n"
        "    database = await open_database(sys.argv[1])\n"
        "    await database.close()\n"
        "asyncio.run(main())\n"
    )
    pipe = asyncio.subprocess.PIPE
    processes = [
        await asyncio.create_subprocess_exec(
            sys.executable, "-c", program, database_url, stdin=pipe, stdout=pipe, stderr=pipe
        )
        for _ in range(3)
    ]
    for process in processes:
        assert process.stdout is not None
        assert await process.stdout.readline() == b"ready\n"
    ends = await asyncio.gather(*(process.communicate(b"go\n") for process in processes))
    assert [(process.returncode, err) for process, (_, err) in zip(processes, ends, strict=True)] == [
        (0, b"")
    ] * 3
    assert table_names(database_url) == TABLES


async def test_many_openings_of_a_new_database_in_one_process_all_succeed(database_url: str) -> None:
    opened = await asyncio.gather(*(open_database(database_url) for _ in range(8)))
    await asyncio.gather(*(database.close() for database in opened))
    assert table_names(database_url) == TABLES


async def test_nothing_is_migrated_while_an_older_segue_works_with_it(database_url: str) -> None:
    processes = LocalProcesses()
    worker = processes.me(datetime.now(UTC))
    with connected(database_url) as connection:
        upgrade(connection, "0005")
        values = ":id, :host, :pid, :process_started_at, :heartbeat_at"
        names = values.replace(":", "")
        connection.execute(text(f"INSERT INTO workers ({names}) VALUES ({values})"), asdict(worker))
    with pytest.raises(StorageError, match=f"older Segue works with this database .process {worker.pid} on "):
        await open_database(database_url, is_gone=processes.is_gone)
    version = "SELECT version_num FROM alembic_version"
    assert ask(database_url, lambda connection: connection.execute(text(version)).scalar()) == "0005"
    with connected(database_url) as connection:
        connection.execute(text("UPDATE workers SET process_started_at = 1"))
    await (await open_database(database_url, is_gone=processes.is_gone)).close()
    assert ask(database_url, lambda connection: connection.execute(text(version)).scalar()) == HEAD
    if database_url.startswith("sqlite"):
        # The copy is of the moment before the migration: what the older Segue wrote until then is in it.
        written = "SELECT process_started_at FROM workers"
        assert ask(f"{database_url}.0005", lambda kept: kept.execute(text(written)).scalar()) == 1


async def test_a_database_of_a_newer_segue_is_refused_and_left_as_it_is(database_url: str) -> None:
    await (await open_database(database_url)).close()
    with connected(database_url) as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    sentence = await refused(database_url)
    assert "made by another version of Segue" in sentence
    assert "9999" in sentence
    assert table_names(database_url) == TABLES


async def test_a_file_that_is_no_database_is_named(tmp_path: Path) -> None:
    path = tmp_path / "notes.db"
    path.write_text("These are my notes, and not a database at all.\n" * 100)
    sentence = await refused(f"sqlite:///{path}")
    assert sentence.startswith(f"cannot open the database {path}: file is not a database.")
    assert path.read_text().startswith("These are my notes")


async def test_a_folder_that_cannot_be_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    sentence = await refused(f"sqlite:///{tmp_path}/file/segue.db")
    assert f"cannot open the database {tmp_path}/file/segue.db: unable to open database file" in sentence
    assert "Check that its folder exists and can be written" in sentence


async def test_a_folder_in_place_of_the_file_is_named(tmp_path: Path) -> None:
    assert str(tmp_path) in await refused(f"sqlite:///{tmp_path}")


@pytest.mark.parametrize(
    "url", ["nonsense", "mysql://me@host/db", "sqlite:/half", "postgresql://host:port/db", "://", ""]
)
async def test_an_address_that_is_none_is_named_with_what_would_do(url: str) -> None:
    sentence = await refused(url)
    assert "is not a database address" in sentence
    assert "SEGUE_DATABASE_URL" in sentence


async def test_a_password_is_never_repeated(tmp_path: Path) -> None:
    for url in (f"postgresql://me:swordfish@/db?host={tmp_path}", "mysql://me:swordfish@host/db"):
        assert "swordfish" not in await refused(url)


async def test_a_server_that_is_not_there_is_named(tmp_path: Path) -> None:
    sentence = await refused(f"postgresql://me@/db?host={tmp_path}")
    assert "cannot open the database postgresql" in sentence
    assert "folder exists" not in sentence


async def test_a_database_in_memory_is_refused_as_it_would_not_outlive_a_crash() -> None:
    for url in ("sqlite://", "sqlite:///:memory:"):
        assert "memory" in await refused(url)


@pytest.mark.parametrize("form", ["postgres://", "postgresql+psycopg://"])
async def test_other_ways_to_write_the_address_are_understood(postgres_url: str, form: str) -> None:
    database = await open_database(postgres_url.replace("postgresql://", form))
    assert await database.views.last_entry_id() == 0
    await database.close()


async def test_sqlite_is_in_wal_mode_with_foreign_keys_on_in_every_connection(tmp_path: Path) -> None:
    database = await open_database(f"sqlite:///{tmp_path / 'test.db'}")

    async def pragmas(database: SqlStore) -> tuple[Any, ...]:
        names = ("journal_mode", "foreign_keys", "synchronous")

        def ask_all(rows: SqlRows) -> tuple[Any, ...]:
            return tuple(rows._connection.all(f"PRAGMA {name}")[0][name] for name in names)

        return await database.write(ask_all)

    assert await pragmas(database) == ("wal", 1, 2)
    await database.close()
    database = await open_database(f"sqlite:///{tmp_path / 'test.db'}")
    assert await pragmas(database) == ("wal", 1, 2)  # a new connection, too
    await database.close()


async def test_the_file_of_the_database_is_where_the_address_says(tmp_path: Path) -> None:
    path = tmp_path / "100% größer" / "my data.db"
    path.parent.mkdir()
    await (await open_database(f"sqlite:///{path}")).close()
    assert stat.S_ISREG(path.stat().st_mode)
