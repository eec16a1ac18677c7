"""Crashes in the gaps, false alarms, leftovers: each found once, and gone for good."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
from sqlalchemy import create_engine, text

from segue.adapters.backends.command import CommandBackend
from segue.application.pipelines.submit import PipelineRequest
from segue.application.ports.engine import WorkerPolicy
from segue.domain.pipeline import PipelineStatus, StepStatus
from segue.domain.template import TemplateStep
from segue.testing import ScriptedBackend, build_test_segue, follow_to_end, say_handoff
from tests.engine.test_recovery import NOBODY, interrupt
from tests.engine.test_steps import until
from tests.trusting import write_project

GOOD = say_handoff("Fixed it.")
ONE_STEP = PipelineRequest(prompt="x", custom_steps=(TemplateStep(agent="developer"),))


def change(tmp_path: Path, *statements: str) -> None:
    """Change the records from outside, as if a crash had left them so."""
    engine = create_engine(f"sqlite:///{tmp_path / 'data' / 'segue.db'}")
    with engine.begin() as connection:
        for statement in statements:
            connection.execute(text(statement))
    engine.dispose()


async def test_a_crash_while_a_failure_is_saved_runs_nothing_again(tmp_path: Path, project: Path) -> None:
    pipeline = await interrupt(tmp_path, ScriptedBackend({"developer": [{"delay": 600}]}), "developer")
    change(tmp_path, "UPDATE attempts SET status = 'failed', error = 'its command exited with 3'")
    after = ScriptedBackend({"developer": [GOOD], "senior_reviewer": [GOOD]})
    async with build_test_segue(tmp_path, after) as segue:
        ended = await follow_to_end(segue, pipeline)
    assert ended.status is PipelineStatus.FAILED
    assert ended.reason == "step 1 (developer) failed: its command exited with 3"
    assert after.received == {}


async def test_an_abort_that_was_interrupted_can_be_asked_for_again(tmp_path: Path, project: Path) -> None:
    pipeline = await interrupt(tmp_path, ScriptedBackend({"developer": [{"delay": 600}]}), "developer")
    change(tmp_path, "UPDATE pipelines SET abort_reason = 'changed my mind'")
    async with build_test_segue(tmp_path, ScriptedBackend(), policy=NOBODY) as segue:
        await segue.pipelines.abort(pipeline, "again")
        ended = await segue.views.pipeline(pipeline)
    assert ended.status is PipelineStatus.ABORTED
    assert ended.reason == "changed my mind"
    assert ended.steps[0].status is StepStatus.ABORTED


async def test_an_interrupted_abort_is_carried_out_at_the_next_start(tmp_path: Path, project: Path) -> None:
    pipeline = await interrupt(tmp_path, ScriptedBackend({"developer": [{"delay": 600}]}), "developer")
    change(tmp_path, "UPDATE pipelines SET abort_reason = 'changed my mind'")
    after = ScriptedBackend({"developer": [GOOD]})
    async with build_test_segue(tmp_path, after) as segue:
        assert (await follow_to_end(segue, pipeline)).status is PipelineStatus.ABORTED
    assert after.received == {}


async def test_records_that_were_lost_do_not_hang_the_engine(tmp_path: Path, project: Path) -> None:
    for _ in range(2):
        async with build_test_segue(tmp_path, ScriptedBackend({"developer": [GOOD]})) as segue:
            async with asyncio.timeout(120):
                ended = await follow_to_end(segue, (await segue.pipelines.submit(ONE_STEP)).id)
            assert (ended.id, ended.status) == (1, PipelineStatus.DONE)
        for path in (tmp_path / "data").glob("segue.db*"):
            path.unlink()


async def test_a_worker_that_was_declared_gone_by_mistake_goes_on(tmp_path: Path, project: Path) -> None:
    backend = ScriptedBackend({"developer": [{"delay": 2.5}, GOOD]})
    async with build_test_segue(tmp_path, backend, policy=WorkerPolicy(beat_seconds=0.2)) as segue:
        pipeline = await segue.pipelines.submit(ONE_STEP)
        await until(lambda: "developer" in backend.received)
        free = ("UPDATE pipelines SET worker_id = NULL", "DELETE FROM workers")
        await asyncio.to_thread(change, tmp_path, *free)
        ended = await follow_to_end(segue, pipeline.id)
    assert ended.status is PipelineStatus.DONE
    assert len(backend.received["developer"]) == ended.steps[0].attempt_count


async def test_a_run_that_ends_makes_room_without_a_beat(tmp_path: Path, project: Path) -> None:
    policy = WorkerPolicy(beat_seconds=600, room=1)
    async with build_test_segue(tmp_path, ScriptedBackend({"developer": [GOOD]}), policy=policy) as segue:
        runs = []
        beats = set()
        for name in ("a", "b", "c"):
            (tmp_path / name).mkdir()
            apart = replace(ONE_STEP, working_dir=str(tmp_path / name))
            runs.append(await segue.pipelines.submit(apart))
        async with asyncio.timeout(120):
            for run in runs:
                assert (await follow_to_end(segue, run.id)).status is PipelineStatus.DONE
                (worker,) = await segue.workers._store.views.workers()
                beats.add(worker.heartbeat_at)
    assert len(beats) == 1


async def test_a_claim_that_nobody_moves_on_is_begun_anew(tmp_path: Path, project: Path) -> None:
    pipeline = await interrupt(tmp_path, ScriptedBackend({"developer": [{"delay": 600}]}), "developer")
    after = ScriptedBackend({"developer": [GOOD], "senior_reviewer": [GOOD]})
    policy = WorkerPolicy(hosting=False, beat_seconds=0.1)
    async with build_test_segue(tmp_path, after, policy=policy) as segue:
        mine = f"UPDATE pipelines SET worker_id = '{segue.workers.me}'"
        await asyncio.to_thread(change, tmp_path, mine)
        async with asyncio.timeout(120):
            assert (await follow_to_end(segue, pipeline)).status is PipelineStatus.DONE


async def test_what_is_left_of_a_lost_session_is_stopped_before_the_next_attempt(
    tmp_path: Path, project: Path
) -> None:
    program = "echo $$ >> pids; until test -e go; do sleep 0.05; done; echo '## What Was Done'; echo '- It'"
    options: dict[str, Any] = {"command": {"command": ["sh", "-c", program]}}
    wanted: dict[str, Any] = {"backend": "command", "backend_options": options, "ask_writer": False}
    sessions = tmp_path / "data" / "sessions"
    async with build_test_segue(tmp_path, CommandBackend(sessions_dir=sessions), **wanted) as segue:
        pipeline = await segue.pipelines.submit(ONE_STEP)
        await until(lambda: (project / "pids").exists() and (project / "pids").read_text())
    agent = psutil.Process(int((project / "pids").read_text()))
    supervisor = agent.parent()
    assert supervisor is not None
    os.kill(supervisor.pid, signal.SIGKILL)
    os.waitpid(supervisor.pid, 0)  # noqa: ASYNC222  # it is dead already
    assert agent.is_running()
    async with build_test_segue(tmp_path, CommandBackend(sessions_dir=sessions), **wanted) as segue:
        await until(lambda: len((project / "pids").read_text().split()) == 2)
        assert not agent.is_running() or agent.status() == psutil.STATUS_ZOMBIE
        (project / "go").touch()
        ended = await follow_to_end(segue, pipeline.id)
    assert ended.status is PipelineStatus.DONE
    assert ended.steps[0].attempt_count == 2


async def test_sessions_that_nobody_needs_are_removed_at_a_start(tmp_path: Path, project: Path) -> None:
    program = "sleep 600 & echo 'outcome: completed'"
    agent = json.dumps({"developer": {"backend": "command", "options": {"command": ["sh", "-c", program]}}})
    write_project(project, f"agents: {agent}")
    async with build_test_segue(tmp_path, ScriptedBackend()) as segue:
        await follow_to_end(segue, (await segue.pipelines.submit(ONE_STEP)).id)
    (sessions,) = (tmp_path / "data" / "sessions").glob("*/command")
    (sessions / "left").mkdir()
    async with build_test_segue(tmp_path, ScriptedBackend()):
        assert list(sessions.iterdir()) == []


async def test_many_who_subscribe_at_once_get_every_event_once(tmp_path: Path, project: Path) -> None:
    async with build_test_segue(tmp_path, ScriptedBackend({"developer": [{"delay": 0.3}, GOOD]})) as segue:

        async def read() -> list[int]:
            seen = []
            async with segue.feed.subscribe(after=0) as entries:
                async for entry in entries:
                    seen.append(entry.id)
                    if entry.event_type == "pipeline_done":
                        return seen
            return seen

        readers = [asyncio.create_task(read()) for _ in range(5)]
        await asyncio.sleep(0)
        await segue.pipelines.submit(ONE_STEP)
        async with asyncio.timeout(120):
            seen = await asyncio.gather(*readers)
        assert all(each == list(range(1, len(each) + 1)) for each in seen)
        assert len({len(each) for each in seen}) == 1
        assert not [task for task in asyncio.all_tasks() if task.get_name() == "segue-feed"]


async def test_an_event_id_of_another_database_is_no_silence(tmp_path: Path, project: Path) -> None:
    backend = ScriptedBackend({"developer": [GOOD]})
    async with build_test_segue(tmp_path, backend) as segue, segue.feed.subscribe(after=10**9) as entries:
        await segue.pipelines.submit(ONE_STEP)
        async with asyncio.timeout(120):
            assert (await anext(entries)).event_type == "pipeline_created"


async def test_what_was_sent_is_what_is_shown(tmp_path: Path, project: Path) -> None:
    write_project(project, "agents: {developer: {system_prompt_additions: Be brief.}}")
    backend = ScriptedBackend({"developer": [{"crash": 1}, GOOD]})
    async with build_test_segue(tmp_path, backend) as segue:
        pipeline = await segue.pipelines.submit(ONE_STEP)
        await follow_to_end(segue, pipeline.id)
        shown = await segue.views.step(pipeline.id, 1)
    assert [each.text for each in shown.attempts] == backend.received["developer"]
    assert shown.attempts[0].text.startswith("Be brief.")
