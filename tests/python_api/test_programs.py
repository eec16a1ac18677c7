"""The programs of docs/python-api.md, word for word, in a git repository with real agents."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "python-api.md").read_text(encoding="utf-8")
PROGRAMS = sorted((Path(__file__).parent / "programs").glob("*.py"))
REPLY = "## What Was Done\n- Added login.py\n- Added retry.py\n\n## Next Agent Context\nLook at login.py.\n"
AGENT = f"""
import pathlib, sys
assert "The login button is broken." in sys.stdin.read()
pathlib.Path("login.py").write_text("FIXED = True\\n")
print({REPLY!r})
"""
TEST = (
    "import unittest\n\nclass T(unittest.TestCase):\n    def test_it(self):\n        self.assertTrue(True)\n"
)


def run_program(name: str, *, answer: str = "") -> subprocess.CompletedProcess[str]:
    """A program, in the working directory."""
    return subprocess.run(
        [sys.executable, str(Path(__file__).parent / "programs" / f"{name}.py")],
        capture_output=True,
        input=answer,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.fixture
def command_agent(repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every agent is a program that reads its briefing, changes a file and answers."""
    agent = tmp_path / "agent.py"
    agent.write_text(AGENT)
    options = {"command": {"command": shlex.join([sys.executable, str(agent)])}}
    monkeypatch.setenv("SEGUE_BACKEND", "command")
    monkeypatch.setenv("SEGUE_BACKEND_OPTIONS", json.dumps(options))


@pytest.fixture
def scripted_agents(repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Agents that follow a script: the first uses a tool and asks, the second only looks."""
    first = [
        {"write": {"path": "login.py", "text": "FIXED = True\n"}},
        {"run": ["git", "status", "--short"]},
        {"ask": "Push to origin"},
        {"say": REPLY.replace("- Added retry.py\n", "")},
    ]
    script = tmp_path / "script.yaml"
    looked = "## What Was Done\n- Looked at it\n\n## Next Agent Context\nNothing.\n"
    script.write_text(yaml.safe_dump({"developer": first, "senior_reviewer": [{"say": looked}]}))
    monkeypatch.setenv("SEGUE_BACKEND", "scripted")
    monkeypatch.setenv("SEGUE_BACKEND_OPTIONS", json.dumps({"scripted": {"script": str(script)}}))


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_the_page_holds_the_program_word_for_word(path: Path) -> None:
    assert f"```python\n{path.read_text(encoding='utf-8')}```\n" in PAGE


def test_the_first_program_has_ten_lines() -> None:
    text = (Path(__file__).parent / "programs" / "ten_lines.py").read_text(encoding="utf-8")
    assert len([line for line in text.splitlines() if line.strip()]) == 10


@pytest.mark.usefixtures("command_agent")
def test_ten_lines_run_a_pipeline_with_a_program_as_its_agent(repository: Path) -> None:
    (repository / "test_it.py").write_text(TEST)
    subprocess.run(["git", "add", "test_it.py"], cwd=repository, check=True)
    identity = ["-c", "user.name=T", "-c", "user.email=t@example.org"]
    subprocess.run(["git", *identity, "commit", "-qm", "Test"], cwd=repository, check=True)
    done = run_program("ten_lines")
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    assert "step_started developer\n" in done.stdout
    assert "step_done senior_reviewer\n" in done.stdout
    *_, sentence, first, second = done.stdout.splitlines()
    assert sentence.startswith("Done, with false claims: ")
    for handoff in (first, second):
        assert "what_was_done=('Added login.py', 'Added retry.py')" in handoff
    shown = subprocess.run(
        [sys.executable, "-m", "segue", "pipelines", "show", "1", "--json"],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ,
    )
    assert json.loads(shown.stdout)["result"]["checks"][0]["command"] == "python3 -m unittest -q"


@pytest.mark.usefixtures("scripted_agents")
def test_every_kind_of_event_can_be_matched() -> None:
    done = run_program("watching", answer="y\n")
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    assert "\nstep 1: developer\n" in done.stdout
    assert "\nPush to origin [y/N] " in done.stdout
    assert "Added login.py" in done.stdout
    assert "\n[run git status --short]\n" in done.stdout
    assert done.stdout.endswith("\ndone\n")


@pytest.mark.usefixtures("scripted_agents")
def test_a_program_without_the_prompt_of_anybody_runs_with_scripted_agents(tmp_path: Path) -> None:
    script = tmp_path / "script.yaml"
    script.write_text(script.read_text().replace("- ask: Push to origin\n", ""))
    done = run_program("ten_lines")
    assert done.returncode == 0, done.stderr
    assert "agent_said developer\n" in done.stdout
    assert "agent_used_tool developer\n" in done.stdout


@pytest.mark.usefixtures("command_agent")
def test_a_script_needs_no_event_loop_and_leaves_with_the_exit_code() -> None:
    done = run_program("script")
    assert done.returncode == 1, done.stderr
    first, *_, last = done.stdout.splitlines()
    assert first == "step 1, developer: Added retry.py: there is no retry.py"
    assert last.startswith("Done, with false claims: ")


def test_a_program_brings_its_own_back_end_notation_and_check(repository: Path) -> None:
    done = run_program("own_parts")
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    sentence, *claims = done.stdout.splitlines()
    assert sentence.startswith("Done in ")
    assert claims == ["confirmed outcome completed", "confirmed Created NOTE.md"]
