"""What only the runs show: tests that nobody edited, and that are hidden by something else."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence

from segue.domain.evidence.model import Standing, TestComparison, TestOutcome, WeakenedTest
from segue.domain.evidence.weakened.changed_files import ChangedFile
from segue.domain.evidence.weakened.javascript_tokens import is_value, read_tokens
from segue.domain.evidence.weakened.pairing import Pairs
from segue.domain.evidence.weakened.paths import (
    belongs_to_tests,
    is_conftest,
    is_mixed_file,
    is_runner_file,
    is_script,
    is_snapshot,
    is_test_file,
)
from segue.domain.evidence.weakened.proof import Proof
from segue.domain.evidence.weakened.python_tests import literals_of
from segue.domain.evidence.weakened.run_groups import TestGroup, groups_of
from segue.domain.evidence.weakened.runner_settings import runner_part
from segue.domain.evidence.weakened.task import (
    asks_for_behaviour,
    asks_for_edit,
    asks_for_removal,
    asks_for_setting,
    names_in,
    words_in,
)

_MOST = 20
NamesUsed = Callable[[str, str], frozenset[str]]
"""A file of tests and the name of one -> the names that it uses."""


def find_by_runs(
    known: Sequence[WeakenedTest],
    pairs: Pairs,
    files: Sequence[ChangedFile],
    comparisons: Sequence[TestComparison],
    task: str | None,
    names_used: NamesUsed,
) -> Iterator[WeakenedTest]:
    """Tests that are not run, skipped or green now, by an edit of something else than themselves."""
    done = {(each.path, each.test) for each in known}
    new_ids = {old.key: new.key for old, new in pairs.kept}
    done |= {(old.path, "::".join(old.names)) for old in (*pairs.absorbed, *pairs.gone)}
    done |= {
        (old.path, "::".join(old.names))
        for old, new in pairs.kept
        if (new.path, "::".join(new.names)) in done
    }
    edited = {old.key for old, new in pairs.kept if (old.code, old.cases) != (new.code, new.cases)}
    for comparison in comparisons:
        if found := _cut_short(comparison, task):
            yield found
            continue
        count = 0
        for group in groups_of(comparison):
            if (group.path, group.name) in done or group.id in edited:
                continue
            moved = new_ids.get(group.id, group.id)
            if moved != group.id and moved in comparison.after.outcomes:
                continue
            finding = _judge(group, files, task, names_used(group.path, group.name))
            if finding is not None and count < _MOST:
                count += 1
                yield finding


def _cut_short(comparison: TestComparison, task: str | None) -> WeakenedTest | None:
    """A run that is content, but of which no runner reported a test, where one did before."""
    before, after = comparison.before, comparison.after
    if before is None or not before.is_from_report or after.exit_code != 0:
        return None
    if after.collected:
        return None
    reason = (
        f"The check ends with exit code 0, but no test runner reported a test; "
        f"{before.runner} reported {before.collected} before"
    )
    is_asked = asks_for_setting(task, ("test runner", "runner", before.runner))
    standing = Standing.DISCLOSED if is_asked else Standing.WEAKENED
    return WeakenedTest(way="tests not run", path="", reason=reason, standing=standing, hides_failure=True)


def _judge(
    group: TestGroup, files: Sequence[ChangedFile], task: str | None, used: Collection[str]
) -> WeakenedTest | None:
    if group.before is TestOutcome.SKIPPED or group.after is TestOutcome.FAILED:
        return None
    cause: str | None
    if group.after is TestOutcome.SKIPPED:
        way, reason = "skipped", f"Skipped now; it {group.before} before"
        cause = _cause(files, group, needs_values=False) or group.path
    elif group.after is None:
        way, reason = "not collected", f"Collected before and not now; it {group.before} before"
        is_red = group.old_version is not TestOutcome.PASSED
        cause = _cause(files, group, needs_values=False) if is_red else None
    else:
        cause = _cause(files, group, needs_values=True) if _fails_by_assertion(group) else None
        way = "snapshot rewritten" if cause and is_snapshot(cause) else "fixture changed"
        reason = "With what it was run with before, this test fails on the new code"
    if cause is None:
        return None
    standing = Standing.DISCLOSED if _is_asked(group, way, cause, task, used) else Standing.WEAKENED
    is_red = group.is_hidden or group.before is TestOutcome.FAILED
    return WeakenedTest(
        way=way, path=cause, test=group.name, reason=reason, standing=standing, hides_failure=is_red
    )


def _fails_by_assertion(group: TestGroup) -> bool:
    return group.is_hidden and Proof(reason=group.reason).failed_by_assertion


def _is_asked(group: TestGroup, way: str, cause: str, task: str | None, used: Collection[str]) -> bool:
    names = _names(group, cause)
    if asks_for_edit(task, names) or (way == "not collected" and asks_for_removal(task, names)):
        return True
    if group.before is TestOutcome.FAILED or way == "skipped":
        return False
    return asks_for_behaviour(task, {*names, *names_in(used)}, words_in(f"{group.name} {cause}"))


def _cause(files: Sequence[ChangedFile], group: TestGroup, *, needs_values: bool) -> str | None:
    """The changed file that most likely did it; none if no file did that tests are run with."""
    candidates = [
        file
        for file in files
        if file.path != group.path
        and (
            belongs_to_tests(file.path)
            or (is_mixed_file(file.path) and _has_new_settings(file))
            or is_script(file.path)
        )
        and not (file.before is None and is_test_file(file.path) and not is_conftest(file.path))
    ]
    if needs_values:
        candidates = [file for file in candidates if _has_new_values(file)]
    own = [file for file in files if group.path in (file.path, file.old_path)]
    ranked = sorted(candidates, key=lambda file: _rank(file.path))
    if ranked:
        return ranked[0].path
    return own[0].path if own else None


def _rank(path: str) -> int:
    order = (is_snapshot, is_conftest, is_runner_file, is_mixed_file)
    return next((index for index, fits in enumerate(order) if fits(path)), len(order))


def _has_new_settings(file: ChangedFile) -> bool:
    return runner_part(file.path, file.before or "") != runner_part(file.path, file.after or "")


def _has_new_values(file: ChangedFile) -> bool:
    """True if more than names changed: an honest rename changes nothing else."""
    before, after = file.before or "", file.after or ""
    if file.path.endswith(".py"):
        return literals_of(before) != literals_of(after) or is_conftest(file.path)
    if re.search(r"\.[cm]?[jt]sx?$", file.path):
        old, new = read_tokens(before) or [], read_tokens(after) or []
        return [each.text for each in old if is_value(each)] != [each.text for each in new if is_value(each)]
    return before != after


def _names(group: TestGroup, cause: str) -> Collection[str]:
    own = group.name.rpartition("::")[2]
    base = cause.rpartition("/")[2]
    file = group.path.rpartition("/")[2]
    return names_in(
        {own, re.sub(r"^test_?", "", own), group.path, file, cause, base, re.sub(r"\..*$", "", base)}
    )
