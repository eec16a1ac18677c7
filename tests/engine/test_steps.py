"""One step: how it is told what to do, how it ends, and what is left behind."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from segue.application.pipelines.submit import PipelineRequest
from segue.application.segue import Segue
from segue.application.views import PipelineDetail
from segue.domain.audit import AuditEntry
from segue.domain.errors import IllegalMove, PipelineNotFound, UnknownName
from segue.domain.pipeline import PipelineStatus, StepStatus
from segue.domain.template import TemplateStep
from segue.testing import ScriptedBackend, build_test_segue, follow_to_end, say_handoff
from tests.holding import hold_until
from tests.trusting import write_project

QUICK_FIX = PipelineRequest(template="quick_fix", prompt="Fix the button.")
GOOD = say_handoff("Fixed it.", decisions="- Small change", questions="- Ship it?", next="Review it.")


async def until(holds: Callable[[], object], seconds: float = 120) -> None:
    """Wait until something has happened that nobody announces."""
    async with asyncio.timeout(seconds):
        while not holds():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def run(
    tmp_path: Path, backend: ScriptedBackend, wanted: PipelineRequest = QUICK_FIX
) -> PipelineDetail:
    async with build_test_segue(tmp_path, backend) as segue:
        return await follow_to_end(segue, (await segue.pipelines.submit(wanted)).id)


async def audit_of(segue: Segue, pipeline_id: int) -> list[AuditEntry]:
    return await segue.views.entries_after(0, pipeline_id=pipeline_id)


async def test_a_step_that_succeeds_is_done_and_keeps_the_reply(tmp_path: Path, project: Path) -> None:
    ended = await run(
        tmp_path, ScriptedBackend({"developer": [GOOD], "senior_reviewer": [say_handoff("Looked.")]})
    )
    assert ended.status is PipelineStatus.DONE
    assert [step.status for step in ended.steps] == [StepStatus.DONE] * 2
    assert ended.steps[1].latest_handoff is not None
    assert ended.steps[1].latest_handoff.content_md == "## What Was Done\nLooked.\n"
    assert all(step.started_at and step.finished_at for step in ended.steps)


async def test_a_failing_agent_fails_its_step_and_later_steps_stay_pending(
    tmp_path: Path, project: Path
) -> None:
    ended = await run(tmp_path, ScriptedBackend({"developer": [{"fail": "the model is overloaded"}]}))
    assert ended.status is PipelineStatus.FAILED
    assert [step.status for step in ended.steps] == [StepStatus.FAILED, StepStatus.PENDING]
    assert ended.steps[0].error_message == "the model is overloaded"
    assert ended.reason == "step 1 (developer) failed: the model is overloaded"


async def test_a_session_is_closed_after_success_and_after_failure(tmp_path: Path, project: Path) -> None:
    backend = ScriptedBackend({"developer": [GOOD], "senior_reviewer": [{"fail": "no"}]})
    await run(tmp_path, backend)
    assert len(backend.closed) == 2
    assert len(set(backend.closed)) == 2


async def test_standing_orders_come_before_the_briefing(tmp_path: Path, project: Path) -> None:
    write_project(project, "agents: {developer: {system_prompt_additions: Be brief.}}")
    backend = ScriptedBackend({"developer": [GOOD], "senior_reviewer": [GOOD]})
    await run(tmp_path, backend)
    assert backend.received["developer"][0].startswith("Be brief.\n\n")
    assert "Fix the button." in backend.received["developer"][0]


async def test_a_step_over_its_time_is_aborted_and_fails(tmp_path: Path, project: Path) -> None:
    backend = ScriptedBackend({"developer": [{"delay": 600}]})
    async with build_test_segue(tmp_path, backend, step_timeout=0.2) as segue:
        ended = await follow_to_end(segue, (await segue.pipelines.submit(QUICK_FIX)).id)
    assert ended.status is PipelineStatus.FAILED
    assert "timed out after 0.2 s" in (ended.steps[0].error_message or "")
    assert len(backend.aborted) == 1


async def test_a_template_s_own_timeout_counts_before_the_setting(tmp_path: Path, project: Path) -> None:
    step = TemplateStep(agent="developer", timeout=0.1)
    backend = ScriptedBackend({"developer": [{"delay": 600}]})
    ended = await run(tmp_path, backend, PipelineRequest(prompt="x", custom_steps=(step,)))
    assert "timed out after 0.1 s" in (ended.steps[0].error_message or "")


async def test_an_empty_reply_is_a_failure(tmp_path: Path, project: Path) -> None:
    ended = await run(tmp_path, ScriptedBackend({"developer": [{"say": "  \n"}]}))
    assert ended.status is PipelineStatus.FAILED
    assert "empty" in (ended.reason or "")


async def test_an_agent_without_a_back_end_fails_with_the_remedy(
    tmp_path: Path, project: Path, no_agents: Path
) -> None:
    async with build_test_segue(tmp_path, ScriptedBackend(), backend=None) as segue:
        ended = await follow_to_end(segue, (await segue.pipelines.submit(QUICK_FIX)).id)
    assert ended.status is PipelineStatus.FAILED
    for remedy in ("SEGUE_BACKEND", "`segue agents install opencode`", "`segue agents doctor`"):
        assert remedy in (ended.reason or "")


async def test_an_agent_that_does_not_exist_is_refused_at_once(tmp_path: Path, project: Path) -> None:
    async with build_test_segue(tmp_path, ScriptedBackend()) as segue:
        wanted = PipelineRequest(prompt="x", custom_steps=(TemplateStep(agent="reviwer"),))
        with pytest.raises(UnknownName, match="reviwer"):
            await segue.pipelines.submit(wanted)
        with pytest.raises(PipelineNotFound):
            await segue.views.pipeline(1)


async def test_the_session_is_known_while_a_step_runs(tmp_path: Path, project: Path) -> None:
    backend = ScriptedBackend({"developer": [hold_until(tmp_path / "go"), GOOD], "senior_reviewer": [GOOD]})
    async with build_test_segue(tmp_path, backend) as segue:
        pipeline = await segue.pipelines.submit(QUICK_FIX)
        await until(lambda: "developer" in backend.received)
        running = await segue.views.step(pipeline.id, 1)
        assert running.attempts[0].finished_at is None
        (tmp_path / "go").touch()
        await follow_to_end(segue, pipeline.id)
        ended = await segue.views.step(pipeline.id, 1)
        assert ended.attempts[0].finished_at is not None


async def test_the_next_agent_is_given_the_task_and_the_handoff(tmp_path: Path, project: Path) -> None:
    backend = ScriptedBackend({"developer": [{"say": "Chatter.\n"}, GOOD], "senior_reviewer": [GOOD]})
    await run(tmp_path, backend)
    given = backend.received["senior_reviewer"][0]
    assert "Fix the button." in given
    assert "## Handoff from previous step (developer)" in given
    assert "Fixed it." in given
    assert "Review it." in given
    assert given.index("Fixed it.") < given.index("### Other Notes\n\nChatter.\n")


async def test_a_reply_without_structure_is_handed_on_as_it_is(tmp_path: Path, project: Path) -> None:
    backend = ScriptedBackend({"developer": [{"say": "Hm. It works now."}], "senior_reviewer": [GOOD]})
    ended = await run(tmp_path, backend)
    assert ended.steps[0].latest_handoff is not None
    assert ended.steps[0].latest_handoff.metadata is None
    assert "Hm. It works now." in backend.received["senior_reviewer"][0]


async def test_the_audit_trail_tells_of_a_structured_handoff(tmp_path: Path, project: Path) -> None:
    backend = ScriptedBackend({"developer": [GOOD], "senior_reviewer": [GOOD]})
    async with build_test_segue(tmp_path, backend) as segue:
        ended = await follow_to_end(segue, (await segue.pipelines.submit(QUICK_FIX)).id)
        entries = await audit_of(segue, ended.id)
    created = [entry for entry in entries if entry.event_type == "handoff_created"]
    assert [entry.payload and entry.payload["has_structured_data"] for entry in created] == [True, True]
    assert ended.steps[0].latest_handoff is not None
    assert created[0].payload is not None
    assert created[0].payload["handoff_id"] == ended.steps[0].latest_handoff.id
    assert not [entry for entry in entries if entry.event_type == "handoff_extraction_failed"]


async def test_the_audit_trail_tells_of_a_reply_without_structure(tmp_path: Path, project: Path) -> None:
    backend = ScriptedBackend({"developer": [{"say": "Hm."}], "senior_reviewer": [GOOD]})
    async with build_test_segue(tmp_path, backend) as segue:
        ended = await follow_to_end(segue, (await segue.pipelines.submit(QUICK_FIX)).id)
        of_first = [e for e in await audit_of(segue, ended.id) if e.step_id == ended.steps[0].id]
    kinds = [entry.event_type for entry in of_first]
    assert "handoff_extraction_failed" in kinds
    created = of_first[kinds.index("handoff_created")]  # type: ignore[arg-type]  # a StrEnum is a str
    assert created.payload is not None
    assert created.payload["has_structured_data"] is False


async def test_the_record_is_stored_as_json_without_its_empty_fields(tmp_path: Path, project: Path) -> None:
    ended = await run(tmp_path, ScriptedBackend({"developer": [GOOD], "senior_reviewer": [GOOD]}))
    assert ended.steps[0].latest_handoff is not None
    metadata = ended.steps[0].latest_handoff.metadata
    assert metadata is not None
    assert metadata["what_was_done"] == ["Fixed it."]
    assert "blockers" not in metadata
    json.dumps(metadata)


async def test_every_move_leaves_its_mark_in_order(tmp_path: Path, project: Path) -> None:
    backend = ScriptedBackend({"developer": [GOOD], "senior_reviewer": [GOOD]})
    async with build_test_segue(tmp_path, backend) as segue:
        ended = await follow_to_end(segue, (await segue.pipelines.submit(QUICK_FIX)).id)
        kinds = [str(entry.event_type) for entry in await audit_of(segue, ended.id)]
    step = ["step_started", "attempt_started", "message_sent", "handoff_created", "step_done"]
    assert kinds == [
        "pipeline_created",
        "pipeline_started",
        "workspace_opened",
        *step,
        *step,
        "pipeline_done",
    ]


async def test_two_run_side_by_side_and_one_is_aborted(tmp_path: Path, repository: Path) -> None:
    held = hold_until(tmp_path / "go")
    backend = ScriptedBackend({"developer": [held, GOOD], "senior_reviewer": [GOOD]})
    async with build_test_segue(tmp_path, backend) as segue:
        one = await segue.pipelines.submit(QUICK_FIX)
        other = await segue.pipelines.submit(QUICK_FIX)
        await until(lambda: len(backend.received.get("developer", [])) == 2)
        await segue.pipelines.abort(one.id, "wrong branch")
        stopped = await segue.views.pipeline(one.id)
        assert stopped.status is PipelineStatus.ABORTED
        assert stopped.reason == "wrong branch"
        assert [step.status for step in stopped.steps] == [StepStatus.ABORTED, StepStatus.PENDING]
        assert len(backend.aborted) == 1
        with pytest.raises(IllegalMove, match="aborted"):
            await segue.pipelines.abort(one.id)
        (tmp_path / "go").touch()
        assert (await follow_to_end(segue, other.id)).status is PipelineStatus.DONE


@pytest.mark.thorough
async def test_more_pipelines_than_places_wait_and_all_end(tmp_path: Path, repository: Path) -> None:
    from segue.application.ports.engine import WorkerPolicy

    backend = ScriptedBackend({"developer": [hold_until(tmp_path / "go"), GOOD]})
    wanted = PipelineRequest(prompt="x", custom_steps=(TemplateStep(agent="developer"),))
    async with build_test_segue(tmp_path, backend, policy=WorkerPolicy(room=2)) as segue:
        submitted = [await segue.pipelines.submit(wanted) for _ in range(6)]
        assert [each.status for each in submitted[:2]] == [PipelineStatus.RUNNING] * 2
        assert {each.status for each in submitted[2:]} == {PipelineStatus.PENDING}
        (tmp_path / "go").touch()
        async with asyncio.timeout(120):
            ended = [await follow_to_end(segue, each.id) for each in submitted]
    assert {each.status for each in ended} == {PipelineStatus.DONE}


async def test_a_session_is_closed_although_segue_stops_at_that_moment(tmp_path: Path, project: Path) -> None:
    stopping = asyncio.Event()

    class Slow(ScriptedBackend):
        async def close(self, session: str) -> None:
            if self.closed:
                await stopping.wait()
            await super().close(session)

    backend = Slow({"developer": [GOOD], "senior_reviewer": [GOOD]})
    async with build_test_segue(tmp_path, backend) as segue:
        await follow_to_end(segue, (await segue.pipelines.submit(QUICK_FIX)).id)
        assert len(backend.closed) == 1, "the last session is being closed when the run has ended"
        asyncio.get_running_loop().call_later(0.3, stopping.set)
    assert len(backend.closed) == 2
