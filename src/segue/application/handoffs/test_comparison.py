"""Runs the tests of a check before and after a step, and the tests of before on the code of after."""

from __future__ import annotations

import asyncio
import re
import threading
import time
from collections.abc import Collection, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from segue.application.ports.checks import (
    CheckedTests,
    ReportedRun,
    RunCache,
    RunReported,
    TestStates,
    TestTrees,
)
from segue.domain.errors import RepositoryError
from segue.domain.evidence.model import CommandRun, TestComparison, TestOutcome, TestRun
from segue.domain.evidence.reports import without_tests
from segue.domain.evidence.sources import Observed
from segue.domain.evidence.weakened import find_weakened

_LOOKS_LIKE_TESTS = re.compile(r"test|spec|jest|tox|nox|mocha|\b(make|just|check|verify|ci)\b", re.IGNORECASE)
_ENVIRONMENTS = frozenset({"site-packages", "dist-packages", "node_modules", ".venv", "venv", ".tox", ".nox"})


class MemoryCache:
    """Keeps runs as long as it lives."""

    def __init__(self) -> None:
        self._runs: dict[tuple[str, ...], TestRun] = {}

    def get(self, key: tuple[str, ...]) -> TestRun | None:
        """What was kept."""
        return self._runs.get(key)

    def put(self, key: tuple[str, ...], run: TestRun) -> None:
        """Keep it."""
        self._runs[key] = run


def with_tests(observed: Observed, checked: Sequence[CheckedTests], task: str | None) -> Observed:
    """What was observed, with the checks that ran, what they counted, and the tests that prove less now.

    What Segue counted itself takes the place of what the log of an agent shows.
    """
    counted = tuple(each.tests for each in checked if each.tests is not None)
    evidence = replace(
        observed.evidence,
        checks=tuple(each.run for each in checked) or observed.evidence.checks,
        tests=counted or observed.evidence.tests,
    )
    weakened = find_weakened(
        evidence.changes, observed.sources, counted, task, paths=evidence.after or frozenset()
    )
    return replace(observed, evidence=replace(evidence, weakened=weakened))


class _NoBaseline(Exception):
    """A run that says nothing about the tests of before."""


class TestComparer:
    """Runs checks and compares their tests with those of the state that a step began with."""

    __test__ = False

    def __init__(self, *, trees: TestTrees, run: RunReported, cache: RunCache | None = None) -> None:
        self._trees = trees
        self._run = run
        self._cache = cache or MemoryCache()

    async def compare_alongside(
        self, folder: Path, base: str | None, command: str, *, seconds: float
    ) -> CheckedTests:
        """`compare` beside other work; to stop waiting for it ends what it runs."""
        given_up = threading.Event()
        running = asyncio.create_task(
            asyncio.to_thread(self.compare, folder, base, command, seconds=seconds, given_up=given_up)
        )
        try:
            return await asyncio.shield(running)
        except asyncio.CancelledError:
            given_up.set()
            await asyncio.wait({running})
            raise

    def compare(
        self,
        folder: Path,
        base: str | None,
        command: str,
        *,
        seconds: float,
        given_up: threading.Event | None = None,
    ) -> CheckedTests:
        """Run a check in a folder, and on the state of a mark; all runs together have so many seconds.

        The check itself comes first and has all the time it needs; what is left is for the others.
        """
        has_bytecode = self._trees.forget_bytecode(folder)
        limit = _Limit(time.monotonic() + seconds, given_up or threading.Event(), has_bytecode)
        states, reason = self._look(folder, base)
        top = states.top if states else folder
        done = self._run(command, folder, top, seconds=seconds, has_bytecode=has_bytecode, given_up=given_up)
        if done.tests is None and (states is None or not _may_hide_tests(command, done.run)):
            return CheckedTests(run=done.run, tests=None)
        after = done.tests or _nothing_counted(done.run)
        if states is None:
            return CheckedTests(run=done.run, tests=TestComparison(after=after, no_baseline=reason))
        try:
            _refuse_other_code(done, states.top, states.checkouts)
            compared = self._compare(states, command, after, limit)
        except (_NoBaseline, RepositoryError) as error:
            compared = TestComparison(after=after, no_baseline=str(error))
        has_counts = done.tests is not None or compared.before is not None
        return CheckedTests(run=done.run, tests=compared if has_counts else None)

    def _look(self, folder: Path, base: str | None) -> tuple[TestStates | None, str]:
        if base is None:
            return None, "no state from before the step is known"
        try:
            return self._trees.look(folder, base), ""
        except RepositoryError as error:
            return None, str(error)

    def _compare(self, states: TestStates, command: str, after: TestRun, limit: _Limit) -> TestComparison:
        if after.is_from_report and after.exit_code is not None:
            self._cache.put(_key(states.after, states, command), after)
        if states.before == states.after:
            return TestComparison(after=after, before=after, old_tests=after)
        key = _key(states.before, states, command)
        before = self._cached(key, self._trees.base(states), states, command, limit)
        after = _without_hearsay(after, before)
        compared = TestComparison(after=after, before=before)
        if not states.edits_tests:
            return replace(compared, old_tests=after)
        try:
            key = _key(f"{states.before}+{states.after}", states, command)
            old = self._cached(key, self._trees.old_tests(states), states, command, limit)
        except _NoBaseline:
            return compared
        return self._without_doubt(replace(compared, old_tests=old), states, command, limit)

    def _without_doubt(
        self, compared: TestComparison, states: TestStates, command: str, limit: _Limit
    ) -> TestComparison:
        """Leave out tests that fail in a folder of their own whatever is in it: their failure proves nothing.

        They may need what git ignores, or the history, or be flaky. So where the old version of a test fails
        and the new one passes, the new one must pass in such a folder, too.
        """
        after, old = compared.after, compared.old_tests
        assert old is not None
        doubtful = {
            each
            for each, outcome in old.outcomes.items()
            if outcome is TestOutcome.FAILED and after.outcomes.get(each) is TestOutcome.PASSED
        }
        if not doubtful:
            return compared
        try:
            key = _key(f"alone {states.after}", states, command)
            alone = self._cached(key, self._trees.after(states), states, command, limit)
            doubtful = {each for each in doubtful if alone.outcomes.get(each) is not TestOutcome.PASSED}
        except _NoBaseline:
            pass
        before = compared.before and without_tests(compared.before, doubtful)
        return replace(compared, before=before, old_tests=without_tests(old, doubtful))

    def _cached(
        self,
        key: tuple[str, ...],
        tree: AbstractContextManager[Path],
        states: TestStates,
        command: str,
        limit: _Limit,
    ) -> TestRun:
        found = self._cache.get(key)
        if found is None:
            found = self._measure(tree, states, command, limit)
            self._cache.put(key, found)
        return found

    def _measure(
        self, tree: AbstractContextManager[Path], states: TestStates, command: str, limit: _Limit
    ) -> TestRun:
        with tree as top:
            folder = top / states.prefix
            if not folder.is_dir():
                raise _NoBaseline(f"there was no folder {states.prefix.rstrip('/')} before the step")
            others = (states.top, *states.checkouts)
            run = partial(self._run, has_bytecode=limit.has_bytecode, given_up=limit.given_up)
            done = run(command, folder, top, seconds=limit.left())
            if _foreign_code(done, top, others):
                own = [place for place in (folder / "src", folder, top / "src", top) if place.is_dir()]
                done = run(command, folder, top, seconds=limit.left(), first_on_path=list(dict.fromkeys(own)))
            _refuse_other_code(done, top, others)
        return _usable(done)


