"""/approvals: what agents ask, and a person's answer."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest

from segue.testing import ScriptedBackend, say_handoff


@pytest.fixture
def backend() -> ScriptedBackend:
    """A developer that asks twice."""
    return ScriptedBackend({"developer": [{"ask": "run npm publish"}, {"ask": "push"}, say_handoff()]})


async def waiting(client: httpx.AsyncClient) -> list[dict[str, Any]]:
    async with asyncio.timeout(120):
        while not (found := (await client.get("/approvals")).json()):  # noqa: ASYNC110
            await asyncio.sleep(0.02)
    return list(found)


async def test_what_is_asked_can_be_approved_and_rejected_once(client: httpx.AsyncClient) -> None:
    steps = {"custom_steps": [{"agent": "developer"}], "prompt": "Publish."}
    pipeline = (await client.post("/pipelines", json=steps)).json()["id"]
    first = (await waiting(client))[0]
    assert (first["title"], first["status"], first["pipeline_id"]) == ("run npm publish", "pending", pipeline)
    assert (await client.get(f"/pipelines/{pipeline}")).json()["approvals"] == [first]
    answer = {"comment": "Go.", "decided_by": "Eva"}
    said = await client.post(f"/pipelines/{pipeline}/approve", json=answer)
    assert said.status_code == 200
    assert {**said.json(), "decided_at": None} == {
        **first,
        **answer,
        "status": "approved",
        "decided_at": None,
    }
    again = await client.post(f"/approvals/{first['id']}/approve")
    assert (again.status_code, "one decision counts" in again.json()["detail"]) == (409, True)
    second = (await waiting(client))[0]
    assert (await client.post(f"/approvals/{second['id']}/reject")).json()["status"] == "rejected"
    async with asyncio.timeout(120):
        while (run := (await client.get(f"/pipelines/{pipeline}")).json())["status"] != "done":  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    assert "run npm publish: approved: Go." in run["steps"][0]["latest_handoff"]["content_md"]
    assert [each["status"] for each in (await client.get("/approvals?all=true")).json()] == [
        "approved",
        "rejected",
    ]
    assert (await client.post(f"/pipelines/{pipeline}/reject")).status_code == 409
    assert (await client.post("/approvals/999/approve")).status_code == 404
    assert (await client.post("/approvals/0/approve")).status_code == 422
