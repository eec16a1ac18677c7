"""Transactions, leases and the order of the audit trail, on both kinds of database."""

from __future__ import annotations

import asyncio
import json
import sys
from datetime import UTC, datetime
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import make_url

from segue.adapters.storage.database import SqlDatabase, open_database
from segue.application.attempt_ports import NewAttempt
from segue.application.ports import NewPipeline, Worker
from segue.application.views import PipelineFilter
from segue.domain.audit import AuditEntry, AuditKind
from segue.domain.catalog import AgentProfile, PipelineTemplate, Plan, TemplateStep
from segue.domain.errors import InvalidRequest, OwnershipLost, PipelineNotFound, StorageError
from segue.domain.pipeline import Lease, Pipeline, PipelineStatus
from segue.domain.workspace import WorkspaceChoice

NOW = datetime(2026, 2, 20, 14, 30, tzinfo=UTC)
PLAN = Plan(
    template=PipelineTemplate(steps=(TemplateStep(agent="developer"),)), agents={"developer": AgentProfile()}
)


def new_pipeline(title: str = "t", key: str | None = None) -> NewPipeline:
    return NewPipeline(
        title=title,
        template="custom",
        prompt="p",
        branch=None,
        working_dir="/",
        plan=PLAN,
        idempotency_key=key,
        workspace_choice=WorkspaceChoice.AUTO,
        created_at=NOW,
    )


def worker(name: str) -> Worker:
    return Worker(id=name, host="h", pid=1, process_started_at=1.5, heartbeat_at=NOW)


async def add_pipelines(database: SqlDatabase, count: int) -> list[int]:
    """Save some pipelines, pending; gives their ids."""
    async with database.begin() as work:
        added = [await work.pipelines.add(new_pipeline(str(number))) for number in range(count)]
        await work.commit()
    return [pipeline.id for pipeline in added]


async def add_workers(database: SqlDatabase, *names: str) -> None:
    async with database.begin() as work:
        for name in names:
            await work.workers.add(worker(name))
        await work.commit()


async def lease_next(database: SqlDatabase, worker_id: str) -> Lease | None:
    async with database.begin() as work:
        lease = await work.pipelines.lease_next(worker_id)
        await work.commit()
    return lease


async def get(database: SqlDatabase, pipeline_id: int) -> Pipeline:
    async with database.begin() as work:
        return await work.pipelines.get(pipeline_id)


class TestCommit:
    async def test_leaving_without_a_commit_undoes_everything(self, database: SqlDatabase) -> None:
        async with database.begin() as work:
            pipeline = await work.pipelines.add(new_pipeline())
            await work.workers.add(worker("w1"))
            await work.audit.add(AuditKind.PIPELINE_CREATED, NOW, pipeline_id=pipeline.id)
            await work.attempts.start(new_attempt(pipeline))
        assert (await database.views.pipelines(PipelineFilter())).items == []
        assert await database.views.entries_after(0) == []
        async with database.begin() as work:
            assert await work.workers.all() == []

    async def test_an_error_undoes_everything_and_the_next_transaction_works(
        self, database: SqlDatabase
    ) -> None:
        async def add_and_break() -> None:
            async with database.begin() as work:
                await work.pipelines.add(new_pipeline())
                raise RuntimeError("stop")

        with pytest.raises(RuntimeError, match="stop"):
            await add_and_break()
        assert len(await add_pipelines(database, 1)) == 1
        assert len((await database.views.pipelines(PipelineFilter())).items) == 1

    async def test_being_cancelled_undoes_everything_and_loses_no_connection(
        self, database: SqlDatabase
    ) -> None:
        async def begin_and_hang(started: asyncio.Event) -> None:
            async with database.begin() as work:
                await work.pipelines.add(new_pipeline())
                started.set()
                await asyncio.sleep(60)

        for _ in range(20):  # more than a pool holds
            started = asyncio.Event()
            task = asyncio.create_task(begin_and_hang(started))
            await started.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        async with asyncio.timeout(120):
            assert len(await add_pipelines(database, 1)) == 1
        assert len((await database.views.pipelines(PipelineFilter())).items) == 1

    async def test_nothing_is_seen_by_others_before_the_commit(
        self, database: SqlDatabase, database_url: str
    ) -> None:
        other = await open_database(database_url)
        async with database.begin() as work:
            await work.pipelines.add(new_pipeline())
            assert (await other.views.pipelines(PipelineFilter())).items == []
            await work.commit()
        assert len((await other.views.pipelines(PipelineFilter())).items) == 1
        await other.close()

    async def test_readers_are_woken_after_a_commit_and_not_before(self, database: SqlDatabase) -> None:
        woken: list[int] = []
        database.on_commit = [lambda: woken.append(1)]
        async with database.begin() as work:
            await work.pipelines.add(new_pipeline())
            assert woken == []
            await work.commit()
        assert woken == [1]

    async def test_a_pipeline_comes_back_as_it_was_saved(self, database: SqlDatabase) -> None:
        async with database.begin() as work:
            added = await work.pipelines.add(new_pipeline("größer 🚀", key="k"))
            await work.commit()
        assert await get(database, added.id) == added
        assert added.created_at == NOW

    async def test_an_idempotency_key_is_used_once(self, database: SqlDatabase) -> None:
        async with database.begin() as work:
            first = await work.pipelines.add(new_pipeline(key="k"))
            await work.commit()
        async with database.begin() as work:
            assert await work.pipelines.find_by_key("k") == first
            with pytest.raises(InvalidRequest, match='the idempotency key "k"'):
                await work.pipelines.add(new_pipeline(key="k"))

    async def test_a_pipeline_that_does_not_exist_is_named(self, database: SqlDatabase) -> None:
        with pytest.raises(PipelineNotFound, match="no pipeline 4711"):
            await get(database, 4711)


