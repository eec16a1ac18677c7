"""What is written of pipelines, each move in one transaction that checks its lease first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from segue.application.handoffs.transactions import save_handoff
from segue.application.pipelines.ending import Ended
from segue.application.pipelines.leases import join_workers
from segue.application.ports.store import Reads, Rows
from segue.domain.approvals import Approval, ApprovalStatus
from segue.domain.attempt import Attempt, AttemptStatus
from segue.domain.audit import AuditKind
from segue.domain.errors import AgentFailed, IllegalMove, InvalidRequest
from segue.domain.handoff_record import HandoffRecord
from segue.domain.pipeline import Lease, Pipeline, StepStatus
from segue.domain.repository_source import Bundle
from segue.domain.session import (
    MOST_HANDOFFS_WITHOUT_PROGRESS,
    HandoffReason,
    MessageKind,
    MessageStatus,
    Session,
    SessionMessage,
    Submission,
    nothing_new,
)
from segue.domain.submissions import submitted_for
from segue.domain.workers import Worker
from segue.domain.workspace import Workspace, WorkspaceChoice, WorkspaceKind


def create_pipeline(
    rows: Rows,
    new: Pipeline,
    place: Workspace,
    *,
    worker: Worker | None,
    bundles: Sequence[Bundle] = (),
    actor: str | None = None,
) -> tuple[Pipeline, Lease | None]:
    """A run with its steps; with a worker, leased to it at once. The same key again gives the first one."""
    key = new.idempotency_key
    if key and (old := rows.first(Pipeline, idempotency_key=key)) is not None:
        return _same(rows.pipeline(old.id), new), None
    if place.kind is WorkspaceKind.IN_PLACE:
        _refuse_two_in_place(rows, new.working_dir, place)
    saved = rows.insert(new)
    rows.insert_all([replace(step, pipeline_id=saved.id) for step in new.steps])
    rows.insert_all(bundles)
    rows.audit(
        AuditKind.PIPELINE_CREATED,
        new.created_at,
        who=actor,
        pipeline_id=saved.id,
        title=new.title,
        template=new.template,
    )
    lease = None
    if worker is not None:
        join_workers(rows, worker)
        lease = rows.claim(saved.id, worker.id)
        rows.audit(AuditKind.PIPELINE_STARTED, new.created_at, pipeline_id=saved.id)
    return rows.pipeline(saved.id), lease


def request_abort(
    rows: Rows, pipeline_id: int, reason: str, at: datetime, *, actor: str | None = None
) -> tuple[Pipeline, Lease | None]:
    """Somebody wants a run to stop; where nobody owns it, this gives the lease to end it."""
    found = rows.pipeline(pipeline_id, lock=True)
    asked = found
    if found.abort_reason is None or found.worker_id is not None or found.status.is_final:
        asked = rows.save_run(found, found.request_abort(reason, at))
    rows.audit(
        AuditKind.PIPELINE_ABORT_REQUESTED,
        asked.updated_at,
        who=actor,
        pipeline_id=pipeline_id,
        reason=reason,
    )
    # Raising the lease number makes sure that nobody moves it on between here and the end.
    return asked, None if asked.worker_id else rows.claim(pipeline_id, None)


def open_workspace(
    rows: Rows,
    lease: Lease,
    pipeline: Pipeline,
    opened: Pipeline,
    bundles: Sequence[Bundle] = (),
    *,
    left: HandoffRecord | None = None,
) -> Pipeline:
    """Where the agents of a run work from now on; `left` is what the next session is told."""
    workspace = opened.workspace
    assert workspace is not None
    at_home: dict[str, Any] = {} if opened.home is None else {"home": opened.home}
    rows.fence(lease)
    rows.audit(
        AuditKind.WORKSPACE_OPENED,
        opened.updated_at,
        pipeline_id=pipeline.id,
        workspace=workspace.kind,
        path=workspace.path,
        branch=workspace.branch,
        notes=list(workspace.notes),
        **at_home,
    )
    if left is not None:
        save_handoff(rows, left, {"pipeline_id": pipeline.id, "step_id": left.step_id})
    rows.insert_all(bundles)
    return rows.save_run(pipeline, opened)


def share_run(
    rows: Rows, lease: Lease, pipeline: Pipeline, told: Pipeline, bundles: Sequence[Bundle]
) -> Pipeline:
    """How other machines can continue a run, or why they cannot."""
    rows.fence(lease)
    rows.insert_all(bundles)
    return rows.save_run(pipeline, told)


@dataclass(frozen=True, kw_only=True, slots=True)
class Begun:
    """An attempt that has begun."""

    pipeline: Pipeline
    session: Session
    attempt: Attempt
    briefing: SessionMessage


def begin_attempt(  # noqa: PLR0913  # what a row of each kind needs
    rows: Rows,
    lease: Lease,
    pipeline: Pipeline,
    session: Session,
    attempt: Attempt,
    *,
    briefing: str,
    before: Attempt | None,
    max_handoffs: int,
) -> Begun | str:
    """A new attempt with its session and its briefing; or why the run is to be aborted."""
    abort_reason = rows.fence(lease)
    if abort_reason is not None:
        return abort_reason
    if before is not None and before.status is AttemptStatus.HANDED_OVER:
        _refuse_a_loop(rows, before, max_handoffs)
    at = attempt.started_at
    where: dict[str, Any] = {"pipeline_id": pipeline.id, "step_id": attempt.step_id}
    begun = pipeline.start_step(attempt.step_id, session.base_mark, at)
    if begun is not pipeline:
        rows.audit(AuditKind.STEP_STARTED, at, **where, agent=session.name)
    rows.save_run(pipeline, begun)
    session = rows.insert(session)
    saved = rows.insert(replace(attempt, session_id=session.id))
    message = rows.insert(session.message(MessageKind.BRIEFING, "briefing", briefing, at))
    rows.audit(AuditKind.ATTEMPT_STARTED, at, **where, number=attempt.number, backend=session.backend)
    return Begun(pipeline=begun, session=session, attempt=saved, briefing=message)


def begin_handover(
    rows: Rows,
    lease: Lease,
    attempt: Attempt,
    briefing: SessionMessage,
    reason: HandoffReason,
    at: datetime,
) -> tuple[Attempt, SessionMessage] | None:
    """The session will hand over, and nobody waits for its reply; none if it has handed off already."""
    rows.fence(lease)
    submissions = rows.find(Submission, session_id=attempt.session_id)
    if submitted_for(submissions, briefing.id).accepted is not None:
        return None
    moved = rows.save(attempt, attempt.moved(AttemptStatus.HANDING_OVER, handover_reason=reason))
    cut_off = rows.save(briefing, briefing.cancelled("the session reached a limit before it had answered"))
    rows.void_approvals(attempt.session_id, at)
    rows.audit(
        AuditKind.LIMIT_REACHED,
        at,
        pipeline_id=lease.pipeline_id,
        step_id=attempt.step_id,
        session=attempt.session_id,
        reason=reason,
    )
    return moved, cut_off


def ask_for_repair(
    rows: Rows, lease: Lease, asked: SessionMessage, where: Mapping[str, Any], facts: Mapping[str, Any]
) -> SessionMessage:
    """What an agent is about to be asked, because its handoff did not pass."""
    rows.fence(lease)
    rows.audit(AuditKind.REPAIR_ASKED, asked.created_at, **where, **facts)
    return rows.insert(asked)


def save_ended(rows: Rows, ended: Ended, at: datetime) -> None:
    """The end of an attempt and of its session; nobody waits for an answer there any more."""
    rows.save(*ended.attempt)
    rows.save(*ended.session)
    rows.void_approvals(ended.session[1].id, at)
    moved = ended.attempt[1]
    if moved.status is not AttemptStatus.DONE:
        is_abort = moved.status is AttemptStatus.ABORTED
        status = MessageStatus.CANCELLED if is_abort else MessageStatus.FAILED
        rows.settle_messages(ended.session[1].id, status, moved.error or "")


def _audit_end(rows: Rows, kind: AuditKind, lease: Lease, ended: Ended, at: datetime) -> None:
    end = ended.attempt[1]
    where: dict[str, Any] = {"pipeline_id": lease.pipeline_id, "step_id": end.step_id}
    rows.audit(kind, at, **where, number=end.number, reason=end.error)


def fail_attempt(rows: Rows, lease: Lease, ended: Ended, at: datetime) -> None:
    """From here on, a crash never runs this attempt again."""
    rows.fence(lease)
    save_ended(rows, ended, at)
    _audit_end(rows, AuditKind.ATTEMPT_FAILED, lease, ended, at)


def close_step(
    rows: Rows, lease: Lease, pipeline: Pipeline, failed: Pipeline, step_id: int, left: HandoffRecord | None
) -> HandoffRecord | None:
    """A step, and with it the run, has failed."""
    rows.fence(lease)
    saved = keep_synthetic(rows, pipeline.id, left)
    rows.save_run(pipeline, failed)
    at, reason = failed.updated_at, failed.step(step_id).error_message
    rows.audit(AuditKind.STEP_FAILED, at, pipeline_id=pipeline.id, step_id=step_id, reason=reason)
    rows.audit(AuditKind.PIPELINE_FAILED, at, pipeline_id=pipeline.id, reason=failed.reason)
    return saved


def lose_attempt(
    rows: Rows, lease: Lease, ended: Ended, left: HandoffRecord, at: datetime
) -> HandoffRecord | None:
    """The session is gone; the next attempt gets to know what it left."""
    rows.fence(lease)
    saved = keep_synthetic(rows, lease.pipeline_id, left)
    save_ended(rows, ended, at)
    _audit_end(rows, AuditKind.ATTEMPT_LOST, lease, ended, at)
    return saved


def abort_run(
    rows: Rows,
    lease: Lease,
    pipeline: Pipeline,
    aborted: Pipeline,
    ended: Sequence[Ended],
    left: Sequence[HandoffRecord],
) -> None:
    """A run stops for good, as somebody asked."""
    rows.fence(lease)
    at = aborted.updated_at
    for handoff in left:
        keep_synthetic(rows, aborted.id, handoff)
    rows.save_run(pipeline, aborted)
    for each in ended:
        save_ended(rows, each, at)
    for asked in rows.find(Approval, pipeline_id=aborted.id, status=ApprovalStatus.PENDING):
        rows.save(asked, asked.void(at))  # what no session has asked is still there
    for step in pipeline.steps:
        if step.status is StepStatus.RUNNING:
            rows.audit(
                AuditKind.STEP_ABORTED, at, pipeline_id=aborted.id, step_id=step.id, reason=aborted.reason
            )
    rows.audit(AuditKind.PIPELINE_ABORTED, at, pipeline_id=aborted.id, reason=aborted.reason)


def complete_run(rows: Rows, lease: Lease, pipeline: Pipeline, done: Pipeline) -> Pipeline:
    """All steps are done, but the run does not say so yet."""
    rows.fence(lease)
    rows.audit(AuditKind.PIPELINE_DONE, done.updated_at, pipeline_id=done.id)
    return rows.save_run(pipeline, done)


def keep_synthetic(rows: Rows, pipeline_id: int, left: HandoffRecord | None) -> HandoffRecord | None:
    """The handoff that Segue wrote for an agent that could not."""
    if left is None:
        return None
    where = {"pipeline_id": pipeline_id, "step_id": left.step_id}
    return save_handoff(rows, left, where, is_synthetic=True)


def _refuse_a_loop(rows: Reads, attempt: Attempt, max_handoffs: int) -> None:
    """`AgentFailed` if no further session may continue this one."""
    handed_over = rows.count_handovers(attempt.step_id)
    if handed_over > max_handoffs:
        raise AgentFailed(
            f"its sessions handed over {handed_over} times and came to no end. Give the step a smaller "
            "job, or raise SEGUE_MAX_HANDOFFS"
        )
    last = rows.last_handoff(attempt.session_id)
    if last is not None and last.stalled >= MOST_HANDOFFS_WITHOUT_PROGRESS:
        raise AgentFailed(
            f"{nothing_new(last.stalled)}. Give the step a smaller job, or continue by hand from its last "
            "handoff"
        )


def _refuse_two_in_place(rows: Reads, working_dir: str, place: Workspace) -> None:
    # Where there is a commit, runs that have not begun yet will have worktrees, unless they are told not to.
    choices = {WorkspaceChoice.IN_PLACE} | (set() if place.base else {WorkspaceChoice.AUTO})
    if (other := rows.running_in_place(working_dir, counting=choices)) is not None:
        raise IllegalMove(
            f"pipeline {other} works in {working_dir} itself, or around or below it, and two would spoil "
            "each other's work. Wait for it, abort it, or make the folder a git repository: each run has its "
            "own worktree then"
        )


def _same(old: Pipeline, new: Pipeline) -> Pipeline:
    same = (old.prompt, old.template, old.working_dir, old.branch, old.plan.template)
    if same != (new.prompt, new.template, new.working_dir, new.branch, new.plan.template):
        raise InvalidRequest(
            f'the idempotency key "{new.idempotency_key}" was used for pipeline {old.id}, which asks for '
            "something else; use a new key"
        )
    return old
