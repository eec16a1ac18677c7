"""The tables. Column names are those of the domain's values, so that rows and values copy plainly."""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import (
    CheckConstraint,
    DateTime,
    Dialect,
    ForeignKey,
    Index,
    MetaData,
    String,
    Text,
    false,
    text,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship
from sqlalchemy.types import TypeDecorator

from segue.domain.session import HandoffReason, MessageKind, MessageStatus, SubmissionKind
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


def _where(condition: str) -> dict[str, Any]:
    """An index of some rows alone."""
    return {"sqlite_where": text(condition), "postgresql_where": text(condition)}


class WorkerRow(Base):
    """A process that moves pipelines on. Deleting it frees its pipelines."""

    __tablename__ = "workers"
    id: Mapped[str] = mapped_column(String(64), primary_key=True)
    host: Mapped[str]
    pid: Mapped[int]
    process_started_at: Mapped[float]
    heartbeat_at: Mapped[datetime]
    home: Mapped[str | None]


class PipelineRow(Base):
    """One run."""

    __tablename__ = "pipelines"
    __table_args__ = (
        Index("ix_pipelines_status_id", "status", "id"),
        Index("ix_pipelines_status_working_dir", "status", "working_dir"),
        Index("ix_pipelines_template_id", "template", "id"),
        Index("ix_pipelines_worker_id_status_id", "worker_id", "status", "id"),
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
    lease_number: Mapped[int] = mapped_column(server_default="0")
    recoveries: Mapped[int] = mapped_column(server_default="0")
    not_before: Mapped[datetime | None]
    idempotency_key: Mapped[str | None] = mapped_column(String(255), unique=True)
    workspace_json: Mapped[str | None]
    workspace_choice: Mapped[str] = mapped_column(String(32), server_default="auto")
    source_json: Mapped[str | None]
    home: Mapped[str | None]
    home_until: Mapped[datetime | None]
    final_json: Mapped[str | None]
    created_at: Mapped[datetime] = mapped_column(default=utc_now)
    updated_at: Mapped[datetime] = mapped_column(default=utc_now)
    steps: Mapped[list[StepRow]] = relationship(
        order_by="StepRow.order_index", lazy="selectin", cascade="all, delete-orphan", passive_deletes=True
    )


class BundleRow(Base):
    """Commits as a git bundle, for machines that cannot fetch them."""

    __tablename__ = "bundles"
    __table_args__ = ({"sqlite_autoincrement": True},)
    id: Mapped[int] = mapped_column(primary_key=True)
    pipeline_id: Mapped[int | None] = mapped_column(
        ForeignKey("pipelines.id", ondelete="CASCADE"), index=True
    )
    step_id: Mapped[int | None] = mapped_column(ForeignKey("steps.id", ondelete="CASCADE"))
    repository: Mapped[str] = mapped_column(index=True)
    tip: Mapped[str] = mapped_column(String(64))
    content: Mapped[bytes]
    created_at: Mapped[datetime]


class StepRow(Base):
    """A place in the run."""

    __tablename__ = "steps"
    __table_args__ = ({"sqlite_autoincrement": True},)
    id: Mapped[int] = mapped_column(primary_key=True)
    pipeline_id: Mapped[int] = mapped_column(ForeignKey("pipelines.id", ondelete="CASCADE"), index=True)
    agent_name: Mapped[str]
    order_index: Mapped[int]
    name: Mapped[str] = mapped_column(server_default="")
    kind: Mapped[str] = mapped_column(String(32), server_default="agent")
    description: Mapped[str]
    model: Mapped[str | None]
    timeout: Mapped[float | None]
    status: Mapped[str] = mapped_column(String(32))
    error_message: Mapped[str | None]
    base_mark: Mapped[str | None] = mapped_column(String(64))
    end_commit: Mapped[str | None] = mapped_column(String(64))
    round: Mapped[int] = mapped_column(server_default="1")
    sent_back: Mapped[int] = mapped_column(server_default="0")
    returned: Mapped[str] = mapped_column(server_default="")
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]


class GateRunRow(Base):
    """One time that a gate was run."""

    __tablename__ = "gate_runs"
    __table_args__ = ({"sqlite_autoincrement": True},)
    id: Mapped[int] = mapped_column(primary_key=True)
    step_id: Mapped[int] = mapped_column(ForeignKey("steps.id", ondelete="CASCADE"), index=True)
    round: Mapped[int]
    passed: Mapped[bool]
    mark: Mapped[str | None] = mapped_column(String(64))
    checks_json: Mapped[str]
    created_at: Mapped[datetime]


class AgentRow(Base):
    """A session with an agent; everywhere else it is called a session."""

    __tablename__ = "agents"
    __table_args__ = (
        Index("uq_agents_token", "token", unique=True),
        Index("ix_agents_open", "id", **_where("ended_at IS NULL")),
        Index("ix_agents_chats", "id", **_where("step_id IS NULL")),
        {"sqlite_autoincrement": True},
    )
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]
    backend: Mapped[str]
    key: Mapped[str] = mapped_column(String(64), unique=True)
    token: Mapped[str | None] = mapped_column(String(64))
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
    timeout: Mapped[float | None]
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
    session_id: Mapped[int] = mapped_column(ForeignKey("agents.id", ondelete="CASCADE"), index=True)
    number: Mapped[int]
    status: Mapped[str] = mapped_column(String(32))
    carry_over: Mapped[str] = mapped_column(server_default="")
    left_out_json: Mapped[str | None]
    over_budget: Mapped[int] = mapped_column(server_default="0")
    error: Mapped[str | None]
    handover_reason: Mapped[str | None] = mapped_column(String(32))
    started_at: Mapped[datetime]
    finished_at: Mapped[datetime | None]


