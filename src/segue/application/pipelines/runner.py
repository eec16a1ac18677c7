"""Runs a lease of a pipeline, step by step: the engine's outermost move."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import structlog

from segue.application.conversations.registry import Conversations
from segue.application.file_handles import is_shortage, wait_out
from segue.application.pipelines.backend_places import BackendPlaces
from segue.application.pipelines.closing import StepCloser
from segue.application.pipelines.run import LeasedRun, load_run
from segue.application.pipelines.step import StepRunner
from segue.application.pipelines.transactions import complete_run
from segue.application.ports.store import Store
from segue.application.ports.world import Clock
from segue.domain.errors import (
    LeaseLost,
    SegueError,
    StorageError,
)
from segue.domain.pipeline import Lease, PipelineStatus

log = structlog.get_logger()

_STORAGE_RETRY_SECONDS = 1.0
_STORAGE_ATTEMPTS = 5


class PipelineRunner:
    """Brings a leased pipeline to its end, or leaves it to the next lease."""

    def __init__(  # noqa: PLR0913  # called in one place, which knows all of it
        self,
        *,
        store: Store,
        steps: StepRunner,
        closer: StepCloser,
        conversations: Conversations,
        clock: Clock,
        places: BackendPlaces,
        max_recoveries: int,
    ) -> None:
        self._store = store
        self._steps = steps
        self._closer = closer
        self._conversations = conversations
        self._clock = clock
        self._places = places
        self._max_recoveries = max_recoveries
        self._runs: dict[Lease, LeasedRun] = {}

    async def advance(self, lease: Lease) -> bool:
        """Run the next step of a pipeline; true if there may be another. The engine's outermost move."""
        has_more = False
        try:
            has_more = await self._try_turn(lease)
        except asyncio.CancelledError:
            self._runs.pop(lease, None)
            await _insist(lambda: self._stop(lease))
            raise
        except LeaseLost:
            await self._conversations.drop(lease)
        except Exception as error:
            log.exception("pipeline_broke", pipeline=lease.pipeline_id)
            broken = error
            await _insist(lambda: self._break(lease, broken))
        finally:
            self._conversations.forget(lease)
            if not has_more:
                self._runs.pop(lease, None)
        return has_more

    async def _try_turn(self, lease: Lease) -> bool:
        try:
            run = self._runs.get(lease)
            if run is None:
                run = self._runs[lease] = await self._load(lease)
            return await self._take_turn(run)
        except StorageError as error:
            # The records say where to continue, once they can be reached again.
            self._runs.pop(lease, None)
            log.warning("storage_failed", pipeline=lease.pipeline_id, error=str(error))
            await asyncio.sleep(_STORAGE_RETRY_SECONDS)
            return True
        except (SegueError, OSError) as error:
            self._runs.pop(lease, None)
            await wait_out(error)
            return True

    async def _load(self, lease: Lease) -> LeasedRun:
        return await self._store.read(lambda rows: load_run(rows, lease))

    async def _take_turn(self, run: LeasedRun) -> bool:
        if run.pipeline.status is not PipelineStatus.RUNNING:
            return False
        if run.pipeline.abort_reason is not None:
            await self._closer.abort(run)
        elif (step := run.pipeline.next_step()) is None:
            await self._finish(run)
        elif run.pipeline.recoveries > self._max_recoveries:
            await self._closer.fail(run, step.id, _gave_up(self._max_recoveries))
        else:
            async with self._places.of(run.pipeline, step):
                await self._steps.run(run, step.id)
        return run.pipeline.status is PipelineStatus.RUNNING

    async def _stop(self, lease: Lease) -> None:
        """The task is being stopped: because of an abort, a lost lease, or because Segue stops."""
        orders = await self._store.read(lambda rows: rows.orders([lease]))
        if lease not in orders:
            log.info("pipeline_paused", pipeline=lease.pipeline_id)
        elif orders[lease] is None:
            await self._conversations.drop(lease)
        else:
            await self._closer.abort(await self._load(lease))

    async def _finish(self, run: LeasedRun) -> None:
        """All steps are done, but the pipeline does not say so yet."""
        pipeline, done = run.pipeline, run.pipeline.complete(self._clock.now())
        run.pipeline = await self._store.write(lambda rows: complete_run(rows, run.lease, pipeline, done))

    async def _break(self, lease: Lease, error: Exception) -> None:
        run = await self._load(lease)
        step = run.pipeline.next_step()
        if step is not None and not run.pipeline.status.is_final:
            reason = f"Segue itself broke ({type(error).__name__}: {error}); the log has the details"
            await self._closer.fail(run, step.id, reason)


def _gave_up(times: int) -> str:
    return (
        f"it was taken up again {times} times, and each time Segue itself ended before the step did. Its log "
        "tells why; memory that ran out is a common reason. Then submit the pipeline again, or raise "
        "SEGUE_MAX_RECOVERIES"
    )


async def _insist(act: Callable[[], Awaitable[None]]) -> None:
    """Do what must be done although the database may be away for a while."""
    for _ in range(_STORAGE_ATTEMPTS):
        try:
            return await act()
        except (StorageError, OSError) as error:
            if not (isinstance(error, StorageError) or is_shortage(error)):
                raise
            log.warning("storage_failed", error=str(error))
            await asyncio.sleep(_STORAGE_RETRY_SECONDS)
    return await act()
