"""Audit trails to alter."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from segue.adapters.storage.database import SqlStore
from segue.adapters.storage.queries import SqlRows
from segue.domain.audit import AuditKind

BEGAN = datetime(2026, 5, 4, 12, 0, 0, 123, tzinfo=UTC)
CHAINS = (0, 1, 2, 3)


async def add_entries(store: SqlStore, count: int = 40) -> None:
    """Entries of several chains, as runs at the same time write them."""
    for number in range(count):

        def add(rows: SqlRows, number: int = number) -> None:
            chain = CHAINS[number * 7 % 11 % len(CHAINS)]
            rows.audit(
                AuditKind.STEP_DONE if number % 3 else AuditKind.MESSAGE_SENT,
                BEGAN + timedelta(seconds=number),
                who=("segue", "token:ci", None)[number % 3],
                pipeline_id=chain or None,
                step_id=number if chain else None,
                number=number,
                text='Größe \U0001f600 \x00 "quoted"',
                share=number / 3,
            )

        await store.write(add)
