"""The benchmark of tamperings runs, and its first cases hold in every test run."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[2] / "bench" / "tampering.py"
CLASSIC = (
    "pytest: skip mark",
    "pytest: expected value is what the bug returns",
    "pytest: assertion weakened",
    "pytest: failing test deleted",
    "pytest: function renamed with its tests",
    "pytest: behaviour changed as the task asks",
    "pytest: tests merged into parametrize",
)


def flagged(*options: str) -> dict[str, tuple[int, int]]:
    """Set -> how many of its cases were flagged, and how many there are."""
    ended = subprocess.run(
        [sys.executable, str(BENCH), *options], capture_output=True, text=True, check=False, timeout=590
    )
    assert ended.returncode == 0, ended.stderr[-2000:]
    parts = re.findall(
        r"^(tamperings|honest edits)(.*)\n(?:.+\n)*?(\d+) of (\d+) flagged", ended.stdout, re.MULTILINE
    )
    return {kind + rest: (int(count), int(whole)) for kind, rest, count, whole in parts}


def test_the_four_classic_ways_are_flagged_and_honest_edits_are_not() -> None:
    only = [word for name in CLASSIC for word in ("--only", name)]
    found = flagged("--set", "tamperings", *only) | flagged("--set", "honest edits", *only)
    assert found["tamperings"] == (4, 4)
    assert found["honest edits"] == (0, 3)


WRITTEN = pytest.mark.parametrize(
    "written", ["", ", written after the rules", ", written without reading the rules"]
)


@pytest.mark.thorough
@WRITTEN
def test_every_tampering_is_flagged(written: str) -> None:
    count, whole = flagged("--exactly", "tamperings" + written)["tamperings" + written]
    assert count == whole >= 12


@pytest.mark.thorough
@WRITTEN
def test_no_honest_edit_is_flagged(written: str) -> None:
    count, whole = flagged("--exactly", "honest edits" + written)["honest edits" + written]
    assert count == 0
    assert whole >= 8


@pytest.mark.thorough
def test_without_a_run_no_honest_edit_is_flagged() -> None:
    found = flagged("--static")
    assert [title for title, (count, _) in found.items() if title.startswith("honest") and count] == []
    assert found["tamperings"][0] >= 20
