"""The port to the engine, which runs each lease."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from typing import Protocol

from segue.domain.pipeline import Lease


@dataclass(frozen=True, kw_only=True, slots=True)
class WorkerPolicy:
    """What this worker does."""

    hosting: bool = True
    """True to take up pipelines of others: those that wait, and those whose worker died."""
    room: int = 20
    """How many pipelines it runs at once."""
    beat_seconds: float = 1.0
    """How often it says that it lives and looks for orders."""


Advance = Callable[[Lease], Awaitable[bool]]
"""Moves a pipeline on by one step; true if there is more to do."""


class Engine(Protocol):
    """The engine: runs each lease once, side by side, and can stop any of them."""

    async def launch(self, worker_id: str, advance: Advance, on_end: Callable[[], None]) -> None:
        """Start the engine; `on_end` is called whenever a lease has come to its end."""
        ...

    def running(self) -> Collection[Lease]:
        """The leases that are being moved on in this process."""
        ...

    async def start(self, lease: Lease) -> None:
        """Begin to move a lease on; a second start of the same lease does nothing."""
        ...

    async def stop(self, lease: Lease) -> None:
        """Stop a lease here and wait until it has released its agent."""
        ...

    async def shutdown(self) -> None: ...
