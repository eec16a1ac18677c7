"""What an agent's log tells: the commands that it ran, whether these are all, and its last run of tests."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from segue.domain.activity import Activity, ActivityKind
from segue.domain.evidence.model import CommandRun, RunBy, TestComparison, TestRun
from segue.domain.evidence.runners import summaries_in
from segue.domain.permissions import Tool
from segue.domain.text.command_lines import programs_of, purposes_of

_KEPT_OUTPUT = 1000
"""Every log keeps so much of an output: a longer one may be cut."""
_STARTED, _FAILED = "started", "failed"
_HELPERS = re.compile(r"^(?:task|agent|batch)$|subagent|delegate|spawn|workflow|skill|recipe", re.IGNORECASE)
"""Tools that let another agent work: what that one runs may be in a log of its own."""
_OWN_SERVER = "segue"
_SHELL_ALONE = re.compile(
    r"^(?:\S*/)?(?:bash|sh|zsh|fish|dash|ksh|python3?|node|irb|psql)(?:\s+-i)?$|^(?:screen|tmux)\b"
)
"""A program that is typed into: what is typed is in no log."""
_ONLY_BY_AGENT = "only the agent ran it"


def commands_of(activity: Iterable[Activity]) -> list[CommandRun]:
    """The commands that ended, the earliest first."""
    return [_command(each) for each in _calls(activity, Tool.SHELL) if each.payload.get("state") != _STARTED]


def shows_every_command(activity: Sequence[Activity]) -> bool:
    """False if the agent used something that can run commands which its log does not show.

    That is another agent, a tool server that is not Segue's, a shell that it typed into, or a command that
    has not ended. It counts only where the back end tells every tool call.
    """
    ended = {each.payload.get("call_id") for each in activity if each.payload.get("state") != _STARTED}
    for each in activity:
        if each.kind is not ActivityKind.TOOL_USED:
            continue
        tool, name = each.payload.get("tool"), str(each.payload.get("name", ""))
        if tool == Tool.MCP and _OWN_SERVER not in name:
            return False
        if tool == Tool.OTHER and _HELPERS.search(name):
            return False
        if tool == Tool.SHELL:
            is_open = each.payload.get("call_id") not in ended
            if is_open or _SHELL_ALONE.match(str(each.payload.get("target", "")).strip()):
                return False
    return True


def last_test_run(commands: Sequence[CommandRun]) -> TestComparison | None:
    """The last command that is a test runner and printed what it counted, once; none if there is none."""
    for run in reversed(commands):
        if run.by is not RunBy.AGENT or "tests" not in purposes_of(run.command):
            continue
        found = summaries_in(run.output, is_cut=run.is_cut)
        if len(found) != 1:
            return None  # the newest run cannot be told apart, and an older one would say too little
        (counted,) = found
        return TestComparison(
            after=TestRun(
                command=run.command,
                runner=_runner(run.command),
                exit_code=run.exit_code,
                passed=counted.passed,
                failed=counted.failed,
                skipped=counted.left_out,
                by=RunBy.AGENT,
            ),
            no_baseline=_ONLY_BY_AGENT,
        )
    return None


def _calls(activity: Iterable[Activity], tool: Tool) -> Iterable[Activity]:
    return (
        each for each in activity if each.kind is ActivityKind.TOOL_USED and each.payload.get("tool") == tool
    )


def _command(call: Activity) -> CommandRun:
    payload = call.payload
    code, output = _whole_number(payload.get("exit_code")), str(payload.get("output", ""))
    failed = payload.get("state") == _FAILED and code is None
    return CommandRun(
        command=str(payload.get("target", "")),
        exit_code=code,
        output=output,
        is_cut=len(output) >= _KEPT_OUTPUT - 1,
        by=RunBy.AGENT,
        at=call.created_at,
        fault="the call failed, and no exit code is known" if failed else None,
        activity_id=call.id,
    )


def _whole_number(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _runner(command: str) -> str:
    programs = programs_of(command)
    known = {"pytest", "jest", "vitest", "mocha", "unittest", "go", "cargo", "node"}
    return next(iter(sorted(programs & known)), "")
