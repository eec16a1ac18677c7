"""Real agents over their limit in the middle of a step: a new session finishes what they hand over."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from segue.testing import Script, ScriptedModel, edit, hang, read, say, script, shell, turn, usage
from tests.agents.faults import agent_processes
from tests.agents.rigs import EACH_BACKEND, MAKERS, git, make_project, profile_of
from tests.warm import run_warm

pytestmark = pytest.mark.thorough

HANDOFF = """## Goal
Let add add.

## Constraints & Preferences
- Keep the change small

## Progress

### Done
- [x] Wrote down the cause in `notes.md`

## Key Decisions
- Only the sign changes: the rest is right

## Critical Context
- The next scenario is called [[finish]]

## Next Steps
- Fix the sign in `calc.py`
"""
DONE = """## Handoff

```yaml
outcome: completed
what_was_done:
  - Changed add in calc.py to add instead of subtract
files_modified:
  - path: calc.py
```
"""
LOOKED = "## Handoff\n\n```yaml\noutcome: completed\nwhat_was_done:\n  - Looked at add\n```\n"
FULL: dict[str, int] = {"claude_code": 800_000}
"""Tokens that fill the window of its model; that of the others is a fifth of this one's."""


def plan(full: int) -> Script:
    """An agent that fills its context and is held there, and one that finishes its work."""
    return script(
        {
            "begin": [
                # goose joins the question to the words before it, which were never answered.
                turn(shell("echo the sign is wrong > notes.md"), times=1, then=say(HANDOFF)),
                turn(read("calc.py"), usage=usage(input=full, output=10)),
                hang(),
            ],
            "begin/2": [turn(say(HANDOFF), usage=usage(input=full + 10_000, output=200))],
            "finish": [
                read("calc.py"),
                edit("calc.py", "a - b", "a + b"),
                turn(say(DONE), usage=usage(input=9_000, output=10)),
            ],
            "look": [turn(say(LOOKED), usage=usage(input=9_000, output=10))],
        },
        default="begin",
    )


BY_TIME = ("acp-opencode", "acp-goose")
"""Over ACP these tell what they used only at the end of a turn: nothing but time can cut them off in it."""
MINUTES = 0.75


def segue(tmp_path: Path, project: Path, *arguments: str, **settings: str) -> Any:
    """What a command prints as JSON."""
    own = {"SEGUE_DATA_DIR": str(tmp_path / "data"), "SEGUE_STEP_TIMEOUT": "240"}
    done = run_warm(*arguments, "--json", cwd=project, env=os.environ | own | settings, seconds=500)
    assert done.stdout, done.stderr
    found = json.loads(done.stdout)
    assert done.returncode == 0, (found.get("reason"), done.stderr)
    return found


@pytest.mark.parametrize("name", EACH_BACKEND)
def test_a_full_session_hands_over_and_its_successor_finishes_the_step(tmp_path: Path, name: str) -> None:
    with ScriptedModel(plan(FULL.get(name, 150_000))) as model:
        rig = MAKERS[name](tmp_path / "home", model.url)
        templates = {
            word: {"steps": [{"agent": "developer", "description": f"[[{word}]]"}]}
            for word in ("look", "begin")
        }
        catalog = {"agents": {"developer": profile_of(rig)}, "templates": templates}
        project = make_project(tmp_path / "project", catalog)
        limit = {"SEGUE_HANDOFF_MINUTES": str(MINUTES)} if name in BY_TIME else {}
        if (
            name == "claude_code"
        ):  # it tells how large the window is when a message ends: not before the first
            segue(tmp_path, project, "run", "look", "Look at add.")
        pipeline = segue(tmp_path, project, "run", "begin", "Fix add.", **limit)
        step = segue(tmp_path, project, "pipelines", "show", str(pipeline["id"]), "--step", "1")
        first, second = step["attempts"]
        family = segue(tmp_path, project, "session", "lineage", str(second["session"]))
        old = segue(tmp_path, project, "session", "show", str(first["session"]))
        assert agent_processes(rig) == [], "nothing is left running"
        given = [record.request.text for record in model.requests if record.scenario == "finish"]
    assert pipeline["status"] == "done"
    reason = "shift_end" if name in BY_TIME else "context_limit"
    assert (first["status"], first["handover_reason"]) == ("handed_over", reason)
    if name not in BY_TIME:
        assert first["usage"]["context_tokens"] >= 0.75 * first["usage"]["context_window"]
        assert second["usage"]["context_tokens"] < 0.75 * second["usage"]["context_window"]
    assert [parent["id"] for parent in family["parents"]] == [first["session"]]
    assert old["handoffs"][0]["reason"] == reason
    assert Path(old["handoffs"][0]["file_path"]).is_file()
    assert "This step is under way" in given[0]
    assert "Only the sign changes" in given[0]
    assert "the sign is wrong" in git(project, "show", f"{step['end_commit']}:notes.md")
    assert git(project, "show", f"{step['end_commit']}:calc.py").endswith("return a + b\n")
