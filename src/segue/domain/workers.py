"""Workers: processes that move pipelines on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class Worker:
    """A process that moves pipelines on."""

    id: str
    host: str
    """Machine and process space; two workers with the same host can see each other's processes."""
    pid: int
    process_started_at: float
    """Tells this process from a later one with the same pid."""
    heartbeat_at: datetime
    home: str | None = None
    """Its data folder, where several machines share the records."""


IsGone = Callable[[Worker, datetime], bool]
"""Tells whether a worker is dead or silent, at a time of the clock that its heartbeat was written by."""
