"""What conversations write, each in one transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Any

from segue.application.ports.store import Reads, Rows
from segue.domain.activity import Activity, ActivityKind
from segue.domain.approvals import Approval, ApprovalStatus
from segue.domain.audit import AuditKind, agent_actor
from segue.domain.errors import IllegalMove
from segue.domain.handoff import redact
from segue.domain.pipeline import Lease
from segue.domain.session import MessageKind, Session, SessionMessage, Submission
from segue.domain.submissions import ToolSubmissions, submitted_for
from segue.domain.usage import Usage


@dataclass(frozen=True, kw_only=True, slots=True)
class Happened:
    """What an agent did since it was last written down."""

    news: Sequence[tuple[ActivityKind, Mapping[str, Any]]] = ()
    usage: Usage | None = None
    """What the session has used so far; none if that is not new."""
    questions: Sequence[tuple[str, str]] = field(default=())
    """(the back end's name, title) of what it waits for."""

    def __bool__(self) -> bool:
        return bool(self.news or self.usage or self.questions)


def where(lease: Lease | None, session: Session) -> dict[str, Any]:
    """Where an audit entry about a session belongs."""
    if lease is None:
        return {"session": session.id}
    return {"pipeline_id": lease.pipeline_id, "step_id": session.step_id}


def add_message(
    rows: Rows, lease: Lease | None, message: SessionMessage, *, actor: str | None = None
) -> SessionMessage:
    """What is about to be said; the same message again is the one that was saved."""
    rows.fence(lease)
    known = rows.first(SessionMessage, session_id=message.session_id, key=message.key)
    if known is not None:
        return known
    if message.kind is MessageKind.USER:
        rows.audit(
            AuditKind.MESSAGE_ADDED,
            message.created_at,
            who=actor,
            session=message.session_id,
            message=message.key,
        )
    return rows.insert(message)


def save_message(rows: Rows, lease: Lease | None, old: SessionMessage, new: SessionMessage) -> SessionMessage:
    """How far a message has come."""
    rows.fence(lease)
    return rows.save(old, new)


def record_opened(rows: Rows, lease: Lease | None, session: Session, reference: str) -> Session:
    """The back end's name of the session."""
    rows.fence(lease)
    return rows.save(session, replace(session, session_ref=reference))


def record_sent(
    rows: Rows, lease: Lease | None, session: Session, message: SessionMessage, *, text: str, at: datetime
) -> SessionMessage:
    """The agent has the message, word for word like this."""
    rows.fence(lease)
    sent = rows.save(message, message.sent(text, at))
    rows.audit(AuditKind.MESSAGE_SENT, at, **where(lease, session), sha256=sent.sha256)
    return sent


def record_reply(
    rows: Rows,
    lease: Lease | None,
    session: Session,
    message: SessionMessage,
    replied: SessionMessage,
    happened: Happened,
) -> tuple[Session, SessionMessage]:
    """The reply, with the last that the agent did for it."""
    session = record_activity(rows, lease, session, happened, replied.replied_at or replied.created_at)
    return session, rows.save(message, replied)


def record_activity(
    rows: Rows, lease: Lease | None, session: Session, happened: Happened, at: datetime
) -> Session:
    """What the agent did, has used, and asks."""
    rows.fence(lease)
    news = list(happened.news)
    if happened.usage is not None:
        news.append((ActivityKind.USAGE, {k: v for k, v in asdict(happened.usage).items() if v}))
    pipeline_id = lease.pipeline_id if lease is not None else None
    rows.insert_all(
        [
            Activity(
                kind=kind,
                pipeline_id=pipeline_id,
                step_id=session.step_id,
                session_id=session.id,
                payload=payload,
                created_at=at,
            )
            for kind, payload in news
        ]
    )
    for reference, title in happened.questions:
        if rows.first(Approval, session_id=session.id, request_ref=reference) is None:
            asked = rows.insert(
                Approval(
                    pipeline_id=pipeline_id,
                    step_id=session.step_id,
                    session_id=session.id,
                    request_ref=reference,
                    title=title,
                    created_at=at,
                )
            )
            rows.audit(
                AuditKind.PERMISSION_ASKED,
                at,
                who=agent_actor(session.name),
                **where(lease, session),
                approval_id=asked.id,
                title=title,
            )
    if happened.usage is None:
        return session
    return rows.save(session, replace(session, usage=happened.usage))


def record_compacted(
    rows: Rows, session: Session, usage: Usage | None, at: datetime, *, actor: str | None
) -> Session:
    """The back end has shortened what the session remembers."""
    rows.audit(AuditKind.SESSION_COMPACTED, at, who=actor, session=session.id)
    return rows.save(session, replace(session, usage=usage)) if usage is not None else session


def decide_approval(  # noqa: PLR0913  # what is recorded of a decision
    rows: Rows,
    asked: Approval,
    *,
    approve: bool,
    comment: str | None,
    decided_by: str | None,
    at: datetime,
    actor: str | None = None,
) -> Approval:
    """What a person said; `IllegalMove` if that is settled already."""
    asked = rows.get(Approval, asked.id, lock=True)
    if asked.status is not ApprovalStatus.PENDING:
        raise IllegalMove(f"approval {asked.id} is {asked.status} already; one decision counts")
    status = ApprovalStatus.APPROVED if approve else ApprovalStatus.REJECTED
    decided = replace(asked, status=status, comment=comment, decided_by=decided_by, decided_at=at)
    about = {"session": asked.session_id} if asked.pipeline_id is None else {}
    rows.audit(
        AuditKind.PERMISSION_DECIDED,
        at,
        who=actor,
        pipeline_id=asked.pipeline_id,
        step_id=asked.step_id,
        **about,
        approval_id=asked.id,
        status=status,
        decided_by=decided_by,
    )
    return rows.save(asked, decided)


def settle_permission(
    rows: Rows, session_id: int, permission_id: str, *, approve: bool, comment: str, at: datetime
) -> Approval | None:
    """What the person who holds a session answers; none if that is settled already."""
    asked = rows.first(Approval, session_id=session_id, request_ref=permission_id)
    if asked is None or asked.status is not ApprovalStatus.PENDING:
        return None
    return decide_approval(rows, asked, approve=approve, comment=comment, decided_by=None, at=at)


def end_message(rows: Rows, message_id: int, ended: SessionMessage, at: datetime) -> None:
    """How a message ended, unless its reply came in the last moment."""
    found = rows.get(SessionMessage, message_id, lock=True)
    if not found.status.is_final:
        rows.save(found, ended)
    rows.void_approvals(found.session_id, at)


def read_submitted(rows: Reads, session_id: int, message_id: int | None) -> ToolSubmissions:
    """What the agent of a session gave through tools by now, as it counts for one message."""
    return submitted_for(rows.find(Submission, session_id=session_id), message_id)


def storable(text: str) -> str:
    """No key of anybody's is stored, and a NUL or half a character is what no database keeps."""
    plain = text.replace("\0", "\ufffd").encode("utf-8", "replace").decode()
    return redact(plain)[0]
