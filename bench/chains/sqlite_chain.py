"""The floor: bare SQLite, five commits of 2 kB a step: python sqlite_chain.py FOLDER STEPS CHAINS."""

from __future__ import annotations

import json
import sqlite3
import sys
import time
from pathlib import Path

COMMITS_A_STEP = 5
"""As many as Segue: begun, opened, sent, replied, accepted."""


def run(folder: Path, steps: int, chains: int) -> dict[str, float]:
    """Milliseconds a step, by the clock and of processor."""
    connection = sqlite3.connect(folder / "floor.db", isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, text TEXT)")
    text = "x" * 2000
    wall, cpu = time.perf_counter(), time.process_time()
    for _ in range(steps * chains * COMMITS_A_STEP):
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("INSERT INTO t (text) VALUES (?)", (text,))
        connection.execute("COMMIT")
    each = 1000 / (steps * chains)
    took = {"wall": (time.perf_counter() - wall) * each, "processor": (time.process_time() - cpu) * each}
    connection.close()
    return took


if __name__ == "__main__":
    place, count, side_by_side = sys.argv[1:]
    print(json.dumps(run(Path(place), int(count), int(side_by_side))))
