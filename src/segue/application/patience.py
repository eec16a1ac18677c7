"""Waiting for others: within a limit of time, or to the end whoever is cancelled meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Coroutine
from typing import Any, TypeVar

import structlog

from segue.domain.errors import BackendUnavailable

T = TypeVar("T")
log = structlog.get_logger()


async def within(seconds: float, act: Awaitable[T], otherwise: str) -> T:
    """What a back end gives; if it takes longer, that is a failure with a sentence."""
    try:
        async with asyncio.timeout(seconds):
            return await act
    except TimeoutError:
        raise BackendUnavailable(f"{otherwise} within {seconds:g} s") from None


async def unbroken(act: Coroutine[Any, Any, T]) -> T:
    """Bring something to its end, whoever is cancelled meanwhile; the cancellation comes after it."""
    task = asyncio.create_task(act)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        if not task.cancelled() and (failure := task.exception()) is not None:
            log.warning("cancelled_with_error", error=str(failure))
        raise cancelled
    return task.result()
