"""What a gate found: its commands, run in the workspace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from segue.domain.evidence.model import CommandRun

_NOT_STARTED = (126, 127)
"""Exit codes of a shell that could not run the command: they say nothing of the work."""


@dataclass(frozen=True, kw_only=True, slots=True)
class GateCheck:
    """One command of a gate, and how it ended."""

    command: str
    exit_code: int | None
    """None if it did not end by itself."""
    fault: str | None = None
    """Why it says nothing: it could not be started, or ran out of time."""
    output: str = ""
    """The end of what it printed."""

    @property
    def passed(self) -> bool:
        """True if it ended as it should."""
        return self.exit_code == 0 and self.fault is None

    @property
    def failed_by_itself(self) -> bool:
        """True if it says that the work is wrong: not a shell without the command, a signal or a time-out."""
        code = self.exit_code
        return self.fault is None and code is not None and code > 0 and code not in _NOT_STARTED

    @property
    def reason(self) -> str:
        """How it ended, with its last line."""
        if self.fault is not None:
            return f"`{self.command}` says nothing: {self.fault}"
        last = next((line.strip() for line in reversed(self.output.splitlines()) if line.strip()), "")
        return f"`{self.command}` ended with exit code {self.exit_code}" + (f": {last}" if last else "")


@dataclass(frozen=True, kw_only=True, slots=True)
class GateRun:
    """One time that a gate was run."""

    id: int = 0
    step_id: int
    round: int
    passed: bool
    mark: str | None
    """Names the files that it looked at; none outside of git."""
    checks: tuple[GateCheck, ...]
    created_at: datetime


def gate_check_of(run: CommandRun) -> GateCheck:
    """What is kept of a command that ran."""
    return GateCheck(command=run.command, exit_code=run.exit_code, fault=run.fault, output=run.output)


def has_passed(checks: Sequence[GateCheck], until: Literal["passes", "fails"]) -> bool:
    """Whether a gate lets the run continue."""
    if until == "fails":
        return any(each.failed_by_itself for each in checks)
    return all(each.passed for each in checks)


def gate_reason(checks: Sequence[GateCheck], until: Literal["passes", "fails"]) -> str:
    """Which command decided, and how."""
    if until == "fails":
        nothing = next((each for each in checks if each.fault or not each.passed), None)
        return nothing.reason if nothing is not None else "all checks passed, and one was to fail"
    return next((each.reason for each in checks if not each.passed), "")
