"""/pipelines, as a client sees it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest

from segue.application.segue import Segue
from segue.testing import ScriptedBackend, follow_to_end
from tests.conftest import make_repository
from tests.trusting import write_project

QUICK_FIX = {"template": "quick_fix", "title": "Fix login bug", "prompt": "The login button is broken."}
ENDLESS = {"custom_steps": [{"agent": "qa", "description": "Wait."}], "prompt": "Wait."}


async def submit(client: httpx.AsyncClient, wanted: dict[str, Any]) -> dict[str, Any]:
    response = await client.post("/pipelines", json=wanted)
    assert response.status_code == 201, response.text
    found: dict[str, Any] = response.json()
    return found


def assert_problem(response: httpx.Response, status: int, *words: str) -> None:
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    body = response.json()
    assert body["status"] == status
    assert body["title"]
    for word in words:
        assert word in body["detail"]


async def test_submitting_a_template_answers_201_with_an_id_and_running(client: httpx.AsyncClient) -> None:
    response = await client.post("/pipelines", json=QUICK_FIX)
    assert response.status_code == 201
    body = response.json()
    assert body["id"] == 1
    assert body["status"] == "running"
    assert response.headers["location"] == "/pipelines/1"


async def test_an_unknown_template_is_422_and_names_the_known_ones(client: httpx.AsyncClient) -> None:
    response = await client.post("/pipelines", json=QUICK_FIX | {"template": "quick_fixx"})
    assert_problem(response, 422, "quick_fixx", 'Did you mean "quick_fix"?')
    assert response.json()["known"] == ["full_feature", "quick_fix"]


async def test_an_unknown_agent_is_422_and_names_the_known_ones(client: httpx.AsyncClient) -> None:
    response = await client.post("/pipelines", json={"custom_steps": [{"agent": "reviwer"}], "prompt": "x"})
    assert_problem(response, 422, 'no agent "reviwer"', "senior_reviewer")


async def test_template_and_custom_steps_exclude_each_other(client: httpx.AsyncClient) -> None:
    assert_problem(await client.post("/pipelines", json=QUICK_FIX | ENDLESS), 422, "not both")
    assert_problem(await client.post("/pipelines", json={"prompt": "x"}), 422, "template", "custom_steps")
    assert_problem(await client.post("/pipelines", json={"custom_steps": [], "prompt": "x"}), 422, "empty")


async def test_wrong_bodies_name_the_field(client: httpx.AsyncClient) -> None:
    assert_problem(await client.post("/pipelines", json={"template": "quick_fix"}), 422, "prompt")
    assert_problem(await client.post("/pipelines", json=QUICK_FIX | {"promt": "x"}), 422, "promt")
    assert_problem(await client.post("/pipelines", json=QUICK_FIX | {"prompt": "  "}), 422, "prompt")
    assert_problem(await client.post("/pipelines", content=b"{not json"), 422)
    gone = QUICK_FIX | {"working_dir": "/no/such/folder"}
    assert_problem(await client.post("/pipelines", json=gone), 422, "/no/such/folder")


async def test_the_prompt_is_kept_word_for_word(client: httpx.AsyncClient) -> None:
    words = "  Fix\n\nthe *button* \u00e4\u4e2d  "
    body = await submit(client, QUICK_FIX | {"prompt": words})
    assert (await client.get(f"/pipelines/{body['id']}")).json()["prompt"] == words


async def test_a_title_is_made_from_the_prompt_if_none_is_given(client: httpx.AsyncClient) -> None:
    body = await submit(client, {"template": "quick_fix", "prompt": "Fix the button\nand more"})
    assert body["title"] == "Fix the button"


async def test_a_pipeline_shows_its_steps_in_order(client: httpx.AsyncClient) -> None:
    body = await submit(client, QUICK_FIX)
    found = (await client.get(f"/pipelines/{body['id']}")).json()
    assert [step["agent_name"] for step in found["steps"]] == ["developer", "senior_reviewer"]
    assert [step["order_index"] for step in found["steps"]] == [0, 1]
    assert {step["status"] for step in found["steps"]} <= {"pending", "running", "done"}


async def test_a_pipeline_that_does_not_exist_is_404(client: httpx.AsyncClient) -> None:
    assert_problem(await client.get("/pipelines/99999"), 404, "99999")
    assert_problem(await client.post("/pipelines/99999/abort"), 404, "99999")
    assert_problem(await client.get("/pipelines/99999/events"), 404, "99999")
    assert_problem(await client.get("/nowhere"), 404)


async def test_the_latest_handoff_stands_at_its_step(client: httpx.AsyncClient, segue: Segue) -> None:
    body = await submit(client, QUICK_FIX)
    await follow_to_end(segue, body["id"])
    first, second = (await client.get(f"/pipelines/{body['id']}")).json()["steps"]
    assert first["latest_handoff"]["metadata"]["what_was_done"] == ["Fixed it."]
    assert first["latest_handoff"]["metadata"]["next_agent_context"] == "Review it."
    assert "## What Was Done" in first["latest_handoff"]["content_md"]
    assert second["latest_handoff"]["metadata"] is None
    assert second["latest_handoff"]["content_md"] == "Looks fine to me."


async def test_a_step_without_a_handoff_has_none(client: httpx.AsyncClient) -> None:
    body = await submit(client, ENDLESS)
    found = (await client.get(f"/pipelines/{body['id']}")).json()
    assert found["steps"][0]["latest_handoff"] is None


async def test_a_step_shows_the_exact_briefing_and_reply(
    client: httpx.AsyncClient, segue: Segue, backend: ScriptedBackend
) -> None:
    body = await submit(client, QUICK_FIX)
    await follow_to_end(segue, body["id"])
    found = (await client.get(f"/pipelines/{body['id']}/steps/2")).json()
    assert found["attempts"][0]["reply"] == "Looks fine to me."
    assert backend.received["senior_reviewer"][0].endswith(found["attempts"][0]["briefing"])
    assert_problem(await client.get(f"/pipelines/{body['id']}/steps/3"), 404, "1 to 2")


async def test_aborting_ends_the_run_and_its_session(
    client: httpx.AsyncClient, segue: Segue, backend: ScriptedBackend
) -> None:
    body = await submit(client, ENDLESS)
    response = await client.post(f"/pipelines/{body['id']}/abort", json={"reason": "changed my mind"})
    assert response.status_code == 200
    assert response.json()["status"] == "aborted"
    assert response.json()["reason"] == "changed my mind"
    assert response.json()["steps"][0]["status"] in ("aborted", "pending")
    if response.json()["steps"][0]["status"] == "aborted":
        assert backend.aborted


async def test_aborting_twice_or_after_the_end_is_409(client: httpx.AsyncClient, segue: Segue) -> None:
    endless = await submit(client, ENDLESS)
    assert (await client.post(f"/pipelines/{endless['id']}/abort")).status_code == 200
    assert_problem(await client.post(f"/pipelines/{endless['id']}/abort"), 409, "aborted")
    quick = await submit(client, {"prompt": "x", "custom_steps": [{"agent": "developer"}]})
    await follow_to_end(segue, quick["id"])
    assert_problem(await client.post(f"/pipelines/{quick['id']}/abort"), 409, "done")


async def test_an_abort_stops_only_its_own_pipeline(client: httpx.AsyncClient) -> None:
    one, other = await submit(client, ENDLESS), await submit(client, ENDLESS)
    await client.post(f"/pipelines/{one['id']}/abort")
    assert (await client.get(f"/pipelines/{other['id']}")).json()["status"] == "running"


@pytest.mark.thorough
async def test_the_list_is_newest_first_with_pages_and_filters(
    client: httpx.AsyncClient, segue: Segue
) -> None:
    for number in range(5):
        body = await submit(client, QUICK_FIX | {"title": f"run {number}", "prompt": f"100% of {number}"})
        await follow_to_end(segue, body["id"])
    await submit(client, ENDLESS)
    first = (await client.get("/pipelines", params={"limit": 4})).json()
    assert [each["id"] for each in first["items"]] == [6, 5, 4, 3]
    rest = (await client.get("/pipelines", params={"limit": 4, "before": first["next_cursor"]})).json()
    assert [each["id"] for each in rest["items"]] == [2, 1]
    assert rest["next_cursor"] is None
    waiting = (await client.get("/pipelines", params={"status": "waiting_for_approval"})).json()
    assert len(waiting["items"]) == 5
    custom = (await client.get("/pipelines", params={"template": "custom"})).json()
    assert [each["id"] for each in custom["items"]] == [6]
    found = (await client.get("/pipelines", params={"q": "% OF 3"})).json()
    assert [each["title"] for each in found["items"]] == ["run 3"]
    assert_problem(await client.get("/pipelines", params={"status": "odd"}), 422, "status")


async def test_an_idempotency_key_gives_the_same_pipeline_again(client: httpx.AsyncClient) -> None:
    headers = {"Idempotency-Key": "one"}
    first = await client.post("/pipelines", json=QUICK_FIX, headers=headers)
    again = await client.post("/pipelines", json=QUICK_FIX, headers=headers)
    assert again.json()["id"] == first.json()["id"]
    other = await client.post("/pipelines", json=QUICK_FIX | {"prompt": "other"}, headers=headers)
    assert_problem(other, 422, '"one"', "pipeline 1")


async def test_a_model_can_be_set_for_one_run(client: httpx.AsyncClient) -> None:
    body = await submit(client, QUICK_FIX | {"step_models": {"developer": "big"}})
    assert [step["model"] for step in body["steps"]] == ["big", None]
    wrong = QUICK_FIX | {"step_models": {"nobody": "big"}}
    assert_problem(await client.post("/pipelines", json=wrong), 422, "nobody", "developer")


async def test_a_project_s_own_catalog_counts_for_its_folder(
    client: httpx.AsyncClient, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    make_repository(other)
    write_project(other, "templates: {mine: {steps: [{agent: developer}]}}")
    wanted = {"template": "mine", "prompt": "x"}
    assert_problem(await client.post("/pipelines", json=wanted), 422, "mine")
    assert (await submit(client, wanted | {"working_dir": str(other)}))["template"] == "mine"
    write_project(other, "templates: {mine: {stepps: []}}")
    again = await client.post("/pipelines", json=wanted | {"working_dir": str(other)})
    assert again.status_code == 201, "the last good version goes on to serve"


async def test_checks_of_a_request_are_refused_unless_that_is_set(client: httpx.AsyncClient) -> None:
    refused = await client.post("/pipelines", json=QUICK_FIX | {"checks": ["touch ran"]})
    assert_problem(refused, 403, "checks", "allow_rest_commands")


class TestMerging:
    """A developer that changes one file and claims another."""

    @pytest.fixture
    def backend(self) -> ScriptedBackend:
        lie = "## What Was Done\n- Created helper.py\n"
        return ScriptedBackend({"developer": [{"write": {"path": "a.txt", "text": "a\n"}}, {"say": lie}]})

    async def test_a_run_with_a_false_claim_says_so_and_is_merged_only_if_that_is_allowed(
        self, client: httpx.AsyncClient, segue: Segue, repository: Path
    ) -> None:
        made = await submit(
            client, {"custom_steps": [{"agent": "developer", "on_refuted": "note"}], "prompt": "x"}
        )
        await follow_to_end(segue, made["id"])
        found = (await client.get(f"/pipelines/{made['id']}")).json()
        result = found["result"]
        assert (found["status"], result["exit_code"]) == ("done", 1)
        assert result["sentence"] == "Done, with false claims: 1 refuted."
        assert [(each["kind"], each["text"]) for each in result["findings"]] == [
            ("refuted", "Created helper.py"),
            ("unmentioned", "a.txt"),
        ]
        assert result["files"] == {"count": 1, "additions": 1, "deletions": 0}
        merge = f"/pipelines/{made['id']}/merge"
        assert_problem(await client.post(merge), 409, "1 claim is false", "Created helper.py")
        assert not (repository / "a.txt").exists()
        merged = await client.post(merge, json={"allow_refuted": True})
        assert merged.status_code == 200, merged.text
        assert (repository / "a.txt").read_text() == "a\n"
        entries = await segue.views.entries_after(0, pipeline_id=made["id"])
        (entry,) = [each for each in entries if each.event_type == "pipeline_merged"]
        assert entry.payload is not None
        assert entry.payload["commit"] == merged.json()["commit"]
        assert entry.payload["allowed"] == ['step 1: "Created helper.py"']
        assert entry.payload["by"]
