"""What becomes of an answer: the turn in which its agent is told of it may end in any way."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from segue.application.pipelines.submit import PipelineRequest
from segue.application.pipelines.transactions_deciding import HumanDecision
from segue.application.views import PipelineDetail
from segue.domain.audit import AuditKind
from segue.domain.errors import IllegalMove
from segue.domain.pipeline import PipelineStatus
from segue.testing import ScriptedBackend, build_test_segue, follow_to_end
from tests.deciding.test_runs import ANSWERED, BLOCKED, DONE, agent, run, write_templates, yes


class LaterClock:
    """The time of this machine, and what a test adds to it."""

    added = timedelta()

    def now(self) -> datetime:
        return datetime.now(UTC) + self.added


async def answer(
    folder: Path, project: Path, told: Mapping[str, Any], *, after: timedelta = timedelta(), **step: Any
) -> PipelineDetail:
    """How a run stands whose agent was blocked, was answered, and does this then."""
    write_templates(project, {"dev": agent(BLOCKED, when={ANSWERED: [told]})}, t=[{"agent": "dev", **step}])
    clock = LaterClock()
    async with build_test_segue(folder, ScriptedBackend(), clock=clock) as segue:
        waiting = await run(segue, project)
        clock.added = after
        await segue.approvals.decide_next(waiting.id, yes("Under the mat."), is_answer=True)
        return await follow_to_end(segue, waiting.id)


@pytest.mark.parametrize(
    ("told", "reason"),
    [({"fail": "no more credit"}, "no more credit"), ({"say": ""}, "its reply was empty")],
    ids=["fails", "says nothing"],
)
async def test_an_agent_that_fails_once_it_is_answered_fails_its_step(
    tmp_path: Path, repository: Path, told: Mapping[str, Any], reason: str
) -> None:
    ended = await answer(tmp_path, repository, told)
    assert ended.status is PipelineStatus.FAILED
    assert (ended.reason or "").startswith(f"step 1 (dev) failed: {reason}")


async def test_a_session_that_is_lost_once_it_is_answered_is_followed_by_another(
    tmp_path: Path, repository: Path
) -> None:
    write_templates(
        repository,
        {"dev": agent(BLOCKED, when={ANSWERED: [{"crash": 1}], "Under the mat.": [DONE]})},
        t=[{"agent": "dev"}],
    )
    async with build_test_segue(tmp_path, ScriptedBackend()) as segue:
        waiting = await run(segue, repository)
        await segue.approvals.decide_next(waiting.id, yes("Under the mat."), is_answer=True)
        ended = await follow_to_end(segue, waiting.id)
    assert (ended.status, ended.steps[0].attempt_count) == (PipelineStatus.DONE, 2)


async def test_a_blocked_agent_may_ask_once_more(tmp_path: Path, repository: Path) -> None:
    again = await answer(tmp_path, repository, BLOCKED)
    assert again.status is PipelineStatus.WAITING_FOR_APPROVAL
    assert [each.request_ref for each in again.approvals] == ["question-2"]


async def test_the_time_that_a_person_thinks_is_not_the_agents(tmp_path: Path, repository: Path) -> None:
    ended = await answer(tmp_path, repository, DONE, after=timedelta(days=2), timeout=600)
    assert ended.status is PipelineStatus.DONE, ended.reason


async def test_a_permission_is_not_given_by_words(tmp_path: Path, repository: Path) -> None:
    write_templates(repository, {"dev": agent({"ask": "rm -rf build"}, DONE)}, t=[{"agent": "dev"}])
    async with build_test_segue(tmp_path, ScriptedBackend()) as segue:
        request = PipelineRequest(template="t", prompt="Do it.", working_dir=str(repository))
        pipeline = await segue.pipelines.submit(request)
        async with segue.feed.subscribe(after=0, pipeline_id=pipeline.id) as entries:
            async for entry in entries:
                if entry.event_type == AuditKind.PERMISSION_ASKED:
                    break
        (asked,) = await segue.views.approvals()
        words = HumanDecision(approve=True, is_answer=True, comment="Which folder?")
        with pytest.raises(IllegalMove, match="waits for no answer; approve or reject it"):
            await segue.approvals.decide(asked.id, words)
        await segue.approvals.decide(asked.id, yes())
        assert (await follow_to_end(segue, pipeline.id)).status is PipelineStatus.DONE
