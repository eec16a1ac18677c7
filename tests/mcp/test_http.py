"""The tools over HTTP: who is let in, and that all the ways lead to the same answers."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import httpx2
import pytest
from mcp.client.streamable_http import streamable_http_client

from mcp import Client
from segue.application.segue import Segue
from segue.interfaces.api.app import ApiOptions, create_app
from segue.interfaces.mcp.http import ToolsOverHttp, create_tools_app, tools_route
from tests.mcp.rig import (
    GOOD,
    QUICK_FIX,
    WaitingAgents,
    call,
    finish_all,
    handoff_of_step,
    server_of,
    token_of,
    tools_of,
)
from tests.serving import ServedSegue

BASE = "http://127.0.0.1:8001"
GET_TASK = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {"name": "get_task", "arguments": {}},
}


def headers(token: str, **more: str) -> dict[str, str]:
    return {
        "authorization": f"Bearer {token}",
        "accept": "application/json, text/event-stream",
        **{name.replace("_", "-"): value for name, value in more.items()},
    }


@asynccontextmanager
async def posting(app: Any) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url=BASE) as client:
        yield client


@asynccontextmanager
async def served_tools(environment: Mapping[str, str], folder: Path) -> AsyncIterator[str]:
    """A real `segue mcp --http`; gives its address."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-m", "segue", "mcp", "--http", "--port", "0"),
        env={"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], **environment},
        cwd=folder,
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stderr is not None
    try:
        async with asyncio.timeout(120):
            greeting = (await process.stderr.readline()).decode()
        found = re.search(r"http://\S+/mcp", greeting)
        assert found, greeting
        yield found[0]
        process.terminate()
        async with asyncio.timeout(120):
            rest = (await process.stderr.read()).decode()
            assert (await process.wait(), rest) == (0, "")
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def test_only_the_token_of_an_attempt_under_way_is_let_in(segue: Segue, agents: WaitingAgents) -> None:
    pipeline = await segue.pipelines.submit(QUICK_FIX)
    token = token_of(await agents.at_work())
    tools = ToolsOverHttp(segue.tools, version="0")
    async with tools.run(), posting(create_tools_app(tools, host="127.0.0.1")) as client:
        answered = await client.post("/mcp", json=GET_TASK, headers=headers(token))
        assert answered.status_code == 200
        assert "You are developer" in answered.json()["result"]["content"][0]["text"]
        for refused in (
            {},
            headers("wrong"),
            headers(""),
            headers("x" * 5000),
            {**headers(token), "authorization": token},
            {**headers(token), "authorization": f"Basic {token}"},
        ):
            turned_away = await client.post("/mcp", json=GET_TASK, headers=refused)
            assert turned_away.status_code == 401, refused
            assert "this token opens no tools" in turned_away.json()["detail"]
        for foreign in ({"host": "evil.example"}, {"origin": "http://evil.example"}, {"origin": "null"}):
            turned_away = await client.post("/mcp", json=GET_TASK, headers=headers(token, **foreign))
            assert turned_away.status_code == 403, foreign
        large = await client.post("/mcp", content=b"x" * 9_000_000, headers=headers(token))
        assert large.status_code == 413
        for method in ("GET", "DELETE"):
            assert (await client.request(method, "/mcp", headers=headers(token))).status_code == 405
        assert (await client.post("/other", json=GET_TASK, headers=headers(token))).status_code == 404
        await finish_all(segue, agents, pipeline.id)
        ended = await client.post("/mcp", json=GET_TASK, headers=headers(token))
        assert (ended.status_code, "has ended (done)" in ended.json()["detail"]) == (401, True)


async def test_beside_the_api_the_tools_have_tokens_of_their_own(segue: Segue, agents: WaitingAgents) -> None:
    await segue.pipelines.submit(QUICK_FIX)
    token = token_of(await agents.at_work())
    app = create_app(segue, ApiOptions(version="0"))
    credential = await segue.tokens.local()
    tools = ToolsOverHttp(segue.tools, version="0")
    app.router.routes.append(tools_route(tools))
    async with tools.run(), posting(app) as client:
        assert (await client.post("/mcp", json=GET_TASK, headers=headers(token))).status_code == 200
        assert (await client.post("/mcp", json=GET_TASK, headers=headers(credential))).status_code == 401
        assert (await client.get("/pipelines", headers=headers(token))).status_code == 401
        assert (await client.get("/pipelines", headers=headers(credential))).status_code == 200


@pytest.mark.thorough
async def test_a_client_over_http_and_one_through_the_relay_hand_off(
    segue: Segue, agents: WaitingAgents
) -> None:
    pipeline = await segue.pipelines.submit(QUICK_FIX)
    request = await agents.at_work()
    environment = dict(server_of(request).environment)
    token = environment.pop("SEGUE_MCP_TOKEN")
    staying = AsyncExitStack()
    async with served_tools(environment, Path(request.working_dir)) as url:
        sending = httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"})
        async with sending, Client(streamable_http_client(url, http_client=sending)) as client:
            assert len((await client.list_tools()).tools) == 5
            assert await call(client, "submit_handoff", outcome="partial") != (True, "")
            assert (await call(client, "submit_handoff", **GOOD))[0]
        # Without any way to the database: what the setting `mcp: http` gives to agents.
        given = {"SEGUE_MCP_URL": url, "SEGUE_MCP_TOKEN": token}
        alone = replace(request, tools=replace(server_of(request), environment=given))
        client = await staying.enter_async_context(tools_of(alone))
        well, said = await call(client, "get_task")
        assert (well, "Your handoff has been submitted" in said) == (True, True)
        well, said = await call(client, "report_blocker", blocker="The server is slow")
        assert well, said
        well, said = await call(client, "recall", query="x" * 9_000_000)
        assert (well, "at most" in said) == (False, True)
    well, said = await call(client, "get_task")
    assert (well, f"Segue does not answer at {url}" in said) == (False, True)
    await staying.aclose()
    async with tools_of(alone) as client:  # it has no tools, and can work all the same
        assert (await client.list_tools()).tools == []
    await finish_all(segue, agents, pipeline.id)
    handoff = await handoff_of_step(segue, pipeline.id)
    assert handoff is not None
    assert handoff.what_was_done == ("Fixed the button",)
    assert [blocker.blocker for blocker in handoff.blockers] == ["The server is slow"]


@pytest.mark.parametrize(("chosen", "status"), [("http", 401), ("stdio", 404)])
def test_the_server_has_the_tools_if_the_setting_says_so(
    tmp_path: Path, project: Path, chosen: str, status: int
) -> None:
    served = ServedSegue(project, tmp_path / "data", SEGUE_MCP=chosen)
    try:
        served.start()
        answer = served.client.post("/mcp", json=GET_TASK, headers=headers("wrong"))
        assert answer.status_code == status
        assert served.client.get("/health").json()["status"] == "ok"
        assert "Traceback" not in served.stop()
    finally:
        served.close()


@pytest.mark.parametrize(
    ("chosen", "given"),
    [
        (
            "stdio",
            {
                *("SEGUE_MCP_URL", "SEGUE_MCP_TOKEN"),
                *("SEGUE_DATABASE_URL", "SEGUE_DATA_DIR", "SEGUE_CONFIG_DIR", "PGPASSWORD"),
            },
        ),
        ("http", {"SEGUE_MCP_URL", "SEGUE_MCP_TOKEN"}),
    ],
)
def test_the_setting_says_what_an_agent_is_given(
    chosen: str, given: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from segue.bootstrap.tools import tools_for
    from segue.settings import load_settings

    for name in [name for name in os.environ if name.startswith("PG")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PGPASSWORD", "of the database")
    settings = load_settings(mcp=chosen, port=8123, database_url="postgresql://me:pass@host/name")
    make = tools_for(settings, lambda: "http://127.0.0.1:9/mcp")
    assert make is not None
    server = make("the-token")
    assert {*server.environment} == given
    port = {"stdio": 9, "http": 8123}[chosen]
    assert server.environment["SEGUE_MCP_URL"] == f"http://127.0.0.1:{port}/mcp"
    assert ("pass@" in str(server.environment)) == (chosen == "stdio")
    assert tools_for(load_settings(mcp="off"), lambda: None) is None
