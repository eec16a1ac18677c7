"""The engine of several machines, on DBOS and PostgreSQL: one queue from which hosts take pipelines.

Our own records are the truth. An offer, the right to take the next lease of a pipeline that nobody owns, is
a workflow with the id `pipeline-<id>-<lease number>-<created>`, so any number of hosts that offer it make
one, and one host takes it. The workflow runs here as a task like any other and records no steps: when it is
cut off, nobody replays it. The records say that the pipeline is free then, under a new number.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Coroutine, Iterable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import structlog

from segue.adapters.engine.local_engine import LocalEngine
from segue.application.ports.engine import Run, WorkerPolicy
from segue.domain.errors import StorageError
from segue.domain.pipeline import Lease, Offer

if TYPE_CHECKING:
    from dbos import DBOS, Queue, WorkflowStatus

    from segue.adapters.engine.connections import EngineConnections

log = structlog.get_logger()
T = TypeVar("T")

_QUEUE = "pipelines"
_POLL_SECONDS = 0.1
_TIDY_SECONDS, _LOOK_SECONDS = 1.0, 10.0
_STOP_SECONDS = 20.0
"""How long the engine waits for what DBOS writes last, and then for its connections, when it is shut down."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_TAKEN = ["PENDING", "SUCCESS", "ERROR", "CANCELLED", "MAX_RECOVERY_ATTEMPTS_EXCEEDED"]
"""The states of workflows that a worker has taken from the queue."""

APPLICATION_VERSION = "2"
"""Changed when the workflow has another name or other arguments: workers of other versions leave it alone."""


