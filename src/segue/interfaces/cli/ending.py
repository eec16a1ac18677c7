"""How a process that runs pipelines is asked to end: by Ctrl-C at once, by SIGTERM after a while."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from segue.application.segue import Segue


@asynccontextmanager
async def draining_on_sigterm(segue: Segue, seconds: float, end: Callable[[], None]) -> AsyncIterator[None]:
    """At SIGTERM take up nothing new, and call `end` when no step runs here any more or the time is over.

    A second SIGTERM does not wait. To be used inside of `on_interrupt(end)`, whose SIGTERM this takes over.
    """
    if signal.getsignal(signal.SIGTERM) is signal.SIG_IGN:
        yield
        return
    drained: asyncio.Task[None] | None = None

    async def drain() -> None:
        if running := len(segue.workers.engine.running()):
            typer.echo(
                f"ending: {running} running, each has up to {seconds:g} s to end its step; SIGTERM again "
                "does not wait",
                err=True,
            )
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await segue.workers.drain()
        end()

    def hear() -> None:
        nonlocal drained
        if drained is None:
            drained = asyncio.create_task(drain(), name="segue-drain")
        else:
            end()

    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, hear)
    try:
        yield
    finally:
        if drained is not None:
            drained.cancel()
            with suppress(asyncio.CancelledError):
                await drained


def say_what_is_left(segue: Segue) -> None:
    """How many pipelines are cut off here now."""
    if left := len(segue.workers.engine.running()):
        typer.echo(f"{left} unfinished: they continue when Segue starts again", err=True)
