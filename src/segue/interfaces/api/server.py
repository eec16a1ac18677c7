"""The web server: uvicorn with limits on time and on the number of connections, so that nobody uses it up.

Half of this process's file handles are for connections, the other half for agents, git and the database. A
connection *waits* while its client has not sent a whole request, or does not read what it is sent. One that
waits too long is closed; when there is no room for another connection, the one that has waited longest is
closed. Any other connection, live events above all, is never closed for another one.
"""

from __future__ import annotations

import asyncio
import resource
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import structlog
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from segue.application.file_handles import is_shortage, report_shortage

log = structlog.get_logger()

_FILES = 4096
"""The limit of open files is raised to this, where that is allowed."""
_QUEUE = 1024
"""Connections that may wait to be accepted."""
_ACCEPTED_AT_ONCE = 16
"""Few, so that those who must make room are gone before the next ones come in."""
_SENT_AHEAD = 65_536
"""Bytes that the system may hold for a client that does not read yet; few, so that reading shows soon."""
_TOLD_EVERY_SECONDS = 10.0


@dataclass(kw_only=True, slots=True, eq=False)
class Door:
    """Who may come in, and for how long without a request. One for each server."""

    connections: int
    """How many connections may be open."""
    head_seconds: float = 10.0
    """How long a client may take until the head of its request is here."""
    body_seconds: float = 60.0
    """How long it may then take to send the body."""
    read_seconds: float = 30.0
    """How long it may read nothing of what it is sent."""
    waiting: dict[GuardedHttp, None] = field(default_factory=dict)
    """The connections that wait for their client, longest first."""
    _told_at: float | None = None

    def make_room(self, others: int) -> bool:
        """True if another connection may come in: there is room, or somebody who waits has made room."""
        if others < self.connections:
            return True
        self._tell()
        if (oldest := next(iter(self.waiting), None)) is None:
            return False
        oldest.cut_off()
        return True

    def _tell(self) -> None:
        now = time.monotonic()
        if self._told_at is None or now - self._told_at > _TOLD_EVERY_SECONDS:
            self._told_at = now
            log.warning("connections_full", limit=self.connections, waiting=len(self.waiting))


class GuardedHttp(H11Protocol):
    """A connection that is cut off when its client takes too long to send a request, or does not read."""

    door: Door
    _limit: asyncio.TimerHandle | None = None
    _phase = ""
    _unread = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Come in, or be refused."""
        has_room = self.door.make_room(len(self.connections))
        super().connection_made(transport)
        transport.set_write_buffer_limits(high=0)  # writing is paused as long as anything is unread
        if (connected := transport.get_extra_info("socket")) is not None:
            connected.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SENT_AHEAD)
            # Each piece is sent at once; else a body waits 40 ms until the client has acknowledged the head.
            connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if not has_room:
            self._refuse(503, "Service Unavailable", "too many connections; try again later")
        self._note_phase()

    def data_received(self, data: bytes) -> None:
        """Take in what the client sent."""
        super().data_received(data)
        self._note_phase()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        self._note_phase()

    def pause_writing(self) -> None:
        """Wait until the client reads."""
        super().pause_writing()
        self._note_phase()

    def resume_writing(self) -> None:
        """Continue, now that it has read everything."""
        super().resume_writing()
        self._note_phase()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget it."""
        self._enter("closed", None)
        super().connection_lost(exc)

    def end_wait(self) -> None:
        """Cut off a client whose time is over; one that has read something has as much time again."""
        if self._phase == "unread" and self.transport.get_write_buffer_size() < self._unread:
            self._enter("", None)
            self._note_phase()
        else:
            self.cut_off()

    def cut_off(self) -> None:
        """Close a connection that waits for its client."""
        if self._phase == "unread":
            self.transport.abort()  # closing would wait until the client has read it all
            self._enter("closed", None)
            return
        if self._phase == "body" and not self.cycle.response_started:
            self._refuse(408, "Request Timeout", "the request took too long to arrive")
        else:
            self.transport.close()
        self._note_phase()

    def _note_phase(self) -> None:
        cycle: RequestResponseCycle | None = self.cycle  # none before the first request
        if self._phase == "closed":
            return
        if self.flow.write_paused:
            self._enter("unread", self.door.read_seconds)
        elif self.transport.is_closing():
            self._enter("closed", None)
        elif cycle is None or cycle.response_complete:
            self._enter("head", self.door.head_seconds)
        elif cycle.more_body:
            self._enter("body", self.door.body_seconds)
        else:
            self._enter("answering", None)

    def _enter(self, phase: str, seconds: float | None) -> None:
        """Begin a phase; bytes that come one by one do not begin it again."""
        if phase == self._phase:
            return
        self._phase = phase
        self._unread = self.transport.get_write_buffer_size()
        if self._limit is not None:
            self._limit.cancel()
            self._limit = None
        self.door.waiting.pop(self, None)
        if seconds is not None:
            self.door.waiting[self] = None
            self._limit = self.loop.call_later(seconds, self.end_wait)

    def _refuse(self, status: int, phrase: str, why: str) -> None:
        head = f"HTTP/1.1 {status} {phrase}\r\ncontent-type: text/plain\r\nconnection: close\r\n"
        self.transport.write(f"{head}content-length: {len(why)}\r\n\r\n{why}".encode("ascii"))
        self.transport.close()


class Server(uvicorn.Server):
    """Serves an application on a listening socket."""

    def __init__(self, app: Any, door: Door | None = None) -> None:
        door = door or Door(connections=_raise_file_limit() // 2)
        super().__init__(
            uvicorn.Config(
                app,
                http=type("Http", (GuardedHttp,), {"door": door}),
                log_config=None,
                access_log=False,
                lifespan="off",
                ws="none",
                backlog=_ACCEPTED_AT_ONCE,
                timeout_graceful_shutdown=3,
            )
        )

    async def startup(self, sockets: Any = None) -> None:
        """Begin to accept connections."""
        asyncio.get_running_loop().set_exception_handler(_handle)
        await super().startup(sockets)
        for each in sockets or ():
            each.listen(_QUEUE)  # uvicorn has set it to the number that is accepted at once

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to us: uvicorn would raise them again while Segue is being closed."""
        yield


def _handle(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Report that a connection could not be accepted in a line; asyncio tries again after a second."""
    error = context.get("exception")
    if error is not None and is_shortage(error):
        report_shortage(error)
    else:
        loop.default_exception_handler(context)


def _raise_file_limit() -> int:
    """Allow this process more open files, as far as it may; gives the limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _FILES if hard == resource.RLIM_INFINITY else min(_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with suppress(ValueError, OSError):  # it stays as it is
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
            soft = wanted
    return _FILES if soft == resource.RLIM_INFINITY else min(soft, _FILES)
