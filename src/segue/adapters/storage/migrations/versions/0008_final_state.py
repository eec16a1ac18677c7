"""How the work of a run was at its end."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Go one step forward."""
    op.add_column("pipelines", sa.Column("final_json", sa.Text(), nullable=True))


def downgrade() -> None:
    """Go one step back."""
    with op.batch_alter_table("pipelines", schema=None) as batch_op:
        batch_op.drop_column("final_json")
