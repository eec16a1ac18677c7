"""The engines that run pipelines: one for a single machine, one for many."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from segue.application.ports.engine import Engine


def open_engine(database_url: str | None, *, hosting: bool) -> Engine:
    """DBOS for a host on a PostgreSQL that several machines can share; else nothing that must be loaded."""
    if database_url is None or not hosting:
        from segue.adapters.engine.local_engine import LocalEngine

        return LocalEngine()
    from segue.adapters.engine.dbos_engine import DbosEngine

    return DbosEngine(database_url=database_url)
