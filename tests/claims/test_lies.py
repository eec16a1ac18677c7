"""The benchmark of lies runs, and a slice of it holds in every test run."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

AWKWARD = ("awkward_held_out", "awkward_blind", "awkward_third", "awkward_fourth")
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


@pytest.mark.thorough
@pytest.mark.parametrize("half", ["seen", "held_out", "fresh", "blind", *AWKWARD])
def test_no_set_has_a_false_tick_a_false_refutation_or_a_sure_verdict_without_its_evidence(half: str) -> None:
    """The benchmark ends with an error where a verdict does not point to its evidence."""
    command = [sys.executable, str(BENCH), "--half", half, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.stdout, done.stderr
    unmet = json.loads(done.stdout)["unmet"]
    wrong = ("false statements confirmed", "true statements refuted", "that no record can tell")
    assert [line for line in unmet if any(words in line for words in wrong)] == []
