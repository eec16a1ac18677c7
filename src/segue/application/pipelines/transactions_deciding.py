"""What is written where a person or a gate decides, each move in one transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from segue.application.handoffs.transactions import save_handoff
from segue.application.pipelines.ending import Ended, end_attempt
from segue.application.pipelines.transactions import save_ended
from segue.application.ports.store import Reads, Rows
from segue.domain.approvals import Approval, ApprovalKind, ApprovalStatus
from segue.domain.attempt import AttemptStatus
from segue.domain.audit import AuditKind
from segue.domain.briefing.sent_back import gate_output, write_restarted, write_sent_back
from segue.domain.errors import IllegalMove, InvalidRequest
from segue.domain.gate_run import GateRun
from segue.domain.handoff_record import HandoffRecord
from segue.domain.pipeline import Lease, Pipeline, PipelineStatus, Step, StepStatus
from segue.domain.repository_source import Bundle
from segue.domain.session import Session
from segue.domain.template import Reaction, StepType


@dataclass(frozen=True, kw_only=True, slots=True)
class HumanDecision:
    """What a person decides."""

    approve: bool
    comment: str | None = None
    """Words for the agents that come after; the answer, if one is given."""
    is_answer: bool = False
    """True if its agent is to continue with these words, and not the run with what there is."""
    decided_by: str | None = None
    actor: str | None = None
    """Who it is for the audit trail; none for the user whose process this is."""


def wait_for_approval(
    rows: Rows, lease: Lease, pipeline: Pipeline, asked: Approval, record: HandoffRecord | None
) -> tuple[Pipeline, HandoffRecord | None] | str:
    """A person is asked, and nobody owns the run meanwhile; or why the run is to be aborted."""
    abort_reason = rows.fence(lease)
    if abort_reason is not None:
        return abort_reason
    assert asked.step_id is not None
    at = asked.created_at
    where: dict[str, Any] = {"pipeline_id": pipeline.id, "step_id": asked.step_id}
    waiting = pipeline.wait_at(asked.step_id, asked.title, at)
    if record is not None:
        record = save_handoff(rows, record, where, is_waiting=True)
    rows.save_run(pipeline, waiting)
    saved = rows.insert(asked)
    rows.audit(
        AuditKind.APPROVAL_REQUESTED, at, **where, approval_id=saved.id, asks=asked.kind, title=asked.title
    )
    return waiting, record


def begin_approval_step(rows: Rows, lease: Lease, pipeline: Pipeline, asked: Approval) -> Pipeline | str:
    """A step of a person begins, and waits."""
    assert asked.step_id is not None
    at, step = asked.created_at, pipeline.step(asked.step_id)
    abort_reason = rows.fence(lease)
    if abort_reason is not None:
        return abort_reason
    begun = pipeline.start_step(step.id, None, at)
    if begun is not pipeline:
        rows.audit(AuditKind.STEP_STARTED, at, pipeline_id=pipeline.id, step_id=step.id)
    moved = wait_for_approval(rows, lease, begun, asked, None)
    assert not isinstance(moved, str)
    rows.save_run(pipeline, moved[0])
    return moved[0]


def decide_waiting(rows: Rows, approval_id: int, decision: HumanDecision, at: datetime) -> Approval:
    """What a person decides about a run that rests; `IllegalMove` if that is settled already."""
    asked = rows.get(Approval, approval_id)
    pipeline = rows.pipeline(asked.pipeline_id or 0, lock=True)
    asked = rows.get(Approval, approval_id, lock=True)
    if asked.status is not ApprovalStatus.PENDING:
        when = asked.decided_at.strftime("%Y-%m-%d %H:%M UTC") if asked.decided_at else "before"
        by = f" by {asked.decided_by}" if asked.decided_by else ""
        raise IllegalMove(f"approval {asked.id} is {asked.status} already{by}, {when}; one decision counts")
    if pipeline.status is not PipelineStatus.WAITING_FOR_APPROVAL or pipeline.abort_reason is not None:
        raise IllegalMove(f"pipeline {pipeline.id} does not wait for an approval any more")
    comment = (decision.comment or "").strip()
    status = _status_of(asked, decision)
    if status is ApprovalStatus.ANSWERED and not comment:
        raise InvalidRequest(
            f"pipeline {pipeline.id} asks for an answer: give it in words, as in "
            f'segue pipelines answer {pipeline.id} "..."'
        )
    decided = rows.save(
        asked,
        replace(
            asked,
            status=status,
            comment=comment or None,
            decided_by=decision.decided_by,
            decided_at=at,
            next_at=None,
        ),
    )
    kind = AuditKind.APPROVAL_GRANTED if decision.approve else AuditKind.APPROVAL_REJECTED
    where: dict[str, Any] = {"pipeline_id": pipeline.id, "step_id": asked.step_id}
    rows.audit(kind, at, who=decision.actor, **where, approval_id=asked.id, decided_by=decision.decided_by)
    step = pipeline.step(asked.step_id or 0)
    if decision.approve:
        _approved(rows, pipeline, step, at)
    else:
        _rejected(rows, pipeline, step, decided, at)
    return decided


def _status_of(asked: Approval, decision: HumanDecision) -> ApprovalStatus:
    if not decision.approve:
        return ApprovalStatus.REJECTED
    if asked.kind is ApprovalKind.QUESTION or decision.is_answer:
        if asked.kind is ApprovalKind.STEP:
            raise IllegalMove(f"approval {asked.id} waits for no answer; approve or reject it")
        return ApprovalStatus.ANSWERED
    return ApprovalStatus.APPROVED


def _approved(rows: Rows, pipeline: Pipeline, step: Step, at: datetime) -> None:
    moved = pipeline
    if step.kind is StepType.APPROVAL:
        moved = moved.pass_step(step.id, at)
        rows.audit(AuditKind.STEP_DONE, at, pipeline_id=pipeline.id, step_id=step.id)
    rows.save_run(pipeline, moved.decided(at))


def _rejected(rows: Rows, pipeline: Pipeline, step: Step, decided: Approval, at: datetime) -> None:
    by = decided.decided_by or "a person"
    reason = f"rejected by {by}" + (f": {decided.comment}" if decided.comment else "")
    end_open_attempt(rows, step, reason, at)
    own = pipeline.plan.template.steps[step.order_index]
    if own.rejection is Reaction.BACK_TO and own.back_to is not None:
        moved = pipeline.decided(at)
        said = f"{by}: {decided.comment}" if decided.comment else by
        moved = send_back(rows, moved, step, f"rejected by {said}", at, by=f"{by} at {step.title}")
        rows.save_run(pipeline, moved)
        return
    fail_waiting(rows, pipeline, step, reason, at)


def fail_waiting(rows: Rows, pipeline: Pipeline, step: Step, reason: str, at: datetime) -> None:
    """A run that waited has failed."""
    failed = rows.save_run(pipeline, pipeline.fail_step(step.id, reason, at))
    audit_step_end(rows, failed, failed.step(step.id))


def end_open_attempt(rows: Rows, step: Step, reason: str, at: datetime) -> None:
    """The attempt that waited is over; the sweep of the next Segue here closes its session."""
    attempt = rows.newest_attempt(step.id)
    if attempt is not None and not attempt.status.is_final:
        session = rows.get(Session, attempt.session_id)
        save_ended(rows, end_attempt(attempt, session, AttemptStatus.FAILED, at, error=reason), at)


def send_back(  # noqa: PLR0913  # what the agent is told
    rows: Rows,
    pipeline: Pipeline,
    sender: Step,
    reason: str,
    at: datetime,
    *,
    output: str = "",
    by: str = "",
) -> Pipeline:
    """The run with the work sent back to where the sender says; not saved yet, but in the audit trail."""
    own = pipeline.plan.template.steps[sender.order_index]
    target = pipeline.steps[pipeline.plan.template.step_names.index(own.back_to or "")]
    left = rows.newest_handoffs([target.id]).get(target.id)
    text = write_sent_back(
        target, left, tries=own.tries, by=by or sender.title.capitalize(), reason=reason, output=output
    )
    rows.audit(
        AuditKind.STEP_SENT_BACK,
        at,
        pipeline_id=pipeline.id,
        step_id=sender.id,
        to=target.id,
        round=target.round + 1,
        reason=reason,
    )
    return pipeline.send_back(sender.id, target.order_index, text, at)


@dataclass(frozen=True, kw_only=True, slots=True)
class Accepted:
    """The end of an agent's step, whatever it leads to: its handoff is kept."""

    pipeline: tuple[Pipeline, Pipeline]
    ended: Ended
    record: HandoffRecord
    """Not saved yet, unless the run waited with it."""
    facts: Mapping[str, Any]
    """What the audit trail says of its handoff."""
    verdicts: Mapping[str, Any] | None
    """How many claims have which verdict; none if nothing could be checked."""
    bundles: Sequence[Bundle] = ()
    """Its commits, where other machines cannot get them otherwise."""
    sent_back: str | None = None
    """Why the work goes back to an earlier step; none if it does not."""


