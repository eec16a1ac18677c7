"""Time limits, a session that reached its limits, and what must finish although its caller is cancelled."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Coroutine
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeVar

import structlog

from segue.domain.errors import BackendUnavailable
from segue.domain.session import HandoffReason

T = TypeVar("T")
log = structlog.get_logger()


class LimitReached(Exception):
    """The session has used what it may, and has not answered."""

    def __init__(self, reason: HandoffReason) -> None:
        super().__init__(reason)
        self.reason = reason


async def within(seconds: float, act: Awaitable[T], otherwise: str) -> T:
    """What a back end gives; if it takes longer, that is a failure with a sentence."""
    try:
        async with asyncio.timeout(seconds):
            return await act
    except TimeoutError:
        raise BackendUnavailable(f"{otherwise} within {seconds:g} s") from None


async def uninterrupted(act: Coroutine[Any, Any, T]) -> T:
    """Finish something although the caller is cancelled; the cancellation is raised after it."""
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


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """How long and how often."""

    step_timeout: float = 600.0
    """Seconds a step may take unless its template or profile says otherwise."""
    open_timeout: float = 180.0
    """Seconds a back end may take to open a session or to take a message."""
    stop_timeout: float = 30.0
    """Seconds a back end may take to abort or close a session."""
    late_reply_timeout: float = 10.0
    """Seconds to fetch a reply after a restart, when the step's own time is over already."""
    lost_sessions: int = 3
    """After so many lost sessions in one go, the step fails."""

    def left_of(self, allowed: float, since: datetime, now: datetime, *, is_rejoined: bool) -> float:
        """Seconds until a reply must be there."""
        left = (since + timedelta(seconds=allowed) - now).total_seconds()
        # After a restart the reply may be there already: time to fetch it is given in any case.
        return max(min(left, allowed), self.late_reply_timeout) if is_rejoined else max(left, 0)
