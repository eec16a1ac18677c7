"""The protocol: which tools there are, and how a call reaches them. Loading this module takes a second."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import mcp_types as types
from mcp.server.lowlevel import Server

from segue.interfaces.mcp.tools import INSTRUCTIONS, TOOLS, ToolAnswer

Call = Callable[[str, Mapping[str, Any], Any], Awaitable[ToolAnswer]]
"""Tool name, its arguments, the HTTP request that brought it -> the answer."""


def build_server(call: Call, *, version: str) -> Server[Any]:
    """A server that offers the tools and hands each call on."""

    async def list_tools(_context: Any, _params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(
            tools=[
                types.Tool(
                    name=tool.name,
                    description=tool.description,
                    input_schema=tool.schema,
                    annotations=types.ToolAnnotations(
                        read_only_hint=tool.is_read_only, destructive_hint=False, open_world_hint=False
                    ),
                )
                for tool in TOOLS
            ]
        )

    async def call_tool(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        answer = await call(params.name, params.arguments or {}, context.request)
        content = types.TextContent(type="text", text=answer.text)
        return types.CallToolResult(content=[content], is_error=answer.is_error)

    return Server(
        "segue",
        version=version,
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )
