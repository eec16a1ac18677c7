"""The benchmarks run: what they print is what the docs point to."""

from __future__ import annotations

import json
import re
import runpy
import subprocess
import sys
from hashlib import sha256
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
    told = bench("overhead", "--no-peers", "--rounds=1", "--alone", "2", "--together=2")
    assert re.findall(r"^(.*); ms a step, median of 1$", told, re.MULTILINE) == [
        "one chain of 2",
        "2 chains of 10 at once",
    ]
    figures = r"^(\S.*?) +(\d+\.\d\d) +(\d+\.\d\d) *(?:(\d+\.\d) git processes)?$"
    rows = re.findall(figures, told, re.MULTILINE)
    assert [row[0] for row in rows] == ["bare SQLite, 5 commits", "Segue", "Segue, git worktrees"] * 2
    assert [bool(row[3]) for row in rows] == [False, False, True] * 2


def test_what_commands_cost_is_printed_beside_bare_python() -> None:
    told = bench("startup", "--rounds", "1")
    costs = dict(re.findall(r"^(.+?) +\d+ ms +([\d.]+) times bare Python$", told, re.MULTILINE))
    assert costs["python, nothing"] == "1.0"
    assert {"segue --version", "segue pipelines list", "import segue"} <= set(costs)
    first = r"^(segue \S.*?) +\d+ ms to the first line, \d+ ms of it computing, \d+ MB$"
    alone, shared = told.partition("PostgreSQL")[::2]
    assert re.findall(first, alone, re.MULTILINE) == ["segue run", "segue serve"]
    many = ["segue run", "segue serve --front", "segue serve, with DBOS", "segue worker, with DBOS"]
    assert re.findall(first, shared, re.MULTILINE) == many


def test_reads_beside_others_are_all_answered() -> None:
    few = {"reads": 8, "followers": 6, "half-open": 90, "pipelines": 1, "rounds": 1, "files": 128}
    told = bench("reads", *(f"--{name}={count}" for name, count in few.items()))
    assert re.findall(r"(\d+/\d+) answered 200", told) == ["8/8", "8/8", "10/10"]
    assert "6/6 followers were told of events" in told
    assert "1/1 pipelines done" in told
    assert "6/6 followers still follow" in told


def test_load_is_borne_and_every_follower_is_sent_every_event_once() -> None:
    few = {"pipelines": 6, "steps": 2, "followers": 4, "workers": 2, "stored": 300, "serial": 5}
    told = bench("load", "--no-peers", *(f"--{name}={count}" for name, count in few.items()))
    assert re.findall(r"(\d+/\d+) done", told) == ["6/6"] * 5
    assert re.findall(r"(\d+/\d+) followers were sent each of \d+ events once", told) == ["4/4"]
    assert len(re.findall(r"^    .+ \d+\.\d\d times$", told, re.MULTILINE)) == 17
    assert re.findall(r"^    after +(\d+):", told, re.MULTILINE) == ["0", "1", "2", "3", "4", "5"]


def test_the_cost_of_verifying_is_printed_with_its_processes() -> None:
    told = bench("verify_cost", "--files", "40", "--changed", "10", "--claims", "8", "--rounds", "1")
    assert re.search(r"^now +[\d.]+ s .* +\d+ processes", told, re.MULTILINE)


def test_labels_of_a_text_are_scored_without_the_text_in_the_labels(tmp_path: Path) -> None:
    reply, readme = "## Done\n\n- Added the cache.\n", "# Cache\n\nA cache for Python.\n"
    (tmp_path / "reply.txt").write_text(reply, encoding="utf-8")
    (tmp_path / "readme.txt").write_text(readme, encoding="utf-8")
    start = reply.index("Added")
    labels = tmp_path / "labels.jsonl"
    labels.write_text(
        json.dumps(label("r", reply, handoff=True) | {"spans": {"what_was_done": [[start, start + 16]]}})
        + "\n"
        + json.dumps(label("n", readme, handoff=False))
    )
    told = bench("blind", "--labels", str(labels), "--texts", str(tmp_path))
    assert re.search(r"^what_was_done +1 +1 +1\.000 +1\.000 +1\.000$", told, re.MULTILINE)
    assert "outcome right 1/1, where one is stated 0/0" in told
    assert re.search(r"^1 texts that are not handoffs: [01] give a record$", told, re.MULTILINE)


def label(name: str, text: str, *, handoff: bool) -> dict[str, object]:
    """A label of a text that no repository has."""
    digest = sha256(text.encode()).hexdigest()
    return {"id": name, "source": {}, "sha256": digest, "handoff": handoff, "outcome": None}


@pytest.mark.parametrize("file", sorted((BENCH / "labels").glob("*.jsonl")), ids=lambda file: file.stem)
def test_every_label_names_its_source_and_known_fields(file: Path) -> None:
    scoring = runpy.run_path(str(BENCH / "scoring.py"))
    fields = {*scoring["TEXT_FIELDS"], *scoring["PATH_FIELDS"], "verification"}
    records = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert len({record["id"] for record in records}) == len(records) >= 15
    for record in records:
        assert {"repository", "path", "commit"} <= record["source"].keys()
        spans = record.get("spans", {})
        assert spans.keys() <= fields
        assert all(0 <= start < end for items in spans.values() for start, end in items)


@pytest.mark.parametrize("part", ["sqlite", "postgres", "takeover"])
def test_chaos_loses_nothing_and_repeats_nothing(part: str) -> None:
    told = bench("chaos", part, "--kills=4", "--in-flight=6", "--pause=2", "--stop=15", "--work=1")
    counts = {what: int(count) for count, what in re.findall(r"^ +(\d+) (\D+?)$", told, re.MULTILINE)}
    amounts = {"pipelines", "steps", "attempts", "attempts cut off"}
    assert counts["pipelines"] >= 6
    assert {what: count for what, count in counts.items() if count and what not in {*amounts, "s"}} == {}
    assert len(counts) > len(amounts) + 5
    if part == "takeover":
        assert re.findall(r"^(\w+): \d+ pipelines taken over", told, re.MULTILINE) == ["killed", "stopped"]
