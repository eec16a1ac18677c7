"""Which data folder a worker has, and until when workers with the same one go first."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Go one step forward."""
    op.add_column("pipelines", sa.Column("home_until", sa.DateTime(timezone=True), nullable=True))
    op.add_column("workers", sa.Column("home", sa.Text(), nullable=True))


def downgrade() -> None:
    """Go one step back."""
    op.drop_column("workers", "home")
    op.drop_column("pipelines", "home_until")
