"""The guard at the door: host, origin, token, size. A web page must not be able to drive a local server."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
from contextlib import suppress
from ipaddress import ip_address
from urllib.parse import urlsplit

from fastapi import HTTPException
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from segue.interfaces.api.errors import problem

_OWN_TOKEN = frozenset({"/health", "/mcp"})
"""Paths that need no token, or another one: that of an agent's attempt."""
_MOST_DIGITS = 18
"""A length with more is too large, and need not be made a number."""
_HEARD_OUT_BYTES = 64_000_000
_HEARD_OUT_SECONDS = 10.0


def is_loopback(host: str) -> bool:
    """True if only this machine can reach the address."""
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


class Guard:
    """Turns away what must not come in, before any route sees it."""

    def __init__(self, app: ASGIApp, *, host: str, token: str | None, max_body_bytes: int) -> None:
        self._app = app
        self._loopback = is_loopback(host)
        self._token = hashlib.sha256(token.encode()).digest() if token else None
        self._max_body_bytes = max_body_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer with a problem."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        refusal = self._refuse(headers, scope["path"])
        if refusal is not None:
            await _hear_out(headers, receive)
            await problem(*refusal)(scope, receive, send)
            return
        await self._app(scope, self._limited(receive), send)

    def _refuse(self, headers: Headers, path: str) -> tuple[int, str] | None:
        host = headers.get("host", "")
        name = _name_of(f"//{host}")
        if self._loopback and not is_loopback(name):
            return 403, f'this server answers on loopback only, not to the host name "{host}"'
        if host and not name:
            return 403, f'"{host}" is no host name'
        origin = headers.get("origin")
        if origin is not None and not _is_page_of(origin, host):
            return 403, f'requests from the web page "{origin}" are refused'
        if self._token is not None and path not in _OWN_TOKEN and not self._is_token(headers):
            return 401, "show the server's token: Authorization: Bearer <token>"
        length = headers.get("content-length", "0")
        if not length.isdecimal() or len(length) > _MOST_DIGITS or int(length) > self._max_body_bytes:
            return 413, self._too_large()
        return None

    def _too_large(self) -> str:
        return f"a request may have {self._max_body_bytes} bytes at most"

    def _is_token(self, headers: Headers) -> bool:
        scheme, _, shown = headers.get("authorization", "").partition(" ")
        digest = hashlib.sha256(shown.strip().encode()).digest()
        return (
            scheme.lower() == "bearer"
            and self._token is not None
            and hmac.compare_digest(digest, self._token)
        )

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


async def _hear_out(headers: Headers, receive: Receive) -> None:
    """Let go what is being sent: a client that is cut off in the middle of it does not hear the answer."""
    length = headers.get("content-length", "0")
    if not length.isdecimal() or len(length) > _MOST_DIGITS or int(length) > _HEARD_OUT_BYTES:
        return
    with suppress(TimeoutError):
        async with asyncio.timeout(_HEARD_OUT_SECONDS):
            while (await receive()).get("more_body"):
                pass


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
