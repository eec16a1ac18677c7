"""The guard at the door: host, origin, size, token. No web page and no other user drives the server."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from ipaddress import ip_address
from urllib.parse import urlsplit

from fastapi import HTTPException
from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from segue.application.tokens import Tokens
from segue.domain.errors import SegueError, StorageError, TokenRefused
from segue.interfaces.api.errors import problem, problem_of

HEALTH = "/health"
"""Answers without a token, and says more with one."""
EXCHANGE = "/tokens/exchange"
"""Gives a token for the code of a one-time link."""
_NO_TOKEN = frozenset({EXCHANGE, "/mcp"})
"""Paths that need no token of ours; that of the agents' tools wants the token of an attempt."""
_MOST_DIGITS = 18
"""A length with more is too large, and need not be made a number."""
_MOST_SHOWN = 100
"""Characters of a header that an answer repeats."""
_HEARD_OUT_BYTES = 64_000_000
_HEARD_OUT_SECONDS = 10.0


def is_loopback(host: str) -> bool:
    """True if only this machine can reach the address."""
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


def bearer_of(headers: Mapping[str, str]) -> str:
    """The token that a request shows, or nothing."""
    scheme, _, shown = headers.get("authorization", "").partition(" ")
    return shown.strip() if scheme.lower() == "bearer" else ""


class Guard:
    """Turns away what must not come in, before any route sees it. Routes find the token in `state.token`."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        host: str,
        tokens: Tokens | None,
        max_body_bytes: int,
        recheck_seconds: float = 5.0,
    ) -> None:
        self._app = app
        self._loopback = is_loopback(host)
        self._tokens = tokens
        """None where every route asks for tokens of its own, as the agents' tools do."""
        self._max_body_bytes = max_body_bytes
        self._recheck_seconds = recheck_seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer with a problem."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        shown = self._needed_token(headers, scope["path"])
        refusal = self._refuse(headers)
        if refusal is None and shown is not None:
            assert self._tokens is not None
            try:
                scope.setdefault("state", {})["token"] = await self._tokens.check(shown)
            except SegueError as error:
                refusal = problem_of(error)
        if refusal is not None:
            await _hear_out(headers, receive)
            await refusal(scope, receive, send)
        elif shown is None:
            await self._app(scope, self._limited(receive), send)
        else:
            await self._answer(shown, scope, self._limited(receive), send)

    def _needed_token(self, headers: Headers, path: str) -> str | None:
        """What is shown where a token is needed; none where it is not."""
        if self._tokens is None or path in _NO_TOKEN or (path == HEALTH and "authorization" not in headers):
            return None
        return bearer_of(headers)

    def _refuse(self, headers: Headers) -> JSONResponse | None:
        host = headers.get("host", "")
        name = _name_of(f"//{host}")
        if self._loopback and not is_loopback(name):
            return problem(
                403, f'this server answers on loopback only, not to the host name "{_shown(host)}"'
            )
        if host and not name:
            return problem(403, f'"{_shown(host)}" is no host name')
        origin = headers.get("origin")
        if origin is not None and not _is_page_of(origin, host):
            return problem(403, f'requests from the web page "{_shown(origin)}" are refused')
        length = headers.get("content-length", "0")
        if not length.isdecimal() or len(length) > _MOST_DIGITS or int(length) > self._max_body_bytes:
            return problem(413, self._too_large())
        return None

    async def _answer(self, shown: str, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on; a stream of events ends when its token does."""
        streams = False

        async def noting(message: Message) -> None:
            nonlocal streams
            if message["type"] == "http.response.start":
                kind = Headers(raw=message["headers"]).get("content-type", "")
                streams = kind.startswith("text/event-stream")
            await send(message)

        answering = asyncio.ensure_future(self._app(scope, receive, noting))
        try:
            while not (await asyncio.wait({answering}, timeout=self._recheck_seconds))[0]:
                if streams and not await self._still_works(shown):
                    await _cancel(answering)
                    await send({"type": "http.response.body", "body": b"", "more_body": False})
                    return
        finally:
            await _cancel(answering)
        await answering

    async def _still_works(self, shown: str) -> bool:
        assert self._tokens is not None
        try:
            await self._tokens.check(shown)
        except TokenRefused:
            return False
        except StorageError:
            pass  # without the database there are no events either; asked again soon
        return True

    def _too_large(self) -> str:
        return f"a request may have {self._max_body_bytes} bytes at most"

    def _limited(self, receive: Receive) -> Receive:
        """The body, refused where it grows past the limit: a length need not be announced."""
        seen = 0

        async def limited() -> Message:
            nonlocal seen
            message = await receive()
            if message["type"] == "http.request":
                seen += len(message.get("body", b""))
                if seen > self._max_body_bytes:
                    raise HTTPException(413, self._too_large())
            return message

        return limited


async def _cancel(task: asyncio.Future[None]) -> None:
    if not task.done():
        task.cancel()
        await asyncio.wait({task})


async def _hear_out(headers: Headers, receive: Receive) -> None:
    """Let go what is being sent: a client that is cut off in the middle of it does not hear the answer."""
    length = headers.get("content-length", "0")
    if not length.isdecimal() or len(length) > _MOST_DIGITS or int(length) > _HEARD_OUT_BYTES:
        return
    with suppress(TimeoutError):
        async with asyncio.timeout(_HEARD_OUT_SECONDS):
            while (await receive()).get("more_body"):
                pass


def _shown(value: str) -> str:
    return value if len(value) <= _MOST_SHOWN else f"{value[:_MOST_SHOWN]}..."


def _name_of(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def _is_page_of(origin: str, host: str) -> bool:
    """True if a page of this very server asks."""
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.netloc) and parts.netloc == host