def accept_step(rows: Rows, lease: Lease, done: Accepted) -> tuple[Pipeline, HandoffRecord]:
    """The handoff, the end of the step and of its session, and where that leads."""
    rows.fence(lease)
    before, moved = done.pipeline
    at, step = moved.updated_at, moved.step(done.ended.step_id)
    where: dict[str, Any] = {"pipeline_id": moved.id, "step_id": step.id}
    saved = done.record if done.record.id else save_handoff(rows, done.record, where, **done.facts)
    rows.insert_all(done.bundles)
    if done.sent_back is not None:
        moved = send_back(rows, moved, step, done.sent_back, at)
    rows.save_run(before, moved)
    save_ended(rows, done.ended, at)
    if saved.handoff is None:
        rows.audit(AuditKind.HANDOFF_EXTRACTION_FAILED, at, **where)
    if done.verdicts is not None:
        rows.audit(AuditKind.CLAIMS_VERIFIED, at, **where, **done.verdicts)
    audit_step_end(rows, moved, step)
    return moved, saved


def audit_step_end(rows: Rows, moved: Pipeline, step: Step) -> None:
    """A step is done, or has failed and the run with it; after the last one, so is the run."""
    at = moved.updated_at
    where: dict[str, Any] = {"pipeline_id": moved.id, "step_id": step.id}
    if step.status is StepStatus.DONE:
        rows.audit(AuditKind.STEP_DONE, at, **where)
    elif step.status is StepStatus.FAILED:
        rows.audit(AuditKind.STEP_FAILED, at, **where, reason=step.error_message)
    if moved.status is PipelineStatus.FAILED:
        rows.audit(AuditKind.PIPELINE_FAILED, at, pipeline_id=moved.id, reason=moved.reason)
    elif moved.status.is_final:
        rows.audit(AuditKind.PIPELINE_DONE, at, pipeline_id=moved.id)


