"""A turn that a person holds: while the agent is at their message it can be stopped, and it ends whole."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Generic, TypeVar

from segue.application.conversations.timeouts import uninterrupted
from segue.domain.errors import TurnStopped

T = TypeVar("T")


class HeldTurn(Generic[T]):
    """What the agent is at, and what ends it if that is cancelled."""

    def __init__(self, act: Coroutine[Any, Any, T], end: Callable[[], Coroutine[Any, Any, None]]) -> None:
        self._task = asyncio.create_task(act)
        self._end = end
        self._is_over = asyncio.Event()

    async def result(self) -> T:
        """What comes of it; `TurnStopped` if somebody else stopped it.

        It is ended here, not by itself: one that is cancelled before its first step runs no line of its own.
        """
        try:
            return await self._task
        except asyncio.CancelledError:
            if self._task.cancelled():
                await uninterrupted(self._end())
            waiting = asyncio.current_task()
            if waiting is not None and waiting.cancelling():
                raise
            raise TurnStopped("it was stopped before it had answered") from None
        finally:
            self._is_over.set()

    async def stop(self) -> bool:
        """Stop it, and wait until that is written down; false if it was done by then."""
        self._task.cancel()
        await self._is_over.wait()
        return self._task.cancelled()
