"""`segue mcp`: Segue's own tools for the agent of one attempt."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from contextlib import AsyncExitStack, closing
from typing import TYPE_CHECKING, Annotated, Any

import typer

from segue.domain.errors import SettingsError
from segue.interfaces.cli.parts import Parts, parts_of

if TYPE_CHECKING:
    from segue.application.tools import AgentTools
    from segue.interfaces.mcp.tools import Answer

TOKEN_VARIABLE = "SEGUE_MCP_TOKEN"  # noqa: S105  # the name of it
URL_VARIABLE = "SEGUE_MCP_URL"
_LOOPBACK = "127.0.0.1"


def mcp(
    context: typer.Context,
    http: Annotated[
        bool, typer.Option("--http", help="Listen on loopback instead; each request shows its own token.")
    ] = False,
    port: Annotated[int, typer.Option(help="Port for --http; 0 takes a free one.", min=0, max=65535)] = 8001,
) -> None:
    """Give an agent Segue's own tools, over MCP. Segue starts this by itself, on standard input and output.

    SEGUE_MCP_TOKEN says which attempt is served; with SEGUE_MCP_URL, calls are handed on to `segue serve`.
    """
    if http:
        asyncio.run(_serve_http(parts_of(context), port))
        return
    token = os.environ.get(TOKEN_VARIABLE, "")
    if not token:
        raise SettingsError(
            f"{TOKEN_VARIABLE} is not set. Segue gives it to the agents that it starts; without it there is "
            "nothing to serve"
        )
    asyncio.run(_serve_stdio(parts_of(context), token, os.environ.get(URL_VARIABLE)))


async def _serve_stdio(parts: Parts, token: str, url: str | None) -> None:
    from segue.interfaces.mcp.bridge import forward_call
    from segue.interfaces.mcp.stdio import serve_stdio
    from segue.interfaces.mcp.tools import call_tool

    async with AsyncExitStack() as opened:
        turn = asyncio.Lock()
        found: list[AgentTools] = []

        async def tools() -> AgentTools:
            # Opened when first called: agents wait for the server's greeting before they begin to work.
            async with turn:
                if not found:
                    found.append(await opened.enter_async_context(parts.tools(parts.own_settings())))
                return found[0]

        async def call(name: str, arguments: Mapping[str, Any], _request: Any) -> Answer:
            if url:
                return await forward_call(url, token, name, arguments)
            return await call_tool(tools, token, name, arguments)

        await serve_stdio(call, version=parts.version)


async def _serve_http(parts: Parts, port: int) -> None:
    from segue.interfaces.cli.serve import listen, serve_app
    from segue.interfaces.mcp.http import ToolsOverHttp, create_tools_app

    with closing(listen(_LOOPBACK, port)) as listener:
        async with parts.tools(parts.own_settings()) as tools:
            served = ToolsOverHttp(tools, version=parts.version)
            async with served.run():
                address = f"http://{_LOOPBACK}:{listener.getsockname()[1]}/mcp"
                app = create_tools_app(served, host=_LOOPBACK)
                await serve_app(app, listener, f"segue {parts.version} tools on {address}  (Ctrl-C stops)")
