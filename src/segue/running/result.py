"""What came of a run, as values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from segue.application.run_results import RunResult
from segue.application.views import PipelineDetail, StepView
from segue.domain.claims import Verdict
from segue.domain.final_state import CheckResult, FilesChanged, Finding, words_of
from segue.domain.handoff import Handoff
from segue.domain.pipeline import PipelineStatus, StepStatus
from segue.domain.usage import Usage


@dataclass(frozen=True, kw_only=True, slots=True)
class Claim:
    """Something that an agent said of its work, compared with what happened."""

    text: str
    """The agent's own words; of an entry such as a path, what it claims."""
    verdict: Verdict
    """`confirmed`, `refuted`, `partly` or `unverifiable`."""
    reason: str
    """One sentence that names what was measured."""
    field: str
    """Where the words are in the handoff: `what_was_done[2]`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StepResult:
    """What came of one step."""

    number: int
    """1 for the first."""
    agent: str
    """Who did it."""
    status: StepStatus
    reason: str | None
    """Why it failed or was aborted."""
    handoff: Handoff | None
    """What it handed on; none if it did not get there, or nothing could be read."""
    is_synthetic: bool
    """True if Segue wrote the handoff, because the agent ended before it could."""
    reply: str
    """The agent's last words in full; empty if there are none."""
    claims: tuple[Claim, ...]
    """Its claims, each with its verdict, in the order of the text."""
    files: tuple[str, ...]
    """The files that it changed, by their paths in the repository."""
    commit: str | None
    """The commit that was made after it."""
    backend: str | None
    """What drove its agent; none if it has not begun."""
    model: str | None
    attempt_count: int
    """How many attempts were begun."""
    repairs: int
    """How often its agent was asked to repair its handoff."""
    usage: Usage | None
    """What its sessions have used, as far as their back end says."""

    @property
    def refuted(self) -> tuple[Claim, ...]:
        """The claims that were false when the step ended."""
        return tuple(claim for claim in self.claims if claim.verdict is Verdict.REFUTED)


@dataclass(frozen=True, kw_only=True, slots=True)
class Result:
    """What came of a run that has ended."""

    id: int
    """The number by which the command line and the REST API know it."""
    title: str
    status: PipelineStatus
    """`done`, `failed` or `aborted`."""
    reason: str | None
    """Why it failed or was aborted."""
    sentence: str
    """How it ended and what of it is false, in one sentence."""
    exit_code: int
    """That of `segue run`: 0 done and nothing false, 1 failed or something false, 130 aborted."""
    steps: tuple[StepResult, ...]
    findings: tuple[Finding, ...]
    """What is wrong at the end, the worst first: false claims, weakened tests, changes nobody mentioned."""
    checks: tuple[CheckResult, ...]
    """How the checks ended after the last step."""
    files: tuple[str, ...]
    """The files that differ at the end, by their paths in the repository; none outside of git."""
    changes: FilesChanged | None
    """How many files and lines differ; none if that is not known."""
    branch: str | None
    """The branch that holds the work; none if the agents worked in the folder itself."""
    folder: str | None
    """Where the agents worked; none if the run never began."""
    seconds: float
    """From its submission to its end."""
    usage: Usage | None
    """What all its sessions used, as far as their back ends say."""

    @property
    def is_ok(self) -> bool:
        """True if it is done, nothing in it is false and no check fails."""
        return self.exit_code == 0

    @property
    def handoff(self) -> Handoff | None:
        """The newest handoff; none if no step has left one."""
        return next((step.handoff for step in reversed(self.steps) if step.handoff is not None), None)


def result_of(detail: PipelineDetail, ended: RunResult) -> Result:
    """The records of a run that has ended, as the public values."""
    workspace = detail.workspace
    return Result(
        id=detail.id,
        title=detail.title,
        status=detail.status,
        reason=detail.reason,
        sentence=ended.sentence,
        exit_code=ended.exit_code,
        steps=tuple(_step_of(step) for step in detail.steps),
        findings=tuple(ended.findings),
        checks=tuple(ended.checks),
        files=_files_at_end(_changes_of(step) for step in detail.steps),
        changes=ended.files,
        branch=workspace.branch if workspace else None,
        folder=workspace.path if workspace else None,
        seconds=ended.seconds,
        usage=ended.usage,
    )


def _step_of(step: StepView) -> StepResult:
    left = step.latest_handoff
    ledger = (left.ledger if left else None) or {}
    return StepResult(
        number=step.order_index + 1,
        agent=step.agent_name,
        status=step.status,
        reason=step.error_message,
        handoff=Handoff.model_validate(left.metadata) if left and left.metadata is not None else None,
        is_synthetic=left.is_synthetic if left else False,
        reply=left.content_md if left and not left.is_synthetic else "",
        claims=tuple(_claim_of(entry) for entry in ledger.get("entries", ())),
        files=tuple(change["path"] for change in _changes_of(step)),
        commit=step.end_commit,
        backend=step.backend,
        model=step.model,
        attempt_count=step.attempt_count,
        repairs=step.repairs,
        usage=step.usage,
    )


def _claim_of(entry: Mapping[str, Any]) -> Claim:
    return Claim(
        text=words_of(entry["field"], entry["text"], entry["claim"]),
        verdict=Verdict(entry["verdict"]),
        reason=entry["reason"],
        field=entry["field"],
    )


def _changes_of(step: StepView) -> Sequence[Mapping[str, Any]]:
    evidence = step.latest_handoff.evidence if step.latest_handoff else None
    changes: Sequence[Mapping[str, Any]] = (evidence or {}).get("files", ())
    return changes


def _files_at_end(steps: Iterable[Sequence[Mapping[str, Any]]]) -> tuple[str, ...]:
    """What differs once all steps are done: a file that one step added and a later one removed does not."""
    changed: set[str] = set()
    added: set[str] = set()
    for change in (change for changes in steps for change in changes):
        old, path, kind = change.get("old_path"), change["path"], change["kind"]
        gone = old if kind == "renamed" else path if kind == "deleted" else None
        if gone is not None and gone in added:
            added.discard(gone)
            changed.discard(gone)
        elif gone is not None:
            changed.add(gone)
        if kind != "deleted":
            added |= {path} if kind in ("added", "renamed") and path not in changed else set()
            changed.add(path)
    return tuple(sorted(changed))