class HandoffRow(Base):
    """What one agent left for the next."""

    __tablename__ = "handoffs"
    __table_args__ = (
        CheckConstraint(_one_of("reason", HandoffReason), name="known_reason"),
        {"sqlite_autoincrement": True},
    )
    id: Mapped[int] = mapped_column(primary_key=True)
    agent_id: Mapped[int] = mapped_column(ForeignKey("agents.id", ondelete="CASCADE"), index=True)
    step_id: Mapped[int | None] = mapped_column(ForeignKey("steps.id", ondelete="CASCADE"), index=True)
    message_id: Mapped[int | None]
    reason: Mapped[str] = mapped_column(String(32))
    content_md: Mapped[str] = mapped_column(server_default="")
    metadata_json: Mapped[str | None]
    file_path: Mapped[str | None]
    injection_prompt: Mapped[str | None]
    ledger_json: Mapped[str | None]
    evidence_json: Mapped[str | None]
    reading_json: Mapped[str | None]
    is_synthetic: Mapped[bool] = mapped_column(server_default=false())
    stalled: Mapped[int] = mapped_column(server_default="0")
    created_at: Mapped[datetime] = mapped_column(default=utc_now)
    agent: Mapped[AgentRow] = relationship(back_populates="handoffs", lazy="joined")


class MessageRow(Base):
    """What was said to an agent, with its reply."""

    __tablename__ = "messages"
    __table_args__ = (
        CheckConstraint(_one_of("kind", MessageKind), name="known_kind"),
        CheckConstraint(_one_of("status", MessageStatus), name="known_status"),
        Index("uq_messages_session_id_key", "session_id", "key", unique=True),
        {"sqlite_autoincrement": True},
    )
    id: Mapped[int] = mapped_column(primary_key=True)
    session_id: Mapped[int] = mapped_column(ForeignKey("agents.id", ondelete="CASCADE"))
    kind: Mapped[str] = mapped_column(String(32))
    key: Mapped[str] = mapped_column(String(64))
    wire_id: Mapped[str] = mapped_column(String(64))
    text: Mapped[str]
    sha256: Mapped[str | None] = mapped_column(String(64))
    status: Mapped[str] = mapped_column(String(32))
    reply: Mapped[str | None]
    error: Mapped[str | None]
    ledger_json: Mapped[str | None]
    usage_json: Mapped[str | None]
    created_at: Mapped[datetime]
    sent_at: Mapped[datetime | None]
    replied_at: Mapped[datetime | None]


class SubmissionRow(Base):
    """What an agent gave through a tool."""

    __tablename__ = "submissions"
    __table_args__ = (
        CheckConstraint(_one_of("kind", SubmissionKind), name="known_kind"),
        {"sqlite_autoincrement": True},
    )
    id: Mapped[int] = mapped_column(primary_key=True)
    session_id: Mapped[int] = mapped_column(ForeignKey("agents.id", ondelete="CASCADE"), index=True)
    message_id: Mapped[int] = mapped_column(ForeignKey("messages.id", ondelete="CASCADE"))
    kind: Mapped[str] = mapped_column(String(32))
    is_accepted: Mapped[bool]
    record_json: Mapped[str]
    created_at: Mapped[datetime]


class ApprovalRow(Base):
    """A question that only a person may answer."""

    __tablename__ = "approvals"
    __table_args__ = (
        Index("uq_approvals_session_id_request_ref", "session_id", "request_ref", unique=True),
        Index("ix_approvals_status_id", "status", "id"),
        Index("ix_approvals_status_next_at", "status", "next_at"),
        Index("ix_approvals_status_expires_at", "status", "expires_at"),
        {"sqlite_autoincrement": True},
    )
    id: Mapped[int] = mapped_column(primary_key=True)
    pipeline_id: Mapped[int | None] = mapped_column(
        ForeignKey("pipelines.id", ondelete="CASCADE"), index=True
    )
    step_id: Mapped[int | None] = mapped_column(ForeignKey("steps.id", ondelete="CASCADE"), index=True)
    session_id: Mapped[int | None] = mapped_column(ForeignKey("agents.id", ondelete="CASCADE"))
    request_ref: Mapped[str]
    kind: Mapped[str] = mapped_column(String(32), server_default="permission")
    title: Mapped[str]
    back_to: Mapped[str | None]
    recommendation: Mapped[str] = mapped_column(server_default="")
    status: Mapped[str] = mapped_column(String(32))
    comment: Mapped[str | None]
    decided_by: Mapped[str | None]
    created_at: Mapped[datetime] = mapped_column(default=utc_now)
    decided_at: Mapped[datetime | None]
    next_at: Mapped[datetime | None]
    reminders: Mapped[int] = mapped_column(server_default="0")
    expires_at: Mapped[datetime | None]


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
