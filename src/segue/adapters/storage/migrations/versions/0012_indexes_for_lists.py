"""Lists and searches ask indexes, however many pipelines are stored."""

from alembic import op
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

_INDEXES = (
    ("pipelines", ["status", "id"]),
    ("pipelines", ["status", "working_dir"]),
    ("pipelines", ["template", "id"]),
    ("pipelines", ["worker_id", "status", "id"]),
    ("approvals", ["status", "id"]),
    ("audit_events", ["event_type", "id"]),
)
_OPEN = "CREATE INDEX ix_agents_open ON agents (id) WHERE ended_at IS NULL"
_CHATS = "CREATE INDEX ix_agents_chats ON agents (id) WHERE step_id IS NULL"
_OLD = ("pipelines", ["status", "worker_id"])
_REMOVE = """
INSERT INTO pipelines_text (pipelines_text, rowid, title, prompt)
VALUES ('delete', old.id, old.title, old.prompt);
"""
_ADD = "INSERT INTO pipelines_text (rowid, title, prompt) VALUES (new.id, new.title, new.prompt);"
_TRIGGERS = {
    "insert": f"AFTER INSERT ON pipelines BEGIN {_ADD} END",
    "delete": f"AFTER DELETE ON pipelines BEGIN {_REMOVE} END",
    "update": f"AFTER UPDATE OF id, title, prompt ON pipelines BEGIN {_REMOVE} {_ADD} END",
}
_TEXT_TABLE = """
CREATE VIRTUAL TABLE pipelines_text
USING fts5 (title, prompt, content='pipelines', content_rowid='id', tokenize='trigram')
"""
"""On SQLite: every three letters of a text, so that a word is found wherever it stands."""
_TEXT_INDEX = """
CREATE INDEX ix_pipelines_text ON pipelines USING gin (lower(title) gin_trgm_ops, lower(prompt) gin_trgm_ops)
"""
"""The same on PostgreSQL."""


def upgrade() -> None:
    """Go one step forward."""
    for table, names in _INDEXES:
        op.create_index(_name(table, names), table, names)
    op.execute(_OPEN)
    op.execute(_CHATS)
    op.drop_index(_name(*_OLD), _OLD[0])
    connection = op.get_bind()
    if connection.dialect.name == "sqlite":
        op.execute(_TEXT_TABLE)
        op.execute("INSERT INTO pipelines_text (pipelines_text) VALUES ('rebuild')")
        for name, trigger in _TRIGGERS.items():
            op.execute(f"CREATE TRIGGER pipelines_text_{name} {trigger}")
        return
    try:
        with connection.begin_nested():
            connection.execute(text("CREATE EXTENSION IF NOT EXISTS pg_trgm"))
            connection.execute(text(_TEXT_INDEX))
    except DBAPIError:
        pass  # a server without this extension, or a user who may not add it: a search reads every pipeline


def downgrade() -> None:
    """Go one step back."""
    op.create_index(_name(*_OLD), *_OLD)
    if op.get_bind().dialect.name == "sqlite":
        for name in _TRIGGERS:
            op.execute(f"DROP TRIGGER pipelines_text_{name}")
        op.execute("DROP TABLE pipelines_text")
    else:
        op.execute("DROP INDEX IF EXISTS ix_pipelines_text")
    op.execute("DROP INDEX ix_agents_open")
    op.execute("DROP INDEX ix_agents_chats")
    for table, names in _INDEXES:
        op.drop_index(_name(table, names), table)


def _name(table: str, names: list[str]) -> str:
    return f"ix_{table}_{'_'.join(names)}"
