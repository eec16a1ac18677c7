"""Hosts the tools inside the process that starts the agents, so that no agent needs a server of its own."""

from __future__ import annotations

import asyncio
import logging
import socket
from contextvars import Context
from typing import TYPE_CHECKING

import structlog

from segue.application.handoffs.agent_tools import AgentTools

if TYPE_CHECKING:
    from segue.interfaces.api.server import Server
    from segue.interfaces.mcp.http import ToolsOverHttp

log = structlog.get_logger()

_LOOPBACK = "127.0.0.1"
_QUEUE = 1024
_CONNECTIONS = 256
"""How many may be open; a relay has one for each call that is under way."""


class ToolsHost:
    """A server on a free loopback port, which begins when its address is first asked for."""

    def __init__(self, tools: AgentTools, *, version: str) -> None:
        self._tools = tools
        self._version = version
        self._address: str | None = None
        self._serving: asyncio.Task[None] | None = None
        self._server: Server | None = None
        self._closed = False

    def address(self) -> str | None:
        """Where the tools are, from now until `aclose`; none if there is no port to be had.

        Those who connect before the server is ready wait until it is.
        """
        if self._serving is None and not self._closed:
            try:
                listener = socket.create_server((_LOOPBACK, 0), backlog=_QUEUE)
            except OSError as error:
                log.warning("tools_not_hosted", error=str(error))
                return None
            self._address = f"http://{_LOOPBACK}:{listener.getsockname()[1]}/mcp"
            # In a context of its own: it serves every run, not the one that asked first.
            self._serving = asyncio.create_task(self._serve(listener), context=Context())
            self._serving.add_done_callback(lambda serving: _end(serving, listener))
        return self._address

    async def aclose(self) -> None:
        """Answer what is under way and stop."""
        self._closed = True
        if self._serving is None:
            return
        if self._server is None:
            self._serving.cancel()
        else:
            self._server.should_exit = True
        await asyncio.wait({self._serving})

    async def _serve(self, listener: socket.socket) -> None:
        # The SDK takes a second to import, during which others must not stand still.
        served, server = await asyncio.to_thread(_make_server, self._tools, self._version)
        self._server = server
        async with served.run():
            await server.serve(sockets=[listener])


def _end(serving: asyncio.Task[None], listener: socket.socket) -> None:
    """Let nobody wait for an answer. Relays of agents that are still at work serve the tools from now on."""
    listener.close()
    if not serving.cancelled() and (error := serving.exception()):
        log.error("tools_host_broke", exc_info=error)


def _make_server(tools: AgentTools, version: str) -> tuple[ToolsOverHttp, Server]:
    from segue.interfaces.api.server import Door, Server
    from segue.interfaces.mcp.http import ToolsOverHttp, create_tools_app

    logging.getLogger("mcp").setLevel(logging.CRITICAL)  # it would tell of agents that are gone, at length
    served = ToolsOverHttp(tools, version=version)
    return served, Server(create_tools_app(served, host=_LOOPBACK), Door(connections=_CONNECTIONS))
