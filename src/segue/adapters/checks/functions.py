"""Checks that are Python functions of the program that opened Segue."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from segue.application.ports.checks import CheckedTests, RunCheck
from segue.domain.evidence.model import CommandRun, RunBy

_MOST_OUTPUT = 200_000


@dataclass(frozen=True, slots=True)
class CheckOutcome:
    """What a check of your own found."""

    passed: bool
    """Whether the work is as it should be."""
    message: str = ""
    """What it found: shown with the run, and to the agent that must correct what it said."""


CheckFunction = Callable[[Path], CheckOutcome | Awaitable[CheckOutcome]]
"""Given the folder that the agents worked in. Called in a thread; what it returns may be awaitable."""


class CheckFunctions:
    """Functions by the name that stands for them in a pipeline's plan: `python:module.function`.

    No program can have such a name, so where the function is not known the check cannot be run, and fails.
    """

    def __init__(self) -> None:
        self._functions: dict[str, CheckFunction] = {}

    def add(self, function: CheckFunction) -> str:
        """Make a function known; gives its name."""
        module = getattr(function, "__module__", type(function).__module__)
        first = f"python:{module}.{getattr(function, '__qualname__', type(function).__qualname__)}"
        name, number = first, 1
        while self._functions.setdefault(name, function) != function:
            number += 1
            name = f"{first}-{number}"
        return name

    def beside(self, run_command: RunCheck, *, seconds: float) -> RunCheck:
        """Runs what is one of these functions here, and everything else as a command."""

        async def run(folder: str, base: str | None, command: str) -> CheckedTests:
            if (function := self._functions.get(command)) is None:
                return await run_command(folder, base, command)
            return CheckedTests(run=await _run(function, Path(folder), command, seconds), tests=None)

        return run


async def _run(function: CheckFunction, folder: Path, name: str, seconds: float) -> CommandRun:
    began = datetime.now(UTC)
    running = asyncio.create_task(_call(function, folder), name=name)
    try:
        await asyncio.wait({running}, timeout=seconds)
    finally:
        running.cancel()  # a thread cannot be stopped: its answer is no longer waited for
    outcome, fault = CheckOutcome(False), None
    if not running.done():
        fault = f"took longer than {seconds:g} s"
    elif running.cancelled():
        fault = "was cancelled"
    elif error := running.exception():
        fault = f"raised {type(error).__name__}: {error}"
    else:
        found: object = running.result()
        if isinstance(found, CheckOutcome):
            outcome = found
        else:
            fault = f"returned {type(found).__name__} in place of a CheckOutcome"
    return CommandRun(
        command=name,
        exit_code=None if fault else 0 if outcome.passed else 1,
        output=outcome.message[-_MOST_OUTPUT:].replace("\0", "\ufffd"),
        is_cut=len(outcome.message) > _MOST_OUTPUT,
        by=RunBy.SEGUE,
        at=began,
        fault=fault,
    )


async def _call(function: CheckFunction, folder: Path) -> CheckOutcome:
    found = await asyncio.to_thread(function, folder)
    return await found if inspect.isawaitable(found) else found
