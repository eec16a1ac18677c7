"""The program that agents are given: what it relays to, what it does when Segue is gone, what it costs."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path
from threading import Barrier, Thread
from typing import Any
from urllib.parse import urlsplit

import psutil

from segue.application.ports.backend import Capabilities
from segue.application.segue import Segue
from segue.interfaces.mcp.relay import Hosted, Relay
from segue.testing import build_test_segue
from tests.mcp.rig import (
    GOOD,
    QUICK_FIX,
    WaitingAgents,
    call,
    hello,
    kinds_of,
    lines_of,
    server_of,
    tool_call,
    tools_of,
)


@contextmanager
def answering(answer: bytes, *, at_once: int = 1) -> Iterator[str]:
    """A server that gives the same answer to all, once so many wait for it."""
    together = Barrier(at_once)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            together.wait(120)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/mcp"
        finally:
            server.shutdown()
            thread.join()


def relayed(url: str, lines: Sequence[str]) -> list[dict[str, Any]]:
    """The answers of a relay without a way to the database."""
    outgoing = BytesIO()
    hosted = Hosted(url, "token", has_database=False)
    Relay(hosted, outgoing).run(BytesIO("\n".join(lines).encode()))
    return [json.loads(line) for line in outgoing.getvalue().splitlines()]


def listening() -> set[int]:
    """The ports on which this process listens."""
    found = psutil.Process().net_connections("tcp")
    return {each.laddr.port for each in found if each.status == psutil.CONN_LISTEN}


def own_servers(relay: psutil.Process) -> list[psutil.Process]:
    """The servers that a relay has started."""
    return [child for child in relay.children() if "--until-eof" in child.cmdline()]


def test_calls_are_under_way_at_once_and_keep_their_ids() -> None:
    told = json.dumps({"jsonrpc": "2.0", "id": "another", "result": {}}).encode()
    with answering(told, at_once=3) as url:
        answers = relayed(url, [tool_call(number, "recall", "{}") for number in (1, 2, 3)])
    assert sorted(answer["id"] for answer in answers) == [1, 2, 3]


def test_who_answers_but_is_not_segue_does_not_count_and_the_session_has_no_tools() -> None:
    lines = [
        hello(1),
        '{"jsonrpc": "2.0", "id": 2, "method": "initialize"}',
        '{"jsonrpc": "2.0", "id": 3, "method": "tools/list"}',
        tool_call(4, "recall", "{}"),
        '{"jsonrpc": "2.0", "id": 5, "method": "ping"}',
    ]
    for answer in (b"<html>", b"[]", b"{}", b'{"result": 1}'):
        with answering(answer) as url:
            by_id = {answer["id"]: answer for answer in relayed(url, lines)}
        assert by_id[1]["result"]["protocolVersion"] == by_id[2]["result"]["protocolVersion"] == "2025-06-18"
        assert by_id[3]["result"] == {"tools": []}
        called = by_id[4]["result"]
        assert (called["isError"], called["content"][0]["type"]) == (True, "text")
        assert f"Segue does not answer at {url} (" in called["content"][0]["text"]
        assert f"Segue does not answer at {url} (" in by_id[5]["error"]["message"]


def test_it_imports_nothing_heavy() -> None:
    code = (
        "import sys; from segue.interfaces.mcp.relay import main; assert main() == 0\n"
        "print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=f"{hello(1)}\n{tool_call(2, 'recall', '{}')}\n",
        env={"SEGUE_MCP_TOKEN": "x", "SEGUE_MCP_URL": "http://127.0.0.1:1/mcp"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.stdout.count("Segue does not answer at http://127.0.0.1:1/mcp (Connection refused)") == 1
    loaded = done.stderr.split()
    assert {name for name in loaded if name.startswith("segue")} == {
        "segue",
        "segue.interfaces",
        "segue.interfaces.mcp",
        "segue.interfaces.mcp.relay",
    }
    assert not {"mcp", "pydantic", "typer", "asyncio", "subprocess", "logging"} & {*loaded}


async def test_segue_hosts_the_tools_from_the_first_session_that_has_them_until_it_stops(
    tmp_path: Path, repository: Path, agents: WaitingAgents
) -> None:
    before = listening()
    async with build_test_segue(tmp_path, agents) as segue:
        assert listening() == before
        await segue.pipelines.submit(QUICK_FIX)
        await segue.pipelines.submit(QUICK_FIX)
        first, second = await agents.at_work(1), await agents.at_work(2)
        url = server_of(first).environment["SEGUE_MCP_URL"]
        assert server_of(second).environment["SEGUE_MCP_URL"] == url
        assert listening() - before == {urlsplit(url).port}
        async with tools_of(first) as client:
            assert (await call(client, "get_task"))[0]
    assert listening() == before


async def test_agents_without_tools_start_no_host(tmp_path: Path, repository: Path) -> None:
    class WithoutTools(WaitingAgents):
        capabilities = Capabilities()

    agents = WithoutTools()
    before = listening()
    async with build_test_segue(tmp_path, agents) as segue:
        await segue.pipelines.submit(QUICK_FIX)
        assert (await agents.at_work()).tools is None
        assert listening() == before


async def test_an_agent_that_outlives_segue_hands_off_through_a_server_of_its_own(
    tmp_path: Path, repository: Path, agents: WaitingAgents
) -> None:
    running = AsyncExitStack()
    segue = await running.enter_async_context(build_test_segue(tmp_path, agents))
    pipeline = await segue.pipelines.submit(QUICK_FIX)
    request = await agents.at_work()
    async with tools_of(request) as client:
        (relay,) = (child for child in psutil.Process().children() if "relay" in child.cmdline()[-1])
        assert (await call(client, "get_task"))[0]
        assert own_servers(relay) == []
        await running.aclose()
        told = await asyncio.gather(
            call(client, "submit_handoff", **GOOD), call(client, "report_blocker", blocker="Segue is gone")
        )
        assert [well for well, _ in told] == [True, True], told
        (server,) = own_servers(relay)
    await asyncio.to_thread(server.wait, 120)
    async with build_test_segue(tmp_path, agents) as segue:
        trail = dict(await kinds_of(segue, pipeline.id))
    assert trail["handoff_submitted"]["accepted"] is True
    assert trail["blocker_reported"]["blocker"] == "Segue is gone"


async def test_started_by_hand_it_serves_by_itself_and_takes_the_server_with_it_when_it_is_killed(
    segue: Segue, agents: WaitingAgents
) -> None:
    await segue.pipelines.submit(QUICK_FIX)
    request = await agents.at_work()
    environment = {**server_of(request).environment}
    del environment["SEGUE_MCP_URL"]
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "segue", "mcp"),
        env={"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], **environment},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        async with asyncio.timeout(120):
            process.stdin.write((tool_call(1, "get_task", "{}") + "\n").encode())
            answer = json.loads(await process.stdout.readline())
        assert "You are developer" in answer["result"]["content"][0]["text"]
        (server,) = own_servers(psutil.Process(process.pid))
    finally:
        process.kill()
        await process.wait()
    await asyncio.to_thread(server.wait, 120)


async def test_a_server_that_cannot_start_is_an_answer(segue: Segue, agents: WaitingAgents) -> None:
    await segue.pipelines.submit(QUICK_FIX)
    request = await agents.at_work()
    environment = {
        **server_of(request).environment,
        "SEGUE_DATABASE_URL": "sqlite:////nowhere/none.db",
        "SEGUE_MCP_URL": "http://127.0.0.1:1/mcp",
    }
    lost = replace(request, tools=replace(server_of(request), environment=environment))
    async with lines_of(lost) as talk:
        (answer,) = await talk([tool_call(1, "get_task", "{}")], 1)
    said = answer["result"]["content"][0]["text"]
    assert said.startswith("Error: the tools cannot be served (segue: ")
