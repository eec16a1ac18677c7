"""What agents do: activity, usage, submitted handoffs, and questions to a person."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Go one step forward."""
    op.create_table(
        "activity",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=32), nullable=False),
        sa.Column("pipeline_id", sa.Integer(), nullable=False),
        sa.Column("step_id", sa.Integer(), nullable=False),
        sa.Column("agent_id", sa.Integer(), nullable=False),
        sa.Column("payload_json", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["pipeline_id"], ["pipelines.id"], name=op.f("fk_activity_pipeline_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["step_id"], ["steps.id"], name=op.f("fk_activity_step_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["agent_id"], ["agents.id"], name=op.f("fk_activity_agent_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_activity")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_activity_pipeline_id_id", "activity", ["pipeline_id", "id"], unique=False)
    op.add_column("agents", sa.Column("usage_json", sa.Text(), nullable=True))
    with op.batch_alter_table("attempts", schema=None) as batch_op:
        batch_op.add_column(sa.Column("token", sa.String(length=64), nullable=True))
        batch_op.add_column(sa.Column("submitted_json", sa.Text(), nullable=True))
        batch_op.add_column(sa.Column("blockers_json", sa.Text(), nullable=True))
        batch_op.create_unique_constraint(op.f("uq_attempts_token"), ["token"])
    # Nothing could write an approval before.
    op.drop_table("approvals")
    _make_approvals(
        sa.Column("pipeline_id", sa.Integer(), nullable=False),
        sa.Column("step_id", sa.Integer(), nullable=False),
        sa.Column("attempt_id", sa.Integer(), nullable=False),
        sa.Column("request_ref", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["pipeline_id"], ["pipelines.id"], name=op.f("fk_approvals_pipeline_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["attempt_id"], ["attempts.id"], name=op.f("fk_approvals_attempt_id"), ondelete="CASCADE"
        ),
    )
    op.create_index(op.f("ix_approvals_pipeline_id"), "approvals", ["pipeline_id"], unique=False)
    op.create_index(
        "uq_approvals_attempt_id_request_ref", "approvals", ["attempt_id", "request_ref"], unique=True
    )


def downgrade() -> None:
    """Go one step back."""
    op.drop_table("approvals")
    _make_approvals(sa.Column("step_id", sa.Integer(), nullable=False))
    with op.batch_alter_table("attempts", schema=None) as batch_op:
        batch_op.drop_constraint(op.f("uq_attempts_token"), type_="unique")
        batch_op.drop_column("blockers_json")
        batch_op.drop_column("submitted_json")
        batch_op.drop_column("token")
    with op.batch_alter_table("agents", schema=None) as batch_op:
        batch_op.drop_column("usage_json")
    op.drop_table("activity")


def _make_approvals(*parts: sa.Column[int] | sa.Column[str] | sa.ForeignKeyConstraint) -> None:
    op.create_table(
        "approvals",
        sa.Column("id", sa.Integer(), nullable=False),
        *parts,
        sa.Column("status", sa.String(length=32), nullable=False),
        sa.Column("comment", sa.Text(), nullable=True),
        sa.Column("decided_by", sa.Text(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("decided_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["step_id"], ["steps.id"], name=op.f("fk_approvals_step_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_approvals")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_approvals_step_id"), "approvals", ["step_id"], unique=False)
