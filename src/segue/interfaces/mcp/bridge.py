"""Hands the calls of one agent on to `segue serve`, so that its own process needs no way to the database."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import ProxyHandler, Request, build_opener

from segue.interfaces.mcp.tools import Answer

_PATIENCE = 60.0


async def forward_call(url: str, token: str, name: str, arguments: Mapping[str, Any]) -> Answer:
    """The answer of the server at `url`; that it cannot be reached is an answer too."""
    return await asyncio.to_thread(_post, url, token, {"name": name, "arguments": dict(arguments)})


def _post(url: str, token: str, params: Mapping[str, Any]) -> Answer:
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode()
    headers = {
        "Authorization": f"Bearer {token}",
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
    }
    request = Request(url, data=body, headers=headers, method="POST")  # noqa: S310  # an address of ours
    try:
        # No proxy: the token is for the server on this machine alone.
        with build_opener(ProxyHandler({})).open(request, timeout=_PATIENCE) as response:
            told = json.load(response)
    except HTTPError as error:
        return Answer(f"Error: {_detail(error)}", is_error=True)
    except (URLError, OSError, ValueError) as error:
        reason = getattr(error, "reason", error)
        return Answer(f"Error: Segue does not answer at {url} ({reason}); try again", is_error=True)
    if "result" not in told:
        return Answer(f"Error: {told.get('error', {}).get('message', 'no answer')}", is_error=True)
    text = "\n".join(part.get("text", "") for part in told["result"]["content"])
    return Answer(text, is_error=bool(told["result"].get("isError")))


def _detail(error: HTTPError) -> str:
    """The sentence of a problem document."""
    try:
        return str(json.load(error)["detail"])
    except (ValueError, KeyError, TypeError, OSError):
        return f"Segue answered with status {error.code}"
