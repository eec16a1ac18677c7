"""Transactions, leases and the order of the audit trail, on both kinds of database."""

from __future__ import annotations

import asyncio
import json
import sys
import threading
import time
from contextlib import suppress
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy import make_url

from segue.adapters.storage.codec import column_of
from segue.adapters.storage.database import SqlStore, open_database
from segue.adapters.storage.gateway import TABLES
from segue.adapters.storage.queries import SqlRows
from segue.adapters.storage.trail_tables import Base
from segue.application.pipelines.leases import beat, take_again, take_lease
from segue.application.pipelines.transactions import (
    create_pipeline,
    request_abort,
)
from segue.application.views import PipelineFilter
from segue.domain.audit import AuditEntry, AuditKind
from segue.domain.catalog import AgentProfile, Plan
from segue.domain.errors import AlreadyThere, LeaseLost, PipelineNotFound, StorageError
from segue.domain.pipeline import Lease, Pipeline, PipelineStatus, Step
from segue.domain.session import Session
from segue.domain.template import PipelineTemplate, TemplateStep
from segue.domain.workers import Worker
from segue.domain.workspace import Workspace, WorkspaceChoice, WorkspaceKind

NOW = datetime(2026, 2, 20, 14, 30, tzinfo=UTC)
PLAN = Plan(
    template=PipelineTemplate(steps=(TemplateStep(agent="developer"),)), agents={"developer": AgentProfile()}
)
PLACE = Workspace(kind=WorkspaceKind.WORKTREE, path="/")


def new_pipeline(title: str = "t", key: str | None = None) -> Pipeline:
    return Pipeline(
        title=title,
        template="custom",
        prompt="p",
        branch=None,
        working_dir="/",
        plan=PLAN,
        idempotency_key=key,
        workspace_choice=WorkspaceChoice.AUTO,
        created_at=NOW,
        updated_at=NOW,
        steps=(Step(agent_name="developer", order_index=0, description="", model=None, timeout=None),),
    )


def new_session(key: str = "k", parent_id: int | None = None) -> Session:
    return Session(
        name="helper",
        backend="scripted",
        key=key,
        parent_id=parent_id,
        title="The button",
        model=None,
        working_dir="/project",
        profile=AgentProfile(backend="scripted", options={"actions": [{"say": "größer 🚀"}]}),
        base_mark="a" * 40,
        started_at=NOW,
    )


def worker(name: str) -> Worker:
    return Worker(id=name, host="h", pid=1, process_started_at=1.5, heartbeat_at=NOW)


def add_pipeline(rows: SqlRows, title: str = "t", key: str | None = None) -> Pipeline:
    return create_pipeline(rows, new_pipeline(title, key), PLACE, worker=None)[0]


async def add_pipelines(database: SqlStore, count: int) -> list[int]:
    """Save some pipelines, pending; gives their ids."""

    def add(rows: SqlRows) -> list[int]:
        return [add_pipeline(rows, str(number)).id for number in range(count)]

    return await database.write(add)


async def add_workers(database: SqlStore, *names: str) -> None:
    await database.write(lambda rows: rows.insert_all([worker(name) for name in names]))


async def lease_next(database: SqlStore, worker_id: str) -> Lease | None:
    """Take the oldest run that is free; none if there is none."""
    while offers := await database.read(lambda rows: rows.offers(limit=1)):
        lease = await database.write(lambda rows: take_lease(rows, offers[0], worker(worker_id), NOW))
        if lease is not None:  # else somebody was faster
            return lease
    return None


async def get(database: SqlStore, pipeline_id: int) -> Pipeline:
    return await database.read(lambda rows: rows.pipeline(pipeline_id))


