"""Who may do what over REST: every route, with and without a token."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from segue.application.segue import Segue
from segue.domain.audit import AuditKind
from segue.domain.tokens import TokenRole
from segue.interfaces.api.app import ApiOptions, create_app
from segue.interfaces.api.dependencies import needs
from segue.testing import ScriptedBackend, say_handoff
from tests.api.clients import client_of
from tests.api.test_pipelines_api import assert_problem

OPEN = {("GET", "/health"), ("POST", "/tokens/exchange")}
WITH_CHECKS = {"custom_steps": [{"agent": "developer", "checks": ["touch ran"]}], "prompt": "x"}


def operations(app: FastAPI) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Every method and path that the API describes, with ids filled in."""
    for path, methods in app.openapi()["paths"].items():
        for method, described in methods.items():
            yield method.upper(), re.sub(r"\{\w+\}", "1", path), described


async def token_for(segue: Segue, *roles: str, name: str = "") -> str:
    return (await segue.tokens.new(name or "-".join(roles), roles, "1h")).value


async def test_every_route_needs_a_token(segue: Segue) -> None:
    app = create_app(segue, ApiOptions(version="0"))
    found = [*operations(app), ("GET", "/openapi.json", {}), ("GET", "/no/such/path", {})]
    assert len(found) > 20
    wrong: list[dict[str, str]] = [
        {},
        {"Authorization": "Bearer"},
        {"Authorization": "Bearer segue_wrong"},
        {"Authorization": f"Bearer {'x' * 5000}"},
        {"Authorization": f"Basic {await segue.tokens.local()}"},
        {"Cookie": f"token={await segue.tokens.local()}"},
    ]
    async with client_of(segue, token="") as client:
        for method, path, _ in found:
            for headers in wrong:
                answer = await client.request(method, path, headers=headers, content=b"{not json")
                if (method, path) in OPEN:
                    assert answer.status_code in (200, 401, 422), path
                else:
                    assert_problem(answer, 401)
                    assert answer.headers["www-authenticate"] == "Bearer"


async def test_every_route_needs_its_role(segue: Segue) -> None:
    app = create_app(segue, ApiOptions(version="0"))
    needed: dict[tuple[str, str], str] = {}
    for role in TokenRole:
        async with client_of(segue, token=await token_for(segue, role)) as client:
            for method, path, _ in operations(app):
                if path.endswith("/events") or (method, path) in OPEN:
                    continue
                answer = await client.request(method, path, json={})
                if answer.status_code == 403:
                    assert 'needs a token with the role "' in answer.json()["detail"]
                else:
                    needed.setdefault((method, path), role)
    reads = {each for each in needed if each[0] == "GET"} | {
        ("POST", "/handoffs/check"),
        ("POST", "/handoffs/extract"),
    }
    decides = {each for each in needed if each[1].endswith(("/approve", "/reject", "/answer", "/merge"))}
    assert {each for each, role in needed.items() if role == "read"} == reads
    assert {each for each, role in needed.items() if role == "approve"} == decides
    assert {each for each, role in needed.items() if role == "run"} == {*needed} - reads - decides
    assert {("POST", "/pipelines"), ("DELETE", "/sessions/1")} <= {*needed} - reads - decides


async def test_a_route_that_says_nothing_of_a_role_needs_admin(segue: Segue) -> None:
    app = create_app(segue, ApiOptions(version="0"))

    async def forgotten() -> str:
        return "secret"

    async def declared() -> str:
        return "for readers"

    app.get("/forgotten")(forgotten)
    app.get("/declared")(needs(TokenRole.READ)(declared))
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        assert_problem(await client.get("/forgotten"), 401)
        one = {"Authorization": f"Bearer {await token_for(segue, 'run', 'approve')}"}
        assert_problem(await client.get("/forgotten", headers=one), 403, "admin")
        assert (await client.get("/declared", headers=one)).status_code == 200
        admin = {"Authorization": f"Bearer {await token_for(segue, 'admin')}"}
        assert (await client.get("/forgotten", headers=admin)).json() == "secret"


async def test_the_description_says_that_a_token_is_needed(segue: Segue) -> None:
    app = create_app(segue, ApiOptions(version="0"))
    scheme = app.openapi()["components"]["securitySchemes"]["token"]
    assert (scheme["type"], scheme["scheme"]) == ("http", "bearer")
    for method, path, described in operations(app):
        without = {} in described["security"]
        assert without == ((method, path) in OPEN)
        assert {"token": []} in described["security"]


async def test_without_a_token_health_is_the_status_alone(segue: Segue) -> None:
    async with client_of(segue, token="") as client:
        answer = await client.get("/health")
        assert (answer.status_code, answer.json()) == (200, {"status": "ok"})
        assert_problem(await client.get("/health", headers={"Authorization": "Bearer wrong"}), 401)
    async with client_of(segue, token=await token_for(segue, "read")) as client:
        assert (await client.get("/health")).json()["engine"] == "running"


async def test_a_token_that_ended_says_so_to_its_holder_at_once(segue: Segue) -> None:
    value = await token_for(segue, "read", name="ci")
    async with client_of(segue, token=value) as client:
        assert (await client.get("/pipelines")).status_code == 200
        await segue.tokens.revoke("ci")
        assert_problem(await client.get("/pipelines"), 401, "this token was revoked")


