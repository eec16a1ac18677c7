"""What happens after Segue was gone for a while."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from segue.application.pipelines.submit import PipelineRequest
from segue.application.ports.engine import WorkerPolicy
from segue.domain.pipeline import PipelineStatus
from segue.testing import ScriptedBackend, build_test_segue, follow_to_end, say_handoff
from tests.engine.test_steps import until

QUICK_FIX = PipelineRequest(template="quick_fix", prompt="Fix the button.")
GOOD = say_handoff("Fixed it.", next="Review it.")
NOBODY = WorkerPolicy(hosting=False, room=1)
"""A worker that takes up nothing by itself."""


async def interrupt(tmp_path: Path, backend: ScriptedBackend, agent: str) -> int:
    """Run until an agent has begun, then stop Segue."""
    async with build_test_segue(tmp_path, backend) as segue:
        pipeline = await segue.pipelines.submit(QUICK_FIX)
        await until(lambda: agent in backend.received)
        return pipeline.id


async def test_steps_that_are_done_are_not_done_again(tmp_path: Path, project: Path) -> None:
    before = ScriptedBackend({"developer": [GOOD], "senior_reviewer": [{"delay": 600}]})
    pipeline = await interrupt(tmp_path, before, "senior_reviewer")
    after = ScriptedBackend({"developer": [GOOD], "senior_reviewer": [GOOD]})
    async with build_test_segue(tmp_path, after) as segue:
        ended = await follow_to_end(segue, pipeline)
    assert ended.status is PipelineStatus.DONE
    assert set(after.received) == {"senior_reviewer"}
    assert [step.attempt_count for step in ended.steps] == [1, 2]


async def test_the_handoff_of_the_last_step_that_was_done_is_used_again(
    tmp_path: Path, project: Path
) -> None:
    before = ScriptedBackend({"developer": [GOOD], "senior_reviewer": [{"delay": 600}]})
    pipeline = await interrupt(tmp_path, before, "senior_reviewer")
    after = ScriptedBackend({"senior_reviewer": [GOOD]})
    async with build_test_segue(tmp_path, after) as segue:
        await follow_to_end(segue, pipeline)
        first, second = (await segue.views.step(pipeline, 2)).attempts
    assert "## Handoff from previous step (developer)" in after.received["senior_reviewer"][0]
    assert first.briefing == second.briefing
    assert first.carry_over == ""
    assert "An earlier attempt was cut off" in second.carry_over
    assert "An earlier attempt was cut off" in after.received["senior_reviewer"][0]


async def test_if_no_step_was_done_the_first_gets_the_prompt_again(tmp_path: Path, project: Path) -> None:
    before = ScriptedBackend({"developer": [{"delay": 600}]})
    pipeline = await interrupt(tmp_path, before, "developer")
    after = ScriptedBackend({"developer": [GOOD], "senior_reviewer": [GOOD]})
    async with build_test_segue(tmp_path, after) as segue:
        assert (await follow_to_end(segue, pipeline)).status is PipelineStatus.DONE
    assert "Fix the button." in after.received["developer"][0]


async def test_if_all_steps_are_done_the_pipeline_is_done_and_no_agent_runs(
    tmp_path: Path, project: Path
) -> None:
    from sqlalchemy import create_engine, text

    backend = ScriptedBackend({"developer": [GOOD], "senior_reviewer": [GOOD]})
    async with build_test_segue(tmp_path, backend) as segue:
        pipeline = (await follow_to_end(segue, (await segue.pipelines.submit(QUICK_FIX)).id)).id
    engine = create_engine(f"sqlite:///{tmp_path / 'data' / 'segue.db'}")
    with engine.begin() as connection:
        connection.execute(text("UPDATE pipelines SET status = 'running'"))
        connection.execute(text("DELETE FROM audit_events WHERE event_type = 'pipeline_done'"))
    engine.dispose()
    after = ScriptedBackend()
    async with build_test_segue(tmp_path, after) as segue:
        assert (await follow_to_end(segue, pipeline)).status is PipelineStatus.DONE
    assert after.received == {}


@pytest.mark.thorough
async def test_a_pipeline_that_was_saved_but_never_started_is_started(
    tmp_path: Path, repository: Path
) -> None:
    idle = ScriptedBackend({"developer": [{"delay": 600}]})
    async with build_test_segue(tmp_path, idle, policy=WorkerPolicy(room=1)) as segue:
        await segue.pipelines.submit(QUICK_FIX)
        waiting = await segue.pipelines.submit(QUICK_FIX)
        assert waiting.status is PipelineStatus.PENDING
    after = ScriptedBackend({"developer": [GOOD], "senior_reviewer": [GOOD]})
    async with build_test_segue(tmp_path, after) as segue:
        assert (await follow_to_end(segue, waiting.id)).status is PipelineStatus.DONE


async def test_a_worker_that_does_not_host_takes_up_nothing(tmp_path: Path, project: Path) -> None:
    before = ScriptedBackend({"developer": [{"delay": 600}]})
    pipeline = await interrupt(tmp_path, before, "developer")
    after = ScriptedBackend({"developer": [GOOD], "senior_reviewer": [GOOD]})
    async with build_test_segue(tmp_path, after, policy=NOBODY) as segue:
        await asyncio.sleep(0.3)
        assert after.received == {}
        found = await segue.views.pipeline(pipeline)
        assert found.status is PipelineStatus.RUNNING
        assert found.worker_id is None
        await segue.pipelines.resume(pipeline)
        assert (await follow_to_end(segue, pipeline)).status is PipelineStatus.DONE


async def test_an_interrupted_pipeline_can_be_aborted_without_running_it(
    tmp_path: Path, project: Path
) -> None:
    before = ScriptedBackend({"developer": [{"delay": 600}]})
    pipeline = await interrupt(tmp_path, before, "developer")
    after = ScriptedBackend()
    async with build_test_segue(tmp_path, after, policy=NOBODY) as segue:
        await segue.pipelines.abort(pipeline, "no longer wanted")
        found = await segue.views.pipeline(pipeline)
    assert found.status is PipelineStatus.ABORTED
    assert found.reason == "no longer wanted"
    assert after.received == {}


async def test_a_session_that_is_lost_again_and_again_fails_the_step(tmp_path: Path, project: Path) -> None:
    backend = ScriptedBackend({"developer": [{"crash": 99}]})
    async with build_test_segue(tmp_path, backend) as segue:
        ended = await follow_to_end(segue, (await segue.pipelines.submit(QUICK_FIX)).id)
    assert ended.status is PipelineStatus.FAILED
    assert "lost 3 times" in (ended.reason or "")
