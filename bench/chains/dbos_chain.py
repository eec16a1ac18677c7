"""Chains of no-op steps in bare DBOS on SQLite: python dbos_chain.py FOLDER STEPS CHAINS.

Each step gives 2 kB. Its file is in the mode of Segue's: WAL and synchronous=FULL.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from pathlib import Path
from typing import Any

import sqlalchemy
from dbos import DBOS


def engine_of(folder: Path) -> sqlalchemy.Engine:
    """Connections to a file that is in WAL mode."""
    engine = sqlalchemy.create_engine(f"sqlite:///{folder / 'dbos.db'}")

    @sqlalchemy.event.listens_for(engine, "connect")
    def connected(connection: Any, _: Any) -> None:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")

    return engine


async def run(folder: Path, steps: int, chains: int) -> dict[str, float]:
    """Milliseconds a step, by the clock and of processor."""
    DBOS(
        config={
            "name": "bench",
            "system_database_url": f"sqlite:///{folder / 'dbos.db'}",
            "system_database_engine": engine_of(folder),
            "enable_otlp": False,
            "log_level": "CRITICAL",
        }
    )

    @DBOS.step(name="work")
    async def work() -> str:
        return "x" * 2000

    @DBOS.workflow(name="chain")
    async def chain() -> None:
        for _ in range(steps):
            await work()

    DBOS.launch()

    async def one() -> None:
        await (await DBOS.start_workflow_async(chain)).get_result()

    await one()
    wall, cpu = time.perf_counter(), time.process_time()
    await asyncio.gather(*(one() for _ in range(chains)))
    each = 1000 / (steps * chains)
    took = {"wall": (time.perf_counter() - wall) * each, "processor": (time.process_time() - cpu) * each}
    DBOS.destroy()
    return took


if __name__ == "__main__":
    place, count, side_by_side = sys.argv[1:]
    print(json.dumps(asyncio.run(run(Path(place), int(count), int(side_by_side)))))