async def test_an_open_stream_ends_with_its_token(segue: Segue) -> None:
    value = await token_for(segue, "read", name="wall")
    app = create_app(segue, ApiOptions(version="0", recheck_seconds=0.05))
    began, ended = asyncio.Event(), asyncio.Event()

    async def receive() -> dict[str, Any]:
        await asyncio.Event().wait()  # the client sends nothing and never goes away
        raise AssertionError

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            assert message["status"] == 200
            began.set()
        elif not message.get("more_body"):
            ended.set()

    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": "/events",
        "raw_path": b"/events",
        "query_string": b"",
        "headers": [(b"host", b"127.0.0.1"), (b"authorization", f"Bearer {value}".encode())],
    }
    async with asyncio.timeout(120), asyncio.TaskGroup() as group:
        group.create_task(app(scope, receive, send))
        await began.wait()
        await segue.tokens.revoke("wall")
        await ended.wait()


@pytest.mark.parametrize("allowed", [False, True])
async def test_commands_come_over_rest_only_where_a_setting_allows_it(segue: Segue, allowed: bool) -> None:
    async with client_of(segue, allow_commands=allowed) as client:
        answer = await client.post("/pipelines", json=WITH_CHECKS)
        if allowed:
            assert answer.status_code == 201
        else:
            assert_problem(answer, 403, "custom_steps.0.checks", "allow_rest_commands")
            assert (await client.get("/pipelines")).json()["items"] == []
        quiet = {"custom_steps": [{"agent": "developer", "checks": []}], "prompt": "x"}
        assert (await client.post("/pipelines", json=quiet)).status_code == 201


async def test_a_model_is_never_an_option_of_a_program(client: httpx.AsyncClient) -> None:
    option = "--dangerously-skip-permissions"
    quick = {"template": "quick_fix", "prompt": "x", "step_models": {"developer": option}}
    step = {"custom_steps": [{"agent": "developer", "model": option}], "prompt": "x"}
    assert_problem(await client.post("/pipelines", json=quick), 422, "step_models", "dash")
    assert_problem(await client.post("/pipelines", json=step), 422, "model", "dash")
    talk = {"agent": "developer", "model": option}
    assert_problem(await client.post("/sessions", json=talk), 422, "model", "dash")


class TestDecisions:
    """`decided_by` is whoever shows the token."""

    @pytest.fixture
    def backend(self) -> ScriptedBackend:
        return ScriptedBackend(
            {"developer": [{"ask": "one"}, {"ask": "two"}, {"ask": "three"}, say_handoff()]}
        )

    async def test_it_comes_from_the_token(self, segue: Segue, client: httpx.AsyncClient) -> None:
        steps = {"custom_steps": [{"agent": "developer"}], "prompt": "Publish."}
        pipeline = (await client.post("/pipelines", json=steps)).json()["id"]

        async def next_question() -> int:
            async with segue.feed.subscribe(after=0, pipeline_id=pipeline) as entries:
                async for entry in entries:
                    if entry.event_type is AuditKind.PERMISSION_ASKED and (
                        waiting := await segue.views.approvals(pipeline_id=pipeline)
                    ):
                        return waiting[0].id
            raise AssertionError

        async with (
            asyncio.timeout(120),
            client_of(segue, token=await token_for(segue, "approve", name="eva")) as eva,
        ):
            for path in (f"/approvals/{await next_question()}/approve", f"/pipelines/{pipeline}/reject"):
                said = await eva.post(path, json={"decided_by": "Bob"})
                assert_problem(said, 403, '"eva"', '"Bob"', "admin")
            first = await eva.post(f"/pipelines/{pipeline}/approve", json={"comment": "Yes."})
            assert first.json()["decided_by"] == "eva"
            second = await eva.post(f"/approvals/{await next_question()}/reject", json={"decided_by": "eva"})
            assert second.json()["decided_by"] == "eva"
            third = await client.post(
                f"/approvals/{await next_question()}/approve", json={"decided_by": "Bob"}
            )
            assert third.json()["decided_by"] == "Bob", "a bot of an admin relays"


async def test_a_link_gives_a_browser_one_token(segue: Segue) -> None:
    code = await segue.tokens.new_code()
    async with client_of(segue, token="") as client:
        asked = [client.post("/tokens/exchange", json={"code": code}) for _ in range(5)]
        answers = await asyncio.gather(*asked)
        assert sorted(each.status_code for each in answers) == [200, 401, 401, 401, 401]
        given = next(each.json() for each in answers if each.status_code == 200)
        assert set(given) == {"token", "name", "roles", "expires_at"}
        assert (given["name"], given["roles"]) == (segue.tokens.owner, ["run", "approve"])
        lasts = datetime.fromisoformat(given["expires_at"]) - datetime.now(UTC)
        assert timedelta(hours=11) < lasts <= timedelta(hours=12)
        mine = {"Authorization": f"Bearer {given['token']}"}
        assert (await client.get("/pipelines", headers=mine)).status_code == 200
        assert_problem(await client.post("/tokens/exchange", json={"code": code}), 401, "segue token link")
        assert_problem(await client.get("/pipelines", headers={"Authorization": f"Bearer {code}"}), 401)
        unused = await segue.tokens.new_code()
        assert_problem(await client.get("/pipelines", headers={"Authorization": f"Bearer {unused}"}), 401)
        assert_problem(await client.post("/tokens/exchange", json={"code": given["token"]}), 401)
        await segue.tokens.revoke(segue.tokens.owner)
        assert_problem(await client.get("/pipelines", headers=mine), 401, "revoked")
        assert_problem(await client.post("/tokens/exchange", json={"code": unused}), 401)
        foreign = {"Origin": "https://evil.example"}
        assert_problem(await client.post("/tokens/exchange", json={"code": unused}, headers=foreign), 403)
