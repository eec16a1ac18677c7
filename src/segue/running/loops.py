"""What an open Segue takes of the program around it, and gives back: threads of the loop, the log."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from weakref import WeakKeyDictionary

import structlog

_EXECUTOR = "_default_executor"
"""Where the loops of asyncio keep their threads; there is no public way to read it."""
_THREADS_SECONDS = 5.0


class _Borrowed:
    """A loop whose threads are Segue's for a while."""

    def __init__(self, former: Executor | None) -> None:
        self.former = former
        self.open = 0


_borrowed: WeakKeyDictionary[asyncio.AbstractEventLoop, _Borrowed] = WeakKeyDictionary()


@asynccontextmanager
async def borrow_loop() -> AsyncIterator[None]:
    """The engine gives the running loop threads of its own; the last one to leave gives it back its own."""
    loop = asyncio.get_running_loop()
    borrowed = _borrowed.setdefault(loop, _Borrowed(getattr(loop, _EXECUTOR, None)))
    borrowed.open += 1
    try:
        yield
    finally:
        borrowed.open -= 1
        if not borrowed.open:
            del _borrowed[loop]
            await _give_back(loop, borrowed.former)


async def _give_back(loop: asyncio.AbstractEventLoop, former: Executor | None) -> None:
    ours: Executor | None = getattr(loop, _EXECUTOR, None)
    if ours is former:
        return
    if hasattr(loop, _EXECUTOR):
        setattr(loop, _EXECUTOR, former)
    else:  # a loop that keeps its threads elsewhere makes new ones
        loop.set_default_executor(ThreadPoolExecutor())
    if ours is not None:
        # Idle threads end at once. One that a check of the program's own holds cannot be ended.
        with suppress(TimeoutError):
            async with asyncio.timeout(_THREADS_SECONDS):
                await asyncio.to_thread(ours.shutdown)


def log_as_libraries_do() -> None:
    """Log events go to the loggers below `segue` of `logging`, unless the program configured structlog."""
    logging.getLogger("segue").addHandler(logging.NullHandler())
    if structlog.is_configured():
        return
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            structlog.contextvars.merge_contextvars,
            structlog.processors.KeyValueRenderer(key_order=["event"]),
        ],
        wrapper_class=structlog.stdlib.BoundLogger,
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=False,
    )
