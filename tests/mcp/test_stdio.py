"""The tools as an agent has them: a real client, the real `segue mcp`, a run that is under way."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from segue.application.segue import Segue
from segue.interfaces.mcp.schemas import HANDOFF_FIELDS
from tests.mcp.rig import (
    GOOD,
    QUICK_FIX,
    WaitingAgents,
    call,
    finish_all,
    handoff_of_step,
    hello,
    kinds_of,
    lines_of,
    tool_call,
    tools_of,
)

SECRET = "ghp_" + "a1B2c3D4e5" * 4


async def test_a_bad_handoff_comes_back_is_fixed_and_accepted(segue: Segue, agents: WaitingAgents) -> None:
    pipeline = await segue.pipelines.submit(QUICK_FIX)
    request = await agents.at_work()
    async with tools_of(request) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert {*tools} == {"submit_handoff", "get_task", "recall", "search_knowledge", "report_blocker"}
        assert {*tools["submit_handoff"].input_schema["properties"]} == {*HANDOFF_FIELDS, "text"}
        well, said = await call(client, "submit_handoff", outcome="partial", what_was_done="- One\n- Two")
        assert not well
        assert "H010 error at" in said
        assert "Fix what is marked as an error" in said
        well, said = await call(
            client,
            "submit_handoff",
            outcome="partial",
            what_was_done="- One\n- Two",
            blockers=[{"blocker": "No key", "suggested_resolution": f"Use {SECRET}"}],
            suggested_next_steps=["Ask for the key", "Ask for the key"],
        )
        assert well, said
        assert "H031 warning" in said
        assert "looked like a secret: blockers[0].suggested_resolution: GitHub token" in said
        well, said = await call(client, "get_task")
        assert well
        assert "You are developer, step 1 of 2" in said
        assert "Your handoff has been submitted" in said
        assert "Fix the button." in said
        # A refused one does not replace what was accepted; a good one does.
        assert not (await call(client, "submit_handoff", outcome="great"))[0]
    await finish_all(segue, agents, pipeline.id, first="## What Was Done\n- Something else\n")
    handoff = await handoff_of_step(segue, pipeline.id)
    assert handoff is not None
    assert handoff.what_was_done == ("One", "Two")
    assert SECRET not in handoff.to_json()
    assert "[redacted: GitHub token]" in handoff.to_json()
    trail = await kinds_of(segue, pipeline.id)
    submitted = [payload for kind, payload in trail if kind == "handoff_submitted"]
    assert [payload["accepted"] for payload in submitted] == [False, True, False]
    assert next(p["notation"] for kind, p in trail if kind == "handoff_created") == "submitted"


async def test_tools_close_with_their_attempt_and_open_no_other_run(
    segue: Segue, agents: WaitingAgents
) -> None:
    first = await segue.pipelines.submit(QUICK_FIX)
    mine = await agents.at_work(1)
    agents.reply(mine, "## What Was Done\n- The hidden thing of run one\n")
    reviewing = await agents.at_work(2)
    await segue.pipelines.submit(QUICK_FIX)
    other = await agents.at_work(3)
    agents.reply(other, "## What Was Done\n- Ordinary things\n")
    other = await agents.at_work(4)
    async with tools_of(reviewing) as inside, tools_of(other) as outside, tools_of(mine) as ended:
        well, said = await call(inside, "recall", query="hidden")
        assert well
        assert "The hidden thing of run one" in said
        for arguments in ({"query": "hidden"}, {}, {"step": 1}, {"field": "what_was_done"}):
            well, said = await call(outside, "recall", **arguments)
            assert "hidden thing" not in said, arguments
        assert "hidden thing" not in (await call(outside, "get_task"))[1]
        for name in ("get_task", "recall", "submit_handoff"):
            assert await call(ended, name, **GOOD) == (
                False,
                "Error: this attempt has ended (done): its tools are closed, so just finish",
            )
    assert (await handoff_of_step(segue, first.id)).what_was_done == ("The hidden thing of run one",)  # type: ignore[union-attr]
    async with tools_of(other, SEGUE_MCP_TOKEN="wrong") as client:
        assert (await client.list_tools()).tools == []
        well, said = await call(client, "get_task")
        assert (well, "this token opens no tools" in said) == (False, True)


async def test_hostile_values_get_a_clear_answer_and_the_server_lives(
    segue: Segue, agents: WaitingAgents
) -> None:
    pipeline = await segue.pipelines.submit(QUICK_FIX)
    deep: Any = "x"
    for _ in range(100):
        deep = [deep]
    refused: list[tuple[dict[str, Any], str]] = [
        ({}, "nothing was submitted"),
        ({"text": "x" * 5_000_000}, "1000000 characters at most"),
        ({"what_was_done": ["x" * 60_000] * 90}, "1000000 characters at most"),
        ({"what_was_done": ["x"] * 50_000}, "at most 20000 values"),
        ({"what_was_done": deep}, "not nested deeper than 8"),
        ({"text": 7}, "`text` must be a string"),
        ({"outcome": 7}, "shape error at outcome"),
        ({"summary": "x"}, "shape error at summary: there is no such field; Known:"),
        ({"files_modified": [{"description": "x"}]}, "files_modified[0].path: this part is missing"),
        ({"gotchas": [{"issue": "x", "level": 3}]}, "gotchas[0].level"),
        ({"outcome": "completed", "files_created": ["/etc/passwd"]}, "H020"),
    ]
    async with tools_of(await agents.at_work()) as client:
        for arguments, expected in refused:
            well, said = await call(client, "submit_handoff", **arguments)
            assert not well, said
            assert expected in said
            assert len(said) < 5000
            assert "Traceback" not in said
        for name, arguments in (
            ("recall", {"query": "x" * 5000}),
            ("recall", {"step": "two"}),
            ("search_knowledge", {"query": "\0 ..."}),
            ("report_blocker", {}),
            ("report_blocker", {"blocker": "  "}),
            ("report_blocker", {"blocker": "x" * 10_000}),
            ("no_such_tool", {}),
        ):
            well, said = await call(client, name, **arguments)
            assert not well, (name, arguments)
            assert said.startswith("Error: ")
        well, said = await call(client, "submit_handoff", **{**GOOD, "goal": "nul \0 and bell \a"})
        assert well, said
    await finish_all(segue, agents, pipeline.id)
    handoff = await handoff_of_step(segue, pipeline.id)
    assert handoff is not None
    assert handoff.goal == "nul \ufffd and bell \a"


async def test_lines_that_are_no_messages_are_answered_and_output_is_protocol_alone(
    segue: Segue, agents: WaitingAgents
) -> None:
    await segue.pipelines.submit(QUICK_FIX)
    deep, far_too_deep = ("[" * depth + "]" * depth for depth in (400, 200_000))
    lines = [
        hello(1),
        json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        "",
        "no json at all",
        tool_call(2, "report_blocker", '{"blocker": "half a pair: \\ud83d"}'),
        tool_call(3, "recall", f'{{"query": {deep}}}'),
        tool_call(4, "recall", f'{{"query": {far_too_deep}}}'),
        '{"id": 5, "method": "tools/list"}',
        '{"jsonrpc": "2.0", "id": {}, "method": "tools/list"}',
        '{"jsonrpc": "2.0", "id": 6, "result": {}}',
        '["tools/list"]',
        '{"jsonrpc": "2.0", "id": 7, "method": "no/such/method"}',
        '{"jsonrpc": "2.0", "id": 8, "method": "tools/call", "params": [1]}',
    ]
    async with lines_of(await agents.at_work()) as talk:
        answers = await talk(lines, 10)
        answers += await talk([tool_call(9, "get_task", "{}")], 1)
    without_id = [answer["error"]["code"] for answer in answers if answer["id"] is None]
    assert sorted(without_id) == [-32700, -32700, -32600, -32600]
    by_id = {answer["id"]: answer for answer in answers}
    assert by_id[1]["result"]["protocolVersion"] == "2025-06-18"
    assert by_id[2]["result"]["isError"] is False
    assert "nested too deeply" in by_id[3]["error"]["message"]
    assert [by_id[number]["error"]["code"] for number in (5, 7)] == [-32600, -32601]
    assert "error" in by_id[8]
    assert "half a pair" not in by_id[9]["result"]["content"][0]["text"]
    assert "blockers reported: 1" in by_id[9]["result"]["content"][0]["text"]


async def test_a_file_of_the_working_directory_does_not_pass_for_a_module(
    segue: Segue, agents: WaitingAgents, project: Path
) -> None:
    for name in ("mcp", "segue", "yaml", "json"):
        (project / f"{name}.py").write_text("raise SystemExit(9)\n", encoding="utf-8")
    await segue.pipelines.submit(QUICK_FIX)
    async with tools_of(await agents.at_work()) as client:
        assert (await call(client, "get_task"))[0]


def test_without_a_token_there_is_nothing_to_serve(project: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "segue", "mcp"], capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("segue: SEGUE_MCP_TOKEN is not set.")
