"""How often a run was taken up again, and until when nobody does that by themselves."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Go one step forward."""
    op.add_column("pipelines", sa.Column("recoveries", sa.Integer(), server_default="0", nullable=False))
    op.add_column("pipelines", sa.Column("not_before", sa.DateTime(timezone=True), nullable=True))


def downgrade() -> None:
    """Go one step back."""
    op.drop_column("pipelines", "not_before")
    op.drop_column("pipelines", "recoveries")
