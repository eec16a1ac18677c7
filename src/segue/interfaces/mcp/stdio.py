"""The tools on standard input and output, for one agent. Nothing but the protocol goes to standard output."""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import TracebackType
from typing import Any

import mcp_types as types
from anyio import EndOfStream
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from segue.interfaces.mcp.server import Call, build_server


async def serve_stdio(call: Call, *, version: str) -> None:
    """Serve until standard input ends."""
    server = build_server(call, version=version)
    async with stdio_server() as (incoming, outgoing):
        await server.run(
            _Readable(incoming, outgoing),
            outgoing,
            server.create_initialization_options(),
            raise_exceptions=False,
        )


class _Readable:
    """The messages as they come. One that cannot be read is mended or answered: nobody waits in vain."""

    def __init__(self, incoming: Any, outgoing: Any) -> None:
        self._incoming = incoming
        self._outgoing = outgoing

    @property
    def last_context(self) -> Any:
        """That of the last message; the protocol wants it."""
        return self._incoming.last_context

    async def receive(self) -> SessionMessage | Exception:
        """The next message that can be read."""
        while isinstance(item := await self._incoming.receive(), ValidationError):
            read = _read_again(item)
            if not isinstance(read, types.JSONRPCError):
                return SessionMessage(read)
            await self._outgoing.send(SessionMessage(read))
        found: SessionMessage | Exception = item
        return found

    async def aclose(self) -> None:
        """Stop reading."""
        await self._incoming.aclose()

    def __aiter__(self) -> _Readable:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> _Readable:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        await self.aclose()
        return None


def _read_again(error: ValidationError) -> types.JSONRPCMessage:
    """The message with half surrogate pairs replaced, which models do write; else an error as its answer."""
    line = error.errors(include_url=False)[0]["input"]
    value: Any = None
    try:
        value = json.loads(line)
        text = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
        return types.jsonrpc_message_adapter.validate_json(text, by_name=False)
    except ValidationError:
        said, code = "this message is no JSON-RPC, or nested too deeply", types.INVALID_REQUEST
    except (ValueError, TypeError, RecursionError):
        said, code = "this line is no JSON, or nested too deeply", types.PARSE_ERROR
    found = value.get("id") if isinstance(value, Mapping) else None
    request_id = found if isinstance(found, int | str) else None
    return types.JSONRPCError(jsonrpc="2.0", id=request_id, error=types.ErrorData(code=code, message=said))