class TestClaims:
    async def test_the_oldest_free_pipeline_comes_first(self, database: SqlDatabase) -> None:
        ids = await add_pipelines(database, 3)
        await add_workers(database, "w1")
        leases = [await lease_next(database, "w1") for _ in range(4)]
        assert leases == [*(Lease(pipeline_id, 1) for pipeline_id in ids), None]
        assert (await get(database, ids[0])).status is PipelineStatus.RUNNING

    async def test_what_has_ended_is_never_claimed(self, database: SqlDatabase) -> None:
        [pipeline_id] = await add_pipelines(database, 1)
        async with database.begin() as work:
            pipeline = await work.pipelines.get(pipeline_id)
            await work.pipelines.save(pipeline.request_abort("enough", NOW).abort(NOW))
            await work.commit()
        await add_workers(database, "w1")
        assert await lease_next(database, "w1") is None

    async def test_removing_a_worker_frees_its_pipelines_and_no_others(self, database: SqlDatabase) -> None:
        ids = await add_pipelines(database, 2)
        await add_workers(database, "w1", "w2")
        await lease_next(database, "w1")
        await lease_next(database, "w2")
        async with database.begin() as work:
            await work.workers.remove("w1")
            await work.commit()
        assert await lease_next(database, "w2") == Lease(ids[0], 2)
        assert await lease_next(database, "w2") is None

    async def test_the_former_owner_is_stopped_by_a_new_lease(self, database: SqlDatabase) -> None:
        [pipeline_id] = await add_pipelines(database, 1)
        await add_workers(database, "w1", "w2")
        first = await lease_next(database, "w1")
        assert first is not None
        async with database.begin() as work:
            assert (await work.pipelines.hold(first)).worker_id == "w1"
            second = await work.pipelines.lease(pipeline_id, "w2")
            await work.commit()
        async with database.begin() as work:
            with pytest.raises(OwnershipLost, match=f"pipeline {pipeline_id} was taken over"):
                await work.pipelines.hold(first)
        async with database.begin() as work:
            assert (await work.pipelines.hold(second)).worker_id == "w2"
            assert await work.pipelines.orders([first]) == {first: None}
            assert await work.pipelines.orders([second]) == {}

    async def test_an_abort_that_was_asked_for_is_an_order(self, database: SqlDatabase) -> None:
        [pipeline_id] = await add_pipelines(database, 1)
        await add_workers(database, "w1")
        lease = await lease_next(database, "w1")
        assert lease is not None
        async with database.begin() as work:
            pipeline = await work.pipelines.get(pipeline_id)
            await work.pipelines.save(pipeline.request_abort("enough", NOW))
            await work.commit()
        async with database.begin() as work:
            assert await work.pipelines.orders([lease]) == {lease: "enough"}

    async def test_a_worker_that_was_removed_learns_so_from_its_beat(self, database: SqlDatabase) -> None:
        await add_workers(database, "w1")
        async with database.begin() as work:
            assert await work.workers.beat("w1", NOW)
            await work.workers.remove("w1")
            assert not await work.workers.beat("w1", NOW)

    async def test_twenty_claimers_at_two_doors_never_get_the_same(
        self, database: SqlDatabase, database_url: str
    ) -> None:
        ids = await add_pipelines(database, 60)
        await add_workers(database, *(f"w{number}" for number in range(20)))
        other = await open_database(database_url)

        async def lease_all(door: SqlDatabase, name: str) -> list[int]:
            leased = []
            while lease := await lease_next(door, name):
                leased.append(lease.pipeline_id)
            return leased

        doors = (database, other)
        found = await asyncio.gather(*(lease_all(doors[n % 2], f"w{n}") for n in range(20)))
        await other.close()
        assert sorted(pipeline_id for leased in found for pipeline_id in leased) == ids

    @pytest.mark.thorough
    async def test_two_processes_never_claim_the_same(self, database: SqlDatabase, database_url: str) -> None:
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
            "            async with database.begin() as work:\n"
            "                found = await work.pipelines.lease_next(sys.argv[2])\n"
            "                await work.commit()\n"
            "            if found is None: return\n"
            "            leased.append(found.pipeline_id)\n"
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
        self, database: SqlDatabase, database_url: str
    ) -> None:
        [pipeline_id] = await add_pipelines(database, 1)
        other = await open_database(database_url)
        writers, each = 8, 12

        async def write(door: SqlDatabase, name: int) -> None:
            for number in range(each):
                async with door.begin() as work:
                    await work.audit.add(
                        AuditKind.MESSAGE_SENT, NOW, pipeline_id=pipeline_id, by=name, number=number
                    )
                    await asyncio.sleep(0.001 * (name % 3))
                    await work.audit.add(AuditKind.STEP_DONE, NOW, pipeline_id=pipeline_id, by=name)
                    if number % 4 == 3:
                        continue  # undone: its ids may be missing, but nothing of it is ever seen
                    await work.commit()

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
        assert len(seen) == writers * each * 2 * 3 // 4
        numbers = [
            (e.payload["by"], e.payload["number"]) for e in seen if e.payload and "number" in e.payload
        ]
        for name in range(writers):
            mine = [number for by, number in numbers if by == name]
            assert mine == sorted(mine)

    async def test_a_pipeline_can_be_followed_alone(self, database: SqlDatabase) -> None:
        one, two = await add_pipelines(database, 2)
        async with database.begin() as work:
            for pipeline_id in (one, two, one):
                await work.audit.add(AuditKind.STEP_DONE, NOW, pipeline_id=pipeline_id)
            await work.commit()
        entries = await database.views.entries_after(0, pipeline_id=one)
        assert [entry.pipeline_id for entry in entries] == [one, one]
        assert await database.views.last_entry_id() == entries[-1].id
        assert entries[0].payload is None


