"""Connections that send no whole request or read no answer: they are closed in time, and make room."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest

from segue.interfaces.api.server import Door, GuardedHttp, Server

HEAD = b"GET / HTTP/1.1\r\nHost: here\r\n"
BODY = b"POST /body HTTP/1.1\r\nHost: here\r\nContent-Length: 5\r\n\r\nab"
GET_LARGE = b"GET /large HTTP/1.1\r\nHost: here\r\n"
LARGE = b"x" * 20_000_000
"""More than the system holds for a client that does not read."""
HANG = 1e6
"""Seconds that never pass in a test."""


async def app(scope: Any, receive: Any, send: Any) -> None:
    """`/stream` never ends, `/large` is large; everything else is answered once its body is here."""
    if scope["path"] == "/large":
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": LARGE})
        return
    is_stream = scope["path"] == "/stream"
    while not is_stream and (await receive()).get("more_body"):
        pass
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"o", "more_body": True})
    if is_stream:
        await receive()
        await receive()  # until it is closed
    await send({"type": "http.response.body", "body": b"k"})


class Client:
    """One connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    async def answer(self) -> bytes:
        """The answer to a request."""
        head = await self.reader.readuntil(b"\r\n\r\n")
        return head + await self.reader.readexactly(2)

    async def rest(self) -> bytes:
        """All that comes until the server closes."""
        try:
            return await self.reader.read()
        except ConnectionResetError:
            return b""


class Clients:
    """Connections to a server with limits."""

    def __init__(self, port: int, door: Door) -> None:
        self._port, self.door = port, door
        self._opened: list[Client] = []

    async def open(self, sent: bytes = b"") -> Client:
        """Connect and send something."""
        client = Client(*await asyncio.open_connection("127.0.0.1", self._port))
        self._opened.append(client)
        client.writer.write(sent)
        return client

    async def unread(self, sent: bytes = GET_LARGE + b"\r\n") -> tuple[Client, GuardedHttp]:
        """A client that asks for something large and does not read it, and the server's side of it."""
        known = set(self.door.waiting)
        client = await self.open(sent)
        while True:
            for each in set(self.door.waiting) - known:
                if each.transport.get_write_buffer_size():
                    return client, each
            await asyncio.sleep(0.01)

    async def close(self) -> None:
        """Close all connections."""
        for client in self._opened:
            client.writer.close()
            with suppress(ConnectionError):
                await client.writer.wait_closed()


@asynccontextmanager
async def serving(**limits: Any) -> AsyncIterator[Clients]:
    """A server on a free port with these limits."""
    never = {"head_seconds": HANG, "body_seconds": HANG, "read_seconds": HANG}
    door = Door(**({"connections": 100} | never | limits))
    listener = socket.create_server(("127.0.0.1", 0))
    server = Server(app, door)
    running = asyncio.create_task(server.serve(sockets=[listener]))
    clients = Clients(listener.getsockname()[1], door)
    try:
        async with asyncio.timeout(120):
            yield clients
    finally:
        await clients.close()
        server.should_exit = True
        await running


@pytest.mark.parametrize("sent", [b"", HEAD])
async def test_a_head_that_does_not_come_ends_the_connection(sent: bytes) -> None:
    async with serving(head_seconds=0.1) as clients:
        assert await (await clients.open(sent)).rest() == b""


async def test_a_head_that_comes_byte_by_byte_has_no_more_time() -> None:
    async with serving(head_seconds=0.3) as clients:
        client = await clients.open(HEAD)

        async def drip() -> None:
            while True:
                client.writer.write(b"X: y\r\n")
                await asyncio.sleep(0.02)

        dripping = asyncio.create_task(drip())
        assert await client.rest() == b""
        dripping.cancel()


async def test_a_body_that_does_not_come_is_408() -> None:
    async with serving(body_seconds=0.1) as clients:
        assert (await (await clients.open(BODY)).rest()).startswith(b"HTTP/1.1 408 ")


async def test_an_idle_connection_is_closed() -> None:
    async with serving(head_seconds=0.3) as clients:
        client = await clients.open(HEAD + b"\r\n")
        assert (await client.answer()).startswith(b"HTTP/1.1 200 ")
        assert await client.rest() == b""


