"""Each agent itself in the chat: a question, a handoff, the successor's work, and nothing left running."""

from __future__ import annotations

from pathlib import Path

import psutil
import pytest

from segue.testing import Playable, ScriptedModel, edit, read, say, shell, turn, usage
from tests.agents.rigs import EACH_BACKEND, MAKERS, make_project, profile_of
from tests.chat.terminal import in_terminal
from tests.sessions.test_with_opencode import HANDOFF

pytestmark = pytest.mark.thorough

SHOWN = {
    "opencode": "25% of 200k",
    "acp-opencode": "25% of 200k",
    "claude_code": "5% of 1M",
    "codex": "26% of 190k",
    "acp-goose": "39% of 128k",
}
"""What each says of 50,000 tokens in its context."""
BY_SHELL = ("codex", "acp-goose")
"""They read files with a command, which is shown as it was run."""
ASKED = "Stop here and hand over"


def by_what_is_asked(request: object) -> str:
    """The handoff if it is asked for, else a few words."""
    return HANDOFF if ASKED in str(getattr(request, "text", "")) else "I still know the bug."


@pytest.mark.parametrize("name", EACH_BACKEND)
def test_a_bug_is_found_handed_over_and_fixed(tmp_path: Path, name: str) -> None:
    plan: dict[str, Playable | list[Playable]] = {
        "look": [read("calc.py"), turn(say("The sign is **wrong**."), usage=usage(input=50_000, output=10))],
        "look/2": [turn(say(by_what_is_asked), usage=usage(input=60_000, output=200))],
        "finish": [
            edit("calc.py", "a - b", "a + b"),
            shell("git diff --stat"),
            turn(say("Fixed."), usage=usage(input=9_000, output=10)),
        ],
        "finish/2": [turn(say("I was here before."), usage=usage(input=9_500, output=10))],
    }
    with ScriptedModel(plan) as model:
        rig = MAKERS[name](tmp_path / "home", model.url)
        project = make_project(tmp_path / "project", {"agents": {"developer": profile_of(rig)}})
        with in_terminal(project, "developer") as terminal:
            terminal.sees(f"Your first message begins a session with developer on {rig.backend}.")
            terminal.type("[[look]] Why is add wrong?\r")
            screen = terminal.sees("✔", "The sign is wrong.", SHOWN[name])
            assert ("✔ shell cat" if name in BY_SHELL else " calc.py") in screen
            assert "┃" in screen
            terminal.type("/handoff the sign\r")
            terminal.sees("goal: Let add add.", "Ctrl+S uses it")
            terminal.type("\x13")
            terminal.sees("New session 2 started", "Fixed.", "session 2, from 1", "The handoff is kept in")
            terminal.type("\x03")
            assert terminal.ends() == 0
        assert (project / "calc.py").read_text() == "def add(a, b):\n    return a + b\n"
        assert any("Additional focus: the sign" in str(made.body) for made in model.requests)
        assert _servers(tmp_path) == []
        with in_terminal(project, "--resume", "2") as terminal:
            terminal.sees("Session 2, from 1", "Fixed.")
            terminal.type("Do you know me?\r")
            terminal.sees("I was here before.")
            terminal.type("\x11")
            assert terminal.ends() == 0
    assert _servers(tmp_path) == []


def _servers(folder: Path) -> list[int]:
    """The processes that work in the folders of this test."""
    found = []
    for process in psutil.process_iter():
        try:
            if any(str(folder) in value for value in (process.environ().get("HOME", ""), process.cwd())):
                found.append(process.pid)
        except (psutil.Error, OSError):
            continue
    return found
