"""Where other machines get the repository and the commits of a run."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Go one step forward."""
    op.add_column("pipelines", sa.Column("source_json", sa.Text(), nullable=True))
    op.add_column("pipelines", sa.Column("home", sa.Text(), nullable=True))
    op.create_table(
        "bundles",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("pipeline_id", sa.Integer(), nullable=True),
        sa.Column("step_id", sa.Integer(), nullable=True),
        sa.Column("repository", sa.Text(), nullable=False),
        sa.Column("tip", sa.String(64), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["pipeline_id"], ["pipelines.id"], name=op.f("fk_bundles_pipeline_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["step_id"], ["steps.id"], name=op.f("fk_bundles_step_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_bundles")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_bundles_pipeline_id"), "bundles", ["pipeline_id"])
    op.create_index(op.f("ix_bundles_repository"), "bundles", ["repository"])


def downgrade() -> None:
    """Go one step back."""
    op.drop_table("bundles")
    for column in ("home", "source_json"):
        op.drop_column("pipelines", column)
