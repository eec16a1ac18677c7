"""As much of HTTP as a model server needs, with a say over every byte: a reply can stop anywhere."""

from __future__ import annotations

import asyncio
import gzip
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

_LONGEST_BODY = 256 * 2**20


class BadRequest(ValueError):
    """Bytes that are no request that can be answered."""


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A request as it came."""

    method: str
    path: str
    headers: Mapping[str, str]
    content: bytes

    def json(self) -> dict[str, Any]:
        """The body, which must be an object of JSON."""
        try:
            coding = self.headers.get("content-encoding", "identity")
            if coding not in ("identity", "gzip"):
                raise BadRequest(f"the body is encoded as {coding}; send it plain or as gzip")
            body = json.loads(gzip.decompress(self.content) if coding == "gzip" else self.content)
        except (UnicodeDecodeError, json.JSONDecodeError, OSError, EOFError, zlib.error) as error:
            raise BadRequest(f"the body is not JSON: {error}") from error
        if not isinstance(body, dict):
            raise BadRequest("the body is not an object of JSON")
        return body


async def read_request(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> HttpRequest | None:
    """The request of a new connection, or None when the client went away before it was whole."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").rstrip("\r\n").split("\r\n")
        method, target, _ = first.split(" ", 2)
        pairs = (line.partition(":") for line in lines)
        headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
        if headers.get("expect", "").lower() == "100-continue":
            writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        content = await _read_content(reader, headers)
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
    except asyncio.LimitOverrunError as error:
        raise BadRequest("the head is too long") from error
    except ValueError as error:
        raise BadRequest(f"the request is not HTTP: {error}") from error
    return HttpRequest(method, target.partition("?")[0], headers, content)


async def _read_content(reader: asyncio.StreamReader, headers: Mapping[str, str]) -> bytes:
    if "chunked" not in headers.get("transfer-encoding", "").lower():
        return await reader.readexactly(_length(headers.get("content-length", "0"), 10))
    content = bytearray()
    while size := _length((await reader.readuntil(b"\r\n")).split(b";")[0].decode("latin-1"), 16):
        content += await reader.readexactly(size)
        await reader.readexactly(2)
        _length(str(len(content)), 10)
    while await reader.readuntil(b"\r\n") != b"\r\n":
        pass
    return bytes(content)


def _length(digits: str, base: int) -> int:
    size = int(digits, base)
    if not 0 <= size <= _LONGEST_BODY:
        raise ValueError(f"a body of {size} bytes is too long")
    return size


class HttpReply:
    """The reply to one request; the connection is closed after it."""

    def __init__(self, writer: asyncio.StreamWriter, *, without_body: bool = False) -> None:
        self._writer = writer
        self._without_body = without_body
        self.status: int | None = None
        self.ended = False

    async def send(
        self,
        status: int,
        payload: Mapping[str, Any],
        headers: Mapping[str, str] | None = None,
        *,
        cut: bool = False,
    ) -> None:
        """A whole reply, or with `cut` the first half of it."""
        content = json.dumps(payload).encode()
        told = {"content-type": "application/json", "content-length": str(len(content)), **(headers or {})}
        if self._without_body:
            content = b""
        elif cut:
            content = content[: len(content) // 2]
        self.ended = True
        await self._put(self._head(status, told) + content)

    async def open_stream(self) -> None:
        """The head of a stream of events."""
        told = {"content-type": "text/event-stream", "cache-control": "no-cache"}
        await self._put(self._head(200, {**told, "transfer-encoding": "chunked"}))

    async def send_event(self, name: str | None, data: Mapping[str, Any] | str) -> None:
        """One event of the stream."""
        words = data if isinstance(data, str) else json.dumps(data)
        event = (f"event: {name}\n" if name else "") + f"data: {words}\n\n"
        content = event.encode()
        await self._put(b"%x\r\n%b\r\n" % (len(content), content))

    async def end_stream(self) -> None:
        """The end, without which a client knows that the stream was cut."""
        self.ended = True
        await self._put(b"0\r\n\r\n")

    def _head(self, status: int, headers: Mapping[str, str]) -> bytes:
        self.status = status
        phrase = next((known.phrase for known in HTTPStatus if known == status), "Error")
        lines = [f"HTTP/1.1 {status} {phrase}", "connection: close"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")

    async def _put(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()
