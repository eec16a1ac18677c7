"""Reads of what is left of pipelines that ended long ago."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from datetime import datetime
from typing import TypeVar

from segue.adapters.storage.gateway import ReadConnection
from segue.application.ports.views import LeftOfPipeline
from segue.domain.pipeline import PipelineStatus

T = TypeVar("T")


class RetentionReading(ABC):
    """Reads of what could be cleaned up."""

    @abstractmethod
    async def _read(self, act: Callable[[ReadConnection], T]) -> T: ...

    async def left_of_pipelines(self, ended_before: datetime) -> list[LeftOfPipeline]:
        """What is left of pipelines that ended before a moment, oldest first."""
        return await self._read(lambda rows: _left(rows, ended_before))


def _left(rows: ReadConnection, ended_before: datetime) -> list[LeftOfPipeline]:
    documents: dict[int, list[str]] = {}
    for row in rows.all(_DOCUMENTS, at=ended_before):
        documents.setdefault(row["pipeline_id"], []).append(row["file_path"])
    return [
        LeftOfPipeline(
            id=row["id"],
            title=row["title"],
            activity=row["activity"],
            has_workspace=row["workspace_json"] is not None,
            documents=tuple(documents.get(row["id"], ())),
        )
        for row in rows.all(_ENDED, at=ended_before)
    ]


_FINAL = ", ".join(f"'{status}'" for status in PipelineStatus if status.is_final)
_ENDED = f"""
SELECT p.id, p.title, p.workspace_json,
    (SELECT count(*) FROM activity a WHERE a.pipeline_id = p.id) AS activity
FROM pipelines p WHERE p.status IN ({_FINAL}) AND p.updated_at < :at ORDER BY p.id
"""
_DOCUMENTS = f"""
SELECT s.pipeline_id, h.file_path FROM handoffs h
JOIN steps s ON s.id = h.step_id JOIN pipelines p ON p.id = s.pipeline_id
WHERE p.status IN ({_FINAL}) AND p.updated_at < :at AND h.file_path IS NOT NULL ORDER BY h.id
"""
