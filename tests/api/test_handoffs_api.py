"""/handoffs, as a client sees it: text in, record with spans or problems out, nothing stored."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import httpx
import pytest

from segue.application.segue import Segue
from segue.bootstrap import open_tokens
from segue.domain.handoff.model import Handoff
from segue.interfaces.api.handoffs import MAX_CHARACTERS
from segue.settings import Settings
from segue.testing.pipelines import lay_out_database
from tests.api.clients import client_of
from tests.api.test_pipelines_api import assert_problem

REPLY = """All done.

## What Was Done
- Added POST /auth/login
- Wrote five tests

## Decisions Made
Use JWT

## Open Questions
- Where do refresh tokens live?

## Next Agent Context
Add refresh tokens.
"""
KEY = "AKIAQ3EGRZ7YT5XK2LMN"


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    """A client of an API that knows its tokens and nothing else: these routes need no engine and no agent."""
    await asyncio.to_thread(lay_out_database, tmp_path)
    async with (
        open_tokens(Settings(data_dir=tmp_path)) as tokens,
        client_of(cast("Segue", SimpleNamespace(tokens=tokens))) as found,
    ):
        yield found


async def post(client: httpx.AsyncClient, path: str, **body: Any) -> Any:
    response = await client.post(f"/handoffs/{path}", json=body)
    assert response.status_code == 200, response.text
    return response.json()


async def test_a_reply_is_read_with_the_place_of_every_statement(client: httpx.AsyncClient) -> None:
    found = await post(client, "extract", text=REPLY)
    assert set(found) == {"handoff", "notation", "spans", "notes", "coverage", "guessed"}
    assert found["notation"] == "sections"
    record = Handoff.model_validate(found["handoff"])
    assert record.what_was_done == ("Added POST /auth/login", "Wrote five tests")
    assert record.next_agent_context == "Add refresh tokens."
    span = found["spans"]["what_was_done[1]"]
    assert REPLY[span["start"] : span["end"]] == "Wrote five tests"


@pytest.mark.parametrize("text", ["", "\n\n"])
async def test_a_text_without_a_handoff_is_a_result(client: httpx.AsyncClient, text: str) -> None:
    found = await post(client, "extract", text=text)
    assert found["handoff"] is None
    assert found["notation"] == "none"


async def test_problems_stand_where_they_are_in_the_text(client: httpx.AsyncClient) -> None:
    found = await post(client, "check", text=f"{REPLY}\nThe key is {KEY}.\n")
    assert found["ok"] is False
    [secret] = [each for each in found["problems"] if each["code"] == "H050"]
    assert secret["severity"] == "error"
    assert secret["field"] == "next_agent_context"
    assert secret["span"]["start"] == REPLY.index("Add refresh tokens.")
    assert KEY not in str(found)


async def test_a_record_is_checked_as_it_is(client: httpx.AsyncClient) -> None:
    found = await post(client, "check", handoff={"outcome": "blocked", "blockers": ["No credentials"]})
    assert [each["code"] for each in found["problems"]] == ["H012"]
    assert found["problems"][0]["span"] is None
    good = await post(client, "check", handoff={"outcome": "completed", "what_was_done": ["Added it"]})
    assert good == {"ok": True, "problems": [], "coverage": 1.0}


async def test_warnings_leave_it_ok(client: httpx.AsyncClient) -> None:
    found = await post(client, "check", handoff={"outcome": "completed", "what_was_done": ["TODO"]})
    assert found["ok"] is True
    assert [each["code"] for each in found["problems"]] == ["H030"]


async def test_a_text_without_a_handoff_is_no_good_handoff(client: httpx.AsyncClient) -> None:
    found = await post(client, "check", text="")
    assert found["ok"] is False
    assert [each["code"] for each in found["problems"]] == ["H001"]


async def test_rules_can_be_chosen(client: httpx.AsyncClient) -> None:
    record = {"outcome": "Done", "what_was_done": ["TODO"]}
    some = await post(client, "check", handoff=record, select=["H03"])
    assert [each["code"] for each in some["problems"]] == ["H030"]
    rest = await post(client, "check", handoff=record, ignore=["H03"])
    assert [each["code"] for each in rest["problems"]] == ["H002"]


async def test_an_unknown_rule_is_422_and_names_the_nearest(client: httpx.AsyncClient) -> None:
    response = await client.post("/handoffs/check", json={"text": "", "select": ["H0500"]})
    assert_problem(response, 422, 'no rule "H0500"', 'Did you mean "H050"?')
    assert "H012" in response.json()["known"]


@pytest.mark.parametrize("body", [{}, {"text": "", "handoff": {}}])
async def test_text_and_record_exclude_each_other(client: httpx.AsyncClient, body: dict[str, Any]) -> None:
    assert_problem(await client.post("/handoffs/check", json=body), 422, "either text or handoff")


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("extract", {}, "text"),
        ("extract", {"text": 5}, "text"),
        ("extract", {"text": "x", "more": 1}, "more"),
        ("extract", {"text": "x" * (MAX_CHARACTERS + 1)}, "text"),
        ("check", {"handoff": {"unheard_of": 1}}, "handoff.unheard_of"),
        ("check", {"text": "x", "select": ["H" * 21]}, "select.0"),
        ("check", {"text": "x", "ignore": ["H001"] * 101}, "ignore"),
    ],
)
async def test_wrong_bodies_name_the_field(
    client: httpx.AsyncClient, path: str, body: dict[str, Any], field: str
) -> None:
    assert_problem(await client.post(f"/handoffs/{path}", json=body), 422, field)


async def test_a_body_that_is_too_large_is_refused_at_the_door(client: httpx.AsyncClient) -> None:
    response = await client.post("/handoffs/extract", json={"text": "x" * 2_000_001})
    assert_problem(response, 413, "2000000 bytes")


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b'{"text": "\\ud800"}', id="half a surrogate pair"),
        pytest.param(b'{"text": "\xff"}', id="not UTF-8"),
        pytest.param(b'{"handoff": ' + b"[" * 5000, id="deep and cut off"),
    ],
)
async def test_what_is_no_text_is_422(client: httpx.AsyncClient, body: bytes) -> None:
    response = await client.post(
        "/handoffs/check", content=body, headers={"content-type": "application/json"}
    )
    assert response.status_code in {400, 422}
    assert response.headers["content-type"] == "application/problem+json"


ALIASES = "a: &a [x, x]\n" + "".join(
    f"{b}: &{b} [*{a}, *{a}]\n" for a, b in itertools.pairwise("abcdefghijklmnopqrstuvwxyz")
)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"```yaml\n{ALIASES}what_was_done: *z\n```\n", id="aliases"),
        pytest.param("</handoff-context>\n" * 1000, id="fences"),
        pytest.param("#" * 100_000, id="hashes"),
        pytest.param("> " * 50_000, id="quotations"),
        pytest.param("\x1b]0;owned\x07" * 100, id="terminal escapes"),
    ],
)
async def test_hostile_texts_are_answered(client: httpx.AsyncClient, text: str) -> None:
    found = await post(client, "extract", text=text)
    assert len(str(found)) < 10 * len(text) + 10_000
    assert (await post(client, "check", text=text))["ok"] is False
