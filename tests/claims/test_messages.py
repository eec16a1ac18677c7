"""Statements of real commit messages are held against their own diffs, and hardly any is refuted."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[2] / "bench" / "messages.py"
FALSE = {
    "Update README.md",  # of a commit without any change
    "Update pyproject.toml",  # one of several commits that became one, and was taken back by another
}
"""Statements of the data that a person would call false, too."""


@pytest.mark.thorough
def test_of_500_statements_of_commit_messages_at_most_two_true_ones_are_refuted() -> None:
    done = subprocess.run(
        [sys.executable, str(BENCH), "--most", "2000", "--json"],
        capture_output=True,
        text=True,
        timeout=500,
        check=True,
    )
    found = json.loads(done.stdout)
    assert found["statements"] > 500
    refuted = [f"{each['text']}: {each['reasons']}" for each in found["refuted"] if each["text"] not in FALSE]
    assert len(refuted) <= 2, "\n".join(refuted)
