"""The benchmark of briefings runs on any folder that has the corpus' shape."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

BENCH = Path(__file__).parents[2] / "bench" / "briefing.py"


def test_the_benchmark_tells_tokens_and_the_share_of_items_for_each_budget(tmp_path: Path) -> None:
    (tmp_path / "documents").mkdir()
    (tmp_path / "labels").mkdir()
    done = [f"Did the thing number {number} with great care" for number in range(60)]
    text = "## What Was Done\n\n" + "".join(f"- {each}\n" for each in done)
    (tmp_path / "documents" / "d1.md").write_text(text, encoding="utf-8")
    label = {"what_was_done": [{"text": each} for each in done], "goal": None, "files_created": []}
    (tmp_path / "labels" / "d1.json").write_text(json.dumps(label), encoding="utf-8")
    run = subprocess.run(
        [sys.executable, str(BENCH), "--corpus", str(tmp_path), "--budgets", "400", "--json"],
        capture_output=True,
        text=True,
        check=True,
    )
    figures = json.loads(run.stdout)
    tight, free = figures["rows"]
    assert (figures["documents"], figures["gold_items"]) == (1, 60)
    assert tight["largest_with_instructions"] <= 400
    assert 0 < tight["items_kept"] < 1
    assert tight["left_out"] == 60 - round(60 * tight["items_kept"])
    assert (free["items_kept"], free["left_out"]) == (1.0, 0)
