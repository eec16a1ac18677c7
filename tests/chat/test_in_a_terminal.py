"""`segue chat` itself, in a real terminal."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from tests.chat.terminal import in_terminal
from tests.sessions.scripts import agent, write_catalog

OWNED = "\x1b]0;owned\x07\x1b[2J\x1b[1;1HPWNED\x1b[31m"


def test_from_a_question_through_a_handoff_to_the_successor_s_answer(repository: Path) -> None:
    agents = {"helper": agent({"run": ["ls"]}, {"say": f"Hello. {OWNED}"})}
    write_catalog(repository, agents)
    with in_terminal(repository, "helper", columns=80, rows=24) as terminal:
        terminal.sees("Your first message begins a session with helper on scripted.")
        terminal.type("Why is the button dead?\r")
        terminal.sees(
            "Why is the button dead?", "✔ run ls", "Hello. \ufffd]0;owned\ufffd\ufffd[2J", "session 1"
        )
        assert "owned" not in terminal.title
        terminal.type("/handoff the tests\r")
        terminal.sees("goal: Let the button work again.", "Ctrl+S uses it")
        terminal.type("\x13")
        terminal.sees("New session 2 started", "I go on from there.", "session 2, from 1")
        terminal.resize(60, 20)
        terminal.sees("I go on from there.")
        terminal.type("\x1b[200~two\nlines\x1b[201~")
        terminal.sees("│ two", "│ lines")
        terminal.type("\x11")
        assert terminal.ends() == 0
        assert "session 2 stays: segue chat --resume 2" in terminal.screen
        assert "Traceback" not in terminal.screen


@pytest.mark.thorough
@pytest.mark.parametrize("how", ["signal", "closed"])
def test_a_closed_terminal_ends_the_chat_and_what_it_runs(repository: Path, how: str) -> None:
    mark = repository / "pid"
    script = ["sh", "-c", f"echo $$ > {mark}; exec sleep 600"]
    write_catalog(repository, {"helper": agent({"say": "I begin."}, {"run": script})})
    with in_terminal(repository, "helper") as terminal:
        terminal.sees("Your first message")
        terminal.type("Go.\r")
        terminal.sees("I begin.", "working")
        while not (mark.exists() and mark.read_text().strip()):
            terminal.sees("working")
        if how == "signal":
            os.kill(terminal.pid, signal.SIGTERM)
        else:
            terminal.close()
        assert terminal.ends() == 0
    assert not _lives(int(mark.read_text()))


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.thorough
@pytest.mark.usefixtures("no_agents")
def test_what_cannot_begin_is_one_sentence(repository: Path) -> None:
    write_catalog(repository, {"helper": agent()})
    for arguments, code, words in (
        ((), 1, "no agent program was found."),
        (("helper", "--resume", "7"), 2, "leave the other one out"),
        (("helpre",), 2, 'Did you mean "helper"'),
        (("--resume", "7"), 1, "no session 7"),
        (("helper", "-C", "nowhere"), 2, "does not exist"),
    ):
        with in_terminal(repository, *arguments) as terminal:
            assert terminal.ends() == code
            assert words in " ".join(terminal.screen.split())
            assert "Traceback" not in terminal.screen
