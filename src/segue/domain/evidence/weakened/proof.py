"""What the runs say about a test: how it ended before, how it ends now, and how its old version does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from segue.domain.evidence.model import TestComparison, TestOutcome, TestRun
from segue.domain.evidence.weakened.shapes import TestShape

_ASSERTION = (
    "assert",
    "AssertionError",
    "Failed:",
    "Error: expect",
    "TestFailed",
    "failed: ",
    "JestAssertion",
)


class OldVersion(StrEnum):
    """How the old version of a test ends on the new code."""

    PASSES = "passes"
    FAILS = "fails"
    CANNOT_RUN = "cannot run"
    UNKNOWN = "unknown"


@dataclass(frozen=True, kw_only=True, slots=True)
class Proof:
    """What the runs say about one test."""

    before: TestOutcome | None = None
    """How it ended before the step."""
    after: TestOutcome | None = None
    """How it ends now; none if it is not collected, or if nothing is known."""
    old_version: OldVersion = OldVersion.UNKNOWN
    """How its old version ends on the new code."""
    reason: str = ""
    """Why that fails."""
    has_runs: bool = False
    """Whether there are runs of both states that tell tests apart."""

    @property
    def was_red(self) -> bool:
        """True if it failed before the step."""
        return self.before is TestOutcome.FAILED

    @property
    def hides_a_failure(self) -> bool:
        """True if the old version is red on the new code, or was red and cannot be run there."""
        if self.old_version is OldVersion.FAILS:
            return True
        return self.old_version is OldVersion.CANNOT_RUN and self.was_red

    @property
    def failed_by_assertion(self) -> bool:
        """True if the old version fails by what it requires, and not by how it is set up."""
        return any(word in self.reason for word in _ASSERTION)


def prove(comparisons: Sequence[TestComparison], old: TestShape, new: TestShape | None) -> Proof:
    """What the runs say about a test before, and what became of it; the first check that ran it counts."""
    usable = [each for each in comparisons if each.before is not None and each.before.is_from_report]
    for compared in usable:
        assert compared.before is not None
        before = outcome_of(compared.before, old)
        if before is None:
            continue
        old_version, reason = _old_version(compared.old_tests, old)
        return Proof(
            before=before,
            after=outcome_of(compared.after, new) if new is not None else None,
            old_version=old_version,
            reason=reason,
            has_runs=True,
        )
    return Proof(has_runs=bool(usable))


def outcome_of(run: TestRun, test: TestShape) -> TestOutcome | None:
    """How a test ended in a run, all its cases together; none if it was not collected."""
    found = [run.outcomes[each] for each in ids_of(run, test)]
    if TestOutcome.FAILED in found:
        return TestOutcome.FAILED
    if TestOutcome.PASSED in found:
        return TestOutcome.PASSED
    return TestOutcome.SKIPPED if found else None


def ids_of(run: TestRun, test: TestShape) -> list[str]:
    """The ids of a test and its cases in a run."""
    key = test.key
    if key in run.outcomes:
        return [key]
    found = [each for each in run.outcomes if each.startswith(key + "[")]
    if not found and ("%" in test.name or "$" in test.name):  # a title that is filled in for each case
        title = test.name.split("%")[0].split("$")[0]
        start = "::".join((test.path, *test.names[:-1], title))
        found = [each for each in run.outcomes if each.startswith(start)]
    return found


def _old_version(run: TestRun | None, old: TestShape) -> tuple[OldVersion, str]:
    if run is None or not run.is_from_report:
        return OldVersion.UNKNOWN, ""
    ids = ids_of(run, old)
    outcome = outcome_of(run, old)
    if outcome is TestOutcome.FAILED:
        reason = next((run.failures[each] for each in ids if each in run.failures), "")
        return OldVersion.FAILS, reason
    if outcome is None:
        return OldVersion.CANNOT_RUN, ""
    return (OldVersion.PASSES if outcome is TestOutcome.PASSED else OldVersion.UNKNOWN), ""