class TestATransactionThatIsCutOff:
    async def test_it_frees_its_lock_whatever_it_was_doing(self, tmp_path: Path) -> None:
        database = await open_database(f"sqlite:///{tmp_path}/segue.db")
        await add_pipelines(database, 1)
        kept: list[BaseException] = []

        async def work_until_cut_off() -> None:
            try:
                async with database.begin() as work:
                    while True:
                        await work.pipelines.get(1)
            except asyncio.CancelledError as error:
                kept.append(error)  # its traceback keeps the statement that was cut off alive

        for number in range(40):
            task = asyncio.create_task(work_until_cut_off())
            await asyncio.sleep(0.002 + number * 0.0003)
            task.cancel()
            await task
            async with asyncio.timeout(120):
                await add_pipelines(database, 1)
        assert len(kept) == 40
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

        async def be_cut_off() -> None:
            async with database.begin() as work:
                await work.workers.all()
                cut_connections(postgres, postgres_url)
                await work.workers.all()

        with pytest.raises(StorageError, match="cannot use the database postgresql") as caught:
            await be_cut_off()
        assert "\n" not in str(caught.value)
        assert len(await add_pipelines(database, 1)) == 1
        await database.close()


def new_attempt(pipeline: Pipeline) -> NewAttempt:
    return NewAttempt(
        step_id=pipeline.steps[0].id,
        number=1,
        agent_name="developer",
        backend="scripted",
        key="k",
        message_id="m",
        token="t",
        briefing="b",
        carry_over="",
        parent_id=None,
        title=pipeline.title,
        model=None,
        working_dir=pipeline.working_dir,
        base_mark=None,
        started_at=NOW,
    )