class TestCommit:
    async def test_an_error_undoes_everything_and_the_next_transaction_works(
        self, database: SqlStore
    ) -> None:
        def add_and_break(rows: SqlRows) -> None:
            rows.insert(worker("w1"))
            rows.insert(new_session())
            add_pipeline(rows)
            raise RuntimeError("stop")

        with pytest.raises(RuntimeError, match="stop"):
            await database.write(add_and_break)
        assert (await database.views.pipelines(PipelineFilter())).items == []
        assert (await database.views.sessions()).items == []
        assert await database.views.entries_after(0) == []
        assert await database.views.workers() == []
        assert len(await add_pipelines(database, 1)) == 1

    async def test_one_who_is_cancelled_is_told_so_after_the_whole_transaction(
        self, database: SqlStore
    ) -> None:
        begun, may_end = threading.Event(), threading.Event()

        def add_slowly(rows: SqlRows) -> None:
            add_pipeline(rows)
            begun.set()
            assert may_end.wait(120)
            rows.insert(worker("w1"))

        task = asyncio.create_task(database.write(add_slowly))
        await asyncio.to_thread(begun.wait, 120)
        task.cancel()
        await asyncio.sleep(0)
        assert not task.done()
        may_end.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert len((await database.views.pipelines(PipelineFilter())).items) == 1
        assert [each.id for each in await database.views.workers()] == ["w1"]

    async def test_one_who_is_cancelled_before_it_began_writes_nothing(self, database: SqlStore) -> None:
        begun, may_end = threading.Event(), threading.Event()

        def hold(_rows: SqlRows) -> None:
            begun.set()
            assert may_end.wait(120)

        holding = asyncio.create_task(database.write(hold))
        await asyncio.to_thread(begun.wait, 120)
        waiting = asyncio.create_task(add_pipelines(database, 1))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        may_end.set()
        await holding
        assert (await database.views.pipelines(PipelineFilter())).items == []

    async def test_nothing_is_seen_by_others_before_the_commit(
        self, database: SqlStore, database_url: str
    ) -> None:
        other = await open_database(database_url)
        begun, may_end = threading.Event(), threading.Event()

        def add(rows: SqlRows) -> None:
            add_pipeline(rows)
            begun.set()
            assert may_end.wait(120)

        adding = asyncio.create_task(database.write(add))
        await asyncio.to_thread(begun.wait, 120)
        assert (await other.views.pipelines(PipelineFilter())).items == []
        may_end.set()
        await adding
        assert len((await other.views.pipelines(PipelineFilter())).items) == 1
        await other.close()

    async def test_readers_are_woken_after_a_commit_and_not_after_a_failure(self, database: SqlStore) -> None:
        woken: list[int] = []
        database.on_commit = [lambda: woken.append(1)]

        def add_and_break(rows: SqlRows) -> None:
            add_pipeline(rows)
            raise RuntimeError("stop")

        with pytest.raises(RuntimeError):
            await database.write(add_and_break)
        assert woken == []
        await add_pipelines(database, 1)
        assert woken == [1]

    async def test_one_that_fails_hurts_none_of_those_that_are_committed_with_it(
        self, database: SqlStore
    ) -> None:
        begun, may_end = threading.Event(), threading.Event()

        def hold(_rows: SqlRows) -> None:
            begun.set()
            assert may_end.wait(120)

        def add_and_break(rows: SqlRows) -> None:
            rows.insert(worker("broken"))
            raise RuntimeError("stop")

        def refuse(rows: SqlRows) -> None:
            rows.fence(Lease(4711, 1))

        holding = asyncio.create_task(database.write(hold))
        await asyncio.to_thread(begun.wait, 120)
        jobs = [
            database.write(lambda rows: rows.insert(worker("w1"))),
            database.write(refuse),
            database.write(add_and_break),
            database.write(lambda rows: rows.insert(worker("w2"))),
        ]
        running = asyncio.ensure_future(asyncio.gather(*jobs, return_exceptions=True))
        await asyncio.sleep(0)
        may_end.set()
        _, refused, broken, _ = await running
        await holding
        assert isinstance(refused, LeaseLost)
        assert isinstance(broken, RuntimeError)
        assert sorted(each.id for each in await database.views.workers()) == ["w1", "w2"]


class TestRecords:
    async def test_a_pipeline_comes_back_as_it_was_saved(self, database: SqlStore) -> None:
        added = await database.write(lambda rows: add_pipeline(rows, "größer 🚀", key="k"))
        assert await get(database, added.id) == added
        assert added.created_at == NOW

    async def test_a_session_comes_back_as_it_was_saved(self, database: SqlStore) -> None:
        saved = await database.write(lambda rows: rows.insert(new_session()))
        assert await database.read(lambda rows: rows.get(Session, saved.id)) == saved

    async def test_an_idempotency_key_is_used_once(self, database: SqlStore) -> None:
        first = await database.write(lambda rows: add_pipeline(rows, key="k"))
        assert await database.write(lambda rows: add_pipeline(rows, key="k")) == first
        with pytest.raises(AlreadyThere):
            await database.write(lambda rows: rows.insert(new_pipeline(key="k")))

    async def test_a_pipeline_that_does_not_exist_is_named(self, database: SqlStore) -> None:
        with pytest.raises(PipelineNotFound, match="no pipeline 4711"):
            await get(database, 4711)