def begin_gate(
    rows: Rows, lease: Lease, pipeline: Pipeline, step_id: int, mark: str | None, at: datetime
) -> Pipeline:
    """A gate begins."""
    rows.fence(lease)
    begun = pipeline.start_step(step_id, mark, at)
    if begun is not pipeline:
        rows.audit(AuditKind.STEP_STARTED, at, pipeline_id=pipeline.id, step_id=step_id)
    return rows.save_run(pipeline, begun)


def record_gate(
    rows: Rows, lease: Lease, pipelines: tuple[Pipeline, Pipeline], run: GateRun, sent_back: str | None
) -> Pipeline:
    """What a gate found, and where that leads."""
    rows.fence(lease)
    before, moved = pipelines
    where: dict[str, Any] = {"pipeline_id": moved.id, "step_id": run.step_id}
    rows.insert(run)
    kind = AuditKind.GATE_PASSED if run.passed else AuditKind.GATE_FAILED
    rows.audit(kind, run.created_at, **where, round=run.round)
    step = moved.step(run.step_id)
    if sent_back is not None:
        failed = next((each for each in run.checks if not each.passed), None)
        output = gate_output(failed) if failed is not None else ""
        moved = send_back(rows, moved, step, sent_back, run.created_at, output=output)
    audit_step_end(rows, moved, moved.step(run.step_id))
    return rows.save_run(before, moved)


