"""Agents that wait until the test has used their tools, and a real client of a real `segue mcp`."""

from __future__ import annotations

import asyncio
import json
import os
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from mcp import Client, StdioServerParameters, stdio_client
from segue.application.pipelines.submit import PipelineRequest
from segue.application.ports.backend import (
    AgentBackend,
    Capabilities,
    Message,
    Reply,
    SessionRequest,
    ToolServer,
)
from segue.application.segue import Segue
from segue.domain.handoff import Handoff
from segue.testing import follow_to_end

QUICK_FIX = PipelineRequest(template="quick_fix", prompt="Fix the button.")
GOOD = {"outcome": "completed", "what_was_done": ["Fixed the button"], "next_agent_context": "Review it."}


class WaitingAgents(AgentBackend):
    """Sessions that reply when the test says so."""

    capabilities = Capabilities(mcp=True)

    def __init__(self) -> None:
        super().__init__(sessions_dir=Path())
        self.requests: list[SessionRequest] = []
        self.received: list[str] = []
        self._replies: dict[str, asyncio.Future[str]] = {}

    async def open(self, request: SessionRequest) -> str:
        return request.key

    async def send(self, request: SessionRequest, session: str, message: Message) -> None:
        self._replies[session] = asyncio.get_running_loop().create_future()
        self.received.append(message.text)
        self.requests.append(request)

    async def wait(self, session: str, message_id: str) -> Reply:
        return Reply(text=await asyncio.shield(self._replies[session]))

    async def abort(self, session: str) -> None:
        pass

    async def close(self, session: str) -> None:
        pass

    async def at_work(self, count: int = 1) -> SessionRequest:
        """The request of the session that was sent its briefing as the `count`th."""
        async with asyncio.timeout(120):
            while len(self.requests) < count:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        return self.requests[count - 1]

    def reply(self, request: SessionRequest, text: str) -> None:
        """Let a session end with these words."""
        self._replies[request.key].set_result(text)


def server_of(request: SessionRequest) -> ToolServer:
    """The tools that a session was given."""
    assert request.tools is not None
    return request.tools


def token_of(request: SessionRequest) -> str:
    """The token that opens them."""
    return server_of(request).environment["SEGUE_MCP_TOKEN"]


@asynccontextmanager
async def tools_of(request: SessionRequest, **changed: str) -> AsyncIterator[Client]:
    """A client of the very program that the session was given, in the session's folder."""
    server = server_of(request)
    program, *arguments = server.command
    parameters = StdioServerParameters(
        command=program,
        args=arguments,
        env={"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], **server.environment, **changed},
        cwd=request.working_dir,
    )
    # Named here: by itself it takes the standard error of when it was imported, which a worker has closed.
    with open(os.dup(2), "w", encoding="utf-8") as errors:  # noqa: ASYNC230, PTH123
        transport = stdio_client(parameters, errlog=errors)
        async with Client(transport, read_timeout_seconds=120) as client:
            yield client


Talk = Callable[[Sequence[str], int], Awaitable[list[dict[str, Any]]]]
"""Lines, and how many answers to wait for -> the answers, in the order they came."""


@asynccontextmanager
async def lines_of(request: SessionRequest, **changed: str) -> AsyncIterator[Talk]:
    """The very program that the session was given, spoken to in lines. It must end well."""
    server = server_of(request)
    process = await asyncio.create_subprocess_exec(
        *server.command,
        env={"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], **server.environment, **changed},
        cwd=request.working_dir,
        stdin=PIPE,
        stdout=PIPE,
        stderr=PIPE,
    )
    incoming, outgoing, errors = process.stdin, process.stdout, process.stderr
    assert incoming is not None
    assert outgoing is not None
    assert errors is not None

    async def talk(lines: Sequence[str], answers: int) -> list[dict[str, Any]]:
        incoming.write(("\n".join(lines) + "\n").encode())
        return [json.loads(await outgoing.readline()) for _ in range(answers)]

    try:
        async with asyncio.timeout(120):
            yield talk
            incoming.close()
            assert await outgoing.read() == b""
            assert b"Traceback" not in await errors.read()
            assert await process.wait() == 0
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


def hello(number: int) -> str:
    """The greeting of a client as a line."""
    params = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"},
    }
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": "initialize", "params": params})


def tool_call(number: int, tool: str, arguments: str) -> str:
    """A call as a line."""
    start = f'{{"jsonrpc": "2.0", "id": {number}, "method": "tools/call", "params": '
    return f'{start}{{"name": "{tool}", "arguments": {arguments}}}}}'


async def call(client: Client, name: str, **arguments: Any) -> tuple[bool, str]:
    """Whether it went well, and what was said."""
    result = await client.call_tool(name, arguments)
    return not result.is_error, "".join(getattr(part, "text", "") for part in result.content)


async def handoff_of_step(segue: Segue, pipeline_id: int, number: int = 1) -> Handoff | None:
    """The record that the step left."""
    found = (await segue.views.pipeline(pipeline_id)).steps[number - 1].latest_handoff
    return Handoff.model_validate(found.metadata) if found and found.metadata else None


async def finish_all(segue: Segue, agents: WaitingAgents, pipeline_id: int, **replies: str) -> None:
    """Let both steps of a quick fix end."""
    agents.reply(await agents.at_work(1), replies.get("first", "I am done."))
    agents.reply(await agents.at_work(2), replies.get("second", "Fine."))
    await follow_to_end(segue, pipeline_id)


async def kinds_of(segue: Segue, pipeline_id: int) -> list[tuple[str, Mapping[str, Any]]]:
    """The audit trail: kind and payload."""
    entries = await segue.views.entries_after(0, pipeline_id=pipeline_id)
    return [(entry.event_type.value, entry.payload or {}) for entry in entries]
