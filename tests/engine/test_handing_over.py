"""A session that reaches a limit in the middle of a step hands over, and the step goes on in the next one."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from segue.application.pipelines.submit import PipelineRequest
from segue.application.views import AttemptProgress, PipelineDetail
from segue.domain.pipeline import PipelineStatus
from segue.domain.session import HandoffReason
from segue.domain.template import TemplateStep
from segue.testing import ScriptedBackend, build_test_segue, follow_to_end, say_handoff
from tests.sessions.scripts import GIVEN, HANDOFF, agent, documents, until, write_catalog

ONE_STEP = PipelineRequest(custom_steps=(TemplateStep(agent="developer"),), prompt="Fix the button.")
FULL: dict[str, Any] = {"usage": {"context_tokens": 80, "context_window": 100, "input_tokens": 80}}
EMPTY: dict[str, Any] = {"usage": {"context_tokens": 10, "context_window": 100, "input_tokens": 10}}
LONG: dict[str, Any] = {"delay": 600}
WORK: list[Any] = [{"write": {"path": "button.js", "text": "half"}}, FULL, LONG]
DONE: list[Any] = [
    EMPTY,
    {"write": {"path": "button.js", "text": "whole"}},
    say_handoff("Fixed `button.js`."),
]


class Surviving(ScriptedBackend):
    """Its sessions live on when Segue is gone, as those of a server do, which takes each message once."""

    capabilities = replace(ScriptedBackend.capabilities, once=True)

    async def shutdown(self) -> None:
        """Nothing stops."""


async def run(
    tmp_path: Path, folder: Path, developer: dict[str, Any], **settings: Any
) -> tuple[PipelineDetail, ScriptedBackend]:
    """Run one step to its end."""
    write_catalog(folder, {"developer": developer})
    backend = ScriptedBackend()
    async with build_test_segue(tmp_path, backend, **settings) as segue:
        ended = await follow_to_end(segue, (await segue.pipelines.submit(ONE_STEP)).id)
    return ended, backend


async def test_the_step_goes_on_in_a_successor_and_the_lineage_shows_it(
    tmp_path: Path, repository: Path
) -> None:
    write_catalog(repository, {"developer": agent(*WORK, given=DONE)})
    backend = ScriptedBackend()
    async with build_test_segue(tmp_path, backend) as segue:
        ended = await follow_to_end(segue, (await segue.pipelines.submit(ONE_STEP)).id)
        first, second = (await segue.views.step(ended.id, 1)).attempts
        family = await segue.sessions.lineage(second.session)
        left = (await segue.sessions.show(first.session)).handoffs
        kinds = [str(e.event_type) for e in await segue.views.entries_after(0, pipeline_id=ended.id)]
    assert ended.status is PipelineStatus.DONE, ended.reason
    assert (ended.steps[0].attempt_count, ended.steps[0].handovers) == (2, 1)
    assert (first.status, first.handover_reason) == (AttemptProgress.HANDED_OVER, HandoffReason.CONTEXT_LIMIT)
    assert (second.status, second.handover_reason) == (AttemptProgress.DONE, None)
    assert [each.id for each in family.parents] == [first.session]
    assert (family.session.pipeline_id, family.session.parent_id) == (ended.id, first.session)
    assert second.briefing == first.briefing, "the task is told again, word for word"
    assert "This step is under way" in second.carry_over
    assert "Fix the handler" in second.carry_over
    assert second.text == backend.received["developer"][-1]
    assert left[0].reason is HandoffReason.CONTEXT_LIMIT
    assert left[0].injection_prompt is not None
    assert left[0].injection_prompt in second.text
    assert [Path(left[0].file_path or "").resolve()] == [path.resolve() for path in documents(tmp_path)]
    assert kinds.index("limit_reached") < kinds.index("session_handed_over") < kinds.index("step_done")
    assert len(backend.aborted) == 1, "the turn that was under way was cut off, and nothing else"
    handoff = ended.steps[0].latest_handoff
    assert handoff is not None
    assert "Fixed" in handoff.content_md, "the handoff of the step is the one at its end"
    assert ended.steps[0].usage is not None
    assert ended.steps[0].usage.input_tokens == 90, "what both sessions used counts"


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("settings", "first", "reason"),
    [
        ({"handoff_minutes": 0.01}, [{"usage": {"input_tokens": 5}}, LONG], HandoffReason.SHIFT_END),
        ({"handoff_cost": 1.0}, [{"usage": {"cost": 1.5, "input_tokens": 5}}, LONG], HandoffReason.SHIFT_END),
        (
            {"handoff_turns": 2},
            [{"usage": {"input_tokens": 5}}, {"usage": {"input_tokens": 9}}, LONG],
            HandoffReason.SHIFT_END,
        ),
        ({"handoff_context_share": 0.5}, [{"usage": {**FULL["usage"], "context_tokens": 50}}, LONG], None),
    ],
)
async def test_each_limit_cuts_a_step_off(
    tmp_path: Path, repository: Path, settings: dict[str, Any], first: list[Any], reason: HandoffReason | None
) -> None:
    write_catalog(repository, {"developer": agent(*first, given=[say_handoff("Fixed it.")])})
    async with build_test_segue(tmp_path, ScriptedBackend(), **settings) as segue:
        ended = await follow_to_end(segue, (await segue.pipelines.submit(ONE_STEP)).id)
        tried = (await segue.views.step(ended.id, 1)).attempts[0]
    assert ended.status is PipelineStatus.DONE, ended.reason
    assert tried.handover_reason is (reason or HandoffReason.CONTEXT_LIMIT)


async def test_with_automatic_handoffs_off_nobody_is_cut_off(tmp_path: Path, repository: Path) -> None:
    developer = agent(FULL, {"delay": 1.5}, say_handoff("Fixed it."))
    ended, backend = await run(tmp_path, repository, developer, auto_handoff=False)
    assert (ended.steps[0].attempt_count, backend.aborted) == (1, [])


async def test_an_answer_that_comes_with_the_full_context_is_taken(tmp_path: Path, repository: Path) -> None:
    developer = agent({"delay": 0.4}, FULL, {"delay": 0.3}, say_handoff("Fixed it."))
    ended, backend = await run(tmp_path, repository, developer)
    assert (ended.status, ended.steps[0].attempt_count, backend.aborted) == (PipelineStatus.DONE, 1, [])


@pytest.mark.thorough
async def test_the_handoff_itself_never_reaches_a_limit(tmp_path: Path, repository: Path) -> None:
    """While it is written the context is still full, and its words speak of handing off."""
    words = HANDOFF.replace("Keep the change small", "When the context is full, run /handoff at once")
    writing = [FULL, {"delay": 1.8}, FULL, {"say": words}]
    developer = agent(*WORK, asked=writing, given=DONE)
    ended, backend = await run(tmp_path, repository, developer)
    assert (ended.status, ended.steps[0].handovers) == (PipelineStatus.DONE, 1)
    assert len(backend.received["developer"]) == 3
    assert "run /handoff at once" in backend.received["developer"][-1]


@pytest.mark.thorough
async def test_a_bad_handoff_is_fixed_before_the_successor_begins(tmp_path: Path, repository: Path) -> None:
    lie = HANDOFF + "\n## Files changed\n- `gone.js` (created)\n"
    developer = agent(*WORK, asked=[{"say": lie}], fix=[{"say": HANDOFF}], given=DONE)
    ended, backend = await run(tmp_path, repository, developer)
    assert ended.status is PipelineStatus.DONE
    assert "gone.js" in backend.received["developer"][2]
    assert "gone.js" not in backend.received["developer"][3]


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ([{"fail": "the model is gone"}], "the model is gone"),
        ([{"delay": 0}], "its reply was empty"),
    ],
)
async def test_who_hands_nothing_over_is_followed_by_what_segue_saw(
    tmp_path: Path, repository: Path, asked: list[dict[str, Any]], why: str
) -> None:
    write_catalog(repository, {"developer": agent(*WORK, asked=asked, given=DONE)})
    backend = ScriptedBackend()
    async with build_test_segue(tmp_path, backend) as segue:
        ended = await follow_to_end(segue, (await segue.pipelines.submit(ONE_STEP)).id)
        first = (await segue.views.step(ended.id, 1)).attempts[0]
    assert (ended.status, ended.steps[0].handovers) == (PipelineStatus.DONE, 1)
    assert first.handover_reason is HandoffReason.CONTEXT_LIMIT
    told = backend.received["developer"][-1]
    assert "button.js" in told, "git shows what it left"
    assert why in told


@pytest.mark.thorough
async def test_handoffs_that_change_nothing_end_the_step_with_a_reason(
    tmp_path: Path, repository: Path
) -> None:
    developer = agent(FULL, LONG, given=[FULL, LONG])
    ended, backend = await run(tmp_path, repository, developer)
    assert ended.status is PipelineStatus.FAILED
    assert "3 handoffs in a row brought nothing new" in (ended.reason or "")
    assert ended.steps[0].handovers == 3
    assert len(set(backend.closed)) == 3, "no session is left"
    handoff = ended.steps[0].latest_handoff
    assert handoff is not None
    assert not handoff.is_synthetic, "a person can start from what the last session wrote"


@pytest.mark.thorough
async def test_there_is_a_cap_on_the_handoffs_of_a_step(tmp_path: Path, repository: Path) -> None:
    busy = [{"append": {"path": "log.txt", "text": "more\n"}}, FULL, LONG]
    ended, _ = await run(tmp_path, repository, agent(*busy, given=busy), max_handoffs=3)
    assert ended.status is PipelineStatus.FAILED
    assert "handed over 4 times and came to no end" in (ended.reason or "")
    assert "SEGUE_MAX_HANDOFFS" in (ended.reason or "")


async def test_who_holds_no_conversation_is_left_alone(tmp_path: Path, repository: Path) -> None:
    developer = {
        "backend": "scripted",
        "options": {"actions": [FULL, {"delay": 1.6}, say_handoff("Fixed it.")]},
    }
    ended, backend = await run(tmp_path, repository, developer)
    assert (ended.status, ended.steps[0].attempt_count, backend.aborted) == (PipelineStatus.DONE, 1, [])


async def test_a_run_can_be_aborted_while_a_session_hands_over(tmp_path: Path, repository: Path) -> None:
    write_catalog(repository, {"developer": agent(*WORK, asked=[LONG], given=DONE)})
    backend = ScriptedBackend()
    async with build_test_segue(tmp_path, backend) as segue:
        pipeline = (await segue.pipelines.submit(ONE_STEP)).id
        await until(lambda: len(backend.received.get("developer", ())) == 2)
        await segue.pipelines.abort(pipeline, "enough")
        ended = await follow_to_end(segue, pipeline)
    assert (ended.status, ended.reason) == (PipelineStatus.ABORTED, "enough")
    assert backend.closed
    assert documents(tmp_path) == []


async def interrupted(tmp_path: Path, backend: ScriptedBackend, messages: int) -> int:
    """Stop Segue once so many messages were sent."""
    async with build_test_segue(tmp_path, backend) as segue:
        pipeline = (await segue.pipelines.submit(ONE_STEP)).id
        await until(lambda: len(backend.received.get("developer", ())) == messages)
        await asyncio.sleep(0.2)
        return pipeline


@pytest.mark.thorough
async def test_after_a_crash_the_question_is_not_asked_again(tmp_path: Path, repository: Path) -> None:
    asked: list[Any] = [{"delay": 2.0}, {"say": HANDOFF}]
    write_catalog(repository, {"developer": agent(*WORK, asked=asked, given=DONE)})
    backend = Surviving()
    pipeline = await interrupted(tmp_path, backend, 2)
    async with build_test_segue(tmp_path, backend) as segue:
        ended = await follow_to_end(segue, pipeline)
    assert ended.status is PipelineStatus.DONE, ended.reason
    assert (ended.steps[0].attempt_count, ended.steps[0].handovers) == (2, 1)
    assert len(backend.received["developer"]) == 3
    assert len(documents(tmp_path)) == 1


@pytest.mark.thorough
async def test_after_a_crash_with_the_session_gone_the_step_goes_on_from_what_is_left(
    tmp_path: Path, repository: Path
) -> None:
    write_catalog(repository, {"developer": agent(*WORK, asked=[LONG], given=DONE)})
    pipeline = await interrupted(tmp_path, ScriptedBackend(), 2)
    after = ScriptedBackend()
    async with build_test_segue(tmp_path, after) as segue:
        ended = await follow_to_end(segue, pipeline)
    assert ended.status is PipelineStatus.DONE, ended.reason
    assert ended.steps[0].handovers == 1
    (told,) = after.received["developer"]
    assert GIVEN in told
    assert "button.js" in told
