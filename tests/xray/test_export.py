"""`segue pipelines export N --html`: a real run, from the words to what the next agent was given."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from segue.application.pipelines.submit import PipelineRequest
from segue.testing import ScriptedBackend, build_test_segue, follow_to_end
from tests.cli.conftest import Ran
from tests.git.repositories import new_repository
from tests.trusting import write_project
from tests.xray.conftest import Story
from tests.xray.hostile import HOSTILE, UNSEEN
from tests.xray.pages import Elements, data_of

Segue = Callable[..., Ran]


@pytest.fixture
def exported(story: Story, tmp_path: Path, segue: Segue) -> dict[str, Any]:
    ran = segue("pipelines", "export", str(story.detail.id), "--html", str(tmp_path / "out.html"))
    assert (ran.code, ran.out, ran.err) == (0, "", f"wrote {tmp_path / 'out.html'}\n")
    return data_of((tmp_path / "out.html").read_text(encoding="utf-8"))


def statement(version: dict[str, Any], words: str) -> dict[str, Any]:
    (found,) = [
        each for each in version["statements"] if each["words"] == words and each["mark"] != "unjudged"
    ]
    return dict(found)


def test_all_handoffs_of_a_run_are_in_one_file(exported: dict[str, Any]) -> None:
    assert exported["title"] == "Retry failed uploads"
    assert exported["sentence"] == "Done, with false claims: 2 refuted and 1 weakened test after 2 repairs."
    assert [(each["number"], each["writer"], each["reader"]) for each in exported["handoffs"]] == [
        (1, "planner", "developer"),
        (2, "developer", "reviewer"),
        (3, "reviewer", ""),
    ]
    assert exported["handoffs"][2]["no_briefing"] == "This was the last step of the run: no agent reads on."


def test_each_repair_is_a_version_with_its_own_verdicts(exported: dict[str, Any]) -> None:
    versions = exported["handoffs"][1]["versions"]
    refuted = [
        (each["label"], sum(one["mark"] == "refuted" for one in each["statements"])) for each in versions
    ]
    assert refuted == [("As written", 4), ("Repair 1", 3), ("Repair 2", 2)]
    assert statement(versions[1], "Updated README.md")["change"] == "new in repair 1"
    assert {each["words"] for each in versions[1]["withdrawn"]} == {"Updated README.md and docs/limits.md"}
    assert "Committed as 3f9c2e1d" in {each["words"] for each in versions[2]["withdrawn"]}
    same = [statement(each, "All 4 tests pass")["id"] for each in versions]
    assert len(set(same)) == 1, "a statement keeps its id, so that it stays selected"


def test_the_words_are_the_reply_and_underlined_where_the_statement_is(exported: dict[str, Any]) -> None:
    version = exported["handoffs"][1]["versions"][2]
    false = statement(version, "All 4 tests pass")
    lines = ["".join(text for text, _ in line) for line in version["words"]]
    assert lines[false["line"] - 1] == "- All 4 tests pass"
    said = "".join(text for line in version["words"] for text, ids in line if false["id"] in ids)
    assert said == "All 4 tests pass"


def test_a_refuted_claim_leads_to_the_run_that_refutes_it_and_to_its_correction(
    exported: dict[str, Any],
) -> None:
    handoff = exported["handoffs"][1]
    false = statement(handoff["versions"][2], "All 4 tests pass")
    (reference,) = false["references"]
    (block,) = [each for each in handoff["evidence"] if each["id"] == reference["evidence"]]
    assert (block["command"], block["exit_code"], block["by"]) == ("python3 -m unittest -q", 0, "segue")
    assert "OK (skipped=1)" in [block["output"][at] for at in reference["lines"]]
    assert [(each["when"], each["passed"], each["skipped"]) for each in block["tests"][:2]] == [
        ("before this step", 4, 0),
        ("after this step", 3, 1),
    ]
    briefing = handoff["briefing"]
    read = [(briefing["lines"][each["line"] - 1], each["is_correction"]) for each in false["read"]]
    assert read[0][0].startswith("- All 4 tests pass (false: ")
    wrong = "`python3 -m unittest -q` ended with 0: 3 passed, 1 skipped, when Segue ran it"
    assert read[1] == (f'- "All 4 tests pass" is not true: {wrong}.', True)
    assert briefing["is_sent"]
    assert len(briefing["sha256"]) == 64


def test_what_nobody_said_is_found_with_its_lines(exported: dict[str, Any]) -> None:
    handoff = exported["handoffs"][1]
    found = {each["mark"]: each for each in handoff["versions"][2]["statements"] if not each["field"]}
    lines = {}
    for mark in ("weakened", "removed", "unmentioned"):
        (reference,) = found[mark]["references"]
        (block,) = [each for each in handoff["evidence"] if each["id"] == reference["evidence"]]
        flat = [line for hunk in block["hunks"] for line in hunk["lines"]]
        lines[mark] = (block["path"], [flat[at][3].strip() for at in reference["lines"]])
    assert lines == {
        "weakened": ("test_upload.py", ['@unittest.skip("flaky")']),
        "removed": ("upload.py", ["def describe(answer):"]),
        "unmentioned": ("settings.py", []),
    }
    corrected = {mark for mark, each in found.items() if any(read["is_correction"] for read in each["read"])}
    assert corrected == {"weakened", "removed", "unmentioned"}


def test_every_reference_leads_somewhere(exported: dict[str, Any]) -> None:
    for handoff in exported["handoffs"]:
        known = {each["id"] for each in handoff["evidence"]}
        for version in handoff["versions"]:
            ids = [each["id"] for each in version["statements"]]
            assert len(ids) == len(set(ids))
            assert {id_ for line in version["words"] for _, made in line for id_ in made} <= set(ids)
            for each in version["statements"]:
                assert {reference["evidence"] for reference in each["references"]} <= known


def test_one_step_can_be_exported_alone(story: Story, tmp_path: Path, segue: Segue) -> None:
    out = tmp_path / "step.html"
    assert segue("pipelines", "export", str(story.detail.id), "--html", str(out), "--step", "2").code == 0
    assert [each["number"] for each in data_of(out.read_text(encoding="utf-8"))["handoffs"]] == [2]


def test_without_the_repository_the_rest_is_shown(
    story: Story,
    tmp_path: Path,
    segue: Segue,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    aside = story.project.with_name("moved")
    story.project.rename(aside)
    try:
        ran = segue("pipelines", "export", "1", "--html", str(tmp_path / "out.html"), "--step", "2")
    finally:
        aside.rename(story.project)
    assert ran.code == 0, ran.err
    (handoff,) = data_of((tmp_path / "out.html").read_text(encoding="utf-8"))["handoffs"]
    files = [each for each in handoff["evidence"] if each["kind"] == "file"]
    assert [each["hunks"] for each in files] == [[]] * 4
    assert all(each["note"].startswith("Its lines cannot be read any more: ") for each in files)


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["9"], 1, "pipeline 9"),
        (["1", "--step", "7"], 1, "no step 7"),
        (["1", "--html", "."], 2, ". is a folder; name the file to write"),
        (["1", "--html", "no/such/folder/out.html"], 1, "cannot write no/such/folder/out.html"),
    ],
)
def test_what_cannot_be_written_is_said_in_one_sentence(
    story: Story,
    project: Path,
    segue: Segue,
    arguments: list[str],
    code: int,
    says: str,
) -> None:
    html = [] if "--html" in arguments else ["--html", "out.html"]
    ran = segue("pipelines", "export", *arguments, *html)
    assert (ran.code, says in ran.err, "Traceback" in ran.err) == (code, True, False), ran.err
    assert list(project.iterdir()) == []


def test_hostile_text_of_an_agent_harms_nothing(tmp_path: Path, project: Path, segue: Segue) -> None:
    """Through a whole run: title, prompt, reply, file names, lines of files, output of commands."""
    words = HOSTILE.replace("\x00", "").replace("\ud800", "")
    name = "a<img src=x onerror=alert(1)>\u202e.py"
    new_repository(project, {"a.py": "A = 1\n", ".gitignore": ".segue/\n"})
    done = f"## What Was Done\n- Added `{name}`\n- {words}\n- All 7 tests pass\n"
    reply = f"{done}\n## Next Agent Context\n{words}\n"
    actions = [
        {"write": {"path": name, "text": f"X = '''{words}'''\n"}},
        {"run": ["printf", "%s", words]},
        {"say": reply},
    ]
    steps = [{"agent": "dev"}, {"agent": "rev"}]
    catalog = {
        "agents": {
            "dev": {"backend": "scripted", "options": {"actions": actions}},
            "rev": {
                "backend": "scripted",
                "options": {"actions": [{"say": "## What Was Done\n- Looked.\n"}]},
            },
        },
        "templates": {
            "pair": {"steps": steps, "checks": ["echo '</script><script>'; exit 1"], "on_refuted": "note"}
        },
    }
    write_project(project, yaml.safe_dump(catalog), "pair.yaml")

    async def run() -> int:
        request = PipelineRequest(template="pair", title=words, prompt=words, working_dir=str(project))
        async with build_test_segue(tmp_path, ScriptedBackend()) as made:
            return (await follow_to_end(made, (await made.pipelines.submit(request)).id)).id

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SEGUE_DATA_DIR", str(tmp_path / "data"))
        number = asyncio.run(run())
        assert segue("pipelines", "export", str(number), "--html", "out.html").code == 0
    html = Path("out.html").read_text(encoding="utf-8")
    found = Elements(html)
    assert [tag for tag, _ in found.found if tag == "script"] == ["script", "script"]
    assert not [tag for tag, _ in found.found if tag in ("img", "a") and "x" in str(_)]
    data = data_of(html)
    (block,) = [
        each
        for each in data["handoffs"][0]["evidence"]
        if each["kind"] == "file" and "onerror" in each["path"]
    ]
    assert block["path"] == name.replace("\u202e", "")
    assert "window.harmed" in block["hunks"][0]["lines"][0][3]
    shown = json.dumps(data, ensure_ascii=False)
    assert not [each for each in UNSEEN if each in shown]
