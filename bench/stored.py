"""Reads and starts with few and with very many finished pipelines: a part of load.py."""

from __future__ import annotations

import sqlite3
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from reads import Server, serving

FEW = 200
"""More than a page, so that both servers give as many."""
_ROUNDS = 40
_RARE = 20
"""So many, spread evenly, have another title, another template and another end."""


async def measure_stored(stored: int, catalog: str) -> None:
    """The median time of each kind of request, on both servers in turn."""
    with tempfile.TemporaryDirectory(prefix="segue-load-") as name:
        servers: list[Server] = []
        async with AsyncExitStack() as stack:
            for count in (FEW, stored):
                place = Path(name, f"stored{count}")
                place.mkdir()
                await _fill(place, count, catalog)
                servers.append(await stack.enter_async_context(serving(place, 4096, catalog)))
            size = (servers[1].data_dir / "segue.db").stat().st_size / 1_048_576
            print(
                f"{stored} finished pipelines ({size:.0f} MB) against {FEW}; ms, median of {_ROUNDS} in turn:"
            )
            for what, act in _REQUESTS.items():
                few, many = await _compare(servers, act)
                print(f"    {what:34}{few:8.2f}{many:8.2f}{many / few:7.2f} times", flush=True)


async def _compare(servers: list[Server], act: Callable[[Server, int], Awaitable[None]]) -> list[float]:
    took: list[list[float]] = [[], []]
    for number in range(_ROUNDS + 3):
        for server, found in zip(servers, took, strict=True):
            begin = time.perf_counter()
            await act(server, number)
            found.append((time.perf_counter() - begin) * 1000)
    return [statistics.median(found[3:]) for found in took]


def _reading(path: str) -> Callable[[Server, int], Awaitable[None]]:
    async def read(server: Server, _: int) -> None:
        status, answer = await server.ask("GET", path)
        assert status == 200, answer

    return read


async def _start(server: Server, number: int) -> None:
    """A pipeline of one step, submitted and followed to its end."""
    folder = server.folder / f"started{number}-{time.monotonic_ns()}"
    folder.mkdir()
    request = {"prompt": "Do nothing.", "working_dir": str(folder), "custom_steps": [{"agent": "nothing"}]}
    status, answer = await server.ask("POST", "/pipelines", request)
    assert status == 201, answer
    ended = await server.ended(answer["id"], seconds=0.002)
    assert ended["status"] == "done", ended


_REQUESTS: dict[str, Callable[[Server, int], Awaitable[None]]] = {
    "list": _reading("/pipelines"),
    "list, the second page": _reading("/pipelines?before=15&limit=10"),
    "list, status=done": _reading("/pipelines?status=done"),
    "list, status=running (none)": _reading("/pipelines?status=running"),
    "list, status=aborted (rare)": _reading("/pipelines?status=aborted"),
    "list, template=rare": _reading("/pipelines?template=rare"),
    "search, in all of them": _reading("/pipelines?q=nothing"),
    "search, rare": _reading("/pipelines?q=zebra"),
    "search, nowhere": _reading("/pipelines?q=quagga"),
    "show": _reading("/pipelines/10"),
    "show a step": _reading("/pipelines/10/steps/1"),
    "conflicts of a folder": _reading("/pipelines/conflicts?working_dir=/"),
    "audit, newest": _reading("/audit"),
    "audit of a pipeline": _reading("/audit?pipeline_id=10"),
    "approvals that wait": _reading("/approvals"),
    "sessions": _reading("/sessions"),
    "start, one step to its end": _start,
}


async def _fill(place: Path, count: int, catalog: str) -> None:
    """A pipeline that a server has run, copied so often in its records."""
    async with serving(place, 4096, catalog) as server:
        await _start(server, 0)
    connection = sqlite3.connect(server.data_dir / "segue.db", isolation_level=None)
    connection.execute("PRAGMA synchronous=OFF")
    connection.execute("BEGIN")
    _copy(connection, count - 1)
    connection.execute(
        "UPDATE pipelines SET title = 'A zebra, ' || title, template = 'rare', status = 'aborted' "
        "WHERE id % ? = 1",
        (count // _RARE,),
    )
    connection.execute("COMMIT")
    connection.close()


def _copy(connection: sqlite3.Connection, copies: int) -> None:
    """Copy pipeline 1 with all its rows; each copy has ids of its own, which point to one another."""
    connection.execute("CREATE TEMP TABLE copies (n INTEGER PRIMARY KEY)")
    connection.executemany("INSERT INTO copies VALUES (?)", ((n,) for n in range(1, copies + 1)))
    moved = {"pipelines": _offset(connection, "pipelines", "id = 1")}
    conditions = {
        "steps": "pipeline_id = 1",
        "agents": "step_id IN (SELECT id FROM steps WHERE pipeline_id = 1)",
        "attempts": "step_id IN (SELECT id FROM steps WHERE pipeline_id = 1)",
        "messages": "session_id IN (SELECT id FROM agents WHERE step_id IN (SELECT id FROM steps "
        "WHERE pipeline_id = 1))",
        "handoffs": "step_id IN (SELECT id FROM steps WHERE pipeline_id = 1)",
        "audit_events": "pipeline_id = 1",
        "activity": "pipeline_id = 1",
    }
    for table, condition in conditions.items():
        moved[table] = _offset(connection, table, condition)
    points_to = {
        "pipeline_id": "pipelines",
        "step_id": "steps",
        "session_id": "agents",
        "agent_id": "agents",
        "message_id": "messages",
    }
    for table, condition in {"pipelines": "id = 1", **conditions}.items():
        names = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
        values = []
        for name in names:
            target = table if name == "id" else points_to.get(name)
            if target is not None:
                least, rows, newest = moved[target]
                values.append(f"t.{name} - {least} + {newest} + 1 + (c.n - 1) * {rows}")
            elif table == "agents" and name in ("key", "token"):
                values.append(f"c.n || '-' || t.{name}")
            else:
                values.append(f"t.{name}")
        connection.execute(
            f"INSERT INTO {table} ({', '.join(names)}) SELECT {', '.join(values)} "
            f"FROM copies c, (SELECT * FROM {table} WHERE {condition}) t"
        )
    least, rows, newest = moved["pipelines"]
    connection.execute(
        f"INSERT INTO audit_heads SELECT {newest} + c.n, h.seq, h.head "
        "FROM copies c, audit_heads h WHERE h.chain = 1"
    )


def _offset(connection: sqlite3.Connection, table: str, condition: str) -> tuple[int, int, int]:
    """The least id that is copied, how far apart the copies are, and the newest id of the table."""
    chosen: Any = connection.execute(f"SELECT min(id), max(id) FROM {table} WHERE {condition}").fetchone()
    (newest,) = connection.execute(f"SELECT max(id) FROM {table}").fetchone()
    least, most = chosen
    return (least, most - least + 1, newest) if least is not None else (0, 1, newest or 0)
