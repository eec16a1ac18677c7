"""The ports of checks: commands that are run, and the states of a repository that they are run on."""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable, Collection
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from segue.domain.evidence.model import (
    CommandRun,
    TestComparison,
    TestRun,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class ReportedRun:
    """A check that ran, with what is known of its tests."""

    run: CommandRun
    """How it ended."""
    tests: TestRun | None
    """What it counted; none if it ran no tests that can be counted."""
    imported: tuple[str, ...] = ()
    """Files that Python imported, as far as it told; none of Python itself and of its packages."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TestStates:
    """The two states of a repository that are compared."""

    __test__ = False
    top: Path
    """The top of the work tree."""
    prefix: str
    """The folder below it in which checks run."""
    before: str
    """The id of the tree before."""
    after: str
    """The id of the tree as it is now."""
    checkouts: tuple[Path, ...]
    """Other work trees of the repository, from which a run could import by mistake."""
    edits_tests: bool
    """Whether tests of before, or what they are run with, changed."""


class TestTrees(Protocol):
    """Gives the states of a repository as folders, which are gone afterwards."""

    def forget_bytecode(self, folder: Path) -> bool:
        """Remove what Python compiled, but nothing that git tracks; true if some may be left."""
        ...

    def look(self, folder: Path, base: str) -> TestStates:
        """The states: a mark, and the files as they are now."""
        ...

    def base(self, states: TestStates) -> AbstractContextManager[Path]:
        """A folder with the files of before, and the environment of the work folder."""
        ...

    def after(self, states: TestStates) -> AbstractContextManager[Path]:
        """A folder with the files of after, and the environment of the work folder."""
        ...

    def old_tests(self, states: TestStates) -> AbstractContextManager[Path]:
        """A folder with the files of after, but with the tests of before and what they are run with."""
        ...


class RunReported(Protocol):
    """Runs a check so that its tests are reported."""

    def __call__(  # noqa: PLR0913 - each is a limit or a part of the environment
        self,
        command: str,
        folder: Path,
        top: Path,
        *,
        seconds: float,
        has_bytecode: bool,
        first_on_path: Collection[Path] = (),
        given_up: threading.Event | None = None,
    ) -> ReportedRun:
        """Run a command in a folder of a tree, which may have bytecode that counts for nothing."""
        ...


class RunCache(Protocol):
    """Keeps what runs counted, by the state of the files and the command."""

    def get(self, key: tuple[str, ...]) -> TestRun | None:
        """What was kept."""
        ...

    def put(self, key: tuple[str, ...], run: TestRun) -> None:
        """Keep it."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckedTests:
    """A check that ran, and its tests before and after."""

    run: CommandRun
    """The check on the work as it is."""
    tests: TestComparison | None
    """None if it runs no tests that can be counted."""


RunCheck = Callable[[str, str | None, str], Awaitable[CheckedTests]]
"""Runs a command in a folder, and its tests on the state of a mark: folder, mark, command.

To stop waiting for it ends it."""
