"""`segue mcp`: Segue's own tools for the agent of one attempt."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any

import typer

from segue.domain.errors import SettingsError
from segue.interfaces.cli.parts import Parts, parts_of

if TYPE_CHECKING:
    from segue.application.tools import AgentTools
    from segue.interfaces.mcp.tools import Answer

TOKEN_VARIABLE = "SEGUE_MCP_TOKEN"  # noqa: S105  # the name of it


def mcp(context: typer.Context) -> None:
    """Give an agent Segue's own tools (MCP), on standard input and output; Segue starts this by itself.

    SEGUE_MCP_TOKEN says which attempt is served.
    """
    token = os.environ.get(TOKEN_VARIABLE, "")
    if not token:
        raise SettingsError(
            f"{TOKEN_VARIABLE} is not set. Segue gives it to the agents that it starts; without it there is "
            "nothing to serve"
        )
    asyncio.run(_serve_stdio(parts_of(context), token))


async def _serve_stdio(parts: Parts, token: str) -> None:
    from segue.interfaces.mcp.stdio import serve_stdio
    from segue.interfaces.mcp.tools import call_tool

    async with AsyncExitStack() as opened:
        turn = asyncio.Lock()
        found: list[AgentTools] = []

        async def tools() -> AgentTools:
            # Opened when first called: agents wait for the server's greeting before they begin to work.
            async with turn:
                if not found:
                    found.append(await opened.enter_async_context(parts.tools(parts.settings())))
                return found[0]

        async def call(name: str, arguments: Mapping[str, Any], _request: Any) -> Answer:
            return await call_tool(tools, token, name, arguments)

        await serve_stdio(call, version=parts.version)
