"""Alembic's entry: migrates on the connection that `running` hands in."""

from alembic import context

from segue.adapters.storage.trail_tables import Base

context.configure(
    connection=context.config.attributes["connection"], target_metadata=Base.metadata, render_as_batch=True
)
with context.begin_transaction():
    context.run_migrations()
