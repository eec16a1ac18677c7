"""Input that no honest client sends: each is refused with a sentence, none breaks the server."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from segue.application.pipelines.submit import Pipelines
from segue.application.segue import Segue
from segue.testing import follow_to_end
from tests.api.clients import client_of
from tests.api.test_pipelines_api import ENDLESS, QUICK_FIX, assert_problem, submit

NUL, HALF_PAIR = "a\0b", "a\ud800b"
STEP = {"agent": "qa", "description": "Wait."}


def wanted_with(bad: str) -> list[tuple[str, dict[str, Any]]]:
    """A field, and a request whose field holds this."""
    plain = [
        (name, QUICK_FIX | {name: bad}) for name in ("prompt", "title", "template", "branch", "working_dir")
    ]
    steps = [
        (f"custom_steps.0.{name}", ENDLESS | {"custom_steps": [STEP | {name: bad}]})
        for name in ("agent", "description", "model")
    ]
    models: list[dict[str, Any]] = [{"developer": bad}, {bad: "big"}]
    return [*plain, *steps, *(("step_models", QUICK_FIX | {"step_models": each}) for each in models)]


async def post(client: httpx.AsyncClient, path: str, body: dict[str, Any]) -> httpx.Response:
    """POST with escapes for what is no UTF-8."""
    return await client.post(path, content=json.dumps(body), headers={"Content-Type": "application/json"})


@pytest.mark.parametrize("bad", [NUL, HALF_PAIR], ids=["NUL", "half a pair"])
async def test_text_that_cannot_be_kept_is_422_and_names_the_field(
    client: httpx.AsyncClient, bad: str
) -> None:
    for field, body in wanted_with(bad):
        assert_problem(await post(client, "/pipelines", body), 422, field)
    assert_problem(await post(client, "/pipelines", QUICK_FIX | {bad: "an unknown key"}), 422)
    assert (await client.get("/pipelines")).json()["items"] == []
    running = await submit(client, ENDLESS)
    assert_problem(await post(client, f"/pipelines/{running['id']}/abort", {"reason": bad}), 422, "reason")
    assert (await client.get(f"/pipelines/{running['id']}")).json()["status"] == "running"


async def test_a_filter_must_be_text_that_can_be_kept(client: httpx.AsyncClient) -> None:
    for name in ("q", "template"):
        assert_problem(await client.get(f"/pipelines?{name}=a%00b"), 422, name, "NUL character")


async def test_an_idempotency_key_must_be_text_that_can_be_kept(client: httpx.AsyncClient) -> None:
    response = await client.post("/pipelines", json=QUICK_FIX, headers={"Idempotency-Key": NUL})
    assert_problem(response, 422, "idempotency-key", "NUL character")


async def test_a_folder_that_cannot_even_be_looked_at_is_422(client: httpx.AsyncClient) -> None:
    for folder in ("~nobody-has-this-name/x", "x" * 300, "y/" * 5000):
        response = await client.post("/pipelines", json=QUICK_FIX | {"working_dir": folder})
        assert_problem(response, 422, "working_dir")


async def test_an_id_that_no_pipeline_can_have_is_404(client: httpx.AsyncClient) -> None:
    for number in (0, -1, 2**31, 2**63, 10**30):
        for path in (f"/pipelines/{number}", f"/pipelines/{number}/steps/1", f"/pipelines/{number}/events"):
            assert_problem(await client.get(path), 404, str(number))
        assert_problem(await client.post(f"/pipelines/{number}/abort"), 404, str(number))


async def test_a_cursor_that_cannot_be_one_is_422(client: httpx.AsyncClient) -> None:
    for number in (0, -1, 2**31, 10**30):
        assert_problem(await client.get(f"/pipelines?before={number}"), 422, "before")


async def test_an_event_that_cannot_be_is_422(client: httpx.AsyncClient) -> None:
    assert_problem(await client.get("/events", headers={"Last-Event-ID": str(2**31)}), 422, "Last-Event-ID")
    assert_problem(await client.get(f"/events?after={2**63}"), 422, "after")


async def test_a_number_of_a_step_that_cannot_be_is_404(client: httpx.AsyncClient) -> None:
    body = await submit(client, ENDLESS)
    assert_problem(await client.get(f"/pipelines/{body['id']}/steps/{10**30}"), 404)


async def test_an_origin_that_is_no_page_of_this_server_is_403(client: httpx.AsyncClient) -> None:
    own = "127.0.0.1:8000"
    for origin in ("http://[", "http://[::1", "null", "", f"file://{own}", f"ftp://{own}", f"//{own}"):
        assert_problem(await client.get("/pipelines", headers={"Origin": origin}), 403)


async def test_a_host_that_cannot_be_read_is_403(segue: Segue) -> None:
    for address in ("127.0.0.1", "0.0.0.0"):
        async with client_of(segue, host=address) as client:
            for host in ("[", "[::1", ":80"):
                assert_problem(await client.get("/pipelines", headers={"Host": host}), 403)


async def test_a_body_that_grows_past_the_limit_unannounced_is_413(segue: Segue) -> None:
    async def chunks() -> AsyncIterator[bytes]:
        yield b'{"prompt": "'
        for _ in range(10):
            yield b"x" * 500

    async with client_of(segue, max_body_bytes=1000) as client:
        assert_problem(await client.post("/pipelines", content=chunks()), 413, "1000 bytes")


async def test_a_length_that_is_no_number_is_413(segue: Segue) -> None:
    async with client_of(segue) as client:
        for length in ("9" * 5000, "-1", "many"):
            assert_problem(await client.get("/pipelines", headers={"Content-Length": length}), 413)


async def test_no_page_of_the_server_loads_scripts_from_elsewhere(client: httpx.AsyncClient) -> None:
    for path in ("/docs", "/redoc"):
        assert_problem(await client.get(path), 404)
    assert (await client.get("/openapi.json")).status_code == 200


class TooLate(Pipelines):
    """An abort that comes when the run is over: it waits for the end, as every abort does."""

    def __init__(self, segue: Segue) -> None:
        self.segue = segue

    async def abort(self, pipeline_id: int, reason: str = "", *, actor: str | None = None) -> None:
        await follow_to_end(self.segue, pipeline_id)


async def test_an_abort_that_came_too_late_tells_how_the_run_ended(segue: Segue, project: Path) -> None:
    async with client_of(segue) as client:
        body = await submit(client, {"prompt": "x", "custom_steps": [{"agent": "developer"}]})
    async with client_of(replace(segue, pipelines=TooLate(segue))) as client:
        response = await client.post(f"/pipelines/{body['id']}/abort")
    assert response.status_code == 200
    assert response.json()["status"] == "done"
