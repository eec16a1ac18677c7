"""What a real agent asks reaches a person, live, and the answer reaches the agent."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from segue.application.pipelines.submit import PipelineRequest
from segue.application.pipelines.transactions_deciding import HumanDecision
from segue.domain.activity import ActivityKind
from segue.testing import ScriptedModel, follow_to_end, say, script, shell, turn, usage
from tests.agents.rigs import MAKERS, make_project, profile_of
from tests.agents.test_error_table import running

pytestmark = pytest.mark.thorough

HANDOFF = "## Outcome\ncompleted\n\n## What Was Done\n- Looked at calc.py.\n\n## Next Agent Context\nGo on."
PLAN = script(
    {
        "look": [
            turn(say("I look first."), shell("cat calc.py")),
            turn(say(HANDOFF), usage=usage(input=50_000, output=100)),
        ]
    }
)
RULES = [{"tool": "shell", "pattern": "cat *", "action": "ask"}]


@pytest.mark.parametrize("name", ["opencode", "claude_code"], ids=str)
@pytest.mark.parametrize("approve", [True, False], ids=["approved", "rejected"])
async def test_a_question_waits_for_a_person(tmp_path: Path, name: str, approve: bool) -> None:
    with ScriptedModel(PLAN) as model:
        profile = profile_of(MAKERS[name](tmp_path / "home", model.url), permissions=RULES)
        template = {"steps": [{"agent": "dev", "description": "[[look]]"}], "on_bad_handoff": "note"}
        catalog = {"agents": {"dev": profile}, "templates": {"one": template}}
        project = make_project(tmp_path / "project", catalog)
        async with running(tmp_path) as segue:
            wanted = PipelineRequest(template="one", prompt="Look.", working_dir=str(project))
            pipeline = (await segue.pipelines.submit(wanted)).id
            async with asyncio.timeout(120):
                while not (asked := await segue.views.approvals(pipeline_id=pipeline)):  # noqa: ASYNC110
                    await asyncio.sleep(0.1)
            assert "cat calc.py" in asked[0].title
            await segue.approvals.decide(
                asked[0].id, HumanDecision(approve=approve, comment="Because I say so.")
            )
            ended = await follow_to_end(segue, pipeline)
            activity = await segue.views.activity_after(0, pipeline_id=pipeline)
        heard = "\n".join(str(result) for each in model.requests for result in each.request.results)
    assert ended.status == "done", ended.reason
    assert ("return a - b" in heard) is approve, "the command ran if it was approved, and only then"
    said = "".join(each.payload["text"] for each in activity if each.kind is ActivityKind.SAID)
    assert "Looked at calc.py." in said
    tools = [each.payload for each in activity if each.kind is ActivityKind.TOOL_USED]
    assert any("cat calc.py" in used.get("target", "") for used in tools)
    use = ended.steps[0].usage
    assert use is not None
    assert use.context_tokens == 50_000
    assert use.context_share is not None
