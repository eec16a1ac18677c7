"""The benchmark of lies runs, and a few of its steps hold in every test run."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

BENCH = Path(__file__).parents[2] / "bench" / "lies.py"


def test_no_true_claim_is_refuted_and_lies_are_found() -> None:
    done = subprocess.run(
        [sys.executable, str(BENCH), "--steps", "12", "--seed", "5", "--json", "--show"],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(done.stdout)
    total = found["kinds"][-1]
    assert total["true refuted"] == 0
    assert total["false"] > 20
    assert {row["kind"] for row in found["kinds"]} > {"created", "modified", "deleted", "tests", "silence"}
