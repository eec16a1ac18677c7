"""OpenCode's HTTP interface: short calls that end in time, and its stream of events."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from json import loads
from typing import Any, cast

import httpx

from segue.adapters.backends.opencode.errors import Unreachable, from_http, one_line

SHORT_SECONDS = 30.0
_SILENCE_SECONDS = 35.0
"""A heartbeat comes every ten seconds; a stream that is silent for longer is taken for dead."""


@dataclass(frozen=True, kw_only=True, slots=True)
class OpenCodeAddress:
    """Where a server is, and which life of it this is."""

    url: str
    username: str
    password: str | None
    mark: str = ""


class OpenCodeClient:
    """One server, spoken to over HTTP. Every failure is a `BackendError`."""

    def __init__(self, address: OpenCodeAddress) -> None:
        self.address = address
        self._http = httpx.AsyncClient(
            base_url=address.url,
            auth=(address.username, address.password) if address.password else None,
            timeout=SHORT_SECONDS,
            trust_env=False,
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=20),
        )

    async def call(
        self,
        method: str,
        path: str,
        *,
        directory: str | None = None,
        body: Mapping[str, Any] | None = None,
        query: Mapping[str, str] | None = None,
        timeout: float | None = SHORT_SECONDS,
    ) -> Any:
        """One call and its answer; `Unreachable` if there is none in time."""
        params = {**(query or {}), **({"directory": directory} if directory else {})}
        try:
            response = await self._http.request(method, path, params=params, json=body, timeout=timeout)
        except httpx.HTTPError as error:
            raise Unreachable(self._no_answer(error)) from error
        found = _decoded(response)
        if not response.is_success:
            raise from_http(response.status_code, found, self.address.url)
        return found

    async def healthy(self, timeout: float = 1.0) -> str | None:
        """The version of a server that answers at once; none if it does not."""
        try:
            found = await self.call("GET", "/global/health", timeout=timeout)
        except Unreachable:
            return None
        return str(found.get("version", "unknown")) if isinstance(found, dict) else None

    async def events(self) -> AsyncIterator[dict[str, Any]]:
        """What happens on the server, in all directories; ends or raises when it breaks off."""
        waiting = httpx.Timeout(SHORT_SECONDS, read=_SILENCE_SECONDS)
        try:
            async with self._http.stream("GET", "/global/event", timeout=waiting) as response:
                if not response.is_success:
                    await response.aread()
                    raise from_http(response.status_code, _decoded(response), self.address.url)
                async for line in response.aiter_lines():
                    if line.startswith("data:") and (event := _event(line[5:])):
                        yield event
        except httpx.HTTPError as error:
            raise Unreachable(self._no_answer(error)) from error

    async def close(self) -> None:
        """Let go of all connections."""
        await self._http.aclose()

    def _no_answer(self, error: httpx.HTTPError) -> str:
        why = (
            "it did not answer in time" if isinstance(error, httpx.TimeoutException) else one_line(str(error))
        )
        return f"the OpenCode server at {self.address.url} cannot be reached: {why or type(error).__name__}"


def _decoded(response: httpx.Response) -> Any:
    try:
        return response.json() if response.content else None
    except ValueError:
        return response.text


def _event(text: str) -> dict[str, Any] | None:
    try:
        found = loads(text)
    except ValueError:
        return None
    payload = found.get("payload") if isinstance(found, dict) else None
    return cast("dict[str, Any]", payload) if isinstance(payload, dict) and "type" in payload else None
