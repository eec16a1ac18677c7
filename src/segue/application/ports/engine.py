"""The port to the engine: what runs pipelines side by side, here and on other hosts."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from typing import Protocol

from segue.domain.pipeline import Lease, Offer


@dataclass(frozen=True, kw_only=True, slots=True)
class WorkerPolicy:
    """What this worker does."""

    hosting: bool = True
    """True to take up pipelines of others: those that wait, and those whose worker died."""
    room: int = 20
    """How many pipelines it runs at once."""
    overall: int | None = None
    """How many all workers together may run when a host takes up another one; none for no limit."""
    beat_seconds: float = 1.0
    """How often it says that it lives and looks for orders."""


Run = Callable[[Offer | Lease], Awaitable[None]]
"""Brings a pipeline to its end, or to where it waits; takes the lease of an offer first."""


class Engine(Protocol):
    """The engine: runs each lease once, side by side, and can stop any of them.

    It remembers nothing that counts: what was offered and is not run is offered again.
    """

    async def launch(
        self, worker_id: str, run: Run, policy: WorkerPolicy, on_end: Callable[[], None]
    ) -> None:
        """Start the engine; `on_end` is called whenever something has come to its end here."""
        ...

    async def enqueue(self, offer: Offer) -> bool:
        """Let a host run it; the same offer again does nothing. False if no place can take it now."""
        ...

    async def start(self, given: Offer | Lease) -> None:
        """Run it here, at once; a second start does nothing."""
        ...

    async def drain(self) -> None:
        """Take no more offers; what runs here runs on."""
        ...

    def running(self) -> Collection[Lease]:
        """What runs in this process; an offer counts as the lease that it becomes."""
        ...

    async def stop(self, lease: Lease) -> None:
        """Stop a lease here and wait until it has released its agent."""
        ...

    async def executors(self) -> Collection[str]:
        """The workers that left something in the engine's tables."""
        ...

    async def forget(self, worker_id: str) -> None:
        """Delete what a dead worker left in the engine's tables."""
        ...

    async def shutdown(self) -> None:
        """Stop everything that runs here; the records say how to continue."""
        ...
