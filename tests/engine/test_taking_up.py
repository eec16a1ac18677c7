"""Which pipelines a host takes up, how many, when, how often; and who is declared gone."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from segue.application.pipelines.submit import PipelineRequest
from segue.application.ports.backend import Message, Reply, SessionRequest
from segue.application.ports.engine import WorkerPolicy
from segue.application.segue import Segue
from segue.domain.pipeline import Pipeline, PipelineStatus, StepStatus
from segue.domain.template import TemplateStep
from segue.domain.workers import Worker
from segue.testing import ScriptedBackend, build_test_segue, follow_to_end, say_handoff
from tests.engine.test_steps import until
from tests.holding import hold_until

ONE_STEP = PipelineRequest(prompt="x", custom_steps=(TemplateStep(agent="developer"),))
TWO_STEPS = PipelineRequest(
    prompt="x", custom_steps=(TemplateStep(agent="developer"), TemplateStep(agent="senior_reviewer"))
)
GOOD = say_handoff("Fixed it.")


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.thorough)])
def where(request: pytest.FixtureRequest) -> Mapping[str, Any]:
    """The settings that name a database of either kind."""
    if request.param == "sqlite":
        return {}
    return {"database_url": request.getfixturevalue("postgres_url")}


async def write(segue: Segue, act: Any) -> Any:
    return await segue.pipelines._store.write(act)


async def change(segue: Segue, pipeline_id: int, **fields: Any) -> None:
    def save(rows: Any) -> None:
        found = rows.get(Pipeline, pipeline_id, lock=True)
        rows.save(found, replace(found, **fields))

    await write(segue, save)


async def interrupted(folder: Path, where: Mapping[str, Any], **fields: Any) -> int:
    """A pipeline whose agent was at work when Segue was stopped, with these fields."""
    backend = ScriptedBackend({"developer": [{"delay": 600}]})
    quiet = WorkerPolicy(hosting=False)
    async with build_test_segue(folder, backend, policy=quiet, **where) as segue:
        pipeline = (await segue.pipelines.submit(TWO_STEPS)).id
        await until(lambda: "developer" in backend.received)
        await change(segue, pipeline, **fields)
    return pipeline


async def test_what_may_not_run_yet_is_left_alone_until_then(
    tmp_path: Path, repository: Path, where: Mapping[str, Any]
) -> None:
    later = datetime.now(UTC) + timedelta(hours=1)
    delayed = await interrupted(tmp_path, where, not_before=later)
    backend = ScriptedBackend({"developer": [GOOD], "senior_reviewer": [GOOD]})
    async with build_test_segue(tmp_path, backend, policy=WorkerPolicy(room=1), **where) as segue:
        # The second one finds no place at first, so the host has looked for work when it has ended.
        both = [await segue.pipelines.submit(ONE_STEP) for _ in range(2)]
        async with asyncio.timeout(120):
            for each in both:
                await follow_to_end(segue, each.id)
            assert (await segue.views.pipeline(delayed)).worker_id is None
            await change(segue, delayed, not_before=datetime.now(UTC) - timedelta(seconds=1))
            assert (await follow_to_end(segue, delayed)).status is PipelineStatus.DONE


async def test_a_step_that_is_done_starts_the_count_of_recoveries_anew(
    tmp_path: Path, repository: Path, where: Mapping[str, Any]
) -> None:
    pipeline = await interrupted(tmp_path, where, recoveries=19)
    go = tmp_path / "go"
    backend = ScriptedBackend({"developer": [GOOD], "senior_reviewer": [hold_until(go), GOOD]})
    async with build_test_segue(tmp_path, backend, **where) as segue:
        await until(lambda: "senior_reviewer" in backend.received)
        assert (await write(segue, lambda rows: rows.get(Pipeline, pipeline))).recoveries == 0
        go.touch()
        async with asyncio.timeout(120):
            assert (await follow_to_end(segue, pipeline)).status is PipelineStatus.DONE


async def test_what_is_interrupted_again_and_again_fails_with_a_sentence(
    tmp_path: Path, repository: Path, where: Mapping[str, Any]
) -> None:
    pipeline = await interrupted(tmp_path, where, recoveries=3)
    backend = ScriptedBackend({"developer": [GOOD]})
    async with build_test_segue(tmp_path, backend, max_recoveries=3, **where) as segue:
        async with asyncio.timeout(120):
            ended = await follow_to_end(segue, pipeline)
    assert ended.status is PipelineStatus.FAILED
    assert [step.status for step in ended.steps] == [StepStatus.FAILED, StepStatus.PENDING]
    assert "it was taken up again 3 times" in (ended.reason or "")
    assert "SEGUE_MAX_RECOVERIES" in (ended.reason or "")
    assert backend.received == {}


async def test_a_host_takes_up_no_more_than_all_together_may_run(
    tmp_path: Path, repository: Path, where: Mapping[str, Any]
) -> None:
    backend = Counting({"developer": [{"delay": 0.05}, GOOD]})
    policy = WorkerPolicy(room=5, overall=1)
    async with build_test_segue(tmp_path, backend, policy=policy, **where) as segue:
        submitted = [await segue.pipelines.submit(ONE_STEP) for _ in range(3)]
        async with asyncio.timeout(120):
            ended = [await follow_to_end(segue, each.id) for each in submitted]
    assert {each.status for each in ended} == {PipelineStatus.DONE}
    assert backend.most == 1


async def test_a_back_end_with_a_limit_runs_no_more_agents_at_once(
    tmp_path: Path, repository: Path, where: Mapping[str, Any]
) -> None:
    go = tmp_path / "go"
    backend = Counting({"developer": [hold_until(go), GOOD]})
    limits: Mapping[str, Any] = {"max_per_backend": {"scripted": 2}, **where}
    async with build_test_segue(tmp_path, backend, policy=WorkerPolicy(room=5), **limits) as segue:
        submitted = [await segue.pipelines.submit(ONE_STEP) for _ in range(5)]
        await until(lambda: backend.most == 2)
        go.touch()
        async with asyncio.timeout(120):
            ended = [await follow_to_end(segue, each.id) for each in submitted]
    assert {each.status for each in ended} == {PipelineStatus.DONE}
    assert backend.most == 2


class Counting(ScriptedBackend):
    """Counts how many of its agents work at once."""

    at_work = most = 0

    async def send(self, request: SessionRequest, session: str, message: Message) -> None:
        self.at_work += 1
        self.most = max(self.most, self.at_work)
        await super().send(request, session, message)

    async def wait(self, session: str, message_id: str) -> Reply:
        reply = await super().wait(session, message_id)
        self.at_work -= 1
        return reply


class Ahead:
    """A clock that is ten minutes ahead."""

    def now(self) -> datetime:
        return datetime.now(UTC) + timedelta(minutes=10)


def elsewhere(name: str, at: datetime) -> Worker:
    return Worker(id=name, host="another/1/2", pid=1, process_started_at=1.0, heartbeat_at=at)


async def test_a_wrong_clock_declares_nobody_gone_and_is_put_right(
    tmp_path: Path, repository: Path, where: Mapping[str, Any]
) -> None:
    backend = ScriptedBackend({"developer": [GOOD], "senior_reviewer": [GOOD]})
    async with build_test_segue(tmp_path, backend, **where) as segue:
        now = await write(segue, lambda rows: rows.now())
        await write(segue, lambda rows: rows.insert(elsewhere("fresh", now)))
    policy = WorkerPolicy(beat_seconds=600)
    async with build_test_segue(tmp_path, backend, policy=policy, clock=Ahead(), **where) as segue:
        await write(segue, lambda rows: rows.beat("fresh"))
        await segue.workers.reap()
        ids = {worker.id for worker in await segue.views.workers()}
        assert ids == {"fresh", segue.workers.me}
        submitted = await segue.pipelines.submit(ONE_STEP)
        async with asyncio.timeout(120):
            ended = await follow_to_end(segue, submitted.id)
    assert ended.status is PipelineStatus.DONE
    assert abs(ended.created_at - datetime.now(UTC)) < timedelta(minutes=5)


async def test_a_worker_elsewhere_that_was_silent_is_gone_unless_we_were_too(
    tmp_path: Path, where: Mapping[str, Any]
) -> None:
    async with build_test_segue(
        tmp_path, ScriptedBackend(), policy=WorkerPolicy(beat_seconds=600), **where
    ) as segue:
        long_ago = (await write(segue, lambda rows: rows.now())) - timedelta(seconds=11)
        await write(segue, lambda rows: rows.insert(elsewhere("silent", long_ago)))
        await segue.workers.reap()
        assert {worker.id for worker in await segue.views.workers()} == {"silent", segue.workers.me}
        segue.workers._watching = (0.0, long_ago)  # as if we had been there all the time
        await segue.workers.reap()
        assert {worker.id for worker in await segue.views.workers()} == {segue.workers.me}


async def test_a_worker_whose_row_was_removed_is_back_with_the_next_pipeline(
    tmp_path: Path, repository: Path, where: Mapping[str, Any]
) -> None:
    backend = ScriptedBackend({"developer": [GOOD]})
    async with build_test_segue(tmp_path, backend, policy=WorkerPolicy(beat_seconds=600), **where) as segue:
        await write(segue, lambda rows: rows.delete(segue.workers.worker))
        begun = await write(segue, lambda rows: rows.now())
        submitted = await segue.pipelines.submit(ONE_STEP)
        assert submitted.status is PipelineStatus.RUNNING
        async with asyncio.timeout(120):
            assert (await follow_to_end(segue, submitted.id)).status is PipelineStatus.DONE
        (worker,) = await segue.views.workers()
        assert worker.heartbeat_at >= begun
