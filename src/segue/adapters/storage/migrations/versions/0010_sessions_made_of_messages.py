"""Sessions are made of messages, those of steps as well; what agents gave through tools has its rows."""

import hashlib
import json
from typing import Any

import sqlalchemy as sa
from alembic import op

from segue.domain.errors import StorageError

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

_QUESTION = "Stop here and hand over:"
"""How a session was asked for its handoff."""

# A briefing comes first in its session, then the repairs of its reply, then what else was said.
_OLD_MESSAGES = """
CREATE TABLE old_messages AS
SELECT t.agent_id AS session_id, 'briefing' AS kind, t.message_id AS key, t.message_id AS wire_id,
    CASE WHEN t.carry_over = '' THEN t.briefing ELSE t.briefing || '\n' || t.carry_over END AS text,
    t.briefing_sha256 AS sha256,
    CASE WHEN t.reply IS NOT NULL THEN 'replied'
        WHEN t.status IN ('failed', 'lost') THEN 'failed'
        WHEN t.status IN ('aborted', 'handing_over', 'handed_over') THEN 'cancelled'
        WHEN t.status = 'sent' THEN 'sent' ELSE 'sending' END AS status,
    t.reply AS reply, t.error AS error, NULL AS ledger_json, NULL AS usage_json,
    t.started_at AS created_at,
    CASE WHEN t.briefing_sha256 IS NULL THEN NULL ELSE t.started_at END AS sent_at,
    CASE WHEN t.reply IS NULL THEN NULL ELSE coalesce(t.finished_at, t.started_at) END AS replied_at,
    1 AS family, t.id AS place
FROM attempts t
UNION ALL
SELECT t.agent_id, r.kind, r.message_id, r.message_id, r.text, NULL,
    CASE WHEN r.reply IS NULL AND t.status IN ('done', 'failed', 'lost') THEN 'failed'
        WHEN r.reply IS NULL AND t.status = 'aborted' THEN 'cancelled' ELSE r.status END,
    r.reply, NULL, r.ledger_json, r.usage_json, r.created_at,
    CASE WHEN r.status = 'sending' THEN NULL ELSE r.created_at END,
    CASE WHEN r.reply IS NULL THEN NULL ELSE r.created_at END, 2, r.id
FROM repairs r JOIN attempts t ON t.id = r.attempt_id
UNION ALL
SELECT m.agent_id,
    CASE WHEN m.role <> 'handoff' THEN 'user'
        WHEN m.text LIKE '{question}%' THEN 'handoff_request'
        WHEN m.text IN (SELECT h.injection_prompt FROM handoffs h WHERE h.agent_id = a.parent_id)
        THEN 'injection' ELSE 'repair' END,
    m.message_id, m.message_id, m.text, NULL, m.status, m.reply, m.error, NULL, NULL, m.created_at,
    CASE WHEN m.status = 'sending' THEN NULL ELSE m.created_at END, m.replied_at, 3, m.id
FROM messages m JOIN agents a ON a.id = m.agent_id
"""
_COLUMNS = (
    "session_id, kind, key, wire_id, text, sha256, status, reply, error, ledger_json, usage_json, "
    "created_at, sent_at, replied_at"
)


def upgrade() -> None:
    """Go one step forward."""
    connection = op.get_bind()
    op.execute("ALTER TABLE pipelines RENAME COLUMN segment TO lease_number")
    op.add_column("agents", sa.Column("token", sa.String(64), nullable=True))
    op.add_column("agents", sa.Column("timeout", sa.Double(), nullable=True))
    op.add_column("handoffs", sa.Column("message_id", sa.Integer(), nullable=True))
    connection.execute(
        sa.text("UPDATE agents SET token = (SELECT t.token FROM attempts t WHERE t.agent_id = agents.id)")
    )
    op.create_index("uq_agents_token", "agents", ["token"], unique=True)
    _complete_sessions(connection)
    _move_messages(connection)
    _move_submissions(connection)
    op.drop_table("repairs")
    _move_approvals()
    _move_activity()
    _shrink_attempts(connection)


def _complete_sessions(connection: sa.Connection) -> None:
    """What a back end needs to know of a step's session stood in its pipeline."""
    rows = connection.execute(
        sa.text(
            "SELECT a.id, a.name, a.working_dir, s.timeout, p.plan_json, p.working_dir AS folder "
            "FROM agents a JOIN steps s ON s.id = a.step_id JOIN pipelines p ON p.id = s.pipeline_id "
            "WHERE a.profile_json IS NULL"
        )
    ).all()
    for row in rows:
        profile = json.loads(row.plan_json)["agents"].get(row.name, {})
        connection.execute(
            sa.text(
                "UPDATE agents SET profile_json = :profile, timeout = :timeout, working_dir = :folder "
                "WHERE id = :id"
            ),
            {
                "profile": json.dumps(profile),
                "timeout": row.timeout,
                "folder": row.working_dir or row.folder,
                "id": row.id,
            },
        )
    connection.execute(sa.text("UPDATE agents SET profile_json = '{}' WHERE profile_json IS NULL"))
    connection.execute(sa.text("UPDATE agents SET working_dir = '' WHERE working_dir IS NULL"))


