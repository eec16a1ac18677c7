"""What the ending of a step leads to: kinds of steps and approvals, rounds, gates, reminders."""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Go one step forward."""
    op.add_column("steps", sa.Column("name", sa.Text(), server_default="", nullable=False))
    op.execute("UPDATE steps SET name = agent_name")
    op.add_column("steps", sa.Column("kind", sa.String(32), server_default="agent", nullable=False))
    op.add_column("steps", sa.Column("round", sa.Integer(), server_default="1", nullable=False))
    op.add_column("steps", sa.Column("sent_back", sa.Integer(), server_default="0", nullable=False))
    op.add_column("steps", sa.Column("returned", sa.Text(), server_default="", nullable=False))
    with op.batch_alter_table("approvals") as batch:
        batch.alter_column("session_id", existing_type=sa.Integer(), nullable=True)
        batch.add_column(sa.Column("kind", sa.String(32), server_default="permission", nullable=False))
        batch.add_column(sa.Column("back_to", sa.Text(), nullable=True))
        batch.add_column(sa.Column("recommendation", sa.Text(), server_default="", nullable=False))
        batch.add_column(sa.Column("next_at", sa.DateTime(timezone=True), nullable=True))
        batch.add_column(sa.Column("reminders", sa.Integer(), server_default="0", nullable=False))
        batch.add_column(sa.Column("expires_at", sa.DateTime(timezone=True), nullable=True))
    op.create_index("ix_approvals_status_next_at", "approvals", ["status", "next_at"])
    op.create_index("ix_approvals_status_expires_at", "approvals", ["status", "expires_at"])
    op.create_table(
        "gate_runs",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("step_id", sa.Integer(), nullable=False),
        sa.Column("round", sa.Integer(), nullable=False),
        sa.Column("passed", sa.Boolean(), nullable=False),
        sa.Column("mark", sa.String(64), nullable=True),
        sa.Column("checks_json", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["step_id"], ["steps.id"], name=op.f("fk_gate_runs_step_id"), ondelete="CASCADE"
        ),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_gate_runs_step_id", "gate_runs", ["step_id"])


def downgrade() -> None:
    """Go one step back."""
    op.drop_table("gate_runs")
    op.drop_index("ix_approvals_status_expires_at", table_name="approvals")
    op.drop_index("ix_approvals_status_next_at", table_name="approvals")
    op.execute("DELETE FROM approvals WHERE session_id IS NULL")
    with op.batch_alter_table("approvals") as batch:
        for column in ("kind", "back_to", "recommendation", "next_at", "reminders", "expires_at"):
            batch.drop_column(column)
        batch.alter_column("session_id", existing_type=sa.Integer(), nullable=False)
    for column in ("name", "kind", "round", "sent_back", "returned"):
        op.drop_column("steps", column)
