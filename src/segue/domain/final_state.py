"""How the work of a run is at its end: what is still false, which tests prove less, how the checks ended."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from segue.domain.evidence.model import (
    CommandRun,
    Evidence,
    RunBy,
    Standing,
    TestComparison,
    TestOutcome,
    TestRun,
)
from segue.domain.handoff.checking.rules_values import outcome_of
from segue.domain.handoff.model import Handoff

Ledger = Mapping[str, Any]
"""A ledger as it is saved: what `ledger_as_dict` gives."""


_SENTENCES = ("", "what_was_done", "next_agent_context", "critical_context")
"""Fields whose entries are sentences."""


def words_of(field: str, text: str, claim: str) -> str:
    """A statement in words: an entry of a list, such as a path, does not say by itself what is claimed."""
    return text if field.partition("[")[0] in _SENTENCES else claim or text


class FindingKind(StrEnum):
    """What is wrong, the worst first."""

    REFUTED = "refuted"
    """A statement is false."""
    WEAKENED = "weakened"
    """A test proves less than before."""
    UNMENTIONED = "unmentioned"
    """A file changed, and no statement mentions it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """Something that a person must know before taking the work."""

    kind: FindingKind
    """What is wrong."""
    step: int
    """The number of the step, 1 for the first."""
    agent_name: str
    """Who did the step."""
    text: str
    """The agent's own words; the test that was weakened; the file that nobody mentions."""
    reason: str = ""
    """One sentence that names what was measured."""
    claim: str = ""
    """What was judged of a statement that claims several things."""
    field: str = ""
    """Where a statement is in the handoff: `what_was_done[2]`."""
    path: str | None = None
    """The file, of a weakened test."""
    line: int | None = None
    """The line in it."""
    verdict: str = FindingKind.REFUTED
    """Of a statement: what it is now, judged against the end of the run."""

    @property
    def words(self) -> str:
        """The statement in words."""
        return words_of(self.field, self.text, self.claim)

    @property
    def is_false(self) -> bool:
        """True if it keeps the work from being merged: a false claim or a weakened test."""
        return self.kind is not FindingKind.UNMENTIONED


@dataclass(frozen=True, kw_only=True, slots=True)
class TestCounts:
    """How many tests ended how."""

    __test__ = False
    passed: int = 0
    failed: int = 0
    skipped: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckResult:
    """How a check ended after the last step."""

    command: str
    """As it was given."""
    exit_code: int | None
    """None if it did not end by itself."""
    fault: str | None = None
    """Why it says nothing: it could not be started, or ran out of time."""
    after: TestCounts | None = None
    """Its tests; none if it counts none."""
    before: TestCounts | None = None
    """Its tests before the run; none if that is not known."""
    failed_before: bool = False
    """True if the same tests failed before the run."""

    @property
    def fails(self) -> bool:
        """True if the run has broken it, or did not repair it although it was not broken in this way."""
        return (self.exit_code != 0 or self.fault is not None) and not self.failed_before


@dataclass(frozen=True, kw_only=True, slots=True)
class FilesChanged:
    """What a run changed, in numbers."""

    count: int
    """Files."""
    additions: int = 0
    """Lines that came."""
    deletions: int = 0
    """Lines that went."""


