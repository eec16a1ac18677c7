"""What is written of handoffs and of what agents give through tools, each in one transaction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from segue.application.ports.store import Reads, Rows
from segue.domain.attempt import Attempt
from segue.domain.audit import AuditKind, agent_actor
from segue.domain.errors import IllegalMove
from segue.domain.handoff_record import HandoffRecord
from segue.domain.pipeline import Lease
from segue.domain.session import Session, SessionMessage, Submission, SubmissionKind


def save_handoff(rows: Rows, record: HandoffRecord, where: Mapping[str, Any], **facts: Any) -> HandoffRecord:
    """A handoff, with its entry in the audit trail."""
    saved = rows.insert(record)
    rows.audit(AuditKind.HANDOFF_CREATED, record.created_at, **where, handoff_id=saved.id, **facts)
    return saved


def open_message(rows: Reads, session_id: int) -> SessionMessage:
    """The message that the agent of a session works on: the newest."""
    said = rows.find(SessionMessage, session_id=session_id)
    if not said:
        raise IllegalMove(f"nothing was said in session {session_id} yet, so there is nothing to hand in")
    return said[-1]


def add_submission(  # noqa: PLR0913  # the columns of a row, and what the audit trail says
    rows: Rows,
    session: Session,
    where: Mapping[str, Any],
    *,
    kind: SubmissionKind,
    record: Mapping[str, Any] | None,
    is_accepted: bool,
    facts: Mapping[str, Any],
    at: datetime,
) -> None:
    """What an agent gave through a tool, for the message that it works on."""
    if record is not None:
        rows.insert(
            Submission(
                session_id=session.id,
                message_id=open_message(rows, session.id).id,
                kind=kind,
                is_accepted=is_accepted,
                record=record,
                created_at=at,
            )
        )
    event = AuditKind.HANDOFF_SUBMITTED if kind is SubmissionKind.HANDOFF else AuditKind.BLOCKER_REPORTED
    rows.audit(event, at, who=agent_actor(session.name), **where, **facts)


def save_handover(
    rows: Rows,
    lease: Lease | None,
    record: HandoffRecord,
    where: Mapping[str, Any],
    ended: tuple[tuple[Attempt, Attempt], tuple[Session, Session]] | None = None,
) -> HandoffRecord:
    """A session has left its handoff to the next one; one of a step, with its attempt, ends with it."""
    rows.fence(lease)
    facts = {"is_synthetic": record.is_synthetic} if ended is not None else {}
    saved = save_handoff(rows, record, where, **facts) if ended is not None else rows.insert(record)
    if ended is not None:
        attempts, sessions = ended
        rows.save(*attempts)
        rows.save(*sessions)
        rows.void_approvals(record.session_id, record.created_at)
        rows.audit(
            AuditKind.SESSION_HANDED_OVER,
            record.created_at,
            **where,
            session=record.session_id,
            handoff_id=saved.id,
            reason=record.reason,
        )
    return saved


def begin_question(
    rows: Rows, lease: Lease, asked: SessionMessage, where: Mapping[str, Any], missing: tuple[str, ...]
) -> SessionMessage:
    """What the writer of a reply is about to be asked."""
    rows.fence(lease)
    rows.audit(AuditKind.WRITER_ASKED, asked.created_at, **where, missing=list(missing))
    return rows.insert(asked)


def open_question_session(rows: Rows, lease: Lease, new: Session) -> Session:
    """The session that is opened for a question alone; saved before anything is opened."""
    rows.fence(lease)
    known = rows.first(Session, key=new.key)
    return rows.insert(new) if known is None else rows.save(known, replace(known, ended_at=None))


def end_question_session(rows: Rows, session: Session, ended: Session) -> Session:
    """It is over."""
    return rows.save(session, ended)
