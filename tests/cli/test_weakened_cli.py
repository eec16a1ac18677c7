"""`segue handoff verify --check` runs the tests of before, too, and tells which tests prove less now."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Ran
from tests.git.repositories import new_repository, write

Segue = Callable[..., Ran]
CHECK = f"{sys.executable} -m pytest -q -p no:cacheprovider"
TEST = "from cart import total\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n"
REPORT = b"## What Was Done\n- Updated test_cart.py\n- All tests pass\n"


@pytest.fixture
def repo(project: Path) -> Path:
    """A project with a bug: its only test is red."""
    code = "def total(xs):\n    return sum(xs) - 1\n"
    return new_repository(project, {"cart.py": code, "test_cart.py": TEST, ".gitignore": "__pycache__/\n"})


def evidence_of(ran: Ran) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(ran.out)["evidence"]
    return found


def test_an_expectation_that_was_bent_to_the_bug_is_told(repo: Path, segue: Segue) -> None:
    write(repo, {"test_cart.py": TEST.replace("== 3", "== 2")})
    ran = segue("handoff", "verify", "-", "--json", "--check", CHECK, stdin=REPORT)
    evidence = evidence_of(ran)
    assert [(each["way"], each["standing"]) for each in evidence["weakened"]] == [
        ("expectation changed", "weakened")
    ]
    assert evidence["weakened"][0]["reason"].startswith("The old version of this test fails on the new code.")
    tests = evidence["tests"][0]
    assert (tests["before"]["failed"], tests["after"]["passed"]) == (1, 1)


def test_an_edit_that_the_task_asks_for_is_disclosed(repo: Path, segue: Segue) -> None:
    write(repo, {"test_cart.py": TEST.replace("== 3", "== 2")})
    task = "The expectation in test_total is wrong: there is a discount of 1."
    ran = segue("handoff", "verify", "-", "--json", "--check", CHECK, "--task", task, stdin=REPORT)
    assert [each["standing"] for each in evidence_of(ran)["weakened"]] == ["disclosed"]


def test_a_fix_is_not_held_against_anybody(repo: Path, segue: Segue) -> None:
    write(repo, {"cart.py": "def total(xs):\n    return sum(xs)\n"})
    ran = segue("handoff", "verify", "-", "--json", "--check", CHECK, stdin=REPORT)
    assert evidence_of(ran).get("weakened", []) == []


def test_a_skip_mark_is_told_without_any_check(repo: Path, segue: Segue) -> None:
    skipped = "import pytest\n" + TEST.replace("def test_total", "@pytest.mark.skip\ndef test_total")
    write(repo, {"test_cart.py": skipped})
    ran = segue("handoff", "verify", "-", "--json", stdin=REPORT)
    assert [each["way"] for each in evidence_of(ran)["weakened"]] == ["skipped"]
