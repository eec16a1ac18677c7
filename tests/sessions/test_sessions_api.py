"""Sessions over REST."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from segue.application.segue import Segue
from segue.testing import ScriptedBackend, build_test_segue
from tests.api.clients import client_of
from tests.sessions.scripts import ASKED, agent, documents, until, write_catalog

AGENTS = {"helper": agent(), "thinker": agent(asked=[{"delay": 600}]), "mute": agent(asked=[{"say": ""}])}


@pytest.fixture
async def segue(tmp_path: Path, repository: Path, backend: ScriptedBackend) -> AsyncIterator[Segue]:
    """A running Segue with an agent that hands off, one that thinks for ever, and one that is mute."""
    write_catalog(repository, AGENTS)
    async with build_test_segue(tmp_path, backend) as running:
        yield running


@pytest.fixture
async def client(segue: Segue) -> AsyncIterator[httpx.AsyncClient]:
    """A client of its API."""
    async with client_of(segue) as found:
        yield found


async def begin(client: httpx.AsyncClient, who: str = "helper") -> str:
    """A session in which something was said; gives its address."""
    started = await client.post("/sessions", json={"agent": who, "title": "The button"})
    assert started.status_code == 201, started.text
    place: str = started.headers["location"]
    said = await client.post(f"{place}/messages", json={"text": "Hi.", "message_id": "m1"})
    assert (said.status_code, said.json()["reply"]) == (201, "Hello.")
    return place


async def test_a_session_is_started_talked_to_and_shown(client: httpx.AsyncClient) -> None:
    place = await begin(client)
    again = await client.post(f"{place}/messages", json={"text": "Hi.", "message_id": "m1"})
    assert again.json()["reply"] == "Hello."
    shown: dict[str, Any] = (await client.get(place)).json()
    assert (shown["name"], shown["messages"], shown["parent_id"]) == ("helper", 2, None)
    assert shown["said"][0]["text"] == "Hi."
    listed = (await client.get("/sessions")).json()
    assert [each["id"] for each in listed["items"]] == [shown["id"]]
    assert (await client.delete(place)).json()["ended_at"] is not None
    late = await client.post(f"{place}/messages", json={"text": "Hi."})
    assert (late.status_code, late.headers["content-type"]) == (409, "application/problem+json")


async def test_a_handoff_gives_the_successor_and_lineage_shows_it(
    client: httpx.AsyncClient, tmp_path: Path
) -> None:
    place = await begin(client)
    done = (await client.post(f"{place}/handoff", json={"reason": "shift_end", "focus": "x"})).json()
    assert (done["outcome"], done["reply"]) == ("handed_off", "I go on from there.")
    assert done["document"] == str(documents(tmp_path)[0])
    family = (await client.get(f"{place}/lineage")).json()
    assert [each["id"] for each in family["children"]] == [done["successor_id"]]
    shown = (await client.get(place)).json()
    assert shown["handoffs"][0]["reason"] == "shift_end"


async def test_under_two_messages_is_a_409(client: httpx.AsyncClient) -> None:
    place = (await client.post("/sessions", json={"agent": "helper"})).headers["location"]
    answer = await client.post(f"{place}/handoff", json={"reason": "shift_end"})
    assert (answer.status_code, answer.json()["detail"]) == (409, "Nothing to hand off (no messages yet)")


async def test_a_handoff_can_be_cancelled(
    client: httpx.AsyncClient, backend: ScriptedBackend, tmp_path: Path
) -> None:
    place = await begin(client, "thinker")
    handing = asyncio.create_task(client.post(f"{place}/handoff", json={"reason": "shift_end"}))
    await until(lambda: any(ASKED in text for text in backend.received["thinker"]))
    assert (await client.delete(f"{place}/handoff")).status_code == 204
    assert (await handing).json()["outcome"] == "cancelled"
    assert documents(tmp_path) == []
    assert (await client.delete(f"{place}/handoff")).status_code == 409


async def test_a_handoff_that_fails_says_why(client: httpx.AsyncClient) -> None:
    place = await begin(client, "mute")
    failed = (await client.post(f"{place}/handoff", json={"reason": "shift_end"})).json()
    assert (failed["outcome"], "empty" in failed["why"]) == ("failed", True)


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("GET", "/sessions/99", None, 404),
        ("GET", "/sessions/99/lineage", None, 404),
        ("DELETE", "/sessions/99/handoff", None, 404),
        ("GET", "/sessions/99999999999999999999", None, 404),
        ("POST", "/sessions/99/messages", {"text": "Hi."}, 404),
        ("POST", "/sessions/99/handoff", {"reason": "shift_end"}, 404),
        ("POST", "/sessions/1/handoff", {"reason": "tired"}, 422),
        ("POST", "/sessions", {"agent": "nobody"}, 422),
        ("POST", "/sessions", {"agent": "helper", "what": 1}, 422),
        ("POST", "/sessions", {"agent": "helper", "working_dir": "/nowhere/at/all"}, 422),
        ("POST", "/sessions", {"agent": "command"}, 502),
    ],
)
async def test_what_cannot_be_is_a_problem(
    client: httpx.AsyncClient, method: str, path: str, body: dict[str, Any] | None, status: int
) -> None:
    answer = await client.request(method, path, json=body)
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json")
