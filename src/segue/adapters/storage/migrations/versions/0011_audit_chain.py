"""The audit trail is chained by hashes, says who did what, and outlives its pipelines."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa
from alembic import op

from segue.domain.audit_chain import GENESIS, ChainedEntry, canonical_json, hash_entry, write_moment

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

_PAGE = 1000
_ENTRIES = sa.table(
    "audit_events",
    sa.column("id", sa.Integer()),
    sa.column("pipeline_id", sa.Integer()),
    sa.column("step_id", sa.Integer()),
    sa.column("event_type", sa.String()),
    sa.column("payload_json", sa.Text()),
    sa.column("created_at", sa.DateTime(timezone=True)),
    sa.column("seq", sa.Integer()),
    sa.column("hash", sa.String()),
)


def upgrade() -> None:
    """Go one step forward."""
    op.add_column("audit_events", sa.Column("who", sa.Text(), nullable=True))
    op.add_column("audit_events", sa.Column("seq", sa.Integer(), nullable=True))
    op.add_column("audit_events", sa.Column("hash", sa.String(64), nullable=True))
    heads = op.create_table(
        "audit_heads",
        sa.Column("chain", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("head", sa.String(64), nullable=False),
        sa.PrimaryKeyConstraint("chain", name=op.f("pk_audit_heads")),
    )
    found = _chain(op.get_bind())
    if found:
        op.bulk_insert(
            heads, [{"chain": chain, "seq": seq, "head": head} for chain, (seq, head) in found.items()]
        )
    # Nothing points to this table, so SQLite may make it anew.
    with op.batch_alter_table("audit_events", table_kwargs={"sqlite_autoincrement": True}) as batch:
        batch.alter_column("seq", existing_type=sa.Integer(), nullable=False)
        batch.alter_column("hash", existing_type=sa.String(64), nullable=False)
        batch.drop_constraint(op.f("fk_audit_events_pipeline_id"), type_="foreignkey")
        batch.drop_constraint(op.f("fk_audit_events_step_id"), type_="foreignkey")


def _chain(connection: sa.Connection) -> dict[int, tuple[int, str]]:
    """Give every entry its place in its chain; gives the heads."""
    heads: dict[int, tuple[int, str]] = {}
    last = 0
    query = sa.select(_ENTRIES).order_by(_ENTRIES.c.id).limit(_PAGE)
    while page := connection.execute(query.where(_ENTRIES.c.id > last)).all():
        for row in page:
            chain = row.pipeline_id or 0
            seq, previous = heads.get(chain, (0, GENESIS))
            payload = None if row.payload_json is None else json.loads(row.payload_json)
            entry = _entry(row, chain, seq + 1, payload)
            entry = replace(entry, hash=hash_entry(entry, previous))
            connection.execute(
                _ENTRIES.update()
                .where(_ENTRIES.c.id == row.id)
                .values(
                    seq=entry.seq,
                    hash=entry.hash,
                    payload_json=None if payload is None else canonical_json(payload),
                )
            )
            heads[chain] = (entry.seq, entry.hash)
        last = page[-1].id
    return heads


def _entry(row: Any, chain: int, seq: int, payload: Any) -> ChainedEntry:
    moment: datetime = row.created_at
    return ChainedEntry(
        chain=chain,
        seq=seq,
        kind=row.event_type,
        step=row.step_id,
        who=None,
        created_at=write_moment(moment if moment.tzinfo else moment.replace(tzinfo=UTC)),
        payload=payload,
        hash="",
    )


def downgrade() -> None:
    """Go one step back; what belongs to pipelines that are gone goes with it."""
    op.drop_table("audit_heads")
    for column, table in (("pipeline_id", "pipelines"), ("step_id", "steps")):
        op.execute(
            f"DELETE FROM audit_events WHERE {column} IS NOT NULL "
            f"AND {column} NOT IN (SELECT id FROM {table})"
        )
    with op.batch_alter_table("audit_events", table_kwargs={"sqlite_autoincrement": True}) as batch:
        batch.drop_column("hash")
        batch.drop_column("seq")
        batch.drop_column("who")
        batch.create_foreign_key(
            op.f("fk_audit_events_pipeline_id"), "pipelines", ["pipeline_id"], ["id"], ondelete="CASCADE"
        )
        batch.create_foreign_key(
            op.f("fk_audit_events_step_id"), "steps", ["step_id"], ["id"], ondelete="CASCADE"
        )
