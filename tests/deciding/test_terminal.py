"""`segue run` in a real terminal that waits for a person, who decides here, elsewhere, or later."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.chat.terminal import in_terminal
from tests.deciding.test_runs import APPROVAL, ASKS, DONE, agent, write_templates


def segue(*arguments: str) -> str:
    """Another Segue beside the one in the terminal."""
    command = [sys.executable, "-m", "segue", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout


def test_decided_elsewhere_then_here(repository: Path) -> None:
    write_templates(repository, {"planner": agent(DONE), "dev": agent(DONE)}, t=APPROVAL)
    with in_terminal(repository, "t", "Do it.", command="run", rows=60) as terminal:
        terminal.sees("r  reject (back to plan)", "\n>")
        terminal.type("s\r")
        terminal.sees("what_was_done: [Looked at it]")
        segue("pipelines", "reject", "1", "--comment", "Smaller.")
        # The question that is over takes no key of the next one; a decision too late ends nothing.
        terminal.sees("2 attempts")
        terminal.sees("r  reject (back to plan)\n>")
        terminal.type("a\r")
        terminal.sees("A comment, or Enter:")
        segue("pipelines", "approve", "1")
        terminal.type("Good.\r")
        assert terminal.ends() == 0, terminal.screen
        assert "Done in" in terminal.screen


def test_left_at_the_question_it_waits_on(repository: Path) -> None:
    write_templates(repository, {"dev": agent(ASKS)}, t=[{"agent": "dev"}])
    for number, key in enumerate(("\x03", "\x04"), start=1):
        with in_terminal(repository, "t", "Do it.", command="run", rows=60) as terminal:
            terminal.sees("waits for you", "Which database?", "y  as recommended", "\n>")
            terminal.type("r\r")
            terminal.sees("Why, or Enter:")
            terminal.type(key)
            assert terminal.ends() == 3, terminal.screen
            assert f'segue pipelines answer {number} "..."' in terminal.screen.partition("Next")[2]
    assert 'next: segue pipelines answer 1 "...", or reject 1' in segue("inbox")
    shown = segue("pipelines", "show", "1").splitlines()
    step = next(line for line in shown if line.startswith("1  dev"))
    assert "waiting_for_approval" in step
    assert step in segue("pipelines", "show", "1").splitlines(), "the time that it took stands still"
