"""/health: is Segue well, and what is it made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from fastapi import APIRouter, Request

from segue.application.file_handles import recent_shortage
from segue.interfaces.api.dependencies import SegueDep

router = APIRouter(tags=["health"])


@dataclass(frozen=True, kw_only=True, slots=True)
class Health:
    """How Segue is."""

    status: Literal["ok", "degraded"]
    version: str
    database: str
    """`ok`: it answered just now."""
    engine: str
    """`running`: pipelines are moved on."""
    running: int
    """How many pipelines are being moved on here."""
    backends: dict[str, str]
    """Back end -> `ready` (known) or `in use`."""
    catalog_problem: str | None
    """What is wrong with a catalog file now; the last good version serves meanwhile."""
    file_handles: str | None
    """Says so if file handles ran out within the last minute."""


@router.get("/health")
async def get_health(segue: SegueDep, request: Request) -> Health:
    """Whether Segue is well."""
    await segue.views.last_entry_id()
    problem, shortage = segue.catalog.problem("."), recent_shortage()
    return Health(
        status="ok" if problem is None and shortage is None and segue.workers.is_beating() else "degraded",
        version=request.app.state.version,
        database="ok",
        engine="running" if segue.workers.is_beating() else "stopped",
        running=len(segue.workers.engine.running()),
        backends=dict(segue.backends.states()),
        catalog_problem=problem,
        file_handles=shortage,
    )