class DbosEngine:
    """Takes pipelines from the queue and runs them as tasks. DBOS allows one instance a process."""

    def __init__(self, *, database_url: str) -> None:
        self._database_url = database_url
        self._local = LocalEngine()
        self._worker_id = ""
        self._policy: WorkerPolicy
        self._loop: asyncio.AbstractEventLoop
        self._connections: EngineConnections
        self._workflow: Callable[[int, int, int], Coroutine[Any, Any, None]]
        self._dbos: DBOS
        self._queue: Queue
        self._active: set[str] = set()
        """The workflows that are under way here."""
        self._has_ended = asyncio.Event()
        self._tidying: asyncio.Task[None] | None = None
        self._is_ending = False

    async def launch(
        self, worker_id: str, run: Run, policy: WorkerPolicy, on_end: Callable[[], None]
    ) -> None:
        self._worker_id, self._policy, self._loop = worker_id, policy, asyncio.get_running_loop()
        await self._local.launch(worker_id, run, policy, on_end)
        logging.getLogger("dbos").setLevel(logging.CRITICAL)  # what breaks here, we tell in a line
        await asyncio.to_thread(self._launch)
        self._tidying = asyncio.create_task(self._tidy_forever(), name="segue-engine-tidy")

    def _launch(self) -> None:
        from dbos import DBOS
        from sqlalchemy.exc import DBAPIError

        from segue.adapters.engine.connections import EngineConnections

        self._connections = EngineConnections(self._database_url)
        try:
            self._dbos = DBOS(
                config={
                    "name": "segue",
                    "system_database_url": self._database_url,
                    "system_database_engine": self._connections.engine,
                    "application_version": APPLICATION_VERSION,
                    "executor_id": self._worker_id,
                    "enable_otlp": False,
                    "use_listen_notify": False,  # nothing waits inside DBOS, and its listener leaks
                    # The listener that takes its place asks nothing either, but its nap holds up every end.
                    "notification_listener_polling_interval_sec": 0.1,
                    "log_level": "CRITICAL",
                }
            )
            self._workflow = DBOS.workflow(name="segue.run")(self._body())
            DBOS.listen_queues([_QUEUE])
            DBOS.launch()
            # Kept in its tables: with several workers, the limits of the one that started last count for all.
            self._queue = DBOS.register_queue(
                _QUEUE,
                worker_concurrency=self._worker_concurrency(),
                global_concurrency=self._policy.overall,
                polling_interval_sec=_POLL_SECONDS,
                on_conflict="always_update",
            )
        except DBAPIError as error:
            self._destroy()
            raise StorageError(f"cannot open the engine's database: {error.orig}") from error
        except StorageError:
            self._destroy()
            raise

    def _worker_concurrency(self) -> int:
        overall = self._policy.overall
        return self._policy.room if overall is None else min(self._policy.room, overall)

    def _body(self) -> Callable[[int, int, int], Coroutine[Any, Any, None]]:
        async def run(pipeline_id: int, number: int, created: int) -> None:
            offer = Offer(pipeline_id, number, _EPOCH + created * _MICROSECOND)
            # DBOS calls this on a loop of its own.
            await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(self._run(offer), self._loop))

        return run

    async def _run(self, offer: Offer) -> None:
        self._active.add(name := _name_of(offer))
        try:
            if not self._is_ending:
                await self._local.run_in_turn(offer)
        finally:
            self._active.discard(name)
            self._has_ended.set()

    async def drain(self) -> None:
        await self._local.drain()
        self._take_nothing_more()

    def _take_nothing_more(self) -> None:
        for event in self._dbos.background_thread_stop_events:
            event.set()

    def running(self) -> Collection[Lease]:
        return self._local.running()

    async def start(self, given: Offer | Lease) -> None:
        await self._local.start(given)

    async def stop(self, lease: Lease) -> None:
        await self._local.stop(lease)

    async def enqueue(self, offer: Offer) -> bool:
        from dbos import SetWorkflowID

        def enqueue() -> None:
            with SetWorkflowID(_name_of(offer)):
                self._queue.enqueue(self._workflow, offer.pipeline_id, offer.number, _created(offer))

        await self._ask(enqueue)
        return True

    async def executors(self) -> Collection[str]:
        found = await self._ask(_taken_by)
        return {each.executor_id for each in found if each.executor_id}

    async def forget(self, worker_id: str) -> None:
        await self._ask(lambda: _delete(each.workflow_id for each in _taken_by(worker_id)))

    async def _tidy_forever(self) -> None:
        """Delete what has ended here, our own records tell it all; and what was taken, but never begun."""
        stranded: set[str] = set()
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(_LOOK_SECONDS):
                    await self._has_ended.wait()
            await asyncio.sleep(_TIDY_SECONDS)  # many at once; and DBOS writes down the end after us
            self._has_ended.clear()
            try:
                found = await self._ask(lambda: _taken_by(self._worker_id))
                pending = {each.workflow_id for each in found if each.status == "PENDING"}
                ended = {each.workflow_id for each in found} - pending
                idle = pending - self._active
                await self._ask(partial(_delete, ended | (idle & stranded)))
                stranded = idle
            except StorageError as error:
                log.warning("engine_not_tidied", error=str(error))

    async def _ask(self, act: Callable[[], T]) -> T:
        """Use DBOS in a thread of ours: its asynchronous functions would replace the threads of the loop."""
        from sqlalchemy.exc import DBAPIError

        try:
            return await asyncio.to_thread(act)
        except DBAPIError as error:
            reason = " ".join(str(error.orig).split())
            raise StorageError(f"cannot use the engine's database: {reason}") from error

    async def shutdown(self) -> None:
        self._is_ending = True
        await self._local.shutdown()
        if self._tidying is not None:
            self._tidying.cancel()
            await asyncio.wait({self._tidying})
            try:
                await self._forget_all()
            except StorageError as error:
                log.warning("engine_not_tidied", error=str(error))
        await asyncio.to_thread(self._destroy)

    async def _forget_all(self) -> None:
        """Take nothing more, and delete what was taken here, once DBOS has written down the end of it."""
        self._take_nothing_more()
        deadline = self._loop.time() + _STOP_SECONDS
        is_ended = False
        while not is_ended and self._loop.time() < deadline:
            await asyncio.sleep(_POLL_SECONDS)  # it may be taking something this moment
            found = await self._ask(lambda: _taken_by(self._worker_id))
            is_ended = all(each.status != "PENDING" for each in found)
        await self.forget(self._worker_id)

    def _destroy(self) -> None:
        """End DBOS and take back what it did to logging, so that this process could start it anew."""
        from dbos import DBOS

        DBOS.destroy(destroy_registry=True)
        logging.getLogger("dbos").handlers.clear()
        self._connections.close(_STOP_SECONDS)


def _created(offer: Offer) -> int:
    return (offer.created_at - _EPOCH) // _MICROSECOND


def _name_of(offer: Offer) -> str:
    """Records that were put back may count leases anew, so it says when the pipeline was made."""
    return f"pipeline-{offer.pipeline_id}-{offer.number}-{_created(offer)}"


def _taken_by(worker_id: str | None = None) -> list[WorkflowStatus]:
    """What a worker took from the queue; none for any worker."""
    from dbos import DBOS

    return DBOS.list_workflows(executor_id=worker_id, status=_TAKEN, load_input=False, load_output=False)


def _delete(names: Iterable[str]) -> None:
    from dbos import DBOS

    if found := list(names):
        DBOS.delete_workflows(found)
