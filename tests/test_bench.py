"""The benchmarks run: what they print is what the docs point to."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.thorough

BENCH = Path(__file__).parents[1] / "bench"


def bench(name: str, *options: str) -> str:
    """What a benchmark prints."""
    ended = subprocess.run(
        [sys.executable, str(BENCH / f"{name}.py"), *options],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert ended.returncode == 0, ended.stderr[-2000:]
    return ended.stdout


def test_the_overhead_of_a_step_is_printed_beside_its_floor() -> None:
    told = bench("overhead", "--pipelines", "2", "--steps", "2")
    rows = re.findall(r"^(bare SQLite|segue, one|segue, all).*?([\d.]+) +([\d.]+)$", told, re.MULTILINE)
    assert [name for name, _, _ in rows] == ["bare SQLite", "segue, one", "segue, all"]
    assert rows[0][2] == "1.0"


def test_what_commands_cost_is_printed_beside_bare_python() -> None:
    told = bench("startup", "--rounds", "1")
    costs = dict(re.findall(r"^(.+?) +\d+ ms +([\d.]+) times bare Python$", told, re.MULTILINE))
    assert costs["python, nothing"] == "1.0"
    assert {"segue --version", "segue pipelines list", "import segue"} <= set(costs)


def test_reads_beside_others_are_all_answered() -> None:
    few = {"reads": 8, "followers": 6, "half-open": 90, "pipelines": 1, "rounds": 1, "files": 128}
    told = bench("reads", *(f"--{name}={count}" for name, count in few.items()))
    assert re.findall(r"(\d+/\d+) answered 200", told) == ["8/8", "8/8", "10/10"]
    assert "6/6 followers were told of events" in told
    assert "1/1 pipelines done" in told
    assert "6/6 followers still follow" in told


def test_the_cost_of_verifying_is_printed_with_its_processes() -> None:
    told = bench("verify_cost", "--files", "40", "--changed", "10", "--claims", "8", "--rounds", "1")
    assert re.search(r"^now +[\d.]+ s .* +\d+ processes", told, re.MULTILINE)
