"""Alembic's entry: migrates on the connection that `running` hands in."""

from typing import Any, Literal

from alembic import context

from segue.adapters.storage.tables import Base, UtcDateTime


def _render_item(kind: str, value: Any, _context: Any) -> str | Literal[False]:
    # A migration must not change when our own types do.
    return "sa.DateTime(timezone=True)" if kind == "type" and isinstance(value, UtcDateTime) else False


context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Base.metadata,
    render_as_batch=True,
    render_item=_render_item,
    compare_type=True,
)
with context.begin_transaction():
    context.run_migrations()