def _move_messages(connection: sa.Connection) -> None:
    connection.exec_driver_sql(
        _OLD_MESSAGES.replace("{question}", _QUESTION).replace("%", _percent(connection))
    )
    op.drop_table("messages")
    op.create_table(
        "messages",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("session_id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=32), nullable=False),
        sa.Column("key", sa.String(length=64), nullable=False),
        sa.Column("wire_id", sa.String(length=64), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=True),
        sa.Column("status", sa.String(length=32), nullable=False),
        sa.Column("reply", sa.Text(), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("ledger_json", sa.Text(), nullable=True),
        sa.Column("usage_json", sa.Text(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("sent_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("replied_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint(
            "kind IN ('briefing', 'question', 'repair', 'handoff_request', 'user', 'injection')",
            name=op.f("ck_messages_known_kind"),
        ),
        sa.CheckConstraint(
            "status IN ('sending', 'sent', 'replied', 'failed', 'cancelled')",
            name=op.f("ck_messages_known_status"),
        ),
        sa.ForeignKeyConstraint(
            ["session_id"], ["agents.id"], name=op.f("fk_messages_session_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_messages")),
        sqlite_autoincrement=True,
    )
    op.create_index("uq_messages_session_id_key", "messages", ["session_id", "key"], unique=True)
    connection.exec_driver_sql(
        f"INSERT INTO messages ({_COLUMNS}) SELECT {_COLUMNS} FROM old_messages "
        "ORDER BY session_id, family, place"
    )
    op.drop_table("old_messages")
    # In a session outside of pipelines, back ends know a message by a name of its own.
    said = connection.execute(
        sa.text(
            "SELECT m.id, m.key, a.key AS session FROM messages m JOIN agents a ON a.id = m.session_id "
            "WHERE a.step_id IS NULL"
        )
    ).all()
    for row in said:
        wire_id = hashlib.sha256(f"{row.session} {row.key}".encode()).hexdigest()[:32]
        connection.execute(
            sa.text("UPDATE messages SET wire_id = :wire_id WHERE id = :id"),
            {"wire_id": wire_id, "id": row.id},
        )


def _percent(connection: sa.Connection) -> str:
    """How a per cent sign is written in a plain statement."""
    return "%" if connection.dialect.name == "sqlite" else "%%"


def _move_submissions(connection: sa.Connection) -> None:
    op.create_table(
        "submissions",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("session_id", sa.Integer(), nullable=False),
        sa.Column("message_id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=32), nullable=False),
        sa.Column("is_accepted", sa.Boolean(), nullable=False),
        sa.Column("record_json", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("kind IN ('handoff', 'blocker')", name=op.f("ck_submissions_known_kind")),
        sa.ForeignKeyConstraint(
            ["session_id"], ["agents.id"], name=op.f("fk_submissions_session_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["message_id"], ["messages.id"], name=op.f("fk_submissions_message_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_submissions")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_submissions_session_id"), "submissions", ["session_id"], unique=False)
    given = connection.execute(
        sa.text(
            "SELECT t.id, t.agent_id, t.status, t.submitted_json, t.blockers_json, t.started_at "
            "FROM attempts t WHERE t.submitted_json IS NOT NULL OR t.blockers_json IS NOT NULL "
            "OR t.status = 'replied' ORDER BY t.id"
        )
    ).all()
    for attempt in given:
        ids = (
            connection.execute(
                sa.text(
                    "SELECT id FROM messages WHERE session_id = :id AND kind <> 'handoff_request' ORDER BY id"
                ),
                {"id": attempt.agent_id},
            )
            .scalars()
            .all()
        )
        for kind, message_id, is_accepted, record in _submissions_of(connection, attempt, ids):
            connection.execute(
                sa.text(
                    "INSERT INTO submissions "
                    "(session_id, message_id, kind, is_accepted, record_json, created_at) "
                    "VALUES (:session, :message, :kind, :accepted, :record, :at)"
                ),
                {
                    "session": attempt.agent_id,
                    "message": message_id,
                    "kind": kind,
                    "accepted": is_accepted,
                    "record": json.dumps(record),
                    "at": attempt.started_at,
                },
            )


def _submissions_of(connection: sa.Connection, attempt: Any, ids: Any) -> list[tuple[str, int, bool, Any]]:
    """(kind, message, accepted, record) of what was given in an attempt, oldest first."""
    found: list[tuple[str, int, bool, Any]] = [
        ("blocker", ids[0], True, blocker) for blocker in json.loads(attempt.blockers_json or "[]")
    ]
    if attempt.status == "replied":
        # What was refused counts again, should its repair come to nothing.
        repairs = connection.execute(
            sa.text("SELECT kind, rejected_json FROM repairs WHERE attempt_id = :id ORDER BY number"),
            {"id": attempt.id},
        ).all()
        for before, repair in zip(ids, repairs, strict=False):
            if repair.kind == "repair" and repair.rejected_json is not None:
                found.append(("handoff", before, True, json.loads(repair.rejected_json)))
    if attempt.submitted_json is not None:
        record = json.loads(attempt.submitted_json)
        is_refused = set(record) == {"refused"}
        found.append(("handoff", ids[-1], not is_refused, record["refused"] if is_refused else record))
    return found


def _move_approvals() -> None:
    op.drop_index("uq_approvals_attempt_id_request_ref", table_name="approvals")
    op.add_column("approvals", sa.Column("session_id", sa.Integer(), nullable=True))
    op.execute(
        "UPDATE approvals SET session_id = "
        "(SELECT t.agent_id FROM attempts t WHERE t.id = approvals.attempt_id)"
    )
    with op.batch_alter_table("approvals") as batch:
        batch.alter_column("pipeline_id", existing_type=sa.Integer(), nullable=True)
        batch.alter_column("step_id", existing_type=sa.Integer(), nullable=True)
        batch.alter_column("session_id", existing_type=sa.Integer(), nullable=False)
        batch.drop_constraint(op.f("fk_approvals_attempt_id"), type_="foreignkey")
        batch.drop_column("attempt_id")
        batch.create_foreign_key(
            op.f("fk_approvals_session_id"), "agents", ["session_id"], ["id"], ondelete="CASCADE"
        )
    op.create_index(
        "uq_approvals_session_id_request_ref", "approvals", ["session_id", "request_ref"], unique=True
    )


def _move_activity() -> None:
    op.execute("ALTER TABLE activity RENAME COLUMN agent_id TO session_id")
    with op.batch_alter_table("activity") as batch:
        batch.alter_column("pipeline_id", existing_type=sa.Integer(), nullable=True)
        batch.alter_column("step_id", existing_type=sa.Integer(), nullable=True)
        batch.drop_constraint(op.f("fk_activity_agent_id"), type_="foreignkey")
        batch.create_foreign_key(
            op.f("fk_activity_session_id"), "agents", ["session_id"], ["id"], ondelete="CASCADE"
        )
    op.create_index("ix_activity_session_id_id", "activity", ["session_id", "id"], unique=False)


def _shrink_attempts(connection: sa.Connection) -> None:
    """Its conversation is in its messages."""
    connection.execute(
        sa.text(
            "UPDATE attempts SET status = 'running' WHERE status IN ('opening', 'sending', 'sent', 'replied')"
        )
    )
    op.drop_index(op.f("ix_attempts_agent_id"), table_name="attempts")
    op.execute("ALTER TABLE attempts RENAME COLUMN agent_id TO session_id")
    with op.batch_alter_table("attempts") as batch:
        batch.drop_constraint(op.f("uq_attempts_token"), type_="unique")
        batch.drop_constraint(op.f("fk_attempts_agent_id"), type_="foreignkey")
        for column in (
            "briefing",
            "message_id",
            "token",
            "submitted_json",
            "blockers_json",
            "briefing_sha256",
            "reply",
        ):
            batch.drop_column(column)
        batch.create_foreign_key(
            op.f("fk_attempts_session_id"), "agents", ["session_id"], ["id"], ondelete="CASCADE"
        )
    op.create_index(op.f("ix_attempts_session_id"), "attempts", ["session_id"], unique=False)


def downgrade() -> None:
    """Go one step back, while nothing has happened yet."""
    connection = op.get_bind()
    tables = [name for name in sa.inspect(connection).get_table_names() if name != "alembic_version"]
    if any(connection.execute(sa.text(f"SELECT 1 FROM {name}")).first() for name in tables):
        raise StorageError(
            "what this database holds cannot be brought into the older form. Use the copy that was made of "
            "it before, beside it: its name ends in .0009"
        )
    for name in tables:
        op.execute(f"DROP TABLE {name}{'' if connection.dialect.name == 'sqlite' else ' CASCADE'}")
    environment = op.get_context().environment_context
    assert environment is not None
    for step in reversed(list(environment.script.walk_revisions("base", down_revision))):
        step.module.upgrade()
