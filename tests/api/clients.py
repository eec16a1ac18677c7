"""Clients of the API, without a socket."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any

import httpx

from segue.application.segue import Segue
from segue.application.tokens import Tokens
from segue.interfaces.api.app import ApiOptions, create_app


class WithCredential(httpx.Auth):
    """Shows the local credential, as the tools of the server's own user do."""

    def __init__(self, tokens: Tokens) -> None:
        self._tokens = tokens

    async def async_auth_flow(self, request: httpx.Request) -> AsyncGenerator[httpx.Request, httpx.Response]:
        """The request, with the header."""
        request.headers.setdefault("Authorization", f"Bearer {await self._tokens.local()}")
        yield request


def client_of(
    segue: Segue, url: str = "http://127.0.0.1:8000", *, token: str | None = None, **options: Any
) -> httpx.AsyncClient:
    """A client that shows a token, the local credential if none is given, or nothing for ""."""
    app = create_app(segue, ApiOptions(version="0.0.0", **options))
    transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
    if token is None:
        return httpx.AsyncClient(transport=transport, base_url=url, auth=WithCredential(segue.tokens))
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return httpx.AsyncClient(transport=transport, base_url=url, headers=headers)
