"""What briefings left out, how handoffs were read, and questions to their writers."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

_COLUMNS = (
    ("attempts", "left_out_json"),
    ("handoffs", "reading_json"),
    ("repairs", "usage_json"),
)


def upgrade() -> None:
    """Go one step forward."""
    for table, column in _COLUMNS:
        op.add_column(table, sa.Column(column, sa.Text(), nullable=True))
    op.add_column("attempts", sa.Column("over_budget", sa.Integer(), server_default="0", nullable=False))
    op.add_column("repairs", sa.Column("kind", sa.String(32), server_default="repair", nullable=False))


def downgrade() -> None:
    """Go one step back."""
    for table, column in (*_COLUMNS, ("attempts", "over_budget"), ("repairs", "kind")):
        with op.batch_alter_table(table, schema=None) as batch_op:
            batch_op.drop_column(column)
