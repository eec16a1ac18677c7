"""What a run says in the end is true: its sentence, its findings, its exit code, what can be typed next."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Ran
from tests.git.repositories import git, write
from tests.serving import write_catalog

Segue = Callable[..., Ran]

FIXES = {"write": {"path": "old.py", "text": "OLD = 2\n"}}
HELPER = {"write": {"path": "helper.py", "text": "HELP = 1\n"}}
TRUE = "## What Was Done\n- Changed old.py\n"
LIE = "## What Was Done\n- Changed old.py\n- Created helper.py\n"
PASSES, FAILS = "test -f helper.py", "false"


def agent(*actions: Mapping[str, Any], later: Sequence[Sequence[Mapping[str, Any]]] = ()) -> dict[str, Any]:
    return {"backend": "scripted", "options": {"actions": list(actions), "later": list(later)}}


def say(text: str) -> dict[str, str]:
    return {"say": text}


AGENTS = {
    "honest": agent(FIXES, say(TRUE)),
    "liar": agent(FIXES, say(LIE)),
    "helper": agent(HELPER, say("## What Was Done\n- Created helper.py\n")),
    "silent": agent(FIXES, HELPER, say(TRUE)),
    "looker": agent(say("## What Was Done\n- Looked at it\n")),
    "blocked": agent(
        say("```yaml\noutcome: blocked\nblockers:\n  - blocker: No key\n    suggested_resolution: Ask\n```\n")
    ),
    "failing": agent(
        say("```yaml\noutcome: failed\nblockers:\n  - blocker: No disk\n    suggested_resolution: Buy\n```\n")
    ),
    "asker": agent(say("```yaml\nopen_questions:\n  - question: Should it send an email?\n```\n")),
    "broken": {"backend": "command", "options": {"command": ["sh", "-c", "echo no disk >&2; exit 3"]}},
}


@pytest.fixture
def repo(repository: Path) -> Path:
    templates = {name: {"steps": [{"agent": name}], "on_refuted": "note"} for name in AGENTS}
    templates["fixed"] = {"steps": [{"agent": "liar"}, {"agent": "helper"}], "on_refuted": "note"}
    templates["unfixed"] = {"steps": [{"agent": "liar"}, {"agent": "looker"}], "on_refuted": "note"}
    anyway = {"blocked": "continue", "failed": "continue", "question": "continue"}
    for name in ("blocked", "failing", "asker"):
        templates[f"{name}_anyway"] = {"steps": [{"agent": name, "on_outcome": anyway}]}
    templates["half"] = {"steps": [{"agent": "honest"}, {"agent": "broken"}, {"agent": "looker"}]}
    write_catalog(repository, json.dumps({"agents": AGENTS, "templates": templates}))
    write(repository, {".gitignore": ".segue/\n"})
    git(repository, "add", ".gitignore")
    git(repository, "commit", "-qm", "Ignore")
    return repository


def test_an_honest_run_says_so_and_ends_with_0(repo: Path, segue: Segue) -> None:
    ran = segue("run", "honest", "Work.")
    assert ran.code == 0
    first, *rest = ran.out.splitlines()
    assert first.startswith("Done in ")
    assert first.endswith(": nothing refuted in 1 claim.")
    assert rest == ["claims: 1: 1 confirmed", "branch: segue/1-work: 1 file, +1 -1"]


def test_a_false_claim_is_named_and_ends_with_1(repo: Path, segue: Segue) -> None:
    ran = segue("run", "unfixed", "Work.")
    assert ran.code == 1
    lines = ran.out.splitlines()
    assert lines[0] == "Done, with false claims: 1 refuted."
    assert lines[1].startswith('refuted: step 1: "Created helper.py": ')
    assert "claims: 3: 1 refuted, 1 confirmed, 1 unverifiable" in lines


def test_what_a_later_step_made_true_is_not_false_at_the_end(repo: Path, segue: Segue) -> None:
    ran = segue("run", "fixed", "Work.")
    assert ran.code == 0, ran.out
    assert "refuted:" not in ran.out
    assert 'later: step 1: "Created helper.py": true at the end: ' in ran.out
    result = json.loads(segue("pipelines", "show", "1", "--json").out)["result"]
    assert (result["exit_code"], result["claims"]["refuted"], result["findings"]) == (0, 0, [])
    assert [each["step"] for each in result["resolved"]] == [1]
    assert segue("pipelines", "merge", "1").code == 0


def test_a_file_that_nobody_mentions_is_named_but_no_lie(repo: Path, segue: Segue) -> None:
    ran = segue("run", "silent", "Work.")
    assert ran.code == 0
    assert "unmentioned: step 1: helper.py" in ran.out.splitlines()


@pytest.mark.parametrize(
    ("template", "sentence"),
    [
        ("blocked", "Done, but the blocked says it is blocked: No key."),
        ("failing", "Done, but the failing says that it failed: No disk."),
        ("asker", "Done, but the asker only asks: Should it send an email?"),
    ],
)
def test_a_template_that_continues_all_the_same_quotes_an_agent_that_did_not_do_its_job(
    repo: Path, segue: Segue, template: str, sentence: str
) -> None:
    ran = segue("run", f"{template}_anyway", "Work.")
    assert (ran.code, ran.out.splitlines()[0]) == (1, sentence)


@pytest.mark.parametrize(
    ("template", "line"),
    [
        ("blocked", "waiting: step 1: question: it is blocked: No key"),
        ("asker", "waiting: step 1: question: it asks: Should it send an email?"),
    ],
)
def test_an_agent_that_needs_a_person_leaves_the_run_waiting(
    repo: Path, segue: Segue, template: str, line: str
) -> None:
    ran = segue("run", template, "Work.")
    assert (ran.code, ran.out.splitlines()) == (3, [line])


def test_an_agent_that_says_it_failed_fails_the_run(repo: Path, segue: Segue) -> None:
    ran = segue("run", "failing", "Work.")
    assert ran.code == 1
    assert re.fullmatch(r"Failed at step 1 of 1 after .*: No disk\.", ran.out.splitlines()[0])


def test_a_failing_check_ends_with_1_although_nobody_lied(repo: Path, segue: Segue) -> None:
    ran = segue("run", "honest", "Work.", "--check", FAILS)
    assert ran.code == 1
    assert ran.out.splitlines()[0] == "Done, with a failing check: `false` exit 1."
    assert "check: false: exit 1" in ran.out.splitlines()


def test_a_failed_run_says_where_and_why_once(repo: Path, segue: Segue) -> None:
    ran = segue("run", "half", "Work.")
    assert ran.code == 1
    assert ran.out.startswith("Failed at step 2 of 3 after ")
    assert ran.out.count("no disk") == 1


def test_watching_an_ended_run_gives_its_result_again(repo: Path, segue: Segue) -> None:
    ran = segue("run", "unfixed", "Work.")
    again = segue("pipelines", "watch", "1")
    assert (again.code, again.out) == (ran.code, ran.out)


def test_false_claims_are_merged_only_if_that_is_allowed(repo: Path, segue: Segue) -> None:
    segue("run", "unfixed", "Work.")
    refused = segue("pipelines", "merge", "1")
    assert refused.code == 1
    assert 'cannot merge 1: 1 claim is false at its end: step 1: "Created helper.py"' in refused.err
    assert "segue pipelines merge 1 --allow-refuted" in refused.err
    assert (repo / "old.py").read_text() == "OLD = 1\n"
    assert segue("pipelines", "merge", "1", "--allow-refuted").code == 0
    assert (repo / "old.py").read_text() == "OLD = 2\n"


def test_checks_of_the_command_line_replace_those_of_the_template(repo: Path, segue: Segue) -> None:
    ran = segue("run", "fixed", "Work.", "--check", PASSES, "--check", "true")
    assert ran.code == 0, ran.out
    assert [line for line in ran.out.splitlines() if line.startswith("check: ")] == [
        f"check: {PASSES}: exit 0",
        "check: true: exit 0",
    ]


def test_an_empty_check_is_misuse(repo: Path, segue: Segue) -> None:
    ran = segue("run", "honest", "Work.", "--check", " ")
    assert ran.code == 2
    assert "a check is empty" in ran.err


def test_a_check_that_was_found_and_not_run_is_told(repo: Path, segue: Segue) -> None:
    (repo / "pytest.ini").write_text("")
    ran = segue("run", "honest", "Work.")
    assert "note: no check is set, so “tests pass” cannot be checked" in ran.err
    assert "  found pytest in pytest.ini; it was not run\n" in ran.err
    assert '--check "pytest -q" for this run' in ran.err
    assert "no check is set" not in segue("run", "honest", "Work.", "--check", "true").err


def test_init_proposes_the_check_of_the_project_and_runs_use_it(project: Path, segue: Segue) -> None:
    (project / "Makefile").write_text("test:\n\t@true\n")
    made = segue("init")
    assert "check: make test" in made.out
    assert "checks:\n  - make test\n" in (project / ".segue" / "segue.yaml").read_text()
    shown = json.loads(segue("templates", "list", "--json").out)
    assert shown["quick_fix"]["checks"] == ["make test"]


def test_a_step_shows_each_claim_with_its_verdict_and_reason(repo: Path, segue: Segue) -> None:
    segue("run", "unfixed", "Work.")
    shown = segue("pipelines", "show", "1", "--step", "1").out
    assert shown.startswith("1.1 liar scripted · session 1 · done · ")
    assert "2 claims: 1 refuted, 1 confirmed." in shown
    assert shown.index("✗ refuted       “Created helper.py”") < shown.index(
        "✓ confirmed     “Changed old.py”"
    )
    assert "Briefing, as sent" in shown
