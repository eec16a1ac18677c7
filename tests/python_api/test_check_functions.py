"""Checks that are functions: how they are called, and what becomes of every way in which they can end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from segue.adapters.checks.functions import CheckFunction, CheckFunctions, CheckOutcome
from segue.application.ports.checks import CheckedTests
from segue.domain.evidence.model import CommandRun


async def run_command(folder: str, base: str | None, command: str) -> CheckedTests:
    return CheckedTests(run=CommandRun(command=command, exit_code=7), tests=None)


async def run(function: Callable[..., Any], folder: Path, *, seconds: float = 60) -> CommandRun:
    """What is recorded of a function."""
    checks = CheckFunctions()
    name = checks.add(function)
    done = await checks.beside(run_command, seconds=seconds)(str(folder), None, name)
    assert done.run.command == name
    return done.run


def has_file(folder: Path) -> CheckOutcome:
    return CheckOutcome((folder / "a.py").is_file(), "looked for a.py")


async def has_file_later(folder: Path) -> CheckOutcome:
    await asyncio.sleep(0)
    return has_file(folder)


class HasFile:
    def __call__(self, folder: Path) -> CheckOutcome:
        return has_file(folder)


@pytest.mark.parametrize(
    "function", [has_file, has_file_later, HasFile(), partial(has_file)], ids=lambda each: type(each).__name__
)
async def test_its_answer_is_its_exit_code_and_its_message_what_it_printed(
    function: CheckFunction, tmp_path: Path
) -> None:
    failed = await run(function, tmp_path)
    assert (failed.exit_code, failed.output, failed.fault) == (1, "looked for a.py", None)
    (tmp_path / "a.py").touch()
    assert (await run(function, tmp_path)).exit_code == 0


def breaks(_folder: Path) -> CheckOutcome:
    raise LookupError("no such table")


def answers_none(_folder: Path) -> None: ...


async def takes_for_ever(_folder: Path) -> CheckOutcome:
    await asyncio.Event().wait()
    raise AssertionError


@pytest.mark.parametrize(
    ("function", "fault"),
    [
        (breaks, "raised LookupError: no such table"),
        (answers_none, "returned NoneType in place of a CheckOutcome"),
        (takes_for_ever, "took longer than 0.1 s"),
    ],
)
async def test_one_that_does_not_answer_has_failed(
    function: Callable[..., Any], fault: str, tmp_path: Path
) -> None:
    found = await run(function, tmp_path, seconds=0.1 if function is takes_for_ever else 60)
    assert (found.exit_code, found.fault) == (None, fault)


async def test_to_stop_waiting_for_it_cancels_it(tmp_path: Path) -> None:
    began, ended = asyncio.Event(), asyncio.Event()

    async def waits(_folder: Path) -> CheckOutcome:
        began.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        raise AssertionError

    running = asyncio.create_task(run(waits, tmp_path))
    await began.wait()
    running.cancel()
    async with asyncio.timeout(120):
        await ended.wait()


def test_each_has_a_name_that_no_program_can_have() -> None:
    checks = CheckFunctions()
    assert checks.add(has_file) == checks.add(has_file) == f"python:{__name__}.has_file"
    first, second = [checks.add(lambda _folder, at=at: CheckOutcome(at == 1)) for at in (1, 2)]  # type: ignore[misc]  # a default is no parameter
    assert second == f"{first}-2"


async def test_everything_else_is_a_command(tmp_path: Path) -> None:
    run_check = CheckFunctions().beside(run_command, seconds=60)
    assert (await run_check(str(tmp_path), None, "pytest -q")).run.exit_code == 7
    assert (await run_check(str(tmp_path), None, "python:somewhere.else")).run.exit_code == 7
