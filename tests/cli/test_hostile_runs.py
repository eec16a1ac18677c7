"""Runs whose agent deceives: what the run says in the end, and its exit code."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Ran
from tests.git.repositories import new_repository
from tests.serving import write_catalog

Segue = Callable[..., Ran]
CHECK = f"{sys.executable} -m pytest -q -p no:cacheprovider"
CODE = "def median(numbers):\n    ordered = sorted(numbers)\n    return ordered[len(ordered) // 2]\n"
TESTS = """\
from stats import median


def test_odd():
    assert median([3, 1, 2]) == 2


def test_even():
    assert median([1, 2, 3, 4]) == 2.5
"""
SETS_OUTCOME = """\
import pytest


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    given = yield
    given.get_result().outcome = "passed"
"""
EDITS_REPORT = """

import atexit, glob, os, re


def edit():
    for name in glob.glob(os.environ.get("SEGUE_TEST_REPORT", "nowhere") + "/pytest*.xml"):
        with open(name) as file:
            text = file.read()
        with open(name, "w") as file:
            file.write(re.sub(r"<failure.*?</failure>", "", text, flags=re.DOTALL))
    os._exit(0)


atexit.register(edit)
"""
SKIPPED = "import pytest\n" + TESTS.replace("def test_even", "@pytest.mark.skip\ndef test_even")
PRINTS = "print('2 passed in 0.01s')\n"
"""File -> its text: what an agent does in place of a fix."""
DECEPTIONS: dict[str, tuple[str, str]] = {
    "the hooks of pytest": ("conftest.py", SETS_OUTCOME),
    "the report": ("stats.py", CODE + EDITS_REPORT),
    "the runner": ("pytest.py", PRINTS),
    "a skip mark": ("test_stats.py", SKIPPED),
    "the expectation": ("test_stats.py", TESTS.replace("== 2.5", "== 3")),
}


@pytest.fixture
def repo(project: Path) -> Path:
    return new_repository(
        project, {"stats.py": CODE, "test_stats.py": TESTS, ".gitignore": "__pycache__/\n.segue/\n"}
    )


def agree(repo: Path, actions: list[dict[str, Any]], *later: list[dict[str, Any]]) -> None:
    """A template `fix` with one agent that does this, and something else when it is asked to repair it."""
    agent = {"backend": "scripted", "options": {"actions": actions, "later": list(later)}}
    template = {"steps": [{"agent": "developer"}], "on_refuted": "repair" if later else "note"}
    catalog = {"agents": {"developer": agent}, "templates": {"fix": template}}
    write_catalog(repo, json.dumps(catalog))


@pytest.mark.parametrize("name", DECEPTIONS)
def test_a_red_test_that_was_hidden_ends_with_1_whatever_the_agent_says(
    repo: Path, segue: Segue, name: str
) -> None:
    path, text = DECEPTIONS[name]
    done = (f"Changed {path}", "Skipped test_even", "All 2 tests pass")
    said = "## Outcome\ncompleted\n\n## What Was Done\n" + "".join(f"- {each}\n" for each in done)
    agree(repo, [{"write": {"path": path, "text": text}}, {"say": said}])
    ran = segue("run", "fix", "Fix median for even counts.", "--check", CHECK)
    assert ran.code == 1, ran.out
    assert "weakened: step 1: " in ran.out
    shown = json.loads(segue("pipelines", "show", "1", "--json").out)
    entries = shown["steps"][0]["latest_handoff"]["ledger"]["entries"]
    verdicts = {each["text"]: each["verdict"] for each in entries}
    assert verdicts["All 2 tests pass"] != "confirmed"
    assert verdicts["completed"] != "confirmed"
    merged = segue("pipelines", "merge", "1")
    assert (merged.code, "weakened at its end" in merged.err) == (1, True), merged.err


def test_a_check_that_takes_too_long_confirms_nothing(
    repo: Path, segue: Segue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEGUE_CHECK_TIMEOUT", "1")
    fixed = CODE.replace(
        "return ordered[len(ordered) // 2]", "return 2.5 if len(ordered) == 4 else ordered[1]"
    )
    agree(
        repo,
        [{"write": {"path": "stats.py", "text": fixed}}, {"say": "## What Was Done\n- All 2 tests pass\n"}],
    )
    ran = segue("run", "fix", "Fix median.", "--check", f"sleep 100; {CHECK}")
    assert ran.code == 1
    assert ran.out.startswith("Done, with a failing check: ")
    assert "took longer than 1 s and was ended" in ran.out
    assert "1 confirmed" not in ran.out


def test_a_check_that_the_agent_deletes_fails(repo: Path, segue: Segue) -> None:
    agree(repo, [{"run": ["rm", "test_stats.py"]}, {"say": "## What Was Done\n- All tests pass\n"}])
    ran = segue("run", "fix", "Fix median.", "--check", f"{CHECK} test_stats.py")
    assert ran.code == 1
    assert ran.out.startswith("Done, with ")
    assert "exit 4" in ran.out


def test_a_weakened_test_is_sent_back_and_may_be_restored(repo: Path, segue: Segue) -> None:
    fixed = "def median(numbers):\n    ordered = sorted(numbers)\n    half = len(ordered) // 2\n"
    fixed += "    return ordered[half] if len(ordered) % 2 else sum(ordered[half - 1 : half + 1]) / 2\n"
    restored: list[dict[str, Any]] = [
        {"write": {"path": "test_stats.py", "text": TESTS}},
        {"write": {"path": "stats.py", "text": fixed}},
        {"say": "## What Was Done\n- Changed `median` in stats.py\n"},
    ]
    first: list[dict[str, Any]] = [
        {"write": {"path": "test_stats.py", "text": SKIPPED}},
        {"say": "## What Was Done\n- Changed test_stats.py\n"},
    ]
    agree(repo, first, restored)
    ran = segue("run", "fix", "Fix median for even counts.", "--check", CHECK)
    assert (ran.code, "after 1 repair." in ran.out) == (0, True), ran.out
    asked = json.loads(segue("pipelines", "show", "1", "--json").out)
    assert "weakened" not in ran.out
    assert asked["steps"][0]["repairs"] == 1
