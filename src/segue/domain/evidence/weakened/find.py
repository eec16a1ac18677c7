"""Finds tests, and settings of tests, that prove less than before."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from segue.domain.evidence.model import Change, ChangeKind, Standing, TestComparison, WeakenedTest
from segue.domain.evidence.sources import Sources
from segue.domain.evidence.weakened.changed_files import ChangedFile, changed_files
from segue.domain.evidence.weakened.edits import compare_shapes
from segue.domain.evidence.weakened.hooks import find_hooks
from segue.domain.evidence.weakened.javascript_tests import read_javascript_tests
from segue.domain.evidence.weakened.judging import judge_away, judge_edit, judge_gone, test_name
from segue.domain.evidence.weakened.pairing import Pairs, pair_tests
from segue.domain.evidence.weakened.paths import belongs_to_tests
from segue.domain.evidence.weakened.product import (
    find_code_that_knows,
    find_equal_to_all,
    find_runner_in_place,
)
from segue.domain.evidence.weakened.proof import prove
from segue.domain.evidence.weakened.python_tests import read_python_tests
from segue.domain.evidence.weakened.run_findings import NamesUsed, find_by_runs
from segue.domain.evidence.weakened.scripts import find_in_automation
from segue.domain.evidence.weakened.settings import find_in_settings
from segue.domain.evidence.weakened.shapes import TestShape

_JAVASCRIPT = frozenset({".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx"})
_ORDER = (Standing.WEAKENED, Standing.DISCLOSED, Standing.EDITED)


def find_weakened(
    changes: Mapping[str, Change],
    sources: Sources,
    comparisons: Sequence[TestComparison] = (),
    task: str | None = None,
    *,
    paths: Collection[str] = (),
) -> tuple[WeakenedTest, ...]:
    """Tests that prove less after the step; `paths` are all files after it, `task` is what was asked for.

    Nothing is accused without a run behind it, unless it proves less however the code behaves.
    """
    files = changed_files(changes, sources)
    if not files:
        return ()
    before, after = _shapes(files)
    moved = {file.old_path: file.path for file in files if file.kind is ChangeKind.RENAMED}
    pairs = pair_tests(before, after, moved)
    found = [*_in_tests(pairs, files, comparisons, task)]
    found += find_hooks(files, comparisons, task)
    found += find_in_settings(files, comparisons, task, paths)
    found += find_in_automation(files, task, sources, paths)
    found += find_code_that_knows(files, comparisons, task)
    found += find_equal_to_all(files, comparisons)
    found += find_runner_in_place(files, task)
    found += find_by_runs(found, pairs, files, comparisons, task, _names_used(sources))
    return _in_order(found)


def read_tests(path: str, text: str | None) -> tuple[TestShape, ...] | None:
    """The tests of a file; none if its language is not known, or if it cannot be read."""
    ending = PurePosixPath(path).suffix.lower()
    if text is None:
        return ()
    if ending == ".py":
        return read_python_tests(path, text)
    return read_javascript_tests(path, text) if ending in _JAVASCRIPT else None


def _names_used(sources: Sources) -> NamesUsed:
    """Tells what a test uses, by its file and its name; nothing if it cannot be read."""
    known: dict[str, dict[str, frozenset[str]]] = {}

    def names_used(path: str, test: str) -> frozenset[str]:
        if path not in known:
            shapes = read_tests(path, sources.text(path)) or ()
            known[path] = {test_name(shape): frozenset(shape.used) for shape in shapes}
        return known[path].get(test, frozenset())

    return names_used


def _shapes(files: Sequence[ChangedFile]) -> tuple[list[TestShape], list[TestShape]]:
    """The tests of the changed files, before and after; a file that cannot be read on one side has none."""
    before: list[TestShape] = []
    after: list[TestShape] = []
    for file in files:
        if not (belongs_to_tests(file.path) or belongs_to_tests(file.old_path)):
            continue
        old, new = read_tests(file.old_path, file.before), read_tests(file.path, file.after)
        if old is not None and new is not None:
            before += old
            after += new
    return before, after


def _in_tests(
    pairs: Pairs,
    files: Sequence[ChangedFile],
    comparisons: Sequence[TestComparison],
    task: str | None,
) -> Iterator[WeakenedTest]:
    for old, new in pairs.kept:
        for edit in compare_shapes(old, new):
            yield judge_edit(edit, old, new, prove(comparisons, old, new), task)
    for old, new in pairs.renamed_away:
        yield judge_away(old, new, prove(comparisons, old, new), task)
    for old in pairs.gone:
        yield judge_gone(old, prove(comparisons, old, None), task, files)
    for old in pairs.absorbed:
        # What is red by itself cannot be green in another test.
        if (proof := prove(comparisons, old, None)).hides_a_failure:
            yield judge_gone(old, proof, task, files)


def _in_order(found: Sequence[WeakenedTest]) -> tuple[WeakenedTest, ...]:
    """One finding for each test or line, the gravest, and the gravest first."""
    best: dict[tuple[str, str | int | None], WeakenedTest] = {}
    for each in sorted(found, key=lambda each: _ORDER.index(each.standing)):
        best.setdefault((each.path, each.test or each.line or each.way), each)
    return tuple(best.values())
