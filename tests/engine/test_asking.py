"""A reply that cannot be read: its writer is asked once, and the run goes on whatever comes of it."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from segue.application.pipelines.submit import PipelineRequest
from segue.application.views import PipelineDetail, StepDetail
from segue.testing import ScriptedBackend, build_test_segue, follow_to_end
from tests.trusting import write_project

RAMBLING = (
    "The thing with the cache was funny. Stale entries, of all things, sat in cache.py where fresh ones "
    "belong, and fresh ones are back there."
)
ASKED = "What could not be read"
ANSWER = {
    "say": "outcome: completed\n"
    "what_was_done:\n"
    "  - Fresh entries are back in cache.py where stale ones sat\n"
    "  - Deployed it to production\n"
}
NO_REPAIR = {"on_bad_handoff": "note"}
GOOD = {"say": "## Outcome\ncompleted\n\n## What Was Done\n- Looked at it\n"}


async def run(
    tmp_path: Path,
    project: Path,
    options: Mapping[str, Any],
    /,
    *,
    template: Mapping[str, Any] = {},
    **settings: Any,
) -> tuple[PipelineDetail, ScriptedBackend, StepDetail]:
    """A developer with these options, and a reviewer."""
    catalog = {
        "agents": {
            "dev": {"backend": "scripted", "options": options},
            "rev": {"backend": "scripted", "options": {"actions": [GOOD]}},
        },
        "templates": {"pair": {"steps": [{"agent": "dev"}, {"agent": "rev"}], **template}},
    }
    write_project(project, json.dumps(catalog), "pair.yaml")
    backend = ScriptedBackend()
    async with build_test_segue(tmp_path, backend, **settings) as segue:
        order = PipelineRequest(template="pair", prompt="Fix the cache.", working_dir=str(project))
        ended = await follow_to_end(segue, (await segue.pipelines.submit(order)).id)
        return ended, backend, await segue.views.step(ended.id, 1)


def rambles(*answers: Mapping[str, Any]) -> dict[str, Any]:
    return {"actions": [{"say": RAMBLING}], "when": {ASKED: list(answers)}}


async def test_what_the_writer_adds_is_kept_where_its_reply_says_it(tmp_path: Path, project: Path) -> None:
    ended, backend, step = await run(tmp_path, project, rambles(ANSWER))
    assert ended.status == "done"
    handoff = ended.steps[0].latest_handoff
    assert handoff is not None
    assert handoff.metadata == {
        "outcome": "completed",
        "what_was_done": ["Fresh entries are back in cache.py where stale ones sat"],
    }
    assert handoff.content_md == RAMBLING
    assert handoff.reading is not None
    assert handoff.reading["dropped"] == ["what_was_done: Deployed it to production"]
    assert handoff.reading["asked"] == ["outcome", "what_was_done[0]"]
    [question] = step.attempts[0].repairs
    assert (question.kind, question.text) == ("question", backend.received["dev"][1])
    assert (ended.steps[0].questions, ended.steps[0].repairs) == (1, 0)
    assert "Fresh entries are back in cache.py" in backend.received["rev"][0]
    assert "production" not in backend.received["rev"][0]


@pytest.mark.parametrize("answer", [{"say": "I have nothing to add."}, {"fail": "the model is gone"}])
async def test_without_an_answer_the_next_agent_is_given_the_reply(
    tmp_path: Path, project: Path, answer: Mapping[str, str]
) -> None:
    ended, backend, _ = await run(tmp_path, project, rambles(answer), template=NO_REPAIR)
    assert ended.status == "done"
    assert len(backend.received["dev"]) == 2
    assert RAMBLING in backend.received["rev"][0]


async def test_one_setting_turns_asking_off(tmp_path: Path, project: Path) -> None:
    _, backend, _ = await run(tmp_path, project, rambles(ANSWER), template=NO_REPAIR, ask_writer=False)
    assert len(backend.received["dev"]) == 1
    assert RAMBLING in backend.received["rev"][0]


async def test_a_complete_handoff_is_not_asked_about(tmp_path: Path, project: Path) -> None:
    _, backend, _ = await run(tmp_path, project, {"actions": [GOOD], "when": {ASKED: [ANSWER]}})
    assert len(backend.received["dev"]) == 1


async def test_for_the_outcome_alone_one_line_is_asked(tmp_path: Path, project: Path) -> None:
    options = {
        "actions": [{"say": "## What Was Done\n- Added the cache\n"}],
        "when": {ASKED: [{"say": "outcome: partial"}]},
    }
    ended, backend, _ = await run(tmp_path, project, options, template=NO_REPAIR)
    handoff = ended.steps[0].latest_handoff
    assert handoff is not None
    assert handoff.metadata == {"outcome": "partial", "what_was_done": ["Added the cache"]}
    assert "what_was_done" not in backend.received["dev"][1]


@pytest.mark.parametrize(("answer", "status"), [(ANSWER, "done"), ({"say": "No."}, "failed")])
async def test_who_would_fail_without_a_handoff_is_asked_first(
    tmp_path: Path, project: Path, answer: Mapping[str, str], status: str
) -> None:
    ended, _, _ = await run(tmp_path, project, rambles(answer), template={"on_bad_handoff": "fail"})
    assert ended.status == status


async def test_a_question_is_one_of_the_turns_that_a_repair_may_take(tmp_path: Path, project: Path) -> None:
    bad = {"say": "outcome: completed\nfiles_created:\n  - path: /etc/cache.py\n"}
    options = {
        "actions": [{"say": f"{RAMBLING} It is in /etc/cache.py now."}],
        "when": {ASKED: [bad], "What is wrong with its form": [bad]},
    }
    ended, backend, _ = await run(tmp_path, project, options, template={"on_bad_handoff": "repair"})
    assert ended.status == "done"
    assert len(backend.received["dev"]) == 3
    assert (ended.steps[0].questions, ended.steps[0].repairs) == (1, 1)


async def test_what_a_briefing_left_out_is_stored_with_its_attempt(tmp_path: Path, project: Path) -> None:
    done = "\n".join(f"- Moved function number {number} to its new module" for number in range(80))
    options = {"actions": [{"say": f"## Outcome\ncompleted\n\n## What Was Done\n{done}\n"}]}
    ended, backend, _ = await run(tmp_path, project, options, briefing_budget=700)
    async with build_test_segue(tmp_path, backend) as segue:
        attempt = (await segue.views.step(ended.id, 2)).attempts[0]
    left = [each.field for each in attempt.left_out]
    assert left
    assert left == [f"what_was_done[{number}]" for number in range(80 - len(left), 80)]
    assert f"{len(left)} what was done" in attempt.briefing
    assert attempt.over_budget == 0


async def test_a_question_survives_a_stop_of_segue(tmp_path: Path, project: Path) -> None:
    program = tmp_path / "agent.py"
    program.write_text(
        "import pathlib, sys, time\n"
        "text, here = sys.stdin.read(), pathlib.Path(sys.argv[1])\n"
        "if 'Please structure' in text:\n"
        "    (here / 'asked').touch()\n"
        "    while not (here / 'go').exists(): time.sleep(0.05)\n"
        f"    print({ANSWER['say']!r})\n"
        "else:\n"
        f"    print({RAMBLING!r})\n"
    )
    command = [sys.executable, str(program), str(tmp_path)]
    catalog = {
        "agents": {"dev": {"backend": "command", "options": {"command": command}}},
        "templates": {"alone": {"steps": [{"agent": "dev"}]}},
    }
    write_project(project, json.dumps(catalog), "alone.yaml")
    order = PipelineRequest(template="alone", prompt="Fix the cache.", working_dir=str(project))
    async with build_test_segue(tmp_path, ScriptedBackend()) as segue, asyncio.timeout(120):
        pipeline = await segue.pipelines.submit(order)
        while not (tmp_path / "asked").exists():  # noqa: ASYNC110  # a file has no event
            await asyncio.sleep(0.02)
    (tmp_path / "go").touch()
    async with build_test_segue(tmp_path, ScriptedBackend()) as segue, asyncio.timeout(120):
        ended = await follow_to_end(segue, pipeline.id)
    assert ended.status == "done"
    handoff = ended.steps[0].latest_handoff
    assert handoff is not None
    assert handoff.metadata is not None
    assert handoff.metadata["outcome"] == "completed"
    assert ended.steps[0].questions == 1
