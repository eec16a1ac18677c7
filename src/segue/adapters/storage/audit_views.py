"""Reads of the audit trail: as a list, as chains, and whether it is whole."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from segue.adapters.storage.audit import read_chains
from segue.adapters.storage.codec import columns, decode, where
from segue.adapters.storage.gateway import ReadConnection
from segue.application.views import AuditFilter, AuditPage
from segue.domain.audit import AuditEntry
from segue.domain.audit_chain import AuditReport, ChainedEntry, ChainHead, find_alterations

T = TypeVar("T")


class AuditReading(ABC):
    """Reads of the audit trail; each sees one state of it."""

    @abstractmethod
    async def _read(self, act: Callable[[ReadConnection], T]) -> T: ...

    async def audit(self, criteria: AuditFilter) -> AuditPage:
        """Some entries, newest first."""
        chain = "t.pipeline_id = :pipeline_id"
        if criteria.pipeline_id == 0:
            chain = "t.pipeline_id IS NULL AND :pipeline_id = 0"
        chosen, given = where(
            (chain, "pipeline_id", criteria.pipeline_id),
            ("t.event_type = :kind", "kind", criteria.kind and str(criteria.kind)),
            ("t.created_at >= :since", "since", criteria.since),
            ("t.id < :before", "before", criteria.before),
        )
        sql = f"SELECT {columns(AuditEntry, 't')} FROM audit_events t {chosen} ORDER BY t.id DESC LIMIT :most"
        found = await self._read(lambda rows: rows.all(sql, **given, most=criteria.limit + 1))
        items = [decode(AuditEntry, row) for row in found[: criteria.limit]]
        return AuditPage(items=items, next_cursor=items[-1].id if len(found) > criteria.limit else None)

    async def read_audit(
        self, act: Callable[[Iterator[ChainedEntry | ChainHead]], T], *, pipeline_id: int | None = None
    ) -> T:
        """What `act` makes of the heads and entries of one chain, or of all."""
        return await self._read(lambda rows: act(read_chains(rows, pipeline_id)))

    async def verify_audit(
        self, *, pipeline_id: int | None = None, noted: Sequence[ChainHead] = ()
    ) -> AuditReport:
        """Whether one chain, or all, is whole, and continues the heads noted earlier."""
        return await self.read_audit(lambda found: find_alterations(found, noted), pipeline_id=pipeline_id)
