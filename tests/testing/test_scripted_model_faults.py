"""The scripted model fails as told: errors, cuts, hangs, delays, odd ends."""

from __future__ import annotations

import asyncio
import json
import re
import threading
import time
from typing import Any

import httpx
import pytest

from segue.testing import (
    Playable,
    ScriptedModel,
    cut,
    empty,
    error,
    hang,
    overflow,
    say,
    shell,
    turn,
)
from tests.testing.clients import APIS, CHAT, MESSAGES, RESPONSES, Api

every_api = pytest.mark.parametrize("api", APIS, ids=lambda api: api.name)
both_ways = pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])


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
async def test_a_hang_lasts_until_the_client_goes_and_that_is_seen(api: Api, after: str | None) -> None:
    async with ScriptedModel({"a": hang(after)}) as model, httpx.AsyncClient(timeout=None) as client:
        came = asyncio.Event()

        async def ask() -> None:
            body = api.body("Go.", stream=True)
            async with client.stream("POST", f"{model.url}/v1{api.path}", json=body) as reply:
                async for _ in reply.aiter_raw():
                    came.set()

        asking = asyncio.create_task(ask())
        record = await model.wait_for_async(lambda record: record.scenario == "a")
        if after is not None:
            await came.wait()
        assert not record.ended
        asking.cancel()
        await model.wait_for_async(lambda record: record.ended)
    assert record.client_closed
    assert record.status == (None if after is None else 200)


@every_api
@pytest.mark.parametrize("pause", [0, 0.001, 0.05])
def test_a_client_that_leaves_in_the_middle_of_a_stream_is_seen(api: Api, pause: float) -> None:
    long = turn(say("word " * 2_000_000), chunk=1000, chunk_delay=pause)
    with ScriptedModel({"a": long}) as model:
        with api.open(model, "Go.") as reply:
            assert next(reply.iter_raw())
        record = model.wait_for(lambda record: record.ended, timeout=120)
    assert record.client_closed
    assert record.status == 200


def test_a_hang_ends_with_the_server() -> None:
    ended: list[type[BaseException]] = []

    def ask(model: ScriptedModel) -> None:
        try:
            CHAT.post(model, "Go.", timeout=120)
        except httpx.HTTPError as failure:
            ended.append(type(failure))

    with ScriptedModel({"a": hang()}) as model:
        asking = threading.Thread(target=ask, args=(model,))
        asking.start()
        model.wait_for(lambda record: record.scenario == "a")
    asking.join(120)
    assert not asking.is_alive()
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
            first = time.monotonic()
            reply.read()
        whole = time.monotonic()
        assert api.read(reply).text == "abcdef"
    assert first - started >= 0.2  # at least: what is late is not too short
    assert whole - started >= 0.2 + 0.25


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
