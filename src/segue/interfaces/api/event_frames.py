"""Events as bytes of a stream: each is made JSON once, however many follow."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from typing import Any, TypeVar

from pydantic import TypeAdapter
from starlette.responses import StreamingResponse
from starlette.types import Send

from segue.application.event_stream import Event, EventPage, StreamPosition, follow_pages
from segue.application.segue import Segue
from segue.domain.activity import Activity
from segue.domain.audit import AuditEntry

_EVENTS_AT_HAND = 1000
_PAGES_AT_HAND = 8
_PIECE_BYTES = 65_536
"""As many are waiting at once for a client that does not read yet."""
_PING_SECONDS = 15.0
_PING = b": ping\n\n"
"""Proxies close what says nothing for long."""
K = TypeVar("K")
_JSON: TypeAdapter[Event] = TypeAdapter(AuditEntry | Activity)


class EventFrames:
    """Makes frames of events, and keeps the last ones at hand for the other followers."""

    def __init__(self) -> None:
        self._events: dict[tuple[str, int], bytes] = {}
        self._pages: dict[tuple[object, ...], bytes] = {}
        self.made = 0
        """How often an event was made JSON."""

    def of(self, page: EventPage, pipeline_id: int | None = None) -> bytes:
        """The events of a page; the id of each is the position from which to resume after it."""
        # From one position to another, all followers of the same are sent the same.
        first, event = page[0]
        key = (pipeline_id, first, type(event), page[-1][0], len(page))
        frames = self._pages.get(key)
        if frames is None:
            frames = b"".join(b"%sid: %s\n\n" % (self._of(event), str(at).encode()) for at, event in page)
            _keep(self._pages, key, frames, _PAGES_AT_HAND)
        return frames

    def _of(self, event: Event) -> bytes:
        kind = event.event_type if isinstance(event, AuditEntry) else event.kind
        key = (type(event).__name__, event.id)
        frame = self._events.get(key)
        if frame is None:
            self.made += 1
            frame = b"event: %s\ndata: %s\n" % (kind.encode(), _JSON.dump_json(event))
            _keep(self._events, key, frame, _EVENTS_AT_HAND)
        return frame


def _keep(at_hand: dict[K, bytes], key: K, frames: bytes, most: int) -> None:
    if len(at_hand) == most:
        del at_hand[next(iter(at_hand))]
    at_hand[key] = frames


class EventStream(StreamingResponse):
    """Pages of events, sent as they come, until the client leaves."""

    media_type = "text/event-stream"

    async def stream_response(self, send: Send) -> None:
        """Send it, and release what it holds once the client has left."""
        assert isinstance(self.body_iterator, AsyncGenerator)
        async with aclosing(self.body_iterator):
            await super().stream_response(send)


def stream(segue: Segue, frames: EventFrames, after: StreamPosition, pipeline_id: int | None) -> EventStream:
    """Everything after a position; now and then a comment if nothing comes."""
    # A proxy must neither keep the events nor collect them.
    headers = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}
    pages = follow_pages(segue, after, pipeline_id=pipeline_id)
    return EventStream(_with_pings(pages, frames, pipeline_id), headers=headers)


async def _stop(task: asyncio.Future[Any]) -> None:
    """End it, however often the waiting for that is cut off: its pages can be closed only after that."""
    task.cancel()
    while not task.done():
        with suppress(asyncio.CancelledError):
            await asyncio.wait({task})


async def _with_pings(
    pages: AsyncGenerator[EventPage], frames: EventFrames, pipeline_id: int | None
) -> AsyncGenerator[bytes]:
    async with aclosing(pages):
        while True:
            coming = asyncio.ensure_future(anext(pages, None))
            try:
                while not (await asyncio.wait({coming}, timeout=_PING_SECONDS))[0]:
                    yield _PING
            finally:
                await _stop(coming)
            page = coming.result()
            if page is None:
                return
            sent = frames.of(page, pipeline_id)
            for at in range(0, len(sent), _PIECE_BYTES):
                yield sent[at : at + _PIECE_BYTES]
