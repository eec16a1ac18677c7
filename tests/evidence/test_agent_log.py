"""What an agent's log tells of commands and tests."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from segue.domain.activity import Activity, ActivityKind
from segue.domain.evidence.agent_log import commands_of, last_test_run, shows_every_command
from segue.domain.evidence.model import RunBy

AT = datetime(2026, 1, 2, tzinfo=UTC)


def called(number: int, tool: str = "shell", **payload: Any) -> Activity:
    facts = {"tool": tool, "state": "done", "call_id": f"c{number}", "name": "Bash", **payload}
    return Activity(
        id=number,
        kind=ActivityKind.TOOL_USED,
        pipeline_id=1,
        step_id=1,
        session_id=1,
        payload=facts,
        created_at=AT,
    )


def test_commands_that_ended_are_told_with_the_entry_that_shows_them() -> None:
    log = [
        called(1, target="pytest", state="started"),
        called(1, target="pytest", exit_code=1, output="1 failed in 0.1s"),
        called(2, tool="edit", target="a.py"),
        called(3, target="make", state="failed"),
    ]
    first, second = commands_of(log)
    assert (first.command, first.exit_code, first.activity_id, first.by) == ("pytest", 1, 1, RunBy.AGENT)
    assert second.exit_code is None
    assert second.fault is not None, "whether it ran at all is not known"


@pytest.mark.parametrize(
    "call",
    [
        called(2, tool="other", name="Task"),
        called(2, tool="other", name="agent", target="spawn_agent"),
        called(2, tool="mcp", name="mcp__docker__exec"),
        called(2, target="bash"),
        called(2, target="python3 -i"),
        called(2, target="npm start", state="started"),
    ],
    ids=["sub-agent", "codex agent", "tool server", "shell", "prompt", "still running"],
)
def test_what_can_run_commands_unseen_makes_a_log_less_whole(call: Activity) -> None:
    assert not shows_every_command([called(1, target="pytest"), call])


@pytest.mark.parametrize(
    "call",
    [
        called(2, tool="mcp", name="mcp__segue__submit_handoff"),
        called(2, tool="other", name="TodoWrite"),
        called(2, tool="other", name="TaskCreate"),
        called(2, target="bash -c 'pytest'"),
        called(2, tool="edit", target="a.py"),
    ],
)
def test_everything_else_does_not(call: Activity) -> None:
    assert shows_every_command([called(1, target="pytest"), call])


def test_the_last_run_of_tests_counts() -> None:
    log = commands_of(
        [
            called(1, target="pytest -q", exit_code=1, output="1 failed, 2 passed in 0.1s"),
            called(2, target="uv run pytest -q", exit_code=0, output="3 passed, 1 skipped in 0.1s"),
            called(3, target="cat old.log", exit_code=0, output="9 passed in 0.1s"),
        ]
    )
    found = last_test_run(log)
    assert found is not None
    assert (found.after.passed, found.after.failed, found.after.skipped) == (3, 0, 1)
    assert (found.after.exit_code, found.after.runner, found.after.by) == (0, "pytest", RunBy.AGENT)
    assert found.no_baseline


def test_a_last_run_that_cannot_be_counted_hides_no_older_one() -> None:
    older = called(1, target="pytest -q", exit_code=0, output="3 passed in 0.1s")
    assert last_test_run(commands_of([older, called(2, target="pytest -q", output="")])) is None
    twice = "3 passed in 0.1s\n\n2 failed in 0.2s"
    assert last_test_run(commands_of([older, called(2, target="pytest; pytest b", output=twice)])) is None
    assert last_test_run(commands_of([called(1, target="ls", output="1 passed in 0.1s")])) is None
