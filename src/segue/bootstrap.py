"""Joins the parts: settings -> adapters -> Segue. The only place that knows them all."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from segue.application.app import Segue
from segue.application.backends import AgentBackend
from segue.application.briefings import Briefer
from segue.application.endings import Endings, Limits
from segue.application.pipelines import Pipelines
from segue.application.steps import StepMoves
from segue.application.workers import WorkerPolicy, Workers
from segue.domain.errors import StorageError
from segue.settings import Settings

if TYPE_CHECKING:
    from segue.adapters.catalog.yaml_catalog import YamlCatalog
    from segue.adapters.installs import Installer


class SystemClock:
    """The time of this machine."""

    def now(self) -> datetime:
        """The present moment, in UTC."""
        return datetime.now(UTC)


def open_catalog(settings: Settings) -> YamlCatalog:
    """The catalog alone, for commands that need nothing else."""
    from segue.adapters.backends import options_model
    from segue.adapters.catalog.yaml_catalog import YamlCatalog

    return YamlCatalog(
        user_dir=settings.config_dir,
        options_model=options_model,
        default_backend=settings.backend,
        default_options=settings.backend_options,
    )


def open_installer(settings: Settings, *, say: Callable[[str], None]) -> Installer:
    """What installs agent programs into Segue's own folder."""
    from segue.adapters.installs import Installer

    return Installer(settings.agents_dir, say=say)


@asynccontextmanager
async def open_segue(
    settings: Settings,
    *,
    policy: WorkerPolicy | None = None,
    backends: Mapping[str, AgentBackend] | None = None,
) -> AsyncIterator[Segue]:
    """Segue with its database open; it moves nothing on until `start` is called. Leaving it stops all."""
    from segue.adapters.backends import LoadedBackends
    from segue.adapters.engine.dbos_engine import DbosEngine
    from segue.adapters.event_feed import SharedFeed
    from segue.adapters.processes import LocalProcesses
    from segue.adapters.storage.database import open_database
    from segue.adapters.tokens import counter_for

    make_data_dir(settings)
    database = await open_database(settings.main_database_url)
    try:
        feed = SharedFeed(database.views)
        database.on_commit = feed.wake
        loaded = LoadedBackends(sessions_dir=settings.sessions_dir, given=backends)
        clock = SystemClock()
        limits = Limits(step_timeout=settings.step_timeout)
        endings = Endings(database=database, backends=loaded, clock=clock, limits=limits)
        briefer = Briefer(
            counter_for=counter_for, budget=settings.briefing_budget, notation=settings.handoff_notation
        )
        moves = StepMoves(endings=endings, briefer=briefer)
        workers = Workers(
            database=database,
            engine=DbosEngine(database_url=settings.engine_database_url),
            processes=LocalProcesses(),
            clock=clock,
            policy=policy or WorkerPolicy(room=settings.max_running),
        )
        catalog = open_catalog(settings)
        pipelines = Pipelines(database=database, catalog=catalog, workers=workers, moves=moves, clock=clock)
        segue = Segue(
            pipelines=pipelines,
            views=database.views,
            feed=feed,
            catalog=catalog,
            workers=workers,
            backends=loaded,
        )
        try:
            yield segue
        finally:
            await segue.stop()
    finally:
        await database.close()


def make_data_dir(settings: Settings) -> None:
    """The folder of the database and the sessions, for this user's eyes only."""
    try:
        settings.data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise StorageError(
            f"cannot make the data folder {settings.data_dir}: {error.strerror}. Set SEGUE_DATA_DIR to one "
            "that you can write"
        ) from error
