"""Sessions outside of pipelines: what they are, what is said in them."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Go one step forward."""
    op.add_column("agents", sa.Column("title", sa.Text(), server_default="", nullable=False))
    for name in ("model", "working_dir", "profile_json"):
        op.add_column("agents", sa.Column(name, sa.Text(), nullable=True))
    op.add_column("agents", sa.Column("base_mark", sa.String(length=64), nullable=True))
    op.create_index(op.f("ix_agents_parent_id"), "agents", ["parent_id"], unique=False)
    op.add_column("handoffs", sa.Column("stalled", sa.Integer(), server_default="0", nullable=False))
    op.create_table(
        "messages",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("agent_id", sa.Integer(), nullable=False),
        sa.Column("role", sa.String(length=32), nullable=False),
        sa.Column("message_id", sa.String(length=64), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("status", sa.String(length=32), nullable=False),
        sa.Column("reply", sa.Text(), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("replied_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("role IN ('user', 'agent', 'handoff')", name=op.f("ck_messages_known_role")),
        sa.CheckConstraint(
            "status IN ('sending', 'sent', 'replied', 'failed', 'cancelled')",
            name=op.f("ck_messages_known_status"),
        ),
        sa.ForeignKeyConstraint(
            ["agent_id"], ["agents.id"], name=op.f("fk_messages_agent_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_messages")),
        sqlite_autoincrement=True,
    )
    op.create_index("uq_messages_agent_id_message_id", "messages", ["agent_id", "message_id"], unique=True)


def downgrade() -> None:
    """Go one step back."""
    op.drop_table("messages")
    with op.batch_alter_table("handoffs", schema=None) as batch_op:
        batch_op.drop_column("stalled")
    op.drop_index(op.f("ix_agents_parent_id"), table_name="agents")
    with op.batch_alter_table("agents", schema=None) as batch_op:
        for column in ("base_mark", "profile_json", "working_dir", "model", "title"):
            batch_op.drop_column(column)
