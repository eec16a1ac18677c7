"""The durable motor, on DBOS: one workflow a lease, one checkpoint a step, ids alone pass through it.

Our own records are the truth. A lease is a segment of a pipeline's run, and its workflow has the id
`pipeline-<id>-<segment>-<worker>`: DBOS starts it once, whoever asks. After a crash the pipeline is leased
anew, as the next segment, by the worker that found it ownerless, in the transaction that takes it. DBOS's own
recovery would put it in a queue that any process on the database may empty, a one-shot `segue run` too.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Collection, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import structlog

from segue.adapters.wal import use_wal
from segue.application.ports import Advance
from segue.domain.errors import StorageError
from segue.domain.pipeline import Lease

if TYPE_CHECKING:
    import sqlalchemy as sa
    from dbos import WorkflowHandleAsync

log = structlog.get_logger()

_STOP_SECONDS = 20.0
"""How long the motor waits for its workflows, and then for its threads, when it is shut down."""

_DBOS_THREADS = "dbos-executor-"

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
        self._ends: set[asyncio.Task[None]] = set()
        self._store: sa.Engine

    async def launch(self, worker_id: str, advance: Advance, on_end: Callable[[], None]) -> None:
        """Start the motor."""
        self._worker_id, self._advance, self._on_end = worker_id, advance, on_end
        logging.getLogger("dbos").setLevel(logging.CRITICAL)  # what it would tell, it raises too
        await asyncio.to_thread(self._launch, worker_id)

    def _launch(self, worker_id: str) -> None:
        from dbos import DBOS
        from sqlalchemy.exc import DBAPIError

        self._store = _create_store(self._database_url)
        try:
            DBOS(
                config={
                    "name": "segue",
                    "system_database_url": self._database_url,
                    "system_database_engine": self._store,
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

    def _register(self) -> None:
        from dbos import DBOS

        @DBOS.step(name="segue.turn")
        async def turn(pipeline_id: int, segment: int) -> bool:
            return await self._take_turn(Lease(pipeline_id, segment))

        @DBOS.workflow(name="segue.advance")
        async def advance(pipeline_id: int, segment: int) -> None:
            while await turn(pipeline_id, segment):
                pass

        self._workflow = advance

    def _ended(self, lease: Lease, end: asyncio.Task[None] | None = None) -> None:
        if end:
            self._ends.discard(end)
            if not end.cancelled() and (error := end.exception()):
                _tell(error, lease)
        self._running.discard(lease)
        self._on_end()

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
        from dbos import DBOS, SetWorkflowID
        from sqlalchemy.exc import DBAPIError

        self._running.add(lease)
        try:
            # The worker's name is in it, since records that were put back may count segments anew.
            with SetWorkflowID(f"pipeline-{lease.pipeline_id}-{lease.segment}-{self._worker_id}"):
                workflow = await DBOS.start_workflow_async(self._workflow, lease.pipeline_id, lease.segment)
        except DBAPIError as error:
            self._ended(lease)
            raise StorageError(f"cannot use the engine's database: {error.orig}") from error
        except BaseException:
            self._ended(lease)
            raise
        end = asyncio.create_task(_see_out(workflow))
        self._ends.add(end)
        end.add_done_callback(lambda end: self._ended(lease, end))

    async def stop(self, lease: Lease) -> None:
        """Stop a lease here and wait until it has let go of its agent."""
        if task := self._turns.get(lease):
            # Once only: a second cancellation would interrupt the first one's cleaning up.
            if lease not in self._told_to_stop:
                self._told_to_stop.add(lease)
                task.cancel()
            await asyncio.wait({task})

    async def shutdown(self) -> None:
        """Stop everything that runs here; the records say how to go on."""
        self._stopping = True
        await asyncio.gather(*(self.stop(lease) for lease in list(self._turns)))
        if self._ends:
            _, unended = await asyncio.wait(self._ends, timeout=_STOP_SECONDS)
            if unended:
                log.warning("engine_not_idle", running=len(unended))
        # DBOS made its own threads the loop's default; they end with it, and others still need some.
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(thread_name_prefix="segue"))
        await asyncio.to_thread(self._destroy)

    def _destroy(self) -> None:
        """End DBOS and take back what it did to logging, so that this process could start it anew."""
        from dbos import DBOS

        DBOS.destroy(destroy_registry=True)
        logging.getLogger("dbos").handlers.clear()
        # DBOS does not wait for its threads: one that a cancelled start left behind still writes.
        deadline = time.monotonic() + _STOP_SECONDS
        for thread in threading.enumerate():
            if thread.name.startswith(_DBOS_THREADS):
                thread.join(max(0.0, deadline - time.monotonic()))
        self._store.dispose()


async def _see_out(workflow: WorkflowHandleAsync[None]) -> None:
    """Wait until DBOS has written down that it ended, and drop what it wrote: our own records tell it all."""
    from dbos import DBOS

    try:
        await workflow.get_result()
    finally:
        await DBOS.delete_workflow_async(workflow.get_workflow_id())


def _tell(error: BaseException, lease: Lease) -> None:
    """A lease ended badly: its pipeline is leased anew. That its database was gone is no fault of ours."""
    from sqlalchemy.exc import DBAPIError

    if isinstance(error, DBAPIError):
        reason = " ".join(str(error.orig).split())
        log.warning("workflow_lost_its_database", pipeline=lease.pipeline_id, error=reason)
    else:
        log.error("workflow_broke", pipeline=lease.pipeline_id, exc_info=error)


def _create_store(url: str) -> sa.Engine:
    """Our own, for DBOS disposes of its own one while its threads still hold connections of it."""
    import sqlalchemy as sa

    if url.startswith("sqlite"):
        engine = sa.create_engine(url)
        use_wal(str(engine.url.database))  # DBOS's default is not, and takes three times as long
        settings = [
            f"PRAGMA {pragma}" for pragma in ("busy_timeout=30000", "synchronous=NORMAL", "foreign_keys=ON")
        ]
    else:
        engine = sa.create_engine(
            sa.make_url(url).set(drivername="postgresql+psycopg"),
            connect_args={"application_name": "segue-engine", "connect_timeout": 10},
            pool_pre_ping=True,
            pool_size=20,
            max_overflow=0,
        )
        settings = ["SET idle_in_transaction_session_timeout = '60s'"]

    @sa.event.listens_for(engine, "connect")
    def prepare(connection: Any, _record: object) -> None:
        for setting in settings:
            connection.execute(setting)
        connection.commit()
        if engine.dialect.name == "sqlite":
            connection.isolation_level = "IMMEDIATE"

    return engine
