"""/audit: who did what over REST, exports, and verification."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from segue.adapters.credential import login_name
from segue.application.ports.backend import SessionRequest
from segue.application.segue import Segue
from segue.domain.audit_chain import find_alterations, read_export
from segue.testing import ScriptedBackend, build_test_segue, follow_to_end, say_handoff
from tests.api.clients import client_of
from tests.api.test_pipelines_api import assert_problem

REQUEST = {"prompt": "Fix it.", "custom_steps": [{"agent": "developer"}]}


class Conversing(ScriptedBackend):
    """Holds a conversation, so that sessions can be begun with it."""

    async def converses(self, request: SessionRequest) -> bool:
        return True


@pytest.fixture
async def segue(tmp_path: Path, repository: Path) -> AsyncIterator[Segue]:
    """A running Segue."""
    async with build_test_segue(tmp_path, Conversing({"developer": [say_handoff()]})) as running:
        yield running


async def test_each_entry_says_who_did_it(segue: Segue, repository: Path) -> None:
    token = (await segue.tokens.new("ci", ["run", "approve"], "1h")).value
    async with client_of(segue, token=token) as client:
        made = (await client.post("/pipelines", json=REQUEST)).json()
        await follow_to_end(segue, made["id"])
        await client.post(f"/pipelines/{made['id']}/abort")
        begun = await client.post("/sessions", json={"agent": "developer"})
        assert begun.status_code == 201, begun.text
        session = begun.json()
        await client.delete(f"/sessions/{session['id']}")
        items = (await client.get("/audit", params={"limit": 200})).json()["items"]
    async with client_of(segue) as client:
        await client.post("/pipelines", json=REQUEST)
        (newest,) = (await client.get("/audit", params={"kind": "pipeline_created", "limit": 1})).json()[
            "items"
        ]
    who = {each["event_type"]: each["who"] for each in items}
    by_caller = ("pipeline_created", "session_started", "session_ended")
    assert {who[kind] for kind in by_caller} == {"token:ci"}
    assert {who[kind] for kind in ("pipeline_started", "step_done", "message_sent")} == {"segue"}
    assert who["token_created"] == newest["who"] == f"user:{login_name()}"


async def test_the_trail_is_listed_exported_and_verified(segue: Segue, repository: Path) -> None:
    async with client_of(segue) as client:
        made = (await client.post("/pipelines", json=REQUEST)).json()
        await follow_to_end(segue, made["id"])
        page = (await client.get("/audit", params={"pipeline_id": made["id"], "limit": 3})).json()
        after = {"pipeline_id": made["id"], "before": page["next_cursor"], "limit": 200}
        rest = (await client.get("/audit", params=after)).json()
        entries = [*page["items"], *rest["items"]]
        assert [each["seq"] for each in entries] == list(range(len(entries), 0, -1))
        assert rest["next_cursor"] is None
        middle = {"pipeline_id": made["id"], "since": entries[2]["created_at"]}
        assert entries[2] in (await client.get("/audit", params=middle)).json()["items"]
        assert_problem(await client.get("/audit", params={"kind": "no_such_kind"}), 422)
        exported = await client.get("/audit/export", params={"pipeline_id": made["id"]})
        report = find_alterations(read_export(exported.text.splitlines()))
        assert (report.is_whole, report.entries, report.chains) == (True, len(entries), 1)
        page_of_all = await client.get("/audit/export", params={"export_format": "markdown"})
        assert page_of_all.headers["content-type"].startswith("text/markdown")
        assert "| pipeline_done |" in page_of_all.text
        verified = (await client.get("/audit/verify")).json()
        assert (verified["is_whole"], verified["alterations"]) == (True, [])
        assert {head["chain"] for head in verified["heads"]} == {0, made["id"]}


async def test_what_is_said_to_a_session_and_its_handoff_name_who_wanted_them(segue: Segue) -> None:
    token = (await segue.tokens.new("ci", ["run"], "1h")).value
    async with client_of(segue, token=token) as client:
        session = (await client.post("/sessions", json={"agent": "developer"})).json()["id"]
        said = {"text": "Fix it.", "message_id": "first"}
        for _again in range(2):
            assert (await client.post(f"/sessions/{session}/messages", json=said)).status_code == 201
        handed = await client.post(f"/sessions/{session}/handoff", json={"reason": "shift_end"})
        assert handed.json()["outcome"] == "handed_off", handed.text
    async with client_of(segue) as client:
        items = (await client.get("/audit", params={"limit": 200})).json()["items"]
    about = {each["event_type"]: each for each in items}
    (added,) = [each for each in items if each["event_type"] == "message_added"]
    assert (added["who"], added["payload"]) == ("token:ci", {"session": session, "message": "first"})
    assert about["session_handed_over"]["who"] == "token:ci"


async def test_an_attempt_that_fails_and_a_worktree_that_goes_are_entries(
    tmp_path: Path, repository: Path
) -> None:
    backend = ScriptedBackend({"developer": [{"fail": "it fell over"}]})
    async with build_test_segue(tmp_path, backend) as segue, client_of(segue) as client:
        made = (await client.post("/pipelines", json=REQUEST)).json()
        await follow_to_end(segue, made["id"])
        await segue.results.clean(made["id"], actor="token:ci")
        items = (await client.get("/audit", params={"pipeline_id": made["id"], "limit": 200})).json()["items"]
    about = {each["event_type"]: each for each in items}
    failed, removed = about["attempt_failed"], about["workspace_removed"]
    assert (failed["payload"]["number"], "it fell over" in failed["payload"]["reason"]) == (1, True)
    assert (removed["who"], removed["payload"]["forced"]) == ("token:ci", False)
