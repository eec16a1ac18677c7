"""No alteration of the audit trail goes unnoticed."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
from collections import Counter
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from random import Random

import psycopg
import pytest
from psycopg.rows import dict_row
from sqlalchemy import text

from segue.adapters.storage.audit import read_chains
from segue.adapters.storage.database import SqlStore, open_database
from segue.adapters.storage.migrations.running import upgrade
from segue.adapters.storage.queries import SqlRows
from segue.adapters.storage.sqlite import SqliteConnection
from segue.application.views import AuditFilter
from segue.domain.audit import AuditKind
from segue.domain.audit_chain import (
    GENESIS,
    AuditReport,
    ChainedEntry,
    ChainHead,
    find_alterations,
    hash_entry,
    read_export,
    write_export,
)
from tests.audit.conftest import BEGAN, CHAINS, add_entries
from tests.audit.tampering import Row, Tampering, draw
from tests.storage.test_migrations import connected

CASES = 200
SEED = 14
ROWS = "SELECT * FROM audit_events ORDER BY id"


async def test_each_of_200_random_alterations_is_named(tmp_path: Path) -> None:
    path = tmp_path / "segue.db"
    store = await open_database(f"sqlite:///{path}")
    await add_entries(store)
    assert (await store.views.verify_audit()).is_whole
    await store.close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.row_factory = sqlite3.Row
        rows: list[Row] = [dict(row) for row in connection.execute(ROWS)]
    entries, random, done = in_order(path, rows), Random(SEED), Counter[str]()
    for number in range(CASES):
        case, copy = draw(random, rows, entries), tmp_path / f"{number}.db"
        shutil.copy(path, copy)
        with closing(sqlite3.connect(copy, isolation_level=None)) as connection:
            for statement in case.statements:
                assert connection.execute(statement).rowcount != 0, statement
        assert_named(verify(copy), case)
        done[case.name.split(":")[0].split()[0]] += 1
        copy.unlink()
    assert set(done) == {"edit", "delete", "insert", "reorder"}
    assert done.total() == CASES


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(12))
async def test_a_random_alteration_is_named_on_postgresql(postgres_url: str, seed: int) -> None:
    store = await open_database(postgres_url)
    try:
        await add_entries(store)
        found = await store.views.read_audit(list)
        with psycopg.connect(postgres_url, row_factory=dict_row) as connection:
            rows = connection.execute(ROWS).fetchall()
            known = {(e.chain, e.seq): e for e in found if isinstance(e, ChainedEntry)}
            entries = [known[row["pipeline_id"] or 0, row["seq"]] for row in rows]
            case = draw(Random(seed), rows, entries)
            for statement in case.statements:
                connection.execute(statement)
        assert_named(await store.views.verify_audit(), case)
    finally:
        await store.close()


def in_order(path: Path, rows: list[Row]) -> list[ChainedEntry]:
    """The rows as they are hashed."""
    known = {(entry.chain, entry.seq): entry for entry in read(path) if isinstance(entry, ChainedEntry)}
    return [known[row["pipeline_id"] or 0, row["seq"]] for row in rows]


def read(path: Path) -> list[ChainedEntry | ChainHead]:
    with closing(SqliteConnection(str(path))) as connection:
        return list(read_chains(connection))


def verify(path: Path) -> AuditReport:
    return find_alterations(read(path))


def assert_named(report: AuditReport, case: Tampering) -> None:
    assert not report.is_whole, case
    assert (case.chain, case.seq) in {(each.chain, each.seq) for each in report.alterations}, (case, report)


async def test_who_computes_everything_anew_is_noticed_by_a_head_noted_before(tmp_path: Path) -> None:
    store = await open_database(f"sqlite:///{tmp_path / 'segue.db'}")
    await add_entries(store)
    found = await store.views.read_audit(list)
    noted = (await store.views.verify_audit()).heads
    await add_entries(store)
    assert (await store.views.verify_audit(noted=noted)).is_whole, "the chains have grown, which is right"
    await store.close()
    forged: list[ChainedEntry] = []
    heads: dict[int, tuple[int, str]] = {}
    for entry in (each for each in found if isinstance(each, ChainedEntry)):
        changed = replace(entry, who="segue") if entry.chain == 1 else entry
        seq, previous = heads.get(entry.chain, (0, GENESIS))
        changed = replace(changed, seq=seq + 1, hash=hash_entry(replace(changed, seq=seq + 1), previous))
        heads[entry.chain] = (seq + 1, changed.hash)
        forged.append(changed)
    whole = [ChainHead(chain=chain, seq=seq, head=head) for chain, (seq, head) in heads.items()]
    assert find_alterations([*whole, *forged]).is_whole
    report = find_alterations([*whole, *forged], noted)
    assert [each.chain for each in report.alterations] == [1]
    assert "noted earlier" in report.alterations[0].problem
    assert [each.chain for each in find_alterations([], noted).alterations] == list(CHAINS)


async def test_chains_stay_whole_while_processes_write_at_once(database: SqlStore, database_url: str) -> None:
    other = await open_database(database_url)

    async def write(store: SqlStore, name: int) -> None:
        for number in range(12):

            def add(rows: SqlRows, number: int = number) -> None:
                for chain in (name % 3, 0, 5):
                    rows.audit(AuditKind.MESSAGE_SENT, BEGAN, pipeline_id=chain or None, number=number)
                if number % 4 == 3:
                    raise InterruptedError  # undone: it leaves no gap

            with suppress(InterruptedError):
                await store.write(add)

    await asyncio.gather(*(write((database, other)[name % 2], name) for name in range(8)))
    await other.close()
    report = await database.views.verify_audit()
    assert report.alterations == []
    assert (report.entries, report.chains) == (8 * 9 * 3, 4)


async def test_the_trail_of_an_older_database_is_chained_when_it_is_migrated(database_url: str) -> None:
    with connected(database_url) as connection:
        upgrade(connection, "0010")
        for pipeline in (1, 2):
            connection.execute(
                text(
                    "INSERT INTO pipelines (id, title, template, prompt, working_dir, plan_json, status, "
                    "created_at, updated_at) VALUES (:id, 't', 't', 'p', '/', '{}', 'done', :at, :at)"
                ),
                {"id": pipeline, "at": "2026-05-04 12:00:00.000000"},
            )
        for number, pipeline_id in enumerate((None, 1, 2, 1, None)):
            connection.execute(
                text(
                    "INSERT INTO audit_events (pipeline_id, event_type, payload_json, created_at) "
                    "VALUES (:pipeline, 'step_done', :payload, :at)"
                ),
                {
                    "pipeline": pipeline_id,
                    "payload": None if number == 3 else '{"z": 1,  "a": "\\u00e4"}',
                    "at": "2026-05-04 12:00:00.000123",
                },
            )
    store = await open_database(database_url)
    try:
        report = await store.views.verify_audit()
        assert report.alterations == []
        assert {head.chain: head.seq for head in report.heads} == {0: 2, 1: 2, 2: 1}
        await store.write(lambda rows: rows.audit(AuditKind.STEP_DONE, BEGAN, pipeline_id=1))
        newest, *older = (await store.views.audit(AuditFilter())).items
        assert (newest.seq, newest.who) == (3, "segue")
        assert newest.id > max(entry.id for entry in older)
        assert {entry.who for entry in older} == {None}
        with connected(database_url) as connection:
            connection.execute(text("DELETE FROM pipelines"))
        assert (await store.views.verify_audit()).entries == 6, "entries outlive their pipeline"
    finally:
        await store.close()


async def test_every_cut_and_every_changed_line_of_an_export_is_noticed(tmp_path: Path) -> None:
    store = await open_database(f"sqlite:///{tmp_path / 'segue.db'}")
    await add_entries(store, 12)
    lines = await store.views.read_audit(lambda found: list(write_export(found)))
    await store.close()
    assert find_alterations(read_export(lines)).is_whole
    for number, line in enumerate(lines):
        assert not find_alterations(read_export(lines[:number])).is_whole
        assert not find_alterations(read_export([*lines[:number], *lines[number + 1 :]])).is_whole
        for changed in (line[:-1], line.replace(":", ": ", 1), line.replace("1", "2", 1), f"{line} "):
            if changed != line:
                altered = [*lines[:number], changed, *lines[number + 1 :]]
                assert not find_alterations(read_export(altered)).is_whole, changed