@dataclass(frozen=True, slots=True)
class _Limit:
    deadline: float
    given_up: threading.Event
    has_bytecode: bool

    def left(self) -> float:
        seconds = self.deadline - time.monotonic()
        if seconds <= 0 or self.given_up.is_set():
            raise _NoBaseline("the time for checks was used up by the check itself")
        return seconds


def _usable(done: ReportedRun) -> TestRun:
    """What a run counted; one that ended before its tests is no baseline."""
    if done.run.fault:
        raise _NoBaseline(f"on the state before the step, the check {done.run.fault}")
    if done.tests is None or done.tests.collected == 0:
        lines = [line.strip() for line in done.run.output.splitlines() if line.strip()]
        last = f": {lines[-1][:200]}" if lines else ""
        raise _NoBaseline(
            f"on the state before the step, the check ran no tests (exit code {done.run.exit_code}{last})"
        )
    return done.tests


def _may_hide_tests(command: str, run: CommandRun) -> bool:
    """True of a check that could be one of tests, and is content although it counted none."""
    return run.exit_code == 0 and bool(_LOOKS_LIKE_TESTS.search(command))


def _without_hearsay(after: TestRun, before: TestRun) -> TestRun:
    """What was counted after; where a runner reported before, what is only printed counts for nothing.

    An agent can replace a runner by a program that prints "9 passed". A run that fails is believed.
    """
    if after.is_from_report or not before.is_from_report or after.exit_code != 0:
        return after
    return TestRun(command=after.command, runner="", exit_code=0, by=after.by)


def _nothing_counted(run: CommandRun) -> TestRun:
    return TestRun(command=run.command, runner="", exit_code=run.exit_code, by=run.by)


def _refuse_other_code(done: ReportedRun, top: Path, others: Collection[Path]) -> None:
    if file := _foreign_code(done, top, others):
        raise _NoBaseline(
            f"the check imports {file} in place of the files that it should test (an editable install?)"
        )


def _foreign_code(done: ReportedRun, top: Path, others: Collection[Path]) -> str | None:
    """A file of another work tree that the run imported, though its own tree should have been tested."""
    own = top.resolve()
    roots = [root for root in (each.resolve() for each in others) if root != own]
    for name in done.imported:
        file = Path(name)
        if file.is_relative_to(own) or _ENVIRONMENTS & set(file.parts):
            continue
        if any(file.is_relative_to(root) for root in roots):
            return name
    return None


def _key(tree: str, states: TestStates, command: str) -> tuple[str, ...]:
    return (tree, states.prefix, command)
