"""The guard, the errors, the health and the description of the API."""

from __future__ import annotations

import httpx
import pytest
from starlette.types import Message, Receive, Scope, Send

from segue.application.segue import Segue
from segue.domain import errors
from segue.interfaces.api.errors import STATUS_OF
from segue.interfaces.api.security import Guard, is_loopback
from tests.api.clients import client_of


async def test_health_tells_what_segue_is_made_of(client: httpx.AsyncClient) -> None:
    body = (await client.get("/health")).json()
    assert body["status"] == "ok"
    assert body["database"] == "ok"
    assert body["engine"] == "running"
    assert {"command", "scripted"} <= set(body["backends"])


async def test_another_host_name_is_refused(segue: Segue) -> None:
    async with client_of(segue, "http://evil.example:8000") as client:
        response = await client.get("/pipelines")
    assert response.status_code == 403
    assert "evil.example" in response.json()["detail"]


async def test_a_long_header_is_not_repeated(client: httpx.AsyncClient) -> None:
    for name in ("Host", "Origin"):
        response = await client.get("/pipelines", headers={name: 20_000 * "x"})
        assert response.status_code == 403
        assert len(response.content) < 1000


@pytest.mark.parametrize("host", ["localhost:8000", "127.0.0.1", "[::1]:8000"])
async def test_names_of_this_machine_are_answered_to(segue: Segue, host: str) -> None:
    async with client_of(segue, f"http://{host}") as client:
        assert (await client.get("/pipelines")).status_code == 200


async def test_a_web_page_from_elsewhere_cannot_drive_the_server(client: httpx.AsyncClient) -> None:
    wanted = {"template": "quick_fix", "prompt": "x"}
    response = await client.post("/pipelines", json=wanted, headers={"Origin": "https://evil.example"})
    assert response.status_code == 403
    own = await client.post("/pipelines", json=wanted, headers={"Origin": "http://127.0.0.1:8000"})
    assert own.status_code == 201


async def test_a_client_is_heard_out_before_it_is_refused() -> None:
    parts = [b"x" * 500] * 4
    happened = []

    async def receive() -> Message:
        happened.append("heard")
        return {"type": "http.request", "body": parts.pop(), "more_body": bool(parts)}

    async def send(message: Message) -> None:
        happened.append(str(message.get("status", "said")))

    async def never(scope: Scope, receive: Receive, send: Send) -> None:
        raise AssertionError(scope)

    guard = Guard(never, host="127.0.0.1", tokens=None, max_body_bytes=1000)
    headers = [(b"host", b"127.0.0.1"), (b"content-length", b"2000")]
    await guard({"type": "http", "path": "/pipelines", "headers": headers}, receive, send)
    assert happened == ["heard"] * 4 + ["413", "said"]


async def test_a_body_that_is_too_large_is_refused(segue: Segue) -> None:
    async with client_of(segue, max_body_bytes=1000) as client:
        wanted = {"template": "quick_fix", "prompt": "x" * 2000}
        assert (await client.post("/pipelines", json=wanted)).status_code == 413


def test_every_error_of_ours_has_a_status() -> None:
    def kinds(kind: type[errors.SegueError]) -> set[type[errors.SegueError]]:
        return {kind}.union(*(kinds(each) for each in kind.__subclasses__()))

    assert {k for k in kinds(errors.SegueError) if k.__module__ == errors.__name__} == set(STATUS_OF)


def test_loopback_is_told_from_the_rest() -> None:
    assert all(map(is_loopback, ["127.0.0.1", "127.9.9.9", "::1", "[::1]", "localhost"]))
    assert not any(map(is_loopback, ["0.0.0.0", "::", "10.0.0.1", "localhost.example", ""]))


async def test_the_api_describes_itself(client: httpx.AsyncClient) -> None:
    document = (await client.get("/openapi.json")).json()
    assert set(document["paths"]) == {
        "/health",
        "/events",
        "/approvals",
        "/inbox",
        "/audit",
        "/audit/export",
        "/audit/verify",
        "/approvals/{approval_id}/answer",
        "/approvals/{approval_id}/approve",
        "/approvals/{approval_id}/reject",
        "/handoffs/check",
        "/handoffs/extract",
        "/pipelines",
        "/pipelines/conflicts",
        "/pipelines/{pipeline_id}",
        "/pipelines/{pipeline_id}/diff",
        "/pipelines/{pipeline_id}/abort",
        "/pipelines/{pipeline_id}/merge",
        "/pipelines/{pipeline_id}/answer",
        "/pipelines/{pipeline_id}/approve",
        "/pipelines/{pipeline_id}/restart",
        "/pipelines/{pipeline_id}/reject",
        "/pipelines/{pipeline_id}/events",
        "/pipelines/{pipeline_id}/steps/{number}",
        "/sessions",
        "/sessions/{session_id}",
        "/sessions/{session_id}/handoff",
        "/sessions/{session_id}/lineage",
        "/sessions/{session_id}/messages",
        "/tokens/exchange",
    }
    problems = document["paths"]["/pipelines/{pipeline_id}"]["get"]["responses"]["404"]["content"]
    assert list(problems) == ["application/problem+json"]


async def test_the_api_describes_what_was_measured(client: httpx.AsyncClient) -> None:
    shapes = (await client.get("/openapi.json")).json()["components"]["schemas"]
    for name in ("HandoffView", "SessionHandoffView"):
        assert "`definitions`" in shapes[name]["properties"]["evidence"]["description"]
    assert "ledger" in shapes["RepairView"]["properties"]
