"""What a person types at a question, until the question is settled elsewhere."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from threading import Thread
from typing import Any

_LOOK_SECONDS = 1.0
"""How often is looked whether a question is still open."""


class Left(Exception):
    """Nobody answers here: it is left, the input has ended, or it was decided elsewhere."""


class Keyboard:
    """The lines of standard input. One that was asked for and has not come yet is for the next question."""

    def __init__(self) -> None:
        self._line: asyncio.Future[str] | None = None
        self._is_left = asyncio.Event()

    def leave(self) -> None:
        """Ask no more."""
        self._is_left.set()

    async def line(self, prompt: str, is_open: Callable[[], Awaitable[bool]]) -> str:
        """A line; `Left` if none comes, or once the question is open no more."""
        sys.stderr.write(prompt)
        sys.stderr.flush()
        coming = self._line = self._line or self._read()
        leaving = asyncio.ensure_future(self._is_left.wait())
        try:
            while not coming.done():
                waited: set[asyncio.Future[Any]] = {coming, leaving}
                await asyncio.wait(waited, timeout=_LOOK_SECONDS, return_when=asyncio.FIRST_COMPLETED)
                if leaving.done() or (not coming.done() and not await is_open()):
                    raise Left
        finally:
            leaving.cancel()
        if not coming.result():
            raise Left
        self._line = None
        return coming.result().strip()

    def _read(self) -> asyncio.Future[str]:
        """The next line, read by a thread of its own that nobody waits for at the end."""
        loop = asyncio.get_running_loop()
        found: asyncio.Future[str] = loop.create_future()

        def settle(line: str) -> None:
            if not found.done():
                found.set_result(line)

        def read() -> None:
            try:
                line = sys.stdin.readline()
            except (OSError, ValueError):
                line = ""
            loop.call_soon_threadsafe(settle, line)

        Thread(target=read, daemon=True, name="segue-prompt").start()
        return found


@dataclass(frozen=True, slots=True)
class KeyboardReader:
    """What is typed at one question."""

    keyboard: Keyboard
    is_open: Callable[[], Awaitable[bool]]

    async def line(self, prompt: str) -> str:
        """A line; `Left` if none comes, or once the question is open no more."""
        return await self.keyboard.line(prompt, self.is_open)
