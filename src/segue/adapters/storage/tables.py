"""The tables. Column names are those of the domain's values, so that rows and values copy plainly."""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum

from sqlalchemy import CheckConstraint, DateTime, Dialect, ForeignKey, Index, MetaData, String, Text, false
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship
from sqlalchemy.types import TypeDecorator

from segue.domain.sessions import MessageStatus, Reason, Role
from segue.domain.tokens import TokenKind


class UtcDateTime(TypeDecorator[datetime]):
    """A moment in UTC; SQLite, which knows no zones, keeps it without one."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        moment = value.astimezone(UTC)
        return moment.replace(tzinfo=None) if dialect.name == "sqlite" else moment

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if dialect.name == "sqlite" else value.astimezone(UTC)


def utc_now() -> datetime:
    """The default of `created_at`."""
    return datetime.now(UTC)


class Base(DeclarativeBase):
    """Base of all rows."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map = {datetime: UtcDateTime(), str: Text()}  # noqa: RUF012  # SQLAlchemy's own form


def _one_of(column: str, known: type[StrEnum]) -> str:
    return "{} IN ({})".format(column, ", ".join(f"'{value}'" for value in known))


class WorkerRow(Base):
    """A process that moves pipelines on. Deleting it frees its pipelines."""

    __tablename__ = "workers"
    id: Mapped[str] = mapped_column(String(64), primary_key=True)
    host: Mapped[str]
    pid: Mapped[int]
    process_started_at: Mapped[float]
    heartbeat_at: Mapped[datetime]


class PipelineRow(Base):
    """One run."""

    __tablename__ = "pipelines"
    __table_args__ = (
        Index("ix_pipelines_status_worker_id", "status", "worker_id"),
        {"sqlite_autoincrement": True},
    )
    id: Mapped[int] = mapped_column(primary_key=True)
    title: Mapped[str]
    template: Mapped[str]
    prompt: Mapped[str] = mapped_column(server_default="")
    branch: Mapped[str | None]
    working_dir: Mapped[str]
    plan_json: Mapped[str]
    status: Mapped[str] = mapped_column(String(32))
    reason: Mapped[str | None]
    abort_reason: Mapped[str | None]
    worker_id: Mapped[str | None] = mapped_column(ForeignKey("workers.id", ondelete="SET NULL"))
    segment: Mapped[int] = mapped_column(server_default="0")
    idempotency_key: Mapped[str | None] = mapped_column(String(255), unique=True)
    workspace_json: Mapped[str | None]
    workspace_choice: Mapped[str] = mapped_column(String(32), server_default="auto")
    final_json: Mapped[str | None]
    created_at: Mapped[datetime] = mapped_column(default=utc_now)
    updated_at: Mapped[datetime] = mapped_column(default=utc_now)
    steps: Mapped[list[StepRow]] = relationship(
        order_by="StepRow.order_index", lazy="selectin", cascade="all, delete-orphan", passive_deletes=True
    )


class StepRow(Base):
    """A place in the run."""

    __tablename__ = "steps"
    __table_args__ = ({"sqlite_autoincrement": True},)
    id: Mapped[int] = mapped_column(primary_key=True)
    pipeline_id: Mapped[int] = mapped_column(ForeignKey("pipelines.id", ondelete="CASCADE"), index=True)
    agent_name: Mapped[str]
    order_index: Mapped[int]
    description: Mapped[str]
    model: Mapped[str | None]
    timeout: Mapped[float | None]
    status: Mapped[str] = mapped_column(String(32))
    error_message: Mapped[str | None]
    base_mark: Mapped[str | None] = mapped_column(String(64))
    end_commit: Mapped[str | None] = mapped_column(String(64))
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]


