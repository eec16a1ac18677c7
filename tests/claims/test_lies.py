"""The benchmark of lies runs, and a slice of it holds in every test run."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

BENCH = Path(__file__).parents[2] / "bench" / "lies.py"


def test_no_false_statement_of_a_slice_is_confirmed_and_no_true_one_refuted() -> None:
    """Of the first set of phrasings. How the others fare is printed by `./do bench lies`."""
    done = subprocess.run(
        [
            sys.executable,
            str(BENCH),
            "--worlds",
            "24",
            "--most",
            "6",
            "--seed",
            "5",
            "--half",
            "seen",
            "--json",
        ],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    found = json.loads(done.stdout)
    for half, table in found["halves"].items():
        false, true = (
            {k: v for k, v in table[side].items() if k[:4] != "all "} for side in ("false", "true")
        )
        assert sum(sum(counts.values()) for counts in false.values()) > 100, half
        assert {kind: counts for kind, counts in false.items() if counts.get("confirmed")} == {}, half
        assert {kind: counts for kind, counts in true.items() if counts.get("refuted")} == {}, half
