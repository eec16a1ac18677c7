"""`segue mcp`: Segue's own tools for the agent of one attempt."""

from __future__ import annotations

import asyncio
from contextlib import closing
from typing import Annotated

import typer

from segue.interfaces.cli.parts import Parts, parts_of

_LOOPBACK = "127.0.0.1"


def mcp(
    context: typer.Context,
    http: Annotated[
        bool, typer.Option("--http", help="Listen on loopback instead; each request shows its own token.")
    ] = False,
    port: Annotated[int, typer.Option(help="Port for --http; 0 takes a free one.", min=0, max=65535)] = 8001,
    until_eof: Annotated[
        bool, typer.Option("--until-eof", help="With --http: stop when standard input ends.")
    ] = False,
) -> None:
    """Give an agent Segue's own tools, over MCP. Segue starts this by itself, on standard input and output.

    SEGUE_MCP_TOKEN says which attempt is served. Calls go to SEGUE_MCP_URL, where the Segue answers that
    started the agent; without it, to a `segue mcp --http` that this starts itself.
    """
    if http:
        asyncio.run(_serve_http(parts_of(context), port, until_eof=until_eof))
        return
    from segue.interfaces.mcp.relay import main

    raise typer.Exit(main())


async def _serve_http(parts: Parts, port: int, *, until_eof: bool) -> None:
    from segue.interfaces.cli.serve import listen, serve_app
    from segue.interfaces.mcp.http import ToolsOverHttp, create_tools_app

    with closing(listen(_LOOPBACK, port)) as listener:
        async with parts.tools(parts.own_settings()) as tools:
            served = ToolsOverHttp(tools, version=parts.version)
            async with served.run():
                address = f"http://{_LOOPBACK}:{listener.getsockname()[1]}/mcp"
                app = create_tools_app(served, host=_LOOPBACK)
                greeting = f"segue {parts.version} tools on {address}  (Ctrl-C stops)"
                await serve_app(app, listener, greeting, until_eof=until_eof)
