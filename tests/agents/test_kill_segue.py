"""kill -9 of Segue while a real agent works: who lives on is joined again, who died gets a new attempt."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from segue.testing import ScriptedModel, hang, say, script, turn
from tests.agents.faults import kill_agent
from tests.agents.rig import Rig
from tests.agents.rigs import EACH_BACKEND, MAKERS, make_project, profile_of
from tests.serving import ServedSegue

pytestmark = pytest.mark.thorough

FILLER = " ".join(f"word{number}" for number in range(150))
HANDOFF = (
    "## Outcome\ncompleted\n\n## What Was Done\n- Looked at calc.py.\n\n"
    f"## Critical Context\n- {FILLER}\n\n## Next Agent Context\nGo on."
)
PLAN = script(
    {
        "slow": turn(say(HANDOFF), chunk=20, chunk_delay=0.1),
        "stuck": turn(hang(FILLER), times=1, then=say(HANDOFF)),
    }
)


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    """A model that takes its time, or at first does not come to an end."""
    with ScriptedModel(PLAN) as found:
        yield found


def begin(tmp_path: Path, rig: Rig, model: ScriptedModel, scenario: str) -> tuple[ServedSegue, int]:
    """A server whose agent is in the middle of its reply."""
    template = {"steps": [{"agent": "dev", "description": f"[[{scenario}]]"}], "on_bad_handoff": "note"}
    catalog = {"agents": {"dev": profile_of(rig)}, "templates": {"one": template}}
    project = make_project(tmp_path / "project", catalog)
    served = ServedSegue(project, tmp_path / "data")
    served.start()
    pipeline = served.submit(template="one", prompt="Look.")["id"]
    model.wait_for(lambda request: request.scenario == scenario, timeout=120)
    deadline = time.monotonic() + 120
    while served.client.get(f"/pipelines/{pipeline}/steps/1").json()["attempts"][0]["status"] != "sent":
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return served, pipeline


@pytest.mark.parametrize("name", EACH_BACKEND)
def test_an_agent_that_lives_on_is_joined_and_never_asked_twice(
    tmp_path: Path, name: str, model: ScriptedModel
) -> None:
    rig = MAKERS[name](tmp_path / "home", model.url)
    lives_on = rig.backend != "acp"  # an ACP agent speaks through pipes, which end with Segue
    scenario = "slow" if lives_on else "stuck"
    served, pipeline = begin(tmp_path, rig, model, scenario)
    try:
        served.kill()
        served.start()
        ended = served.wait_for(pipeline, "done", "failed", seconds=200)
        assert ended["status"] == "done", ended["reason"]
        asked = [request for request in model.requests if request.scenario == scenario]
        assert ended["steps"][0]["attempt_count"] == (1 if lives_on else 2)
        assert len(asked) == (1 if lives_on else 2), "the prompt is not sent twice to one session"
        assert ended["steps"][0]["latest_handoff"]["metadata"]["what_was_done"] == ["Looked at calc.py."]
    finally:
        served.stop()
        served.close()


@pytest.mark.parametrize("name", EACH_BACKEND)
def test_an_agent_that_died_too_gets_a_new_attempt(tmp_path: Path, name: str, model: ScriptedModel) -> None:
    rig = MAKERS[name](tmp_path / "home", model.url)
    served, pipeline = begin(tmp_path, rig, model, "stuck")
    try:
        served.kill()
        kill_agent(rig)
        served.start()
        ended = served.wait_for(pipeline, "done", "failed", seconds=200)
        assert ended["status"] == "done", ended["reason"]
        assert ended["steps"][0]["attempt_count"] == 2
        tries = served.client.get(f"/pipelines/{pipeline}/steps/1").json()["attempts"]
        assert tries[0]["status"] == "lost"
        assert "An earlier attempt was cut off" in tries[1]["text"]
    finally:
        served.stop()
        served.close()
