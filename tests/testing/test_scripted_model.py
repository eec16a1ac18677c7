"""The scripted model: every API, with streams and without, tools, faults, and its own life."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from segue.testing import (
    ModelRequest,
    Playable,
    ScriptedModel,
    ScriptError,
    call,
    cut,
    edit,
    empty,
    error,
    hang,
    overflow,
    parse_script,
    read,
    say,
    script,
    shell,
    turn,
    usage,
    write,
)
from tests.testing.clients import APIS, CHAT, MESSAGES, RESPONSES, Api, Heard

every_api = pytest.mark.parametrize("api", APIS, ids=lambda api: api.name)
both_ways = pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])


@every_api
@both_ways
def test_it_says_what_the_script_says(api: Api, stream: bool) -> None:
    long = "One word after the other. " * 20
    with ScriptedModel({"talk": [say(long)]}) as model:
        heard = api.ask(model, "[[talk]] Speak.", stream=stream)
    assert (heard.text, heard.calls, heard.finish) == (long, [], api.plain_end)
    [record] = model.requests
    assert (record.api, record.scenario, record.turn, record.status) == (api.name, "talk", 0, 200)
    assert record.ended
    assert not record.client_closed


@every_api
@both_ways
def test_words_and_several_tool_calls_in_one_turn(api: Api, stream: bool) -> None:
    steps = turn(say("Two files."), write("a.txt", "A\n"), edit("b.txt", "x", "y"))
    with ScriptedModel({"two": [steps, say("Done.")]}) as model:
        heard = api.ask(model, "Work.", stream=stream)
        assert heard.text == "Two files."
        assert [(name, given) for name, given, _ in heard.calls] == [
            ("write", {"filePath": "/home/me/work/a.txt", "content": "A\n"}),
            ("edit", {"filePath": "/home/me/work/b.txt", "oldString": "x", "newString": "y"}),
        ]
        assert heard.finish == api.tool_end
        after = api.ask(model, "Work.", stream=stream, history=[heard])
    assert after.text == "Done."
    assert [record.turn for record in model.requests] == [0, 1]


@every_api
def test_a_turn_is_counted_from_the_newest_user_text(api: Api) -> None:
    with ScriptedModel(
        {"first": [read("a"), say("First.")], "second": [shell("ls"), say("Second.")]}
    ) as model:
        one = api.ask(model, "[[first]]")
        api.ask(model, "[[first]]", history=[one])
        fresh = api.ask(model, "[[first]]", history=[one, Heard("First.")], then="[[second]] more")
        assert fresh.calls[0][1]["command"] == "ls"
    assert [(r.scenario, r.turn) for r in model.requests] == [("first", 0), ("first", 1), ("second", 0)]


@every_api
def test_after_the_last_turn_it_is_done(api: Api) -> None:
    with ScriptedModel({"one": shell("ls")}) as model:
        heard = api.ask(model, "Go.")
        assert api.ask(model, "Go.", history=[heard]).text == "Done."


def test_a_message_after_the_marker_can_have_a_scenario_of_its_own() -> None:
    with ScriptedModel({"work": [say("Half.")], "work/2": [say("Whole.")]}) as model:
        assert CHAT.ask(model, "[[work]]").text == "Half."
        assert CHAT.ask(model, "[[work]]", history=[Heard("Half.")], then="Again, please.").text == "Whole."


def test_a_scenario_is_named_by_marker_then_by_model_then_by_default() -> None:
    plan = script({"a": say("A"), "b": say("B"), "c": say("C")}, default="c")
    with ScriptedModel(plan) as model:
        assert CHAT.ask(model, "[[a]] and then [[unknown]]", model_name="x:b").text == "A"
        assert CHAT.ask(model, "[[a]] or rather [[b]]").text == "B"
        assert CHAT.ask(model, "nothing", model_name="x:b").text == "B"
        assert CHAT.ask(model, "nothing").text == "C"


def test_without_a_scenario_the_reply_tells_the_names() -> None:
    with ScriptedModel({"a": say("A"), "b": say("B")}) as model:
        reply = CHAT.post(model, "nothing")
    assert reply.status_code == 400
    assert "[[name]] of one of: a, b" in reply.json()["error"]["message"]


def test_reminders_of_the_agent_are_not_the_user() -> None:
    reminder = {"type": "text", "text": "<system-reminder>[[b]] be brief</system-reminder>"}
    result = {"type": "tool_result", "tool_use_id": "t", "content": "fine"}
    messages = [
        {"role": "user", "content": [reminder, {"type": "text", "text": "[[a]] go"}]},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "bash", "input": {}}]},
        {"role": "user", "content": [result, reminder]},
    ]
    with ScriptedModel({"a": [shell("ls"), say("A")], "b": [say("B")]}) as model:
        assert MESSAGES.read(MESSAGES.post_body(model, {"messages": messages})).text == "A"


def test_parallel_calls_that_an_agent_sends_one_by_one_are_one_turn() -> None:
    with ScriptedModel({"a": [turn(shell("x"), shell("y")), say("Second turn.")]}) as model:
        heard = RESPONSES.ask(model, "Go.")
        items: list[dict[str, Any]] = [{"role": "user", "content": "Go."}]
        for name, given, call_id in heard.calls:
            items.append(
                {"type": "function_call", "name": name, "arguments": json.dumps(given), "call_id": call_id}
            )
            items.append({"type": "function_call_output", "call_id": call_id, "output": "ok"})
        assert RESPONSES.read(RESPONSES.post_body(model, {"input": items})).text == "Second turn."


@every_api
def test_a_text_can_be_made_from_the_request(api: Api) -> None:
    def answer(request: ModelRequest) -> str:
        return f"{request.text} in {request.cwd} with {len(request.tools)} tools"

    with ScriptedModel({"echo": say(answer)}) as model:
        assert api.ask(model, "Ping").text == "Ping in /home/me/work with 4 tools"


def test_a_function_that_fails_is_told_to_the_agent_and_raised_in_the_test() -> None:
    def broken(request: ModelRequest) -> str:
        return str(request.results[7])

    model = ScriptedModel({"a": say(broken)}).start()
    reply = CHAT.post(model, "Go.")
    assert "The script failed: IndexError" in reply.json()["error"]["message"]
    with pytest.raises(IndexError):
        model.__exit__(None, None, None)


# Tools


def function(name: str, *names: str, required: tuple[str, ...] = ()) -> dict[str, Any]:
    properties = {one: {"type": "string"} for one in names}
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return {"type": "function", "name": name, "parameters": schema}


def ask_with(model: ScriptedModel, tools: list[dict[str, Any]], cwd: str = "/w") -> httpx.Response:
    items = [
        {"role": "user", "content": f"<environment_context><cwd>{cwd}</cwd></environment_context>"},
        {"role": "user", "content": "Go."},
    ]
    return RESPONSES.post_body(model, {"input": items, "tools": tools})


def test_a_tool_in_a_namespace_is_called_with_it() -> None:
    tools = [
        function("exec_command", "cmd"),
        {"type": "namespace", "name": "mcp__segue", "tools": [function("submit_handoff", "text")]},
    ]
    with ScriptedModel({"a": call("submit_handoff", {"text": "in {cwd}"})}) as model:
        [item] = ask_with(model, tools).json()["output"]
    assert (item["type"], item["namespace"], item["name"]) == (
        "function_call",
        "mcp__segue",
        "submit_handoff",
    )
    assert json.loads(item["arguments"]) == {"text": "in /w"}


@pytest.mark.parametrize("name", ["submit_handoff", "segue_submit_handoff", "mcp__segue__submit_handoff"])
def test_a_tool_is_found_behind_the_prefix_of_an_agent(name: str) -> None:
    with ScriptedModel({"a": call("submit_handoff", {"text": "x"})}) as model:
        [item] = ask_with(model, [function("bash", "command"), function(name, "text")]).json()["output"]
    assert item["name"] == name


def test_a_freeform_tool_gets_text() -> None:
    tools = [{"type": "custom", "name": "apply_patch"}, function("exec_command", "cmd")]
    with ScriptedModel({"a": write("a/b.txt", "one\ntwo\n"), "b": call("apply_patch", "raw")}) as model:
        reply = RESPONSES.post_body(model, {"input": "[[a]]", "tools": tools, "stream": True})
        [item] = RESPONSES.read(reply).raw["output"]
        raw = RESPONSES.post_body(model, {"input": "[[b]]", "tools": tools}).json()["output"][0]
    assert item["type"] == raw["type"] == "custom_tool_call"
    assert item["input"] == "*** Begin Patch\n*** Add File: a/b.txt\n+one\n+two\n*** End Patch\n"
    assert raw["input"] == "raw"


def test_without_a_fitting_tool_the_shell_does_it(tmp_path: Path) -> None:
    tools = [function("exec_command", "cmd", "note", required=("cmd", "note"))]
    content = "it's $HOME\nwithout a last newline"
    steps = [
        write("{cwd}/deep/a.txt", content),
        edit("deep/a.txt", "it's", "it is 'now'"),
        read("deep/a.txt"),
    ]
    with ScriptedModel({str(number): step for number, step in enumerate(steps)}) as model:
        for number in range(3):
            body = {"tools": tools, "input": f"Working directory: {tmp_path}\n[[{number}]]"}
            [item] = RESPONSES.post_body(model, body).json()["output"]
            given = json.loads(item["arguments"])
            assert given["note"] == "scripted step"
            done = subprocess.run(
                ["/bin/sh", "-c", given["cmd"]], capture_output=True, text=True, timeout=30, check=True
            )
    assert done.stdout == content.replace("it's", "it is 'now'")


def test_other_names_of_tools_and_arguments_are_understood() -> None:
    editor = function("developer__text_editor", "command", "path", "file_text", "old_str", "new_str")
    many = function("edit", "path", "edits")
    many["parameters"]["properties"]["edits"] = {
        "type": "array",
        "items": {"properties": {"oldText": {"type": "string"}, "newText": {"type": "string"}}},
    }
    old_shell = function("shell", "command")
    old_shell["parameters"]["properties"]["command"] = {"type": "array"}
    plan = {"w": write("a", "A"), "e": edit("a", "A", "B"), "s": shell("ls")}

    def given(model: ScriptedModel, name: str, tools: list[dict[str, Any]]) -> Any:
        body = {"input": f"[[{name}]]", "tools": tools}
        return json.loads(RESPONSES.post_body(model, body).json()["output"][0]["arguments"])

    with ScriptedModel(plan) as model:
        assert given(model, "w", [editor]) == {"command": "write", "path": "a", "file_text": "A"}
        replaced = {"command": "str_replace", "path": "a", "old_str": "A", "new_str": "B"}
        assert given(model, "e", [editor]) == replaced
        assert given(model, "e", [many]) == {"path": "a", "edits": [{"oldText": "A", "newText": "B"}]}
        assert given(model, "s", [old_shell]) == {"command": ["bash", "-lc", "ls"]}


@every_api
@pytest.mark.parametrize("step", [call("no_such_tool"), write("a", "b")], ids=["call", "write"])
def test_a_step_that_no_tool_can_do_is_refused(api: Api, step: Any) -> None:
    with ScriptedModel({"a": step}) as model:
        reply = api.post(model, "Go.", tools=[("look", {"where": "string"})])
    assert reply.status_code == 400
    assert "it offers: look." in reply.json()["error"]["message"]


@every_api
def test_a_side_call_has_no_tools_and_gets_a_harmless_text(api: Api) -> None:
    plan = {"a": say("A")}
    for side, expected in (("default", "Scripted session"), ("own", "A title"), (None, "A")):
        made = script(plan) if side == "default" else script(plan, side=say("A title") if side else None)
        with ScriptedModel(made) as model:
            assert api.read(api.post(model, "[[a]] title?", tools=[])).text == expected
        assert model.requests[0].scenario == ("a" if side is None else "side")


# Faults


@pytest.mark.parametrize(
    ("step", "status", "openai", "anthropic"),
    [
        (error(400), 400, "invalid_request_error", "invalid_request_error"),
        (error(401), 401, "invalid_api_key", "authentication_error"),
        (error(403), 403, "permission_denied", "permission_error"),
        (error(404), 404, "model_not_found", "not_found_error"),
        (error(429, retry_after=2), 429, "rate_limit_exceeded", "rate_limit_error"),
        (error(429, "quota"), 429, "insufficient_quota", "invalid_request_error"),
        (error(500), 500, "server_error", "api_error"),
        (error(529), 529, "server_is_overloaded", "overloaded_error"),
        (error(418, "teapot"), 418, "teapot", "teapot"),
    ],
)
@both_ways
def test_an_error_has_the_shape_of_its_api(
    step: Any, status: int, openai: str, anthropic: str, stream: bool
) -> None:
    with ScriptedModel({"a": step}) as model:
        for api in APIS:
            reply = api.post(model, "Go.", stream=stream)
            told = reply.json()["error"]
            assert reply.status_code == status
            assert told["message"]
            if api is MESSAGES:
                assert (reply.json()["type"], told["type"]) == ("error", anthropic)
            else:
                assert openai in (told["code"], told["type"])
            assert reply.headers.get("retry-after") == ("2" if step.retry_after else None)


def test_too_long_is_said_as_each_vendor_says_it() -> None:
    with ScriptedModel({"a": overflow()}) as model:
        chat = CHAT.post(model, "Go.", stream=True)
        whole = RESPONSES.post(model, "Go.")
        streamed = RESPONSES.post(model, "Go.", stream=True)
        anthropic = MESSAGES.post(model, "Go.", stream=True)
    assert (chat.status_code, chat.json()["error"]["code"]) == (400, "context_length_exceeded")
    assert "maximum context length is" in chat.json()["error"]["message"]
    assert whole.json()["error"]["code"] == "context_length_exceeded"
    [failed] = RESPONSES.events(streamed)
    assert failed["type"] == "response.failed"
    assert failed["response"]["error"]["code"] == "context_length_exceeded"
    assert re.fullmatch(r"prompt is too long: \d+ tokens > \d+ maximum", anthropic.json()["error"]["message"])


@every_api
def test_an_error_can_come_within_a_stream(api: Api) -> None:
    with ScriptedModel({"a": error(529, after="So far")}) as model:
        events = api.events(api.post(model, "Go.", stream=True))
    assert "So far" in json.dumps(events)
    assert "overloaded" in json.dumps(events[-1])


@every_api
def test_a_stream_is_cut_after_the_text(api: Api) -> None:
    with ScriptedModel({"a": cut(after="Half of a sen")}) as model:
        got: list[bytes] = []
        with api.open(model, "Go.") as reply, pytest.raises(httpx.RemoteProtocolError):
            got.extend(reply.iter_raw())
        with pytest.raises(httpx.RemoteProtocolError):
            api.post(model, "Go.")
    assert b"Half of a sen" in b"".join(got)
    assert all(record.ended and not record.client_closed for record in model.requests)


@both_ways
def test_a_cut_without_text_gives_no_answer_at_all(stream: bool) -> None:
    with ScriptedModel({"a": cut()}) as model, pytest.raises(httpx.RemoteProtocolError):
        CHAT.post(model, "Go.", stream=stream)
    assert model.requests[0].status is None


@every_api
@pytest.mark.parametrize("after", [None, "Wait"])
def test_a_hang_lasts_until_the_client_goes_and_that_is_seen(api: Api, after: str | None) -> None:
    with ScriptedModel({"a": hang(after)}) as model:
        with pytest.raises(httpx.ReadTimeout), api.open(model, "Go.", timeout=0.3) as reply:
            for _ in reply.iter_raw():
                pass
        record = model.wait_for(lambda record: record.ended, timeout=5)
    assert record.client_closed
    assert record.status == (None if after is None else 200)


def test_a_hang_ends_with_the_server() -> None:
    ended: list[type[BaseException]] = []

    def ask(model: ScriptedModel) -> None:
        try:
            CHAT.post(model, "Go.", timeout=30)
        except httpx.HTTPError as failure:
            ended.append(type(failure))

    with ScriptedModel({"a": hang()}) as model:
        asking = threading.Thread(target=ask, args=(model,))
        asking.start()
        model.wait_for(lambda record: record.scenario == "a")
        started = time.monotonic()
    asking.join(10)
    assert time.monotonic() - started < 5
    assert ended == [httpx.RemoteProtocolError]


def test_a_fault_that_comes_some_times_gives_way_to_then_or_to_the_next_turn() -> None:
    plan: dict[str, list[Playable]] = {
        "then": [turn(error(500), times=2, then=say("Recovered.")), say("no")],
        "next": [turn(error(500), times=1), turn(error(429), times=1), shell("ls"), say("End.")],
        "only": [turn(error(500), times=1)],
    }
    with ScriptedModel(plan) as model:
        assert [CHAT.post(model, "[[then]]").status_code for _ in range(3)] == [500, 500, 200]
        assert [CHAT.post(model, "[[next]]").status_code for _ in range(3)] == [500, 429, 200]
        heard = CHAT.ask(model, "[[next]]")
        assert heard.calls
        assert CHAT.ask(model, "[[next]]", history=[heard]).text == "End."
        assert [CHAT.post(model, "[[only]]").status_code for _ in range(2)] == [500, 200]
        assert CHAT.ask(model, "[[then]]").text == "Recovered."


@every_api
def test_delays_are_kept(api: Api) -> None:
    with ScriptedModel({"a": turn(say("abcdef"), delay=0.2, chunk=1, chunk_delay=0.05)}) as model:
        started = time.monotonic()
        with api.open(model, "Go.") as reply:
            first = time.monotonic() - started
            reply.read()
        whole = time.monotonic() - started
        assert api.read(reply).text == "abcdef"
    assert first >= 0.2
    assert whole >= first + 0.25


@every_api
@both_ways
def test_an_empty_reply_and_other_ends(api: Api, stream: bool) -> None:
    plan = {
        "empty": empty(),
        "long": turn(say("Cut sh"), finish="length"),
        "odd": turn(say(""), finish="odd"),
    }
    with ScriptedModel(plan) as model:
        heard = api.ask(model, "[[empty]]", stream=stream)
        assert (heard.text, heard.calls, heard.finish) == ("", [], api.plain_end)
        assert api.ask(model, "[[long]]", stream=stream).finish == api.length_end


# Usage


@both_ways
def test_usage_is_reported_as_each_api_reports_it(stream: bool) -> None:
    with ScriptedModel({"a": turn(say("x"), usage=usage(100, 20, cache_read=7, cache_write=3))}) as model:
        chat, responses, messages = (api.ask(model, "Go.", stream=stream).usage for api in APIS)
    assert (chat["prompt_tokens"], chat["completion_tokens"], chat["total_tokens"]) == (110, 20, 130)
    assert chat["prompt_tokens_details"]["cached_tokens"] == 7
    assert (responses["input_tokens"], responses["output_tokens"], responses["total_tokens"]) == (
        110,
        20,
        130,
    )
    assert responses["input_tokens_details"]["cached_tokens"] == 7
    assert messages == {
        "input_tokens": 100,
        "output_tokens": 20,
        "cache_read_input_tokens": 7,
        "cache_creation_input_tokens": 3,
    }


def test_usage_is_counted_roughly_when_the_script_has_none() -> None:
    with ScriptedModel({"a": say("word " * 400)}) as model:
        small, large = CHAT.ask(model, "Go.").usage, CHAT.ask(model, "Go. " * 1000).usage
    assert small["completion_tokens"] == 500
    assert 900 < large["prompt_tokens"] - small["prompt_tokens"] < 1100


def test_a_chat_stream_has_usage_only_when_asked() -> None:
    with ScriptedModel({"a": say("x")}) as model:
        events = CHAT.events(CHAT.post_body(model, {"stream": True, "messages": [], "tools": CHAT.tools()}))
    assert events
    assert not [event for event in events if "usage" in event]


def test_tokens_are_counted_beforehand_for_anthropic() -> None:
    with ScriptedModel({"a": say("x")}) as model:
        reply = httpx.post(f"{model.url}/v1/messages/count_tokens", json={"messages": ["x" * 400]})
    assert 100 <= reply.json()["input_tokens"] <= 110


# The server


def test_paths_and_methods() -> None:
    with ScriptedModel({"a": say("x")}, models=["one", "two"]) as model:
        assert [one["id"] for one in httpx.get(model.url + "/v1/models").json()["data"]] == ["one", "two"]
        assert httpx.get(model.url + "/models").status_code == 200
        assert httpx.get(model.url).status_code == 200
        head = httpx.head(model.url + "/")
        assert (head.status_code, head.content) == (200, b"")
        for api in APIS:
            assert api.read(api.post(model, "Go.", prefix="")).text == "x"
        assert httpx.get(model.url + "/v1/chat/completions").status_code == 404
        lost = httpx.post(model.url + "/v1/embeddings", json={})
        assert "has no POST /v1/embeddings" in lost.json()["error"]["message"]


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff"])
def test_a_body_that_is_no_object_is_refused(content: bytes) -> None:
    with ScriptedModel({"a": say("x")}) as model:
        reply = httpx.post(model.url + "/v1/messages", content=content)
        assert reply.status_code == 400
        assert "Bad request: the body is not" in reply.json()["error"]["message"]
        assert CHAT.ask(model, "Go.").text == "x"


def test_a_body_may_come_in_chunks() -> None:
    body = json.dumps(CHAT.body("Go.", stream=False)).encode()
    with ScriptedModel({"a": say("x")}) as model:
        reply = httpx.post(
            model.url + "/v1/chat/completions", content=iter([body[:10], body[10:]]), timeout=10
        )
    assert CHAT.read(reply).text == "x"


async def test_many_at_once_do_not_mix() -> None:
    plan = {"echo": [shell("ls"), turn(say(lambda request: request.text), chunk=3, chunk_delay=0.001)]}
    async with ScriptedModel(plan) as model, httpx.AsyncClient(timeout=30) as client:

        async def converse(number: int) -> None:
            api = APIS[number % 3]
            url = model.url + "/v1" + api.path
            first = api.read(await client.post(url, json=api.body(f"I am {number}", stream=True)))
            body = api.body(f"I am {number}", stream=True, history=[first])
            assert api.read(await client.post(url, json=body)).text == f"I am {number}"

        await asyncio.gather(*(converse(number) for number in range(60)))
        assert len(model.requests) == 120


def test_it_stops_and_starts_on_the_same_port() -> None:
    model = ScriptedModel({"a": say("x")})
    with model:
        port = model.port
        assert CHAT.ask(model, "Go.").text == "x"
        model.stop()
        with pytest.raises(httpx.ConnectError):
            CHAT.ask(model, "Go.")
        model.start()
        assert model.port == port
        assert CHAT.ask(model, "Go.").text == "x"
        with pytest.raises(OSError, match="in use"):
            ScriptedModel({"a": say("y")}, port=port).start()
    assert len(model.requests) == 2


async def test_waiting_for_a_request() -> None:
    async with ScriptedModel({"a": say("x")}) as model:
        waiting = asyncio.create_task(model.wait_for_async(lambda record: record.scenario == "a"))
        await asyncio.to_thread(CHAT.ask, model, "Go.")
        assert (await waiting).path == "/v1/chat/completions"
        with pytest.raises(TimeoutError, match=r"there were: \[\('a', 0\)\]"):
            await model.wait_for_async(lambda record: record.turn == 7, timeout=0.1)


# Scripts from files

FILE = """
default: fix
side: A title
scenarios:
  fix:
    - say: I look.
      read: calc.py
    - write: [{path: a, content: A}, {path: b, content: B}]
      usage: {input: 5, output: 6}
    - call: {tool: submit_handoff, arguments: {text: x}}
    - error: 429
      times: 1
      then: Now.
  broken:
    - hang:
"""


def test_a_script_from_a_file_is_the_same_as_one_in_python(tmp_path: Path) -> None:
    (tmp_path / "script.yaml").write_text(FILE, encoding="utf-8")
    wanted = script(
        {
            "fix": [
                turn(say("I look."), read("calc.py")),
                turn(write("a", "A"), write("b", "B"), usage=usage(5, 6)),
                call("submit_handoff", {"text": "x"}),
                turn(error(429), times=1, then=say("Now.")),
            ],
            "broken": hang(),
        },
        default="fix",
        side=say("A title"),
    )
    assert ScriptedModel(tmp_path / "script.yaml").script == wanted


@pytest.mark.parametrize(
    ("data", "told"),
    [
        ([], "Make the script a mapping, not []."),
        ({"scenarios": {"a": [{"sya": "x"}]}}, "Mend scenario a, turn 1: 'sya' is none of"),
        ({"scenarios": {"a": {"write": {"path": "x"}}}}, "Mend scenario a, turn 1, write: .*'content'"),
        ({"scenarios": {"a": {"write": {"path": "x", "text": ""}}}}, "'text' is none of content, path"),
        ({"scenarios": {"a": {"say": "x", "hang": None}}}, "steps or one fault, not both"),
        ({"scenarios": {"a": {"say": "x", "then": "y"}}}, "how many `times`"),
        ({"scenarios": {}, "default": "a"}, "default scenario 'a' is not among"),
    ],
)
def test_a_script_that_cannot_be_understood_is_told_in_a_sentence(data: object, told: str) -> None:
    with pytest.raises(ScriptError, match=told.replace("[]", r"\[\]")):
        parse_script(data)


def test_it_runs_from_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "script.json").write_text('{"scenarios": {"a": "Hello."}}', encoding="utf-8")
    command = [sys.executable, "-m", "segue.testing.model", "--script", str(tmp_path / "script.json")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout is not None
        try:
            url = program.stdout.readline().split()[0]
            reply = httpx.post(url + "/v1/messages", json=MESSAGES.body("Hi", stream=False))
            assert MESSAGES.read(reply).text == "Hello."
            assert program.stdout.readline() == "messages a turn 0: 200\n"
        finally:
            program.send_signal(2)
        assert program.wait(10) == 0


def test_a_missing_script_is_told_in_a_sentence(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "segue.testing.model", "--script", str(tmp_path / "none.yaml")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("Cannot read the script ")
    assert "Traceback" not in done.stderr