class AgentRow(Base):
    """One session of an agent profile on a back end."""

    __tablename__ = "agents"
    __table_args__ = ({"sqlite_autoincrement": True},)
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]
    backend: Mapped[str]
    key: Mapped[str] = mapped_column(String(64), unique=True)
    session_ref: Mapped[str | None]
    parent_id: Mapped[int | None] = mapped_column(ForeignKey("agents.id", ondelete="SET NULL"), index=True)
    step_id: Mapped[int | None] = mapped_column(ForeignKey("steps.id", ondelete="CASCADE"), index=True)
    started_at: Mapped[datetime] = mapped_column(default=utc_now)
    ended_at: Mapped[datetime | None]
    usage_json: Mapped[str | None]
    title: Mapped[str] = mapped_column(server_default="")
    model: Mapped[str | None]
    working_dir: Mapped[str | None]
    profile_json: Mapped[str | None]
    base_mark: Mapped[str | None] = mapped_column(String(64))
    handoffs: Mapped[list[HandoffRow]] = relationship(
        back_populates="agent",
        order_by="HandoffRow.id",
        lazy="selectin",
        cascade="all, delete-orphan",
        passive_deletes=True,
    )

    @property
    def handoff(self) -> HandoffRow | None:
        """The newest handoff of this session, or none."""
        return self.handoffs[-1] if self.handoffs else None


class AttemptRow(Base):
    """One try at a step."""

    __tablename__ = "attempts"
    __table_args__ = (
        Index("uq_attempts_step_id_number", "step_id", "number", unique=True),
        {"sqlite_autoincrement": True},
    )
    id: Mapped[int] = mapped_column(primary_key=True)
    step_id: Mapped[int] = mapped_column(ForeignKey("steps.id", ondelete="CASCADE"))
    agent_id: Mapped[int] = mapped_column(ForeignKey("agents.id", ondelete="CASCADE"), index=True)
    number: Mapped[int]
    status: Mapped[str] = mapped_column(String(32))
    briefing: Mapped[str]
    carry_over: Mapped[str] = mapped_column(server_default="")
    message_id: Mapped[str] = mapped_column(String(64))
    token: Mapped[str | None] = mapped_column(String(64), unique=True)
    submitted_json: Mapped[str | None]
    blockers_json: Mapped[str | None]
    briefing_sha256: Mapped[str | None] = mapped_column(String(64))
    reply: Mapped[str | None]
    error: Mapped[str | None]
    handover_reason: Mapped[str | None] = mapped_column(String(32))
    started_at: Mapped[datetime]
    finished_at: Mapped[datetime | None]
    agent: Mapped[AgentRow] = relationship(lazy="joined")


class RepairRow(Base):
    """A turn in which an agent is asked to mend its handoff."""

    __tablename__ = "repairs"
    __table_args__ = (
        Index("uq_repairs_attempt_id_number", "attempt_id", "number", unique=True),
        {"sqlite_autoincrement": True},
    )
    id: Mapped[int] = mapped_column(primary_key=True)
    attempt_id: Mapped[int] = mapped_column(ForeignKey("attempts.id", ondelete="CASCADE"))
    number: Mapped[int]
    message_id: Mapped[str] = mapped_column(String(64))
    text: Mapped[str]
    rejected_json: Mapped[str | None]
    ledger_json: Mapped[str | None]
    status: Mapped[str] = mapped_column(String(32))
    reply: Mapped[str | None]
    created_at: Mapped[datetime]


class HandoffRow(Base):
    """What one agent left for the next."""

    __tablename__ = "handoffs"
    __table_args__ = (
        CheckConstraint(_one_of("reason", Reason), name="known_reason"),
        {"sqlite_autoincrement": True},
    )
    id: Mapped[int] = mapped_column(primary_key=True)
    agent_id: Mapped[int] = mapped_column(ForeignKey("agents.id", ondelete="CASCADE"), index=True)
    step_id: Mapped[int | None] = mapped_column(ForeignKey("steps.id", ondelete="CASCADE"), index=True)
    reason: Mapped[str] = mapped_column(String(32))
    content_md: Mapped[str] = mapped_column(server_default="")
    metadata_json: Mapped[str | None]
    file_path: Mapped[str | None]
    injection_prompt: Mapped[str | None]
    ledger_json: Mapped[str | None]
    evidence_json: Mapped[str | None]
    is_synthetic: Mapped[bool] = mapped_column(server_default=false())
    stalled: Mapped[int] = mapped_column(server_default="0")
    created_at: Mapped[datetime] = mapped_column(default=utc_now)
    agent: Mapped[AgentRow] = relationship(back_populates="handoffs", lazy="joined")


