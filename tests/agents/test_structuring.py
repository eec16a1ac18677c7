"""A rambling reply becomes a grounded record: its writer is asked once, and its inventions are dropped."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from segue.testing import ScriptedModel, edit, read, say, script, turn, usage
from tests.agents import little_command_agent
from tests.agents.rigs import MAKERS, git, make_project, profile_of
from tests.warm import run_warm

RAMBLING = (
    "The thing with add was funny. Subtraction, of all things, sat in calc.py where the sum belongs, and the "
    "sum is back there. The callers look as if a few had worked around it; that is worth a look by someone "
    "who knows them."
)
ANSWER = """```yaml
outcome: completed
what_was_done:
  - The sum is back in calc.py where the subtraction sat
  - Deployed the fix to production
files_modified:
  - path: calc.py
suggested_next_steps:
  - step: A look at the callers that worked around it
    priority: high
```
"""
REVIEWED = "## Outcome\ncompleted\n\n## What Was Done\n- Read calc.py\n"
PLAN = script(
    {
        "develop": [
            read("calc.py"),
            edit("calc.py", "a - b", "a + b"),
            turn(say(RAMBLING), usage=usage(900, 100)),
        ],
        "develop/2": [turn(say(ANSWER), usage=usage(1200, 150))],
        "ramble": [say(RAMBLING)],
        "review": [say(REVIEWED)],
        "structure": [say(ANSWER)],
    },
    default="structure",
)


def run_segue(tmp_path: Path, project: Path, *arguments: str, **settings: str) -> str:
    """A command in the project; gives what it prints."""
    places = {"SEGUE_DATA_DIR": str(tmp_path / "data"), "SEGUE_CONFIG_DIR": str(tmp_path / "config")}
    environment = os.environ | places | {"SEGUE_STEP_TIMEOUT": "240"} | settings
    done = run_warm(*arguments, cwd=project, env=environment, seconds=500)
    assert done.returncode == 0, (done.stdout[-2000:], done.stderr[-2000:])
    return done.stdout


def catalog(profile: dict[str, Any], first: str) -> dict[str, Any]:
    steps = [
        {"agent": "developer", "description": f"[[{first}]]"},
        {"agent": "reviewer", "description": "[[review]]"},
    ]
    return {"agents": {"developer": profile, "reviewer": profile}, "templates": {"pair": {"steps": steps}}}


def command_agent(tmp_path: Path, model: ScriptedModel) -> dict[str, Any]:
    program = [sys.executable, little_command_agent.__file__, model.url, str(tmp_path / "places")]
    return {"backend": "command", "options": {"command": program}}


def check_record(handoff: dict[str, Any]) -> None:
    """The record says what the reply says, and nothing else."""
    record = handoff["metadata"]
    assert record["outcome"] == "completed"
    assert record["what_was_done"] == ["The sum is back in calc.py where the subtraction sat"]
    assert [each["path"] for each in record["files_modified"]] == ["calc.py"]
    assert record["suggested_next_steps"] == [{"step": "A look at the callers that worked around it"}]
    assert handoff["reading"]["dropped"] == ["what_was_done: Deployed the fix to production"]
    assert "outcome" in handoff["reading"]["asked"]
    assert handoff["content_md"].strip() == RAMBLING, "the reply itself stays word for word"


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["opencode", "claude_code"])
def test_a_session_that_lives_is_asked_once(tmp_path: Path, name: str) -> None:
    with ScriptedModel(PLAN) as model:
        profile = profile_of(MAKERS[name](tmp_path / "home", model.url))
        project = make_project(tmp_path / "project", catalog(profile, "develop"))
        pipeline = json.loads(run_segue(tmp_path, project, "run", "pair", "Fix add.", "--json"))
        asked = [record.request.text for record in model.requests if record.scenario == "develop/2"]
    developer, reviewer = pipeline["steps"]
    check_record(developer["latest_handoff"])
    assert (developer["questions"], developer["repairs"], reviewer["questions"]) == (1, 0, 0)
    assert len(asked) == 1
    assert git(project, "show", f"{developer['end_commit']}:calc.py").endswith("return a + b\n")
    shown = run_segue(tmp_path, project, "pipelines", "show", str(pipeline["id"]), "--step", "1", "--json")
    [question] = json.loads(shown)["attempts"][0]["repairs"]
    assert question["kind"] == "question"
    assert question["usage"]["output_tokens"] >= 150, "what it cost is shown"


def test_an_agent_without_a_session_is_run_again_in_an_empty_folder(tmp_path: Path) -> None:
    with ScriptedModel(PLAN) as model:
        project = make_project(tmp_path / "project", catalog(command_agent(tmp_path, model), "ramble"))
        pipeline = json.loads(run_segue(tmp_path, project, "run", "pair", "Fix add.", "--json"))
        scenarios = [record.scenario for record in model.requests]
        briefing = model.turns[-1].request.text
    assert scenarios == ["ramble", "structure", "review"]
    record = pipeline["steps"][0]["latest_handoff"]
    assert record["metadata"]["outcome"] == "completed"
    assert record["reading"]["dropped"] == ["what_was_done: Deployed the fix to production"]
    worktree = pipeline["workspace"]["path"]
    rows = [line.split("\t") for line in (tmp_path / "places").read_text().splitlines()]
    assert [row[0] == worktree for row in rows] == [True, False, True]
    assert rows[1][1] == "0", "the folder was empty"
    assert not Path(rows[1][0]).exists(), "and is gone with what was left in it"
    assert "The sum is back in calc.py where the subtraction sat" in briefing
    assert "Deployed" not in briefing


def test_who_is_not_asked_passes_its_raw_reply_on(tmp_path: Path) -> None:
    with ScriptedModel(PLAN) as model:
        project = make_project(tmp_path / "project", catalog(command_agent(tmp_path, model), "ramble"))
        run_segue(tmp_path, project, "run", "pair", "Fix add.", "--json", SEGUE_ASK_WRITER="false")
        scenarios = [record.scenario for record in model.requests]
        briefing = model.turns[-1].request.text
    assert scenarios == ["ramble", "review"]
    assert RAMBLING in briefing


def test_a_file_is_structured_with_an_agent(tmp_path: Path) -> None:
    with ScriptedModel(PLAN) as model:
        project = make_project(tmp_path / "project", catalog(command_agent(tmp_path, model), "ramble"))
        (project / "notes.txt").write_text(RAMBLING)
        printed = run_segue(
            tmp_path, project, "handoff", "structure", "notes.txt", "--with", "developer", "--json"
        )
    found = json.loads(printed)
    assert found["handoff"]["outcome"] == "completed"
    assert found["dropped"] == ["what_was_done: Deployed the fix to production"]
    span = found["spans"]["what_was_done[0]"]
    assert "the sum is back there" in RAMBLING[span["start"] : span["end"]]
    assert not (project / "trace.txt").exists()
