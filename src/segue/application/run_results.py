"""What a run says in the end: one sentence, an exit code, and what a person must know first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from segue.domain.amounts import count, describe_cost, describe_time
from segue.domain.final_state import (
    CheckResult,
    FilesChanged,
    FinalState,
    Finding,
    FindingKind,
    StepLedger,
    Stopped,
    StoppedBy,
    TestCounts,
    findings_of,
    why_stopped,
    worst_first,
)
from segue.domain.handoff import Handoff
from segue.domain.pipeline import PipelineStatus, StepStatus
from segue.domain.usage import Usage

if TYPE_CHECKING:
    from segue.application.views import StepView

COUNTED = (
    "claims",
    "refuted",
    "partly",
    "confirmed",
    "unverifiable",
    "not_claims",
    "unmentioned",
    "weakened",
)
"""What is counted, in this order."""
_BY_PERSON = ("aborted by Ctrl-C", "aborted by the user")
_STOPPED = {
    StoppedBy.FAILED: "says that it failed",
    StoppedBy.BLOCKED: "says it is blocked",
    StoppedBy.QUESTION: "only asks",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class RunResult:
    """What came of a run that has ended."""

    sentence: str
    """How it ended, what of it is false."""
    exit_code: int
    """0 done and nothing false, 1 failed or something false, 130 aborted."""
    claims: Mapping[str, int]
    """How many claims there are, by verdict as it is at the end, and the rest of what the ledgers count."""
    findings: Sequence[Finding]
    """What is wrong at the end, the worst first."""
    resolved: Sequence[Finding]
    """Statements that were false after their step and hold at the end."""
    checks: Sequence[CheckResult]
    """How the checks ended after the last step."""
    files: FilesChanged | None
    """What it changed; none if that is not known."""
    stopped: Stopped | None
    """What the last agent says if it did not do its job."""
    repairs: int
    """How often agents were asked to repair their handoffs."""
    seconds: float
    """From its submission to its end."""
    usage: Usage | None
    """What all its sessions used, as far as their back ends say."""

    @property
    def false_findings(self) -> list[Finding]:
        """False claims and weakened tests: what a merge is refused for."""
        return [finding for finding in self.findings if finding.is_false]


@dataclass(frozen=True, kw_only=True, slots=True)
class EndedRun:
    """The records of a run that has ended, as far as its result needs them."""

    status: PipelineStatus
    """How it ended."""
    reason: str | None
    """Why it failed or was aborted."""
    steps: Sequence[StepView]
    """Its steps."""
    final: FinalState | None
    """What was measured at its end; none if it did not get there, or ended in an earlier version."""
    began: datetime
    """When it was submitted."""
    ended: datetime
    """When it ended."""


def result_of(run: EndedRun) -> RunResult:
    """What came of a run."""
    final = run.final if run.final is not None else _as_recorded(run)
    usage = [step.usage for step in run.steps if step.usage is not None]
    return RunResult(
        sentence=_sentence(run, final),
        exit_code=_exit_code(run.status, final),
        claims=_count(run.steps, final),
        findings=final.findings,
        resolved=final.resolved,
        checks=final.checks,
        files=final.files,
        stopped=final.stopped,
        repairs=sum(step.repairs for step in run.steps),
        seconds=(run.ended - run.began).total_seconds(),
        usage=sum(usage, Usage()) if usage else None,
    )


def _as_recorded(run: EndedRun) -> FinalState:
    """What the ledgers of the steps said when each was done."""
    found: list[Finding] = []
    for step in run.steps:
        handoff = step.latest_handoff
        if handoff is not None and handoff.ledger is not None:
            number, name = step.order_index + 1, step.agent_name
            ledger = StepLedger(step=number, agent_name=name, source="", ledger=handoff.ledger)
            found += findings_of(ledger)
    return FinalState(findings=worst_first(found), stopped=_stopped_by_record(run))


def _stopped_by_record(run: EndedRun) -> Stopped | None:
    handoff = run.steps[-1].latest_handoff
    if run.status is not PipelineStatus.DONE or handoff is None or handoff.metadata is None:
        return None
    return why_stopped(Handoff.model_validate(handoff.metadata), handoff.content_md, has_changes=True)


def _exit_code(status: PipelineStatus, final: FinalState) -> int:
    if status is PipelineStatus.DONE:
        is_bad = final.stopped is not None or any(finding.is_false for finding in final.findings)
        return 1 if is_bad or any(check.fails for check in final.checks) else 0
    return 1 if status is PipelineStatus.FAILED else 130


def _count(steps: Sequence[StepView], final: FinalState) -> dict[str, int]:
    """The counts of all ledgers together; what holds at the end is counted as what it is there."""
    counts = dict.fromkeys(COUNTED, 0)
    for step in steps:
        if step.latest_handoff is not None and step.latest_handoff.ledger is not None:
            for name, number in step.latest_handoff.ledger["counts"].items():
                counts[name] = counts.get(name, 0) + number
    for finding in final.resolved:
        counts["refuted"] -= 1
        counts[finding.verdict] += 1
    for kind in (FindingKind.UNMENTIONED, FindingKind.WEAKENED):
        counts[kind] = sum(finding.kind is kind for finding in final.findings)
    return counts


def _sentence(run: EndedRun, final: FinalState) -> str:
    took = describe_time((run.ended - run.began).total_seconds(), exact=True)
    costs = [step.usage.cost for step in run.steps if step.usage is not None and step.usage.cost]
    spent = took + (f" for {describe_cost(sum(costs))}" if costs else "")
    if run.status is PipelineStatus.FAILED:
        return _failed(run, took)
    if run.status is not PipelineStatus.DONE:
        return _aborted(run, spent)
    repairs = sum(step.repairs for step in run.steps)
    after = f" after {count(repairs, 'repair')}" if repairs else ""
    if final.stopped is not None:
        return _stopped(run.steps[-1].agent_name, final.stopped, _false(final))
    if false := _false(final):
        has_refuted = final.findings[0].kind is FindingKind.REFUTED
        return f"Done, with {'false claims: ' if has_refuted else ''}{false}{after}."
    if failing := next((check for check in final.checks if check.fails), None):
        return f"Done, with a failing check: `{failing.command}` {describe_end(failing)}."
    return f"Done in {spent}: {_honest(run, final)}{after}."


def _honest(run: EndedRun, final: FinalState) -> str:
    counts = _count(run.steps, final)
    if not counts["claims"]:
        return "no claim was checked"
    if counts["unverifiable"] == counts["claims"]:
        return f"{count(counts['claims'], 'claim')}, none of which could be checked"
    return f"nothing refuted in {count(counts['claims'], 'claim')}"


def _false(final: FinalState) -> str:
    """`2 refuted and 1 weakened test`; empty if nothing is false."""
    refuted = sum(finding.kind is FindingKind.REFUTED for finding in final.findings)
    weakened = sum(finding.kind is FindingKind.WEAKENED for finding in final.findings)
    parts = ([f"{refuted} refuted"] if refuted else []) + (
        [count(weakened, "weakened test")] if weakened else []
    )
    return " and ".join(parts)


def _stopped(agent_name: str, stopped: Stopped, false: str) -> str:
    reason = " ".join(stopped.reason.split()).rstrip(".")
    told = f": {reason}" if reason else ""
    end = "" if told.endswith(("?", "!")) else "."
    also = f" False claims: {false}." if false else ""
    return f"Done, but the {agent_name} {_STOPPED[stopped.by]}{told}{end}{also}"


def _failed(run: EndedRun, took: str) -> str:
    step = next((each for each in run.steps if each.status is StepStatus.FAILED), None)
    if step is None:
        return f"Failed after {took}: {run.reason or 'no reason is known'}."
    reason = (step.error_message or run.reason or "no reason is known").rstrip(".")
    return f"Failed at step {step.order_index + 1} of {len(run.steps)} after {took}: {reason}."


def _aborted(run: EndedRun, spent: str) -> str:
    done = sum(step.status is StepStatus.DONE for step in run.steps)
    step = next((each for each in run.steps if each.status is not StepStatus.DONE), run.steps[-1])
    by_person = run.reason is None or run.reason in _BY_PERSON
    reason = "" if by_person else f": {(run.reason or '').rstrip('.')}"
    kept = {0: "", 1: " Step 1 is kept."}.get(done, f" Steps 1 to {done} are kept.")
    who = " by you" if by_person else ""
    return f"Aborted{who} at step {step.order_index + 1} of {len(run.steps)} after {spent}{reason}.{kept}"


def describe_end(check: CheckResult) -> str:
    """`exit 0: 13 passed, 1 skipped; 14 passed before`."""
    ended = check.fault or f"exit {check.exit_code}"
    if check.after is None:
        return ended
    before = f"; {describe_tests(check.before)} before" if check.before not in (None, check.after) else ""
    return f"{ended}: {describe_tests(check.after)}{before}"


def describe_tests(tests: TestCounts | None) -> str:
    """`13 passed, 1 failed, 1 skipped`; what is none is left out."""
    if tests is None:
        return ""
    numbers = {"passed": tests.passed, "failed": tests.failed, "skipped": tests.skipped}
    return ", ".join(f"{number} {name}" for name, number in numbers.items() if number) or "no tests"
