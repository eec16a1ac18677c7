"""The scripted model: every API, with streams and without, turns, usage, and its own life."""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
import sys
from typing import Any

import httpx
import pytest

from segue.testing import (
    ModelRequest,
    ScriptedModel,
    edit,
    read,
    say,
    script,
    shell,
    turn,
    usage,
    write,
)
from tests.testing.clients import APIS, CHAT, CLIENT, MESSAGES, RESPONSES, Api, Heard

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


def test_an_agent_may_put_a_reminder_between_the_words_and_the_call_of_one_reply() -> None:
    with ScriptedModel({"a": [turn(say("I look."), shell("ls")), say("Second turn.")]}) as model:
        heard = CHAT.ask(model, "Go.")
        body = CHAT.body("Go.", stream=False, history=[heard])
        system, user, reply, result = body["messages"]
        words = {"role": "assistant", "content": reply.pop("content")}
        reminder = {"role": "user", "content": "<info-msg>It is late.</info-msg>"}
        body["messages"] = [system, user, words, reminder, reply, result]
        assert CHAT.read(CHAT.post_body(model, body)).text == "Second turn."


@every_api
def test_a_text_can_be_made_from_the_results_of_the_tools(api: Api) -> None:
    plan = {"a": [turn(shell("x"), shell("y")), say(lambda request: "+".join(request.results))]}
    with ScriptedModel(plan) as model:
        heard = api.ask(model, "Go.")
        assert api.ask(model, "Go.", history=[heard]).text == "ok+ok"


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
        reply = CLIENT.post(f"{model.url}/v1/messages/count_tokens", json={"messages": ["x" * 400]})
    assert 100 <= reply.json()["input_tokens"] <= 110


# The server


def test_paths_and_methods() -> None:
    with ScriptedModel({"a": say("x")}, models=["one", "two"]) as model:
        assert [one["id"] for one in CLIENT.get(model.url + "/v1/models").json()["data"]] == ["one", "two"]
        assert CLIENT.get(model.url + "/models").status_code == 200
        assert CLIENT.get(model.url).status_code == 200
        head = CLIENT.head(model.url + "/")
        assert (head.status_code, head.content) == (200, b"")
        for api in APIS:
            assert api.read(api.post(model, "Go.", prefix="")).text == "x"
        assert CLIENT.get(model.url + "/v1/chat/completions").status_code == 404
        lost = CLIENT.post(model.url + "/v1/embeddings", json={})
        assert "has no POST /v1/embeddings" in lost.json()["error"]["message"]


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"\xff", b'{"messages": 5}', b'{"tools": [{}]}', b'{"messages": ["x"]}']
)
def test_a_body_that_cannot_be_understood_is_refused(content: bytes) -> None:
    with ScriptedModel({"a": say("x")}) as model:
        reply = CLIENT.post(model.url + "/v1/messages", content=content)
        assert reply.status_code == 400
        assert "Bad request: the body is not" in reply.json()["error"]["message"]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"nonsense\r\n\r\n", b"HTTP/1.1 400 Bad Request"),
        (b"POST / HTTP/1.1\r\ncontent-length: x\r\n\r\n", b"HTTP/1.1 400 Bad Request"),
        (b"GET", b""),
    ],
)
def test_bytes_that_are_no_request_harm_nobody(data: bytes, expected: bytes) -> None:
    with ScriptedModel({"a": say("x")}) as model:
        with socket.create_connection(("127.0.0.1", model.port), timeout=120) as raw:
            raw.sendall(data)
            raw.shutdown(socket.SHUT_WR)
            assert raw.recv(2**16).split(b"\r\n")[0] == expected
        assert CHAT.ask(model, "Go.").text == "x"


def test_a_body_may_come_in_chunks() -> None:
    body = json.dumps(CHAT.body("Go.", stream=False)).encode()
    with ScriptedModel({"a": say("x")}) as model:
        reply = CLIENT.post(
            model.url + "/v1/chat/completions", content=iter([body[:10], body[10:]]), timeout=120
        )
    assert CHAT.read(reply).text == "x"


def test_scripts_load_no_engine_and_no_database() -> None:
    code = "import sys; from segue.testing import ScriptedModel, say; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True
    )
    assert not {"sqlalchemy", "dbos", "fastapi", "segue.bootstrap"} & set(done.stdout.split())


async def test_many_at_once_do_not_mix() -> None:
    plan = {"echo": [shell("ls"), turn(say(lambda request: request.text), chunk=3, chunk_delay=0.001)]}
    async with ScriptedModel(plan) as model, httpx.AsyncClient(timeout=120) as client:

        async def converse(number: int) -> None:
            api = APIS[number % 3]
            url = model.url + "/v1" + api.path
            first = api.read(await client.post(url, json=api.body(f"I am {number}", stream=True)))
            body = api.body(f"I am {number}", stream=True, history=[first])
            assert api.read(await client.post(url, json=body)).text == f"I am {number}"

        await asyncio.gather(*(converse(number) for number in range(60)))
        assert len(model.requests) == 120


@every_api
@both_ways
def test_a_record_is_whole_when_the_client_has_the_reply(api: Api, stream: bool) -> None:
    with ScriptedModel({"a": say("x")}) as model:
        for _ in range(20):
            api.ask(model, "Go.", stream=stream)
            assert (model.requests[-1].status, model.requests[-1].ended) == (200, True)


@every_api
def test_its_turns_are_without_side_calls(api: Api) -> None:
    with ScriptedModel({"a": say("x")}) as model:
        api.ask(model, "[[a]] Go.")
        api.ask(model, "A title for it.", tools=[])
        assert [record.scenario for record in model.requests] == ["a", "side"]
        assert [record.scenario for record in model.turns] == ["a"]


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
