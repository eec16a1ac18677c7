"""Evidence: what was measured of a step is kept with its handoff, and what was false before each repair."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Go one step forward."""
    op.add_column("handoffs", sa.Column("evidence_json", sa.Text(), nullable=True))
    op.add_column("repairs", sa.Column("ledger_json", sa.Text(), nullable=True))


def downgrade() -> None:
    """Go one step back."""
    for table, column in (("repairs", "ledger_json"), ("handoffs", "evidence_json")):
        with op.batch_alter_table(table, schema=None) as batch_op:
            batch_op.drop_column(column)
