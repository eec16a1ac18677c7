"""Which worker may take up a run whose worktree is on one machine."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from segue.adapters.storage.database import SqlStore
from segue.adapters.storage.queries import SqlRows
from segue.application.pipelines.leases import (
    join_workers,
    leave_workers,
    remove_silent,
    resume_run,
)
from segue.domain.errors import IllegalMove
from segue.domain.repository_source import Bundle, RepositorySource
from segue.domain.workers import Worker
from tests.storage.test_store import NOW, add_pipeline, worker

SOURCE = RepositorySource(name="file:///srv/a.git", url="file:///srv/a.git", base="a" * 40)


def at(home: str, name: str) -> Worker:
    return replace(worker(name), home=home)


async def begin(database: SqlStore, source: RepositorySource | None, *workers: Worker) -> None:
    """A run of the first of these workers, which began at its home."""

    def add(rows: SqlRows) -> None:
        for each in workers:
            join_workers(rows, each)
        made = add_pipeline(rows)
        rows.claim(made.id, workers[0].id)
        found = rows.pipeline(made.id)
        rows.save_run(found, replace(found, source=source, home=workers[0].home))

    await database.write(add)


async def offered(database: SqlStore, home: str) -> list[bool]:
    """For each run that is offered at a home, whether it is at home there."""
    return [each.is_at_home for each in await database.read(lambda rows: rows.offers(limit=9, home=home))]


async def test_a_worker_of_the_same_machine_goes_first(database: SqlStore) -> None:
    dead = at("one", "dead")
    await begin(database, SOURCE, dead, at("one", "neighbour"), at("two", "other"))
    await database.write(lambda rows: leave_workers(rows, dead))
    assert await offered(database, "one") == [True]
    assert await offered(database, "two") == []

    def let_time_pass(rows: SqlRows) -> None:
        found = rows.pipeline(1)
        assert found.home_until is not None
        assert timedelta(0) < found.home_until - rows.now() <= timedelta(seconds=5)
        rows.save_run(found, replace(found, home_until=rows.now()))

    await database.write(let_time_pass)
    assert await offered(database, "two") == [False]


async def test_without_another_one_there_nobody_waits(database: SqlStore) -> None:
    dead, silent = at("one", "dead"), at("one", "silent")
    await begin(database, SOURCE, dead, silent, at("two", "other"))

    def fall_silent(rows: SqlRows) -> None:
        for each in rows.find(Worker, home="one"):
            rows.save(each, replace(each, heartbeat_at=rows.now() - timedelta(seconds=6)))
        for each in rows.find(Worker, home="one"):
            assert remove_silent(rows, each)

    await database.write(fall_silent)
    assert await offered(database, "two") == [False]


async def test_what_only_one_machine_can_work_on_waits_for_it(database: SqlStore) -> None:
    dead, other = at("one", "dead"), at("two", "other")
    await begin(database, None, dead, other)
    await database.write(lambda rows: leave_workers(rows, dead))
    assert await offered(database, "two") == []
    assert await offered(database, "one") == [True]
    with pytest.raises(IllegalMove, match="the files of pipeline 1 are on one alone"):
        await database.write(lambda rows: resume_run(rows, 1, other, NOW))
    again = await database.write(lambda rows: resume_run(rows, 1, at("one", "again"), NOW))
    assert again.pipeline_id == 1


async def test_on_one_machine_there_are_no_homes(database: SqlStore) -> None:
    alone = worker("alone")
    await begin(database, None, alone)
    await database.write(lambda rows: leave_workers(rows, alone))
    found = await database.read(lambda rows: rows.offers(limit=9))
    assert [each.is_at_home for each in found] == [False]


async def test_bundles_come_back_as_they_were_and_go_with_their_run(database: SqlStore) -> None:
    await begin(database, SOURCE, at("one", "w"))
    whole = bytes(range(256)) * 1000

    def add(rows: SqlRows) -> None:
        base = Bundle(pipeline_id=None, repository=SOURCE.name, tip="a" * 40, content=whole, created_at=NOW)
        rows.insert_all([base, replace(base, pipeline_id=1, tip="b" * 40)])

    await database.write(add)
    found = await database.read(lambda rows: rows.find(Bundle, pipeline_id=1))
    assert [(each.tip, each.content) for each in found] == [("b" * 40, whole)]
    assert await database.read(lambda rows: rows.begun_from(SOURCE.name)) == ["a" * 40]
    assert (await database.read(lambda rows: rows.pipeline(1))).source == SOURCE
    await database.write(lambda rows: rows.delete(rows.pipeline(1)))
    left = await database.read(lambda rows: rows.find(Bundle))
    assert [each.tip for each in left] == ["a" * 40]
