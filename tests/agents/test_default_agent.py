"""Nothing is set: `segue run` finds the OpenCode that Segue installed, says so, and does the job with it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from segue.testing import ScriptedModel, say, script, shell
from tests.agents import programs, rig_opencode
from tests.agents.rigs import make_project

pytestmark = pytest.mark.thorough

REVIEWED = "## What Was Done\n- Read calc.py\n\n## Decisions Made\n- Safe to merge\n"


def test_a_run_without_any_back_end_named_uses_the_installed_opencode(
    tmp_path: Path, no_agents: Path
) -> None:
    program = programs.need("opencode")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "agents").symlink_to(programs.CACHE / "agents")
    project = make_project(tmp_path / "project", {})
    with ScriptedModel(script({"look": [shell("cat calc.py"), say(REVIEWED)]}, default="look")) as model:
        options = dict(rig_opencode.make(tmp_path / "home", model.url).options)
        assert options.pop("program") == str(program)
        environment = os.environ | {
            "SEGUE_DATA_DIR": str(tmp_path / "data"),
            "SEGUE_BACKEND_OPTIONS": json.dumps({"opencode": options}),
            "SEGUE_STEP_TIMEOUT": "200",
        }
        done = subprocess.run(
            [sys.executable, "-m", "segue", "run", "quick_fix", "Look at add."],
            cwd=project,
            env=environment,
            capture_output=True,
            text=True,
            timeout=400,
            check=False,
        )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "on opencode, installed by Segue" in done.stderr.splitlines()
    assert "2 senior_reviewer: ● done" in done.stderr