def restart_run(
    rows: Rows, pipeline_id: int, note: str, at: datetime, *, actor: str | None = None
) -> Pipeline:
    """A run that failed or was aborted begins again at its first step that is not done."""
    pipeline = rows.pipeline(pipeline_id, lock=True)
    if pipeline.worker_id is not None and not pipeline.status.is_final:
        raise IllegalMove(f"pipeline {pipeline_id} is being run; abort it first, or wait for it")
    step = pipeline.next_step()
    if pipeline.status is PipelineStatus.DONE or step is None:
        raise IllegalMove(f"pipeline {pipeline_id} is done; nothing is left to run")
    if pipeline.status is PipelineStatus.WAITING_FOR_APPROVAL:
        raise IllegalMove(f"pipeline {pipeline_id} waits for you: answer it (segue inbox)")
    if pipeline.status is PipelineStatus.PENDING or (pipeline.abort_reason and not pipeline.status.is_final):
        state = "is being aborted" if pipeline.abort_reason else "has not begun yet"
        raise IllegalMove(f"pipeline {pipeline_id} {state}; there is nothing to restart")
    if not pipeline.status.is_final:
        return pipeline  # interrupted: it is offered as it is
    left = rows.newest_handoffs([step.id]).get(step.id)
    moved = pipeline.restart(write_restarted(step, left, note), at)
    if pipeline.worker_id is not None:
        moved = replace(moved, worker_id=None)
    rows.audit(
        AuditKind.PIPELINE_RESTARTED, at, who=actor, pipeline_id=pipeline_id, step_id=step.id, note=note
    )
    return rows.save_run(pipeline, moved)


def fire_due_approvals(rows: Rows, now: datetime) -> Sequence[Approval]:
    """Remind of what waits too long, and end what nobody decided in time."""
    fired = []
    for asked in rows.due_approvals(now):
        pipeline = rows.pipeline(asked.pipeline_id or 0, lock=True)
        current = rows.get(Approval, asked.id, lock=True)
        if current.status is not ApprovalStatus.PENDING or asked.step_id is None:
            continue
        if pipeline.status is not PipelineStatus.WAITING_FOR_APPROVAL:
            rows.save(current, current.void(now))  # its run has ended otherwise
            continue
        if current.expires_at is not None and current.expires_at <= now:
            _expire(rows, pipeline, current, now)
        elif current.next_at is not None and current.next_at <= now:
            rows.save(current, current.reminded(now))
            where: dict[str, Any] = {"pipeline_id": pipeline.id, "step_id": current.step_id}
            rows.audit(AuditKind.APPROVAL_REMINDER, now, **where, approval_id=current.id)
        fired.append(current)
    return fired


def _expire(rows: Rows, pipeline: Pipeline, asked: Approval, at: datetime) -> None:
    assert asked.expires_at is not None
    waited = _in_words(asked.expires_at - asked.created_at)
    rows.save(asked, replace(asked, status=ApprovalStatus.REJECTED, decided_at=at, next_at=None))
    where: dict[str, Any] = {"pipeline_id": pipeline.id, "step_id": asked.step_id}
    rows.audit(AuditKind.APPROVAL_EXPIRED, at, **where, approval_id=asked.id)
    fail_waiting(rows, pipeline, pipeline.step(asked.step_id or 0), f"nobody decided within {waited}", at)


def _in_words(span: timedelta) -> str:
    seconds = int(span.total_seconds())
    for unit, length in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= length and seconds % length == 0:
            return f"{seconds // length} {unit}"
    return f"{seconds} s"


def decided_approvals(rows: Reads, pipeline_id: int) -> tuple[Approval, ...]:
    """What people decided in a run, oldest first; permissions to use a tool are none of it."""
    found = rows.find(Approval, pipeline_id=pipeline_id)
    return tuple(
        each for each in found if each.waits_without_agent and each.status is not ApprovalStatus.PENDING
    )
