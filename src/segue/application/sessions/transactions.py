"""What is written of sessions outside of pipelines, each in one transaction."""

from __future__ import annotations

from datetime import datetime

from segue.application.handoffs.transactions import save_handover
from segue.application.ports.store import Reads, Rows
from segue.domain.audit import AuditKind
from segue.domain.errors import IllegalMove
from segue.domain.handoff_record import HandoffRecord
from segue.domain.session import MessageKind, MessageStatus, Session, SessionMessage


def find_session(rows: Reads, session_id: int) -> Session:
    """A session outside of pipelines."""
    found = rows.get(Session, session_id)
    if found.step_id is not None:
        raise IllegalMove(
            f"session {session_id} works on a step of a pipeline, and only that pipeline speaks with it; "
            f"`segue session show {session_id}` tells which"
        )
    return found


def find_open_session(rows: Reads, session_id: int) -> Session:
    """One that has not ended."""
    found = find_session(rows, session_id)
    if found.ended_at is not None:
        raise IllegalMove(f"session {session_id} has ended; start a new one, or continue in its successor")
    return found


def record_started(rows: Rows, session: Session, *, actor: str | None = None) -> None:
    """A session is open, and can be spoken to."""
    rows.audit(
        AuditKind.SESSION_STARTED,
        session.started_at,
        who=actor,
        session=session.id,
        agent=session.name,
        backend=session.backend,
    )


def end_session(rows: Rows, session: Session, at: datetime, *, actor: str | None = None) -> None:
    """Nothing more is said in it."""
    rows.settle_messages(session.id, MessageStatus.CANCELLED, "the session has ended", unsent_only=True)
    rows.save(session, session.ended(at))
    rows.audit(AuditKind.SESSION_ENDED, at, who=actor, session=session.id)


def withdraw(rows: Rows, session_id: int, key: str) -> None:
    """Who was cancelled before a message was sent says nothing any more."""
    found = rows.first(SessionMessage, session_id=session_id, key=key)
    if found is not None and found.status is MessageStatus.SENDING:
        rows.save(found, found.cancelled("it was cancelled before it was sent"))


def hand_in(
    rows: Rows, record: HandoffRecord, successor: Session, key: str
) -> tuple[HandoffRecord, Session, SessionMessage]:
    """A handoff, the session that continues from it, and what that one is told first."""
    saved = save_handover(rows, None, record, {})
    session = rows.insert(successor)
    text, at = record.injection_prompt or "", record.created_at
    return saved, session, rows.insert(session.message(MessageKind.INJECTION, key, text, at))


def undo_handover(rows: Rows, record: HandoffRecord, successor: Session) -> None:
    """As if it had never been."""
    rows.delete(successor)
    rows.delete(record)


def settle_handover(
    rows: Rows, record: HandoffRecord, successor: Session, at: datetime, *, actor: str | None
) -> None:
    """The successor has it: it is a fact. Messages that still waited in the old session are dropped."""
    why = f"the session handed over to session {successor.id}; say it there"
    rows.settle_messages(record.session_id, MessageStatus.CANCELLED, why, unsent_only=True)
    rows.audit(
        AuditKind.SESSION_HANDED_OVER,
        at,
        who=actor,
        session=record.session_id,
        successor=successor.id,
        handoff_id=record.id,
        reason=record.reason,
    )
