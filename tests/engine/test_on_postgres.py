"""The same pipelines with PostgreSQL under the records and under the engine."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from contextlib import ExitStack
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import make_url

from segue.adapters.engine.dbos_engine import DbosEngine
from segue.application.pipelines.submit import PipelineRequest
from segue.application.ports.engine import WorkerPolicy
from segue.domain.pipeline import Lease, Offer, PipelineStatus, StepStatus
from segue.settings import Settings
from segue.testing import ScriptedBackend, build_test_segue, follow_to_end, say_handoff
from tests.postgres import Server
from tests.serving import ServedSegue


async def test_a_pipeline_ends_done_and_the_engine_keeps_to_its_own_schema(
    tmp_path: Path, project: Path, postgres_url: str
) -> None:
    backend = ScriptedBackend(
        {"developer": [say_handoff("Fixed it.")], "senior_reviewer": [say_handoff("Looked at it.")]}
    )
    async with build_test_segue(tmp_path, backend, database_url=postgres_url) as segue:
        submitted = await segue.pipelines.submit(
            PipelineRequest(template="quick_fix", prompt="Fix the button.")
        )
        async with asyncio.timeout(120):
            ended = await follow_to_end(segue, submitted.id)
    assert ended.status is PipelineStatus.DONE
    assert [step.status for step in ended.steps] == [StepStatus.DONE, StepStatus.DONE]
    assert "Fixed it." in backend.received["senior_reviewer"][0]
    assert list((tmp_path / "data").glob("*.db")) == []
    with psycopg.connect(postgres_url) as connection:
        tables = connection.execute("SELECT schemaname, tablename FROM pg_tables").fetchall()
    schemas = {schema for schema, _ in tables} - {"pg_catalog", "information_schema"}
    assert schemas == {"public", "dbos"}
    assert ("public", "workflow_status") not in tables
    assert ("dbos", "workflow_status") in tables


async def test_a_pipeline_survives_that_every_connection_is_cut(
    tmp_path: Path, project: Path, postgres: str, postgres_url: str
) -> None:
    backend = ScriptedBackend(
        {"developer": [{"delay": 0.5}, say_handoff()], "senior_reviewer": [{"delay": 0.2}, say_handoff()]}
    )
    async with build_test_segue(tmp_path, backend, database_url=postgres_url) as segue:
        submitted = await segue.pipelines.submit(
            PipelineRequest(template="quick_fix", prompt="Fix the button.")
        )
        async with asyncio.timeout(120):
            while "developer" not in backend.received:  # noqa: ASYNC110  # it has no event to wait for
                await asyncio.sleep(0.02)
        with psycopg.connect(postgres, autocommit=True) as admin:
            end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s"
            assert admin.execute(end, [make_url(postgres_url).database]).fetchall()
        async with asyncio.timeout(120):
            ended = await follow_to_end(segue, submitted.id)
    assert ended.status is PipelineStatus.DONE
    assert {name: len(messages) for name, messages in backend.received.items()} == {
        "developer": 1,
        "senior_reviewer": 1,
    }


@pytest.mark.thorough
@pytest.mark.parametrize("ends_meanwhile", [True, False], ids=["its agent ends meanwhile", "it does not"])
def test_a_database_that_was_away_for_a_while(tmp_path: Path, project: Path, ends_meanwhile: bool) -> None:
    agent = tmp_path / "agent.sh"
    waits = f"while [ ! -e {tmp_path}/go ]; do sleep 0.1; done"
    agent.write_text(f"#!/bin/sh\ncat > /dev/null\n: > {tmp_path}/begun\n{waits}\necho 'Done: fixed it.'\n")
    agent.chmod(0o755)
    with Server(tcp=ends_meanwhile) as server, ExitStack() as stack:  # DBOS reads the errors of TCP otherwise
        served = ServedSegue(
            project,
            tmp_path / "data",
            SEGUE_DATABASE_URL=server.address,
            SEGUE_BACKEND="command",
            SEGUE_BACKEND_OPTIONS=json.dumps({"command": {"command": str(agent)}}),
        )
        stack.callback(served.close)
        served.start()
        submitted = served.submit(template="quick_fix", prompt="Fix it.", working_dir=str(project))
        wait_until((tmp_path / "begun").exists)
        server.stop()
        if ends_meanwhile:
            (tmp_path / "go").touch()
        wait_until(lambda: ("storage_failed" if ends_meanwhile else "worker_beat_failed") in served.log())
        time.sleep(3)  # some beats more
        server.start()
        (tmp_path / "go").touch()
        ended = served.wait_for(submitted["id"], "done", "failed")
        told = served.stop()
    assert [step["status"] for step in ended["steps"]] == ["done", "done"]
    assert [step["attempt_count"] for step in ended["steps"]] == [1, 1]
    assert "Traceback" not in told
    failed = [line.partition("error=")[2] for line in told.splitlines() if "worker_beat_failed" in line]
    assert failed
    assert all(one != next_one for one, next_one in pairwise(failed)), "the same is told each second"
    assert "worker_beats_again" in told


def wait_until(holds: Callable[[], bool]) -> None:
    """Look again and again for a minute."""
    deadline = time.monotonic() + 120
    while not holds():
        assert time.monotonic() < deadline, "it did not come to pass"
        time.sleep(0.1)


async def test_the_engine_leaves_no_connection_open_and_no_row(postgres_url: str) -> None:
    begun = asyncio.Event()

    async def run(_given: Offer | Lease) -> None:
        begun.set()
        await asyncio.Event().wait()

    engine = DbosEngine(database_url=postgres_url)
    await engine.launch("worker", run, WorkerPolicy(), lambda: None)
    async with asyncio.timeout(120):
        await engine.enqueue(Offer(1, 0, datetime.now(UTC)))
        await begun.wait()
        with psycopg.connect(postgres_url) as slow:
            slow.execute("LOCK TABLE dbos.workflow_status IN SHARE MODE")
            stopping = asyncio.create_task(engine.shutdown())
            _, unended = await asyncio.wait({stopping}, timeout=1)
            assert unended, "it ended although what it last did was not written yet"
        await stopping
    with psycopg.connect(postgres_url) as connection:
        others = "FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        connection.autocommit = True
        # The server ends what serves a connection a moment after it was closed.
        wait_until(lambda: connection.execute(f"SELECT application_name, query {others}").fetchall() == [])
        for table in ("workflow_status", "workflow_input", "workflow_output", "operation_outputs"):
            assert connection.execute(f"SELECT workflow_uuid FROM dbos.{table}").fetchall() == []


@pytest.mark.parametrize("form", ["postgresql://", "postgres://", "postgresql+psycopg://"])
def test_the_engine_is_given_an_address_that_it_understands(form: str) -> None:
    settings = Settings(database_url=f"{form}me:pass@host:5433/db?host=/run")
    assert settings.engine_database_url == "postgresql://me:pass@host:5433/db?host=/run"
