"""The main job with real agents: two steps on a git repository, from the command line to the handoffs."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from segue.testing import ScriptedModel, call, edit, read, say, script, shell, turn, usage
from tests.agents.faults import agent_processes
from tests.agents.rigs import EACH_BACKEND, MAKERS, every_rig, git, make_project, profile_of
from tests.warm import run_warm

DONE = """I fixed it.

## Handoff

```yaml
outcome: completed
what_was_done:
  - Changed add in calc.py to add instead of subtract
files_modified:
  - path: calc.py
next_agent_context: Check that add(2, 3) is 5.
```
"""
REVIEWED = """## Handoff

```yaml
outcome: completed
what_was_done:
  - Read calc.py and ran it
decisions_made:
  - decision: Safe to merge
```
"""
BAD = {"what_was_done": [], "outcome": "finished, I think"}
GOOD = {
    "outcome": "completed",
    "what_was_done": ["Changed add in calc.py to add instead of subtract"],
    "files_modified": [{"path": "calc.py"}],
    "next_agent_context": "Check that add(2, 3) is 5.",
}
PLAN = script(
    {
        "develop": [
            read("calc.py"),
            edit("calc.py", "a - b", "a + b"),
            turn(say(DONE), usage=usage(900, 100)),
        ],
        "review": [shell("cat calc.py"), say(REVIEWED)],
        "submit": [
            read("calc.py"),
            edit("calc.py", "a - b", "a + b"),
            call("submit_handoff", BAD),
            call("submit_handoff", GOOD),
            say("Handed off."),
        ],
    },
    default="review",
)


def run(tmp_path: Path, project: Path) -> dict[str, Any]:
    """`segue run quick_fix` in the project; gives the pipeline that came of it."""
    environment = os.environ | {"SEGUE_DATA_DIR": str(tmp_path / "data"), "SEGUE_STEP_TIMEOUT": "240"}
    done = run_warm("run", "quick_fix", "Fix add.", "--json", cwd=project, env=environment, seconds=500)
    assert done.stdout, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    assert done.returncode == 0, (found.get("reason"), done.stderr)
    return found


def catalog(name: str, tmp_path: Path, model: ScriptedModel, first: str) -> dict[str, Any]:
    profile = profile_of(MAKERS[name](tmp_path / "home", model.url))
    steps = [
        {"agent": "developer", "description": f"[[{first}]]"},
        {"agent": "senior_reviewer", "description": "[[review]]"},
    ]
    agents = {"developer": profile, "senior_reviewer": profile}
    return {"agents": agents, "templates": {"quick_fix": {"steps": steps}}}


@pytest.mark.parametrize("name", every_rig())
def test_two_agents_fix_a_file_and_hand_off(tmp_path: Path, name: str) -> None:
    with ScriptedModel(PLAN) as model:
        project = make_project(tmp_path / "project", catalog(name, tmp_path, model, "develop"))
        pipeline = run(tmp_path, project)
        assert agent_processes(MAKERS[name](tmp_path / "home", model.url)) == [], "nothing is left running"
        briefings = "\n".join(record.request.text for record in model.requests if record.scenario == "review")
    assert pipeline["status"] == "done"
    developer, reviewer = pipeline["steps"]
    assert git(project, "show", f"{developer['end_commit']}:calc.py").endswith("return a + b\n")
    assert (project / "calc.py").read_text().endswith("return a - b\n"), "the user's checkout is untouched"
    handoff = developer["latest_handoff"]
    assert handoff["metadata"]["outcome"] == "completed"
    assert handoff["ledger"]["counts"]["confirmed"] >= 1
    assert handoff["ledger"]["counts"]["refuted"] == 0
    assert reviewer["latest_handoff"]["metadata"]["decisions_made"][0]["decision"] == "Safe to merge"
    assert "Handoff from previous step (developer)" in briefings
    assert "Check that add(2, 3) is 5." in briefings
    assert developer["usage"] is None or developer["usage"]["context_tokens"] or name == "acp-goose"


@pytest.mark.thorough
@pytest.mark.parametrize("name", EACH_BACKEND)
def test_a_bad_handoff_comes_back_over_mcp_and_is_fixed(tmp_path: Path, name: str) -> None:
    with ScriptedModel(PLAN) as model:
        project = make_project(tmp_path / "project", catalog(name, tmp_path, model, "submit"))
        pipeline = run(tmp_path, project)
        answers = [
            result
            for record in model.requests
            if record.scenario == "submit"
            for result in record.request.results
        ]
    assert pipeline["status"] == "done"
    handoff = pipeline["steps"][0]["latest_handoff"]
    assert handoff["metadata"]["what_was_done"] == GOOD["what_was_done"]
    assert handoff["metadata"]["next_agent_context"] == GOOD["next_agent_context"]
    told = "\n".join(str(answer) for answer in answers)
    assert "H00" in told, "the problems came back"
    assert handoff["ledger"]["counts"]["refuted"] == 0