class TestClaims:
    async def test_the_oldest_free_pipeline_comes_first(self, database: SqlStore) -> None:
        ids = await add_pipelines(database, 3)
        await add_workers(database, "w1")
        leases = [await lease_next(database, "w1") for _ in range(4)]
        assert leases == [*(Lease(pipeline_id, 1) for pipeline_id in ids), None]
        assert (await get(database, ids[0])).status is PipelineStatus.RUNNING

    async def test_what_has_ended_is_never_claimed(self, database: SqlStore) -> None:
        [pipeline_id] = await add_pipelines(database, 1)
        pipeline = await get(database, pipeline_id)
        aborted = pipeline.request_abort("enough", NOW).abort(NOW)
        await database.write(lambda rows: rows.save_run(pipeline, aborted))
        await add_workers(database, "w1")
        assert await lease_next(database, "w1") is None

    async def test_removing_a_worker_frees_its_pipelines_and_no_others(self, database: SqlStore) -> None:
        ids = await add_pipelines(database, 2)
        await add_workers(database, "w1", "w2")
        await lease_next(database, "w1")
        await lease_next(database, "w2")
        await database.write(lambda rows: rows.delete(worker("w1")))
        assert await lease_next(database, "w2") == Lease(ids[0], 2)
        assert await lease_next(database, "w2") is None

    async def test_the_former_owner_is_stopped_by_a_new_lease(self, database: SqlStore) -> None:
        [pipeline_id] = await add_pipelines(database, 1)
        await add_workers(database, "w1", "w2")
        first = await lease_next(database, "w1")
        assert first is not None
        second = await database.write(lambda rows: take_again(rows, first, worker("w2")))
        with pytest.raises(LeaseLost, match=f"pipeline {pipeline_id} was taken over"):
            await database.write(lambda rows: rows.fence(first))
        assert await database.write(lambda rows: rows.fence(second)) is None
        assert (await get(database, pipeline_id)).worker_id == "w2"
        assert await database.read(lambda rows: rows.orders([first])) == {first: None}
        assert await database.read(lambda rows: rows.orders([second])) == {}

    async def test_an_abort_that_was_asked_for_is_an_order(self, database: SqlStore) -> None:
        [pipeline_id] = await add_pipelines(database, 1)
        await add_workers(database, "w1")
        lease = await lease_next(database, "w1")
        assert lease is not None
        await database.write(lambda rows: request_abort(rows, pipeline_id, "enough", NOW))
        assert await database.read(lambda rows: rows.orders([lease])) == {lease: "enough"}
        assert await database.write(lambda rows: rows.fence(lease)) == "enough"

    async def test_a_worker_that_was_removed_adds_itself_again_and_keeps_what_nobody_took(
        self, database: SqlStore
    ) -> None:
        await add_pipelines(database, 1)
        await add_workers(database, "w1")
        lease = await lease_next(database, "w1")
        assert lease is not None
        await database.write(lambda rows: rows.delete(worker("w1")))
        learnt = await database.write(lambda rows: beat(rows, worker("w1"), [lease]))
        assert (learnt.orders, learnt.owned) == ({}, {lease})
        assert [each.id for each in await database.views.workers()] == ["w1"]

    async def test_twenty_claimers_at_two_doors_never_get_the_same(
        self, database: SqlStore, database_url: str
    ) -> None:
        ids = await add_pipelines(database, 60)
        await add_workers(database, *(f"w{number}" for number in range(20)))
        other = await open_database(database_url)

        async def lease_all(door: SqlStore, name: str) -> list[int]:
            leased = []
            while lease := await lease_next(door, name):
                leased.append(lease.pipeline_id)
            return leased

        doors = (database, other)
        found = await asyncio.gather(*(lease_all(doors[n % 2], f"w{n}") for n in range(20)))
        await other.close()
        assert sorted(pipeline_id for leased in found for pipeline_id in leased) == ids

    @pytest.mark.thorough
    async def test_two_processes_never_claim_the_same(self, database: SqlStore, database_url: str) -> None:
        ids = await add_pipelines(database, 40)
        await add_workers(database, "w1", "w2")
        program = (
            "import asyncio, json, sys\n"
            "from segue.adapters.storage.database import open_database\n"
            "async def main():\n"
            "    database = await open_database(sys.argv[1])\n"
            "    print('ready', flush=True); sys.stdin.readline()\n"
            "    leased = []\n"
            "    async def lease():\n"
            "        while True:\n"
            "            offers = await database.read(lambda rows: rows.offers(limit=1))\n"
            "            if not offers: return\n"
            "            found = await database.write(lambda rows: rows.accept(offers[0], sys.argv[2]))\n"
            "            if found is not None: leased.append(found.pipeline_id)\n"
            "    await asyncio.gather(*(lease() for _ in range(10)))\n"
            "    await database.close()\n"
            "    print(json.dumps(leased))\n"
            "asyncio.run(main())\n"
        )
        pipe = asyncio.subprocess.PIPE
        processes = [
            await asyncio.create_subprocess_exec(
                sys.executable, "-c", program, database_url, name, stdin=pipe, stdout=pipe
            )
            for name in ("w1", "w2")
        ]
        for process in processes:
            assert process.stdout is not None
            assert await process.stdout.readline() == b"ready\n"
        outputs = await asyncio.gather(*(process.communicate(b"go\n") for process in processes))
        leased = [json.loads(output) for output, _ in outputs]
        assert sorted(leased[0] + leased[1]) == ids


