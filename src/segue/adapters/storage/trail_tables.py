"""The tables of what happened: the audit trail, and what agents said and did."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ForeignKey, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from segue.adapters.storage.tables import Base, utc_now

__all__ = ["ActivityRow", "AuditEventRow", "AuditHeadRow", "Base"]


class AuditEventRow(Base):
    """One thing that happened. Its id is the order of things. It outlives its pipeline."""

    __tablename__ = "audit_events"
    __table_args__ = (
        Index("ix_audit_events_pipeline_id_id", "pipeline_id", "id"),
        Index("ix_audit_events_event_type_id", "event_type", "id"),
        {"sqlite_autoincrement": True},
    )
    id: Mapped[int] = mapped_column(primary_key=True)
    pipeline_id: Mapped[int | None]
    step_id: Mapped[int | None]
    event_type: Mapped[str] = mapped_column(String(100))
    payload_json: Mapped[str | None]
    created_at: Mapped[datetime] = mapped_column(default=utc_now)
    who: Mapped[str | None]
    seq: Mapped[int]
    hash: Mapped[str] = mapped_column(String(64))


class AuditHeadRow(Base):
    """The newest entry of a chain: of a pipeline by its id, or 0 for what happened outside of pipelines."""

    __tablename__ = "audit_heads"
    chain: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    seq: Mapped[int]
    head: Mapped[str] = mapped_column(String(64))


class ActivityRow(Base):
    """A piece of what an agent said or did. Its id is the order of things."""

    __tablename__ = "activity"
    __table_args__ = (
        Index("ix_activity_pipeline_id_id", "pipeline_id", "id"),
        Index("ix_activity_session_id_id", "session_id", "id"),
        {"sqlite_autoincrement": True},
    )
    id: Mapped[int] = mapped_column(primary_key=True)
    kind: Mapped[str] = mapped_column(String(32))
    pipeline_id: Mapped[int | None] = mapped_column(ForeignKey("pipelines.id", ondelete="CASCADE"))
    step_id: Mapped[int | None] = mapped_column(ForeignKey("steps.id", ondelete="CASCADE"))
    session_id: Mapped[int] = mapped_column(ForeignKey("agents.id", ondelete="CASCADE"))
    payload_json: Mapped[str]
    created_at: Mapped[datetime] = mapped_column(default=utc_now)
