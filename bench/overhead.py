"""What Segue itself costs a step: 100 pipelines of 10 no-op steps, beside bare SQLite doing the same writes.

    ./do bench overhead [--pipelines N] [--steps N]

The floor is one thread that commits as many transactions as Segue does a step, each with one row of 2 kB, to
a file in the same mode (WAL, synchronous=FULL). Both are measured in this run, on this machine.
"""

from __future__ import annotations

import argparse
import asyncio
import sqlite3
import tempfile
import time
from pathlib import Path

from segue.application.pipelines.submit import PipelineRequest
from segue.application.ports.engine import WorkerPolicy
from segue.domain.catalog import TemplateStep
from segue.domain.pipeline import PipelineStatus
from segue.testing import ScriptedBackend, build_test_segue, follow_to_end, say_handoff

COMMITS_A_STEP = 5
"""attempt started, sending, sent, replied, accepted."""


async def run_segue(folder: Path, pipelines: int, steps: int) -> tuple[float, float]:
    """(seconds alone, seconds for all side by side)."""
    backend = ScriptedBackend({"developer": [say_handoff("Did nothing.", next="Do nothing.")]})
    async with build_test_segue(folder, backend, policy=WorkerPolicy(room=20)) as segue:

        async def submit(name: str) -> int:
            place = folder / name  # two pipelines do not work in one folder
            place.mkdir()
            wanted = PipelineRequest(
                prompt="Do nothing.",
                custom_steps=(TemplateStep(agent="developer", description="Do nothing."),) * steps,
                working_dir=str(place),
            )
            return (await segue.pipelines.submit(wanted)).id

        start = time.perf_counter()
        assert (await follow_to_end(segue, await submit("alone"))).status is PipelineStatus.DONE
        alone = time.perf_counter() - start
        start = time.perf_counter()
        ids = [await submit(str(number)) for number in range(pipelines)]
        ended = await asyncio.gather(*(follow_to_end(segue, each) for each in ids))
        together = time.perf_counter() - start
        assert all(each.status is PipelineStatus.DONE for each in ended)
    return alone, together


def run_floor(path: Path, commits: int) -> float:
    """Seconds for so many small transactions in bare SQLite."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, text TEXT)")
    text = "x" * 2000
    start = time.perf_counter()
    for _ in range(commits):
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("INSERT INTO t (text) VALUES (?)", (text,))
        connection.execute("COMMIT")
    took = time.perf_counter() - start
    connection.close()
    return took


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--pipelines", type=int, default=100)
    parser.add_argument("--steps", type=int, default=10)
    wanted = parser.parse_args()
    total = wanted.pipelines * wanted.steps
    with tempfile.TemporaryDirectory(prefix="segue-bench-") as name:
        folder = Path(name)
        floor = run_floor(folder / "floor.db", total * COMMITS_A_STEP) / total * 1000
        alone, together = asyncio.run(run_segue(folder, wanted.pipelines, wanted.steps))
    print(f"{wanted.pipelines} pipelines x {wanted.steps} no-op steps on SQLite")
    print(f"{'':28}{'ms a step':>10}{'x floor':>9}")
    for label, value in (
        (f"bare SQLite, {COMMITS_A_STEP} commits", floor),
        ("segue, one pipeline alone", alone / wanted.steps * 1000),
        ("segue, all side by side", together / total * 1000),
    ):
        print(f"{label:28}{value:10.2f}{value / floor:9.1f}")


if __name__ == "__main__":
    main()