class MessageRow(Base):
    """What was said in a session outside of a pipeline, with its reply."""

    __tablename__ = "messages"
    __table_args__ = (
        CheckConstraint(_one_of("role", Role), name="known_role"),
        CheckConstraint(_one_of("status", MessageStatus), name="known_status"),
        Index("uq_messages_agent_id_message_id", "agent_id", "message_id", unique=True),
        {"sqlite_autoincrement": True},
    )
    id: Mapped[int] = mapped_column(primary_key=True)
    agent_id: Mapped[int] = mapped_column(ForeignKey("agents.id", ondelete="CASCADE"))
    role: Mapped[str] = mapped_column(String(32))
    message_id: Mapped[str] = mapped_column(String(64))
    text: Mapped[str]
    status: Mapped[str] = mapped_column(String(32))
    reply: Mapped[str | None]
    error: Mapped[str | None]
    created_at: Mapped[datetime] = mapped_column(default=utc_now)
    replied_at: Mapped[datetime | None]


class ApprovalRow(Base):
    """A question that only a person may answer."""

    __tablename__ = "approvals"
    __table_args__ = (
        Index("uq_approvals_attempt_id_request_ref", "attempt_id", "request_ref", unique=True),
        {"sqlite_autoincrement": True},
    )
    id: Mapped[int] = mapped_column(primary_key=True)
    pipeline_id: Mapped[int] = mapped_column(ForeignKey("pipelines.id", ondelete="CASCADE"), index=True)
    step_id: Mapped[int] = mapped_column(ForeignKey("steps.id", ondelete="CASCADE"), index=True)
    attempt_id: Mapped[int] = mapped_column(ForeignKey("attempts.id", ondelete="CASCADE"))
    request_ref: Mapped[str]
    title: Mapped[str]
    status: Mapped[str] = mapped_column(String(32))
    comment: Mapped[str | None]
    decided_by: Mapped[str | None]
    created_at: Mapped[datetime] = mapped_column(default=utc_now)
    decided_at: Mapped[datetime | None]


class TokenRow(Base):
    """What is known of a token: its hash, never its value."""

    __tablename__ = "tokens"
    __table_args__ = (
        CheckConstraint(_one_of("kind", TokenKind), name="known_kind"),
        {"sqlite_autoincrement": True},
    )
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]
    kind: Mapped[str] = mapped_column(String(32))
    roles: Mapped[str] = mapped_column(String(64))
    hash: Mapped[str] = mapped_column(String(64), unique=True)
    created_at: Mapped[datetime] = mapped_column(default=utc_now)
    expires_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]


class LinkCodeRow(Base):
    """The code of a one-time link; using it removes it."""

    __tablename__ = "link_codes"
    hash: Mapped[str] = mapped_column(String(64), primary_key=True)
    name: Mapped[str]
    roles: Mapped[str] = mapped_column(String(64))
    expires_at: Mapped[datetime]


class AuditEventRow(Base):
    """One thing that happened. Its id is the order of things."""

    __tablename__ = "audit_events"
    __table_args__ = (
        Index("ix_audit_events_pipeline_id_id", "pipeline_id", "id"),
        {"sqlite_autoincrement": True},
    )
    id: Mapped[int] = mapped_column(primary_key=True)
    pipeline_id: Mapped[int | None] = mapped_column(ForeignKey("pipelines.id", ondelete="CASCADE"))
    step_id: Mapped[int | None] = mapped_column(ForeignKey("steps.id", ondelete="CASCADE"))
    event_type: Mapped[str] = mapped_column(String(100))
    payload_json: Mapped[str | None]
    created_at: Mapped[datetime] = mapped_column(default=utc_now)


class ActivityRow(Base):
    """A piece of what an agent said or did. Its id is the order of things."""

    __tablename__ = "activity"
    __table_args__ = (
        Index("ix_activity_pipeline_id_id", "pipeline_id", "id"),
        {"sqlite_autoincrement": True},
    )
    id: Mapped[int] = mapped_column(primary_key=True)
    kind: Mapped[str] = mapped_column(String(32))
    pipeline_id: Mapped[int] = mapped_column(ForeignKey("pipelines.id", ondelete="CASCADE"))
    step_id: Mapped[int] = mapped_column(ForeignKey("steps.id", ondelete="CASCADE"))
    agent_id: Mapped[int] = mapped_column(ForeignKey("agents.id", ondelete="CASCADE"))
    payload_json: Mapped[str]
    created_at: Mapped[datetime] = mapped_column(default=utc_now)
