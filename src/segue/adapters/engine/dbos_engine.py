"""The engine of several machines, on DBOS and PostgreSQL: one workflow a lease; only ids pass through it.

Our own records are the truth. Each lease of a pipeline has a number, and its workflow has the id
`pipeline-<id>-<number>-<worker>`: DBOS starts it once, however often it is asked. After a crash the
pipeline is leased anew, under the next number, by the worker that found it ownerless, in the transaction
that takes it. DBOS's own recovery would put it in a queue that any process on the database may empty, even
a one-shot `segue run`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import structlog

from segue.application.ports.engine import Advance
from segue.domain.errors import StorageError
from segue.domain.pipeline import Lease

if TYPE_CHECKING:
    from segue.adapters.engine.store import EngineConnections

log = structlog.get_logger()

_STOP_SECONDS = 20.0
"""How long the engine waits for its workflows, and then for its connections, when it is shut down."""

APPLICATION_VERSION = "1"
"""Changed by hand when the order of moves inside a workflow changes, and only then."""


class DbosEngine:
    """Runs leases side by side in this process. DBOS allows one instance a process."""

    def __init__(self, *, database_url: str) -> None:
        self._database_url = database_url
        self._running: set[Lease] = set()
        self._turns: dict[Lease, asyncio.Task[bool]] = {}
        self._told_to_stop: set[Lease] = set()
        self._worker_id = ""
        self._advance: Advance
        self._on_end: Callable[[], None]
        self._workflow: Callable[[int, int], Coroutine[Any, Any, None]]
        self._stopping = False
        self._runs: set[asyncio.Task[None]] = set()
        self._store: EngineConnections

    async def launch(self, worker_id: str, advance: Advance, on_end: Callable[[], None]) -> None:
        """Start the engine."""
        self._worker_id, self._advance, self._on_end = worker_id, advance, on_end
        logging.getLogger("dbos").setLevel(logging.CRITICAL)  # what breaks a lease, we tell in a line
        await asyncio.to_thread(self._launch, worker_id)

    def _launch(self, worker_id: str) -> None:
        from dbos import DBOS
        from sqlalchemy.exc import DBAPIError

        from segue.adapters.engine.store import EngineConnections

        self._store = EngineConnections(self._database_url)
        try:
            DBOS(
                config={
                    "name": "segue",
                    "system_database_url": self._database_url,
                    "system_database_engine": self._store.engine,
                    "application_version": APPLICATION_VERSION,
                    "executor_id": worker_id,
                    "enable_otlp": False,
                    "use_listen_notify": False,  # nothing waits inside DBOS, and its listener leaks
                    # The listener that takes its place asks nothing either, but its nap holds up every end.
                    "notification_listener_polling_interval_sec": 0.1,
                    "log_level": "CRITICAL",
                }
            )
            self._register()
            DBOS.launch()
        except DBAPIError as error:
            self._destroy()
            raise StorageError(f"cannot open the engine's database: {error.orig}") from error
        except StorageError:
            self._destroy()
            raise

    def _register(self) -> None:
        from dbos import DBOS

        @DBOS.step(name="segue.turn")
        async def turn(pipeline_id: int, number: int) -> bool:
            return await self._take_turn(Lease(pipeline_id, number))

        @DBOS.workflow(name="segue.advance")
        async def advance(pipeline_id: int, number: int) -> None:
            while await turn(pipeline_id, number):
                pass

        self._workflow = advance

    async def _take_turn(self, lease: Lease) -> bool:
        if self._stopping:
            return False
        task = asyncio.ensure_future(self._advance(lease))
        self._turns[lease] = task
        try:
            await asyncio.wait({task})
            if task.cancelled():
                return False
            if error := task.exception():
                log.error("turn_broke", pipeline=lease.pipeline_id, exc_info=error)
                return False
            return task.result()
        finally:
            del self._turns[lease]
            self._told_to_stop.discard(lease)

    def running(self) -> Collection[Lease]:
        """The leases that are being moved on here."""
        return frozenset(self._running)

    async def start(self, lease: Lease) -> None:
        """Begin to move a lease on; a second start of the same lease does nothing."""
        if lease in self._running or self._stopping:
            return
        self._running.add(lease)
        begun: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        # A task of its own: who asked for it may be cut off, and the lease is ours nevertheless.
        run = asyncio.create_task(self._run(lease, begun))
        self._runs.add(run)
        run.add_done_callback(lambda _: self._ended(lease, run, begun))
        await begun

    async def _run(self, lease: Lease, begun: asyncio.Future[None]) -> None:
        from dbos import DBOS, SetWorkflowID
        from sqlalchemy.exc import DBAPIError

        # The worker's name is in it, since records that were put back may count leases anew.
        name = f"pipeline-{lease.pipeline_id}-{lease.number}-{self._worker_id}"
        try:
            with SetWorkflowID(name):
                workflow = await DBOS.start_workflow_async(self._workflow, lease.pipeline_id, lease.number)
            if not begun.done():
                begun.set_result(None)
            await workflow.get_result()
            await DBOS.delete_workflow_async(name)  # our own records tell it all
        except DBAPIError as error:
            reason = " ".join(str(error.orig).split())
            raise StorageError(f"cannot use the engine's database: {reason}") from error

    def _ended(self, lease: Lease, run: asyncio.Task[None], begun: asyncio.Future[None]) -> None:
        self._runs.discard(run)
        self._running.discard(lease)
        error = None if run.cancelled() else run.exception()
        if not begun.done():
            begun.set_exception(error or StorageError("the engine has ended"))
        elif isinstance(error, StorageError):  # no fault of ours; the pipeline is leased anew
            log.warning("workflow_lost_its_database", pipeline=lease.pipeline_id, error=str(error))
        elif error:
            log.error("workflow_broke", pipeline=lease.pipeline_id, exc_info=error)
        self._on_end()

    async def stop(self, lease: Lease) -> None:
        """Stop a lease here and wait until it has let go of its agent."""
        if task := self._turns.get(lease):
            # Once only: a second cancellation would interrupt the first one's cleaning up.
            if lease not in self._told_to_stop:
                self._told_to_stop.add(lease)
                task.cancel()
            await asyncio.wait({task})

    async def shutdown(self) -> None:
        """Stop everything that runs here; the records say how to continue."""
        self._stopping = True
        await asyncio.gather(*(self.stop(lease) for lease in list(self._turns)))
        if self._runs:
            _, unended = await asyncio.wait(self._runs, timeout=_STOP_SECONDS)
            for run in unended:
                run.cancel()
            if unended:
                log.warning("engine_not_idle", running=len(unended))
                await asyncio.wait(unended)
        # DBOS made its own threads the loop's default; they end with it, and others still need some.
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(thread_name_prefix="segue"))
        await asyncio.to_thread(self._destroy)

    def _destroy(self) -> None:
        """End DBOS and take back what it did to logging, so that this process could start it anew."""
        from dbos import DBOS

        DBOS.destroy(destroy_registry=True)
        logging.getLogger("dbos").handlers.clear()
        self._store.close(_STOP_SECONDS)
