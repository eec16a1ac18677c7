"""The tools over streamable HTTP, for any number of agents: each request shows the token of its attempt."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from segue.application.handoffs.agent_tools import AgentTools
from segue.domain.errors import SegueError, ToolsClosed
from segue.interfaces.api.errors import problem
from segue.interfaces.api.security import Guard, bearer_of
from segue.interfaces.mcp.server import build_server
from segue.interfaces.mcp.tools import ToolAnswer, call_tool

_LARGEST_BODY = 8_000_000
"""Room for a submission of a million characters, whatever they are; a larger one is told its own limits."""


class ToolsOverHttp:
    """An ASGI application; `run` must be entered before it is called. It keeps nothing between requests."""

    def __init__(self, tools: AgentTools, *, version: str) -> None:
        self._tools = tools
        self._manager = StreamableHTTPSessionManager(
            build_server(self._call, version=version),
            json_response=True,
            stateless=True,
            max_request_body_size=_LARGEST_BODY,
        )

    def run(self) -> AbstractAsyncContextManager[None]:
        """What must be open while requests are answered."""
        return self._manager.run()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request that shows the token of an attempt under way."""
        try:
            await self._tools.check(bearer_of(Headers(scope=scope)))
        except SegueError as error:
            status = 401 if isinstance(error, ToolsClosed) else 503
            await problem(status, str(error))(scope, receive, send)
            return
        await self._manager.handle_request(scope, receive, send)

    async def _call(self, name: str, arguments: Mapping[str, Any], request: Any) -> ToolAnswer:
        return await call_tool(self._tools, bearer_of(request.headers), name, arguments)


def tools_route(app: ToolsOverHttp) -> Route:
    """Where the tools are: one address, to which messages are posted."""
    return Route("/mcp", endpoint=app, methods=["POST"])


def create_tools_app(app: ToolsOverHttp, *, host: str) -> ASGIApp:
    """The tools as a server of their own, behind the same guard as the API; the tokens are the attempts'."""
    return Guard(Starlette(routes=[tools_route(app)]), host=host, tokens=None, max_body_bytes=_LARGEST_BODY)
