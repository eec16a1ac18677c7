"""Real agents that lie about an exit code, a test count and a symbol: repaired, or named at the end."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from segue.testing import ScriptedModel, edit, read, say, script, shell
from tests.agents.faults import agent_processes
from tests.agents.rigs import MAKERS, git, make_project, profile_of
from tests.warm import run_warm

pytestmark = pytest.mark.thorough

CHECK = "python3 -m unittest"
TESTS = """\
import unittest

from calc import add


class AddTest(unittest.TestCase):
    def test_add(self):
        self.assertEqual(add(2, 3), 5)

    def test_zero(self):
        self.assertEqual(add(0, 0), 0)
"""
EXIT_CODE = f"Ran `{CHECK}`, exit code 0"
COUNT = "All 2 tests pass"
SYMBOL = "Added the function `triple` to calc.py"
LIES = (EXIT_CODE, COUNT, SYMBOL)
REFUTED = LIES


def handoff(*done: str, outcome: str = "completed") -> str:
    lines = "\n".join(f"  - {json.dumps(each)}" for each in done)
    return f"## Handoff\n\n```yaml\noutcome: {outcome}\nwhat_was_done:\n{lines}\n```\n"


LIE = handoff("Changed add in calc.py", *LIES)
TRUTH = handoff("Changed add in calc.py", f"Ran `{CHECK}`, exit code 0", "All 2 tests pass")
# Each edit changes the size of the file: within one second, Python tells old bytecode by that alone.
WORK = [read("calc.py"), edit("calc.py", "a - b", "b - a - 0"), shell(CHECK)]
REPAIR = [read("calc.py"), edit("calc.py", "b - a - 0", "sum((a, b))"), shell(CHECK)]
PLAN = script(
    {
        "stubborn": [*WORK, say(LIE)],
        "stubborn/2": [say(LIE)],
        "stubborn/3": [say(LIE)],
        "repentant": [*WORK, say(LIE)],
        "repentant/2": [*REPAIR, say(TRUTH)],
        "repentant/3": [say(TRUTH)],
    },
    default="stubborn",
)
EACH_AGENT = ("opencode", "claude_code", "codex", "acp-goose")


def run(tmp_path: Path, name: str, scenario: str, model: ScriptedModel) -> subprocess.CompletedProcess[str]:
    """`segue run` with one real agent that plays a scenario."""
    rig = MAKERS[name](tmp_path / "home", model.url)
    steps = [{"agent": "developer", "description": f"[[{scenario}]]"}]
    catalog = {"agents": {"developer": profile_of(rig)}, "templates": {"fix": {"steps": steps}}}
    project = make_project(tmp_path / "project", catalog)
    (project / "test_calc.py").write_text(TESTS)
    (project / ".gitignore").write_text(".segue/\n__pycache__/\n")
    git(project, "add", ".")
    git(project, "commit", "-qm", "Test add")
    done = segue(tmp_path, "run", "fix", "Fix add.", "--check", CHECK)
    assert agent_processes(rig) == [], "nothing is left running"
    return done


def segue(tmp_path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"SEGUE_DATA_DIR": str(tmp_path / "data"), "SEGUE_STEP_TIMEOUT": "240"}
    return run_warm(*arguments, cwd=tmp_path / "project", env=environment, seconds=500)


@pytest.mark.parametrize("name", EACH_AGENT)
def test_an_agent_that_keeps_lying_ends_the_run_with_1_and_is_not_merged(tmp_path: Path, name: str) -> None:
    with ScriptedModel(PLAN) as model:
        done = run(tmp_path, name, "stubborn", model)
    assert done.returncode == 1, (done.stdout, done.stderr)
    first, *lines = done.stdout.splitlines()
    assert first.startswith("Done, with false claims: ")
    assert first.endswith(" refuted after 2 repairs.")
    refuted = "\n".join(line for line in lines if line.startswith("refuted: step 1: "))
    assert [lie for lie in REFUTED if lie not in refuted] == []
    assert f"check: {CHECK}: exit 1" in done.stdout
    merged = segue(tmp_path, "pipelines", "merge", "1")
    assert merged.returncode == 1
    assert COUNT in merged.stderr


@pytest.mark.parametrize("name", EACH_AGENT)
def test_an_agent_that_makes_its_claims_true_when_asked_ends_the_run_with_0(
    tmp_path: Path, name: str
) -> None:
    with ScriptedModel(PLAN) as model:
        done = run(tmp_path, name, "repentant", model)
    assert done.returncode == 0, (done.stdout, done.stderr)
    first = done.stdout.splitlines()[0]
    assert first.startswith("Done in ")
    assert first.endswith(" after 1 repair.")
    assert "nothing refuted in " in first
    assert f"check: {CHECK}: exit 0" in done.stdout
