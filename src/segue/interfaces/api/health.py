"""/health: is Segue well, and what is it made of."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Literal

from fastapi import APIRouter, Request, Response
from starlette.datastructures import State

from segue.application.file_handles import recent_shortage
from segue.application.segue import Segue
from segue.domain.errors import StorageError
from segue.interfaces.api.dependencies import CallerIfAny, SegueDep, needs
from segue.interfaces.api.security import HEALTH

router = APIRouter(tags=["health"])


@dataclass(frozen=True, kw_only=True, slots=True)
class HealthStatus:
    """How Segue is: all that is told without a token."""

    status: Literal["ok", "degraded"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Health(HealthStatus):
    """How Segue is, and what it is made of."""

    version: str
    database: str
    """`ok`: it answered just now."""
    engine: str
    """`running`: pipelines are moved on. `draining`: nothing new is taken up. `elsewhere`: others do it."""
    running: int
    """How many pipelines are being moved on here."""
    backends: dict[str, str]
    """Back end -> `ready` (known) or `in use`."""
    catalog_problem: str | None
    """What is wrong with a catalog file now; the last good version serves meanwhile."""
    file_handles: str | None
    """Says so if file handles ran out within the last minute."""


@router.get(HEALTH, openapi_extra={"security": [{}]})
@needs(None)
async def get_health(
    segue: SegueDep, caller: CallerIfAny, request: Request, response: Response
) -> Health | HealthStatus:
    """Whether Segue is well; with a token, also whether the catalog is, and what Segue is made of."""
    try:
        health = await _look(segue, request.app.state, with_catalog=caller is not None)
    except StorageError:
        if caller is not None:
            raise
        response.status_code = 503
        return HealthStatus(status="degraded")
    return health if caller is not None else HealthStatus(status=health.status)


async def _look(segue: Segue, state: State, *, with_catalog: bool) -> Health:
    """Reading the catalog takes time: nobody without a token may ask for it."""
    await segue.views.last_entry_id()
    problem = await asyncio.to_thread(segue.catalog.problem, ".") if with_catalog else None
    shortage = recent_shortage()
    engine = _engine_of(segue, is_front=state.is_front)
    return Health(
        status="ok" if problem is None and shortage is None and engine != "stopped" else "degraded",
        version=state.version,
        database="ok",
        engine=engine,
        running=len(segue.workers.engine.running()),
        backends=dict(segue.backends.states()),
        catalog_problem=problem,
        file_handles=shortage,
    )


def _engine_of(segue: Segue, *, is_front: bool) -> str:
    if is_front:
        return "elsewhere"
    if not segue.workers.is_beating():
        return "stopped"
    return "draining" if segue.workers.is_draining() else "running"
