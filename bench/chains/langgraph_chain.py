"""Chains of no-op nodes in LangGraph, with its SQLite saver: python langgraph_chain.py FOLDER STEPS CHAINS.

Each node gives 2 kB. The saver is given the mode that Segue's file has: WAL and synchronous=FULL.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from pathlib import Path
from typing import Any, TypedDict

from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver  # type: ignore[import-not-found]  # not a dependency of ours
from langgraph.graph import END, START, StateGraph  # type: ignore[import-not-found]  # nor is this


class State(TypedDict):
    """What goes from node to node."""

    text: str


async def run(folder: Path, steps: int, chains: int) -> dict[str, float]:
    """Milliseconds a step, by the clock and of processor."""
    graph = StateGraph(State)

    async def work(_: State) -> State:
        return {"text": "x" * 2000}

    names = [f"step{number}" for number in range(steps)]
    for name in names:
        graph.add_node(name, work)
    for before, after in zip([START, *names], [*names, END], strict=True):
        graph.add_edge(before, after)
    async with AsyncSqliteSaver.from_conn_string(str(folder / "langgraph.db")) as saver:
        await saver.setup()
        await saver.conn.execute("PRAGMA journal_mode=WAL")
        await saver.conn.execute("PRAGMA synchronous=FULL")
        chain = graph.compile(checkpointer=saver)

        async def one(name: str) -> None:
            config: Any = {"configurable": {"thread_id": name}, "recursion_limit": steps + 10}
            await chain.ainvoke({"text": ""}, config, durability="sync")

        await one("warm")
        wall, cpu = time.perf_counter(), time.process_time()
        await asyncio.gather(*(one(str(number)) for number in range(chains)))
        each = 1000 / (steps * chains)
        return {
            "wall": (time.perf_counter() - wall) * each,
            "processor": (time.process_time() - cpu) * each,
        }


if __name__ == "__main__":
    place, count, side_by_side = sys.argv[1:]
    print(json.dumps(asyncio.run(run(Path(place), int(count), int(side_by_side)))))
