"""Handing over in the middle of a step: why an attempt goes on in another session."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Go one step forward."""
    op.add_column("attempts", sa.Column("handover_reason", sa.String(length=32), nullable=True))


def downgrade() -> None:
    """Go one step back."""
    with op.batch_alter_table("attempts", schema=None) as batch_op:
        batch_op.drop_column("handover_reason")