class TestAuditTrail:
    async def test_readers_see_every_entry_once_and_in_order_while_many_write(
        self, database: SqlStore, database_url: str
    ) -> None:
        [pipeline_id] = await add_pipelines(database, 1)
        other = await open_database(database_url)
        writers, each = 8, 12

        async def write(door: SqlStore, name: int) -> None:
            for number in range(each):

                def add(rows: SqlRows, number: int = number) -> None:
                    where: dict[str, Any] = {"pipeline_id": pipeline_id, "by": name}
                    rows.audit(AuditKind.MESSAGE_SENT, NOW, **where, number=number)
                    time.sleep(0.001 * (name % 3))
                    rows.audit(AuditKind.STEP_DONE, NOW, **where)
                    if number % 4 == 3:
                        raise InterruptedError  # undone: nothing of it is ever seen

                with suppress(InterruptedError):
                    await door.write(add)

        async def read_along(done: asyncio.Event) -> list[AuditEntry]:
            seen: list[AuditEntry] = []
            while True:
                last_look = done.is_set()
                page = await other.views.entries_after(seen[-1].id if seen else 0, limit=7)
                seen += page
                if last_look and not page:
                    return seen

        done = asyncio.Event()
        reading = asyncio.create_task(read_along(done))
        await asyncio.gather(*(write((database, other)[n % 2], n) for n in range(writers)))
        done.set()
        seen = await reading
        await other.close()
        everything = await database.views.entries_after(0, limit=1000)
        assert [entry.id for entry in seen] == [entry.id for entry in everything]
        assert len(seen) == 1 + writers * each * 2 * 3 // 4  # the pipeline was created
        numbers = [
            (e.payload["by"], e.payload["number"]) for e in seen if e.payload and "number" in e.payload
        ]
        for name in range(writers):
            mine = [number for by, number in numbers if by == name]
            assert mine == sorted(mine)

    async def test_a_pipeline_can_be_followed_alone(self, database: SqlStore) -> None:
        one, two = await add_pipelines(database, 2)

        def add(rows: SqlRows) -> None:
            for pipeline_id in (one, two, one):
                rows.audit(AuditKind.STEP_DONE, NOW, pipeline_id=pipeline_id)

        await database.write(add)
        entries = await database.views.entries_after(0, pipeline_id=one)
        entries = [entry for entry in entries if entry.event_type == "step_done"]
        assert [entry.pipeline_id for entry in entries] == [one, one]
        assert await database.views.last_entry_id() == entries[-1].id
        assert entries[0].payload is None


class TestCallersThatAreCutOff:
    async def test_whatever_they_were_doing_the_next_one_writes(self, tmp_path: Path) -> None:
        database = await open_database(f"sqlite:///{tmp_path}/segue.db")
        await add_pipelines(database, 1)

        async def write_until_cut_off() -> None:
            while True:
                await database.write(lambda rows: rows.pipeline(1))

        for number in range(40):
            task = asyncio.create_task(write_until_cut_off())
            await asyncio.sleep(0.002 + number * 0.0003)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            async with asyncio.timeout(120):
                await add_pipelines(database, 1)
        await database.close()


def cut_connections(postgres: str, postgres_url: str) -> None:
    """End every connection to a database, as a restart of its server does."""
    with psycopg.connect(postgres, autocommit=True) as admin:
        end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s"
        assert admin.execute(end, [make_url(postgres_url).database]).fetchall()


class TestAServerThatGoesAway:
    async def test_lost_connections_are_made_anew(self, postgres: str, postgres_url: str) -> None:
        database = await open_database(postgres_url)
        await add_pipelines(database, 1)
        cut_connections(postgres, postgres_url)
        await add_pipelines(database, 1)
        await database.close()

    async def test_a_connection_lost_in_a_transaction_is_one_sentence_and_undoes_it(
        self, postgres: str, postgres_url: str
    ) -> None:
        database = await open_database(postgres_url)

        def be_cut_off(rows: SqlRows) -> None:
            rows.insert(worker("w1"))
            cut_connections(postgres, postgres_url)
            rows.find(Pipeline)

        with pytest.raises(StorageError, match="cannot use the database postgresql") as caught:
            await database.write(be_cut_off)
        assert "\n" not in str(caught.value)
        assert len(await add_pipelines(database, 1)) == 1
        await database.close()


def test_the_fields_of_each_value_are_the_columns_of_its_table() -> None:
    elsewhere = {"tokens": {"hash"}}
    for kind, table in TABLES.items():
        without = {name for name, _ in table.without}
        own = {column_of(kind, each.name) for each in fields(kind) if each.name not in without}
        there = {column.name for column in Base.metadata.tables[table.name].columns}
        assert own == there - elsewhere.get(table.name, set()), table.name