class StoppedBy(StrEnum):
    """Why the last agent did not do its job, by its own words."""

    FAILED = "failed"
    BLOCKED = "blocked"
    QUESTION = "question"
    """It only asked."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Stopped:
    """The last agent says that it did not do its job."""

    by: StoppedBy
    """What it says."""
    reason: str = ""
    """Its reason, or its question; empty if it gave none."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FinalState:
    """What was measured when the last step was done."""

    findings: tuple[Finding, ...] = ()
    """What is wrong at the end: false statements first, then weakened tests, then what nobody mentions."""
    resolved: tuple[Finding, ...] = ()
    """Statements that were false after their step and hold at the end."""
    checks: tuple[CheckResult, ...] = ()
    """How the checks ended after the last step."""
    files: FilesChanged | None = None
    """What the run changed; none if that is not known."""
    stopped: Stopped | None = None
    """What the last agent says if it did not do its job."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StepLedger:
    """A step with the ledger of its newest handoff."""

    step: int
    """Its number, 1 for the first."""
    agent_name: str
    """Who did it."""
    source: str
    """What the agent wrote."""
    ledger: Ledger
    """What came of its claims when the step was done."""

    @property
    def is_false(self) -> bool:
        """True if it holds a false statement or a weakened test."""
        return any(finding.is_false for finding in findings_of(self))


def findings_of(step: StepLedger) -> Iterator[Finding]:
    """What was wrong when the step was done."""

    def found(kind: FindingKind, text: str, reason: str = "", **place: Any) -> Finding:
        return Finding(
            kind=kind, step=step.step, agent_name=step.agent_name, text=text, reason=reason, **place
        )

    for entry in step.ledger["entries"]:
        if entry["verdict"] == FindingKind.REFUTED:
            place = {"claim": entry["claim"], "field": entry["field"]}
            yield found(FindingKind.REFUTED, entry["text"], entry["reason"], **place)
    for test in step.ledger.get("weakened", ()):
        if test["standing"] == Standing.WEAKENED:
            name = test["test"] or test["way"]
            yield found(FindingKind.WEAKENED, name, test["reason"], path=test["path"], line=test["line"])
    for path in step.ledger["unmentioned"]:
        yield found(FindingKind.UNMENTIONED, path)


def worst_first(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """False statements, then weakened tests, then what nobody mentions; each in the order of the steps."""
    kinds = list(FindingKind)
    return tuple(sorted(findings, key=lambda each: (kinds.index(each.kind), each.step)))


def judge_again(
    steps: Sequence[StepLedger], judged: Mapping[int, Ledger], changed: frozenset[str] | None
) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
    """What is still wrong at the end, and what was false and holds now.

    `judged` has, by the number of the step, the ledger of its handoff against the whole run. A statement
    stays false unless it is confirmed there, or partly: that nothing is known of it any more does not make
    it true. `changed` are the files that the run changed; none if that is not known.
    """
    wrong: list[Finding] = []
    resolved: list[Finding] = []
    for step in steps:
        now = judged.get(step.step, step.ledger)
        entries = {(each["field"], each["text"], each["claim"]): each for each in now["entries"]}
        tests = {(each["path"], each["test"] or each["way"]) for each in now.get("weakened", ())}
        for found in findings_of(step):
            finding, is_wrong = found, True
            if finding.kind is FindingKind.UNMENTIONED:
                is_wrong = _is_still_unmentioned(finding, steps, changed)
            elif finding.kind is FindingKind.WEAKENED:
                is_wrong = (finding.path, finding.text) in tests
            else:
                finding = _with_verdict(found, entries.get((found.field, found.text, found.claim)))
                is_wrong = finding.verdict == FindingKind.REFUTED
                resolved += [] if is_wrong else [finding]
            wrong += [finding] if is_wrong else []
    return worst_first(wrong), tuple(resolved)


def _with_verdict(finding: Finding, entry: Mapping[str, Any] | None) -> Finding:
    """A false statement with what it is now."""
    if entry is None or entry["verdict"] not in (FindingKind.REFUTED, "confirmed", "partly"):
        return finding
    return replace(finding, verdict=entry["verdict"], reason=entry["reason"])


def _is_still_unmentioned(
    finding: Finding, steps: Sequence[StepLedger], changed: frozenset[str] | None
) -> bool:
    if changed is not None and finding.text not in changed:
        return False
    others = (step for step in steps if step.step != finding.step)
    return not any(finding.text in step.source for step in others)


def check_results(evidence: Evidence) -> tuple[CheckResult, ...]:
    """How each check ended after the last step, with its tests before and after."""
    own = (each for each in evidence.tests if each.after.by is RunBy.SEGUE)
    by_command = {each.after.command: each for each in own}
    return tuple(_check_result(run, by_command.get(run.command)) for run in evidence.checks)


def _check_result(run: CommandRun, tests: TestComparison | None) -> CheckResult:
    return CheckResult(
        command=run.command,
        exit_code=run.exit_code,
        fault=run.fault,
        after=None if tests is None else _counts(tests.after),
        before=None if tests is None or tests.before is None else _counts(tests.before),
        failed_before=tests is not None and _failed_before(tests),
    )


def _counts(run: TestRun) -> TestCounts:
    return TestCounts(passed=run.passed, failed=run.failed, skipped=run.skipped)


def _failed_before(tests: TestComparison) -> bool:
    """True if every test that fails now failed before the run, too; a run without ids proves nothing."""
    if tests.before is None or not tests.before.outcomes or not tests.after.outcomes:
        return False
    now, before = _failing(tests.after), _failing(tests.before)
    return bool(now) and now <= before


def _failing(run: TestRun) -> set[str]:
    return {name for name, outcome in run.outcomes.items() if outcome is TestOutcome.FAILED}


def why_stopped(handoff: Handoff | None, source: str, *, has_changes: bool) -> Stopped | None:
    """What the last agent says if it did not do its job; none if it says that it did."""
    if handoff is None:
        last = next((line.strip() for line in reversed(source.splitlines()) if line.strip()), "")
        asks = last.endswith("?") and not has_changes
        return Stopped(by=StoppedBy.QUESTION, reason=last) if asks else None
    outcome = outcome_of(handoff)
    blocker = next((each.blocker for each in handoff.blockers), "")
    question = next((each.question for each in handoff.open_questions), "")
    if outcome == StoppedBy.FAILED:
        approach = next((each.approach for each in reversed(handoff.failed_approaches)), "")
        return Stopped(by=StoppedBy.FAILED, reason=blocker or approach)
    blocking = any(each.blocking for each in handoff.open_questions)
    if outcome == StoppedBy.BLOCKED or (outcome is None and (blocker or blocking)):
        return Stopped(by=StoppedBy.BLOCKED, reason=blocker or question)
    did = (handoff.what_was_done, handoff.files_created, handoff.files_modified, handoff.commands_run)
    if outcome != "completed" and question and not any(did) and not has_changes:
        return Stopped(by=StoppedBy.QUESTION, reason=question)
    return None
