"""One stream of events a server, shared out to the sessions that somebody waits for."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from segue.domain.errors import BackendError

if TYPE_CHECKING:
    from segue.adapters.backends.opencode.client import OpenCodeClient

Event = Mapping[str, Any]
_FIRST_PAUSE = 0.2
_LONGEST_PAUSE = 5.0
_CONNECT_SECONDS = 20.0


class Hub:
    """Reads the stream while anybody listens. A break is told as none: look for yourself what was missed."""

    def __init__(self, client: OpenCodeClient) -> None:
        self._client = client
        self._queues: dict[str, asyncio.Queue[Event | None]] = {}
        self._parents: dict[str, str] = {}
        self._task: asyncio.Task[None] | None = None
        self._connected = asyncio.Event()

    def listen(self, session: str) -> asyncio.Queue[Event | None]:
        """From now on, the events of a session and of those it started itself."""
        queue: asyncio.Queue[Event | None] = asyncio.Queue()
        self._queues[session] = queue
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._read())
        return queue

    async def connected(self) -> None:
        """Wait until events come in; no longer than a while, as whoever listens looks by himself too."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_CONNECT_SECONDS):
                await self._connected.wait()

    def leave(self, session: str) -> None:
        """Nobody listens to this session any more."""
        self._queues.pop(session, None)

    async def close(self) -> None:
        """Stop reading."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    async def _read(self) -> None:
        pause = _FIRST_PAUSE
        while True:
            try:
                async for event in self._client.events():
                    if event["type"] == "server.connected":
                        self._connected.set()
                        self._tell_all()
                        pause = _FIRST_PAUSE
                    else:
                        self._hand_on(event)
            except BackendError:
                pass
            self._connected.clear()
            self._tell_all()
            await asyncio.sleep(pause)
            pause = min(pause * 2, _LONGEST_PAUSE)

    def _tell_all(self) -> None:
        for queue in self._queues.values():
            queue.put_nowait(None)

    def _hand_on(self, event: Event) -> None:
        properties = event.get("properties") or {}
        session = str(properties.get("sessionID"))
        if event["type"] == "session.created" and (parent := (properties.get("info") or {}).get("parentID")):
            self._parents[session] = self._parents.get(parent, parent)
        elif event["type"] == "session.deleted":
            self._parents.pop(session, None)
        queue = self._queues.get(self._parents.get(session, session))
        if queue is not None:
            queue.put_nowait(event)
