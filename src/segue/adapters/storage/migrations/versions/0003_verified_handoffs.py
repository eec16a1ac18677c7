"""Verified handoffs: workspaces, ledgers, repair turns, synthetic handoffs, receipts."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Go one step forward."""
    op.add_column("pipelines", sa.Column("workspace_json", sa.Text(), nullable=True))
    op.add_column(
        "pipelines",
        sa.Column("workspace_choice", sa.String(length=32), server_default="auto", nullable=False),
    )
    op.add_column("steps", sa.Column("base_mark", sa.String(length=64), nullable=True))
    op.add_column("steps", sa.Column("end_commit", sa.String(length=64), nullable=True))
    op.add_column("attempts", sa.Column("briefing_sha256", sa.String(length=64), nullable=True))
    op.add_column("handoffs", sa.Column("ledger_json", sa.Text(), nullable=True))
    op.add_column(
        "handoffs", sa.Column("is_synthetic", sa.Boolean(), server_default=sa.false(), nullable=False)
    )
    op.create_table(
        "repairs",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("attempt_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("message_id", sa.String(length=64), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("rejected_json", sa.Text(), nullable=True),
        sa.Column("status", sa.String(length=32), nullable=False),
        sa.Column("reply", sa.Text(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["attempt_id"], ["attempts.id"], name=op.f("fk_repairs_attempt_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_repairs")),
        sqlite_autoincrement=True,
    )
    op.create_index("uq_repairs_attempt_id_number", "repairs", ["attempt_id", "number"], unique=True)


def downgrade() -> None:
    """Go one step back."""
    op.drop_table("repairs")
    for table, columns in (
        ("handoffs", ("is_synthetic", "ledger_json")),
        ("attempts", ("briefing_sha256",)),
        ("steps", ("end_commit", "base_mark")),
        ("pipelines", ("workspace_choice", "workspace_json")),
    ):
        with op.batch_alter_table(table, schema=None) as batch_op:
            for column in columns:
                batch_op.drop_column(column)
