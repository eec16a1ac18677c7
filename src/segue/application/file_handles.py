"""The file handles of this process: when none is left, that is waited out and reported, and fails nothing."""

from __future__ import annotations

import asyncio
import errno
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

import structlog

log = structlog.get_logger()
T = TypeVar("T")

PAUSE_SECONDS = 0.5
_GIVE_UP_SECONDS = 60.0
"""How long one thing is tried again by itself; after that, the whole move is repeated."""
_RECENT_SECONDS = 60.0
_TOLD_EVERY_SECONDS = 10.0
_NONE_LEFT = (errno.EMFILE, errno.ENFILE)


class _Shortage:
    """When handles ran out last. One for the process, as the handles are."""

    def __init__(self) -> None:
        self.seen_at: float | None = None
        self.told_at: float | None = None


_shortage = _Shortage()


def is_shortage(error: BaseException) -> bool:
    """True if this failed, by itself or by its cause, because no file handle was left."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, OSError) and cause.errno in _NONE_LEFT:
            return True
        cause = cause.__cause__
    return False


def report_shortage(error: BaseException) -> None:
    """Log it, at most every few seconds, and let `recent_shortage` tell of it for a while."""
    now = time.monotonic()
    _shortage.seen_at = now
    if _shortage.told_at is None or now - _shortage.told_at > _TOLD_EVERY_SECONDS:
        _shortage.told_at = now
        log.warning("file_handles_exhausted", error=str(error), hint="raise the limit: ulimit -n")


def recent_shortage() -> str | None:
    """What to tell a person if handles ran out within the last minute; else none."""
    if _shortage.seen_at is None or time.monotonic() - _shortage.seen_at > _RECENT_SECONDS:
        return None
    return "file handles ran out within the last minute; work waits and continues. Raise the limit: ulimit -n"


async def wait_out(error: BaseException) -> None:
    """Report a shortage and pause, so that the caller can try again; any other error is raised again."""
    if not is_shortage(error):
        raise error
    report_shortage(error)
    await asyncio.sleep(PAUSE_SECONDS)


async def retry_without_handles(act: Callable[[], Awaitable[T]]) -> T:
    """Do something that needs file handles; tried again for a minute while none is left.

    It is repeated as a whole, so it must be safe to repeat.
    """
    end = time.monotonic() + _GIVE_UP_SECONDS
    while True:
        try:
            return await act()
        except OSError as error:
            if time.monotonic() > end:
                raise
            await wait_out(error)