async def test_an_answer_may_take_longer_than_a_request() -> None:
    async with serving(head_seconds=0.1, body_seconds=0.1) as clients:
        follower = await clients.open(b"GET /stream HTTP/1.1\r\nHost: here\r\n\r\n")
        await follower.reader.readuntil(b"\r\n\r\n")
        late = await clients.open()
        await late.rest()  # as long as the limit is
        assert await follower.reader.readexactly(1) == b"o"
        assert not follower.reader.at_eof()


async def test_who_waits_longest_makes_room_and_who_is_answered_stays() -> None:
    async with serving(connections=4) as clients:
        follower = await clients.open(b"GET /stream HTTP/1.1\r\nHost: here\r\n\r\n")
        await follower.reader.readuntil(b"o")
        first, *others = [await clients.open(sent) for sent in (HEAD, BODY, b"")]
        while len(clients.door.waiting) < 3:  # noqa: ASYNC110  # the others have come in
            await asyncio.sleep(0.01)
        latest = await clients.open(HEAD + b"\r\n")
        assert (await latest.answer()).startswith(b"HTTP/1.1 200 ")
        assert await first.rest() == b""
        assert not any(each.reader.at_eof() for each in (follower, *others))


async def test_where_nobody_waits_another_one_is_503() -> None:
    async with serving(connections=2) as clients:
        followers = [await clients.open(b"GET /stream HTTP/1.1\r\nHost: here\r\n\r\n") for _ in range(2)]
        for each in followers:
            await each.reader.readuntil(b"o")
        assert (await (await clients.open()).rest()).startswith(b"HTTP/1.1 503 ")
        followers[0].writer.close()
        while True:  # until the server has seen that one is gone
            answer = await (await clients.open(HEAD + b"Connection: close\r\n\r\n")).rest()
            if answer.startswith(b"HTTP/1.1 200 "):
                break


async def test_a_flood_leaves_room_for_a_request() -> None:
    async with serving(connections=20) as clients:
        await asyncio.gather(*(clients.open(HEAD) for _ in range(200)))
        latest = await clients.open(HEAD + b"\r\n")
        assert (await latest.answer()).startswith(b"HTTP/1.1 200 ")
        assert len(clients.door.waiting) <= 20


@pytest.mark.parametrize("sent", [b"\r\n", b"\r\n" + 9 * (GET_LARGE + b"\r\n"), b"Connection: close\r\n\r\n"])
async def test_who_does_not_read_is_cut_off(sent: bytes) -> None:
    async with serving(read_seconds=1) as clients:
        client, connection = await clients.unread(GET_LARGE + sent)
        while connection in clients.door.waiting:  # noqa: ASYNC110  # until its time is over
            await asyncio.sleep(0.01)
        assert len(await client.rest()) < len(LARGE)


async def test_who_reads_slowly_has_time_again_and_who_stops_has_not() -> None:
    async with serving() as clients:
        client, connection = await clients.unread()
        for _ in range(3):
            left = connection.transport.get_write_buffer_size()
            while connection.transport.get_write_buffer_size() == left:
                await client.reader.readexactly(10_000)
            connection.end_wait()
            assert connection in clients.door.waiting
        left = -1
        while left != (left := connection.transport.get_write_buffer_size()):
            await asyncio.sleep(0.1)  # what was read makes room once more
            connection.end_wait()
        assert connection not in clients.door.waiting
        assert len(await client.rest()) < len(LARGE)


async def test_who_does_not_read_makes_room() -> None:
    async with serving(connections=2) as clients:
        first, _ = await clients.unread()
        second, connection = await clients.unread()
        latest = await clients.open(HEAD + b"\r\n")
        assert (await latest.answer()).startswith(b"HTTP/1.1 200 ")
        assert len(await first.rest()) < len(LARGE)
        assert connection in clients.door.waiting
        head = await second.reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200 ")


async def test_an_answer_that_is_read_arrives_whole() -> None:
    async with serving(head_seconds=0.1, body_seconds=0.1) as clients:
        client, _ = await clients.unread(GET_LARGE + b"Connection: close\r\n\r\n")
        late = await clients.open()
        await late.rest()  # as long as the limit is
        assert LARGE in (await client.rest()).replace(b"\r\n", b"")


async def test_each_piece_of_an_answer_is_sent_at_once() -> None:
    """With Nagle's algorithm the body waits for the client to acknowledge the head: 40 ms on Linux."""
    async with serving() as clients:
        _, served = await clients.unread()
        connection = served.transport.get_extra_info("socket")
        assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
