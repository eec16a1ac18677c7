"""The tests of runs, all cases of one together: which were hidden, and which became green."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from segue.domain.evidence.model import TestComparison, TestOutcome, TestRun

_CASE = re.compile(r"\[.*$", re.DOTALL)
_SEVERITY = (TestOutcome.SKIPPED, TestOutcome.PASSED, TestOutcome.FAILED)


@dataclass(frozen=True, kw_only=True, slots=True)
class TestGroup:
    """One test with all its cases, in the runs of one check."""

    __test__ = False
    id: str
    """Its id, without a case."""
    before: TestOutcome
    """How it ended before."""
    old_version: TestOutcome | None
    """How its old version ends on the new code; none if it was not collected there."""
    after: TestOutcome | None
    """How it ends now; none if it is not collected."""
    reason: str
    """Why the old version fails."""

    @property
    def path(self) -> str:
        """The file that it was in."""
        return self.id.partition("::")[0]

    @property
    def name(self) -> str:
        """Its name with its groups."""
        return self.id.partition("::")[2] or self.id

    @property
    def is_hidden(self) -> bool:
        """True if its old version is red on the new code, and it is not red now."""
        return self.old_version is TestOutcome.FAILED and self.after is not TestOutcome.FAILED


def groups_of(comparison: TestComparison) -> Iterator[TestGroup]:
    """The tests that were there before, with what became of them; none if the runs do not tell."""
    before, after, old = comparison.before, comparison.after, comparison.old_tests
    if before is None or not before.is_from_report or after.exit_code is None:
        return
    befores, afters = _grouped(before), _grouped(after)
    olds = _grouped(old) if old is not None and old.is_from_report else {}
    broken = [each for each, outcome in after.outcomes.items() if outcome is TestOutcome.FAILED]
    for name, outcome in befores.items():
        path = name.partition("::")[0]
        if "::" not in name or (name not in afters and _could_not_load(path, broken)):
            continue
        reason = next((why for each, why in (old.failures if old else {}).items() if _base(each) == name), "")
        yield TestGroup(
            id=name, before=outcome, old_version=olds.get(name), after=afters.get(name), reason=reason
        )


def made_green(comparisons: Sequence[TestComparison]) -> bool:
    """True if a test failed before and does not fail now."""
    return any(
        group.before is TestOutcome.FAILED and group.after is not TestOutcome.FAILED
        for comparison in comparisons
        for group in groups_of(comparison)
    )


def hidden_groups(comparisons: Sequence[TestComparison]) -> list[TestGroup]:
    """The tests whose old version is red on the new code and that are not red now."""
    return [group for each in comparisons for group in groups_of(each) if group.is_hidden]


def has_runs(comparisons: Sequence[TestComparison]) -> bool:
    """True if both states were run, with a report."""
    return any(each.before is not None and each.before.is_from_report for each in comparisons)


def _grouped(run: TestRun) -> dict[str, TestOutcome]:
    found: dict[str, TestOutcome] = {}
    for each, outcome in run.outcomes.items():
        name = _base(each)
        found[name] = max(outcome, found.get(name, TestOutcome.SKIPPED), key=_SEVERITY.index)
    return found


def _base(name: str) -> str:
    """The id without the case."""
    path, _, rest = name.partition("::")
    if not rest or not path.endswith(".py"):
        return name
    return f"{path}::{_CASE.sub('', rest)}"


def _could_not_load(path: str, broken: Sequence[str]) -> bool:
    """True if the file itself failed: that is red, and hides nothing."""
    module = re.sub(r"\.\w+$", "", path).replace("/", ".")
    last = module.rpartition(".")[2]
    return any(each in (path, module) or (("::" not in each) and each.endswith(last)) for each in broken)
