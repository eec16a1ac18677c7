"""Reads of a real `segue serve` beside each other, beside followers, and beside half-open connections.

    ./do bench reads [--reads N] [--followers N] [--half-open N] [--pipelines N] [--rounds N] [--files N]

Each read is `GET /pipelines/1` of a finished pipeline on a connection of its own, timed from connecting to
the last byte. Followers hold `GET /events` and `GET /pipelines/1/events` open, and are told what a pipeline
does while the reads run. A half-open connection sends a part of a request and then nothing. `--files` is the
limit of open files of the server; 1024 is what many systems give a process.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

CATALOG = """
agents:
  talker:
    backend: scripted
    options:
      actions: [{delay: 0.05}, {say: "## What Was Done\\n- Talked.\\n\\n## Next Agent Context\\nTalk on."}]
  worker:
    backend: command
    options:
      command: [sh, -c, "cat > /dev/null; sleep 0.2; echo '## What Was Done'; echo '- Worked.'"]
"""
HALF_OPEN = (
    b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n",
    b"POST /pipelines HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 99\r\n\r\n{",
    b"",
)
"""A head without an end, a body without an end, and nothing at all."""


@dataclass(kw_only=True, slots=True)
class Server:
    """A `segue serve` that runs."""

    port: int
    data_dir: Path
    folder: Path
    pid: int

    def head(self, method: str, path: str, length: int = 0) -> bytes:
        """The head of a request, with the credential if there is one."""
        lines = [f"{method} {path} HTTP/1.1", f"Host: 127.0.0.1:{self.port}", f"Content-Length: {length}"]
        credential = self.data_dir / "credential"
        if credential.exists():
            lines.append(f"Authorization: Bearer {credential.read_text(encoding='ascii').strip()}")
        return "\r\n".join([*lines, "Content-Type: application/json", "Connection: close", "", ""]).encode()

    async def ask(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """Status and answer of one request."""
        content = b"" if body is None else json.dumps(body).encode()
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(self.head(method, path, len(content)) + content)
        answer = await reader.read()
        writer.close()
        if not answer:
            return 0, None
        head, _, rest = answer.partition(b"\r\n\r\n")
        return int(head.split()[1]), json.loads(rest)

    async def timed(self, path: str) -> tuple[int, float]:
        """Status and seconds of one read."""
        start = time.perf_counter()
        status, _ = await self.ask("GET", path)
        return status, time.perf_counter() - start

    async def submit(self, name: str, agents: Sequence[str]) -> int:
        """Begin a pipeline in a folder of its own; gives its id."""
        place = self.folder / name
        place.mkdir()
        steps = [{"agent": agent, "description": "Do little."} for agent in agents]
        order = {"prompt": "Do little.", "custom_steps": steps, "working_dir": str(place)}
        status, answer = await self.ask("POST", "/pipelines", order)
        assert status == 201, answer
        return int(answer["id"])

    async def ended(self, pipeline_id: int, *, seconds: float = 0.1) -> dict[str, Any]:
        """A pipeline, once it has ended; asked for again after so many seconds."""
        while True:
            status, found = await self.ask("GET", f"/pipelines/{pipeline_id}")
            if status == 200 and found["status"] in ("done", "failed", "aborted"):
                return dict(found)
            await asyncio.sleep(seconds)


@asynccontextmanager
async def serving(
    folder: Path, files: int, catalog: str = CATALOG, variables: Mapping[str, str] = MappingProxyType({})
) -> AsyncIterator[Server]:
    """A real server on a free port, with at most so many open files."""
    data, config = folder / "data", folder / "config"
    config.mkdir(exist_ok=True)
    (config / "catalog.yaml").write_text(catalog, encoding="utf-8")
    log = folder / "log"
    with log.open("wb") as errors:
        process = await asyncio.create_subprocess_exec(
            *("sh", "-c", f'ulimit -n {files} && exec "$@"', "sh"),
            *(sys.executable, "-m", "segue", "serve", "--port", "0"),
            cwd=folder,
            env=os.environ | {"SEGUE_DATA_DIR": str(data), "SEGUE_CONFIG_DIR": str(config), **variables},
            stderr=errors,
        )
    try:
        while not (found := re.search(r" on http://[\d.]+:(\d+)", log.read_text(encoding="utf-8"))):
            assert process.returncode is None, log.read_text(encoding="utf-8")
            await asyncio.sleep(0.02)
        yield Server(port=int(found[1]), data_dir=data, folder=folder, pid=process.pid)
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


@asynccontextmanager
async def following(server: Server, count: int) -> AsyncIterator[tuple[list[int], list[asyncio.Task[None]]]]:
    """So many followers: how many bytes of events each has had, and the tasks that listen."""
    seen, listening = [0] * count, []
    async with AsyncExitStack() as stack:

        async def follow(number: int) -> None:
            reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
            stack.callback(writer.close)
            writer.write(server.head("GET", "/events" if number % 2 else "/pipelines/1/events"))
            head = await reader.readuntil(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 200"), head

            async def listen() -> None:
                while chunk := await reader.read(65536):
                    seen[number] += len(chunk)

            listening.append(asyncio.create_task(listen()))
            stack.callback(listening[-1].cancel)

        await asyncio.gather(*(follow(number) for number in range(count)))
        yield seen, listening


@asynccontextmanager
async def half_open(server: Server, count: int) -> AsyncIterator[list[asyncio.StreamReader]]:
    """So many connections that never send a whole request."""
    opened = []
    async with AsyncExitStack() as stack:
        for number in range(count):
            reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
            stack.callback(writer.close)
            writer.write(HALF_OPEN[number % len(HALF_OPEN)])
            opened.append(reader)
        yield opened


async def read_many(server: Server, reads: int, rounds: int) -> str:
    """Many reads at once, some times; how many were answered, and how long they took."""
    found: list[tuple[int, float]] = []
    for _ in range(rounds):
        found += await asyncio.gather(*(server.timed("/pipelines/1") for _ in range(reads)))
    good = sum(status == 200 for status, _ in found)
    return f"{good}/{len(found)} answered 200   {_times([seconds for _, seconds in found])}"


def _times(seconds: Sequence[float]) -> str:
    ordered = sorted(each * 1000 for each in seconds)
    p99 = ordered[max(0, round(len(ordered) * 0.99) - 1)]
    return f"p50 {statistics.median(ordered):6.0f} ms   p99 {p99:6.0f} ms"


async def measure(wanted: argparse.Namespace, folder: Path) -> None:
    """Run all parts against one server."""
    async with serving(folder, wanted.files) as server:
        for number in range(wanted.pipelines):
            await server.ended(await server.submit(f"finished-{number}", ["talker"] * 3))
        print(f"{wanted.reads} reads at once, idle server:", flush=True)
        print("   ", await read_many(server, wanted.reads, wanted.rounds), flush=True)

        async with following(server, wanted.followers) as (seen, listening):
            print(f"{wanted.reads} reads at once, {wanted.followers} followers, a pipeline runs:", flush=True)
            running = await server.submit("followed", ["talker"] * 3)
            print("   ", await read_many(server, wanted.reads, wanted.rounds), flush=True)
            await server.ended(running)
            print(f"    {sum(map(bool, seen))}/{len(seen)} followers were told of events", flush=True)

            print(f"{wanted.half_open} half-open connections besides, {wanted.pipelines} pipelines run:")
            begun = [
                await server.submit(f"flooded-{n}", ["worker", "talker"]) for n in range(wanted.pipelines)
            ]
            async with half_open(server, wanted.half_open) as opened:
                health = [await server.timed("/health") for _ in range(10)]
                ended = [await server.ended(each) for each in begun]
                good = sum(status == 200 for status, _ in health)
                done = sum(each["status"] == "done" for each in ended)
                print(f"    {done}/{len(ended)} pipelines done", flush=True)
                print(f"    /health: {good}/{len(health)} answered 200   {_times([s for _, s in health])}")
                closed = sum(reader.at_eof() for reader in opened)
                print(f"    {closed}/{len(opened)} half-open connections closed by the server so far")
            print(f"    {sum(not each.done() for each in listening)}/{len(listening)} followers still follow")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--reads", type=int, default=40)
    parser.add_argument("--followers", type=int, default=200)
    parser.add_argument("--half-open", type=int, default=1500)
    parser.add_argument("--pipelines", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--files", type=int, default=1024)
    wanted = parser.parse_args()
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = wanted.half_open + wanted.followers + wanted.reads + 100
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(needed, 1024), hard))
    with tempfile.TemporaryDirectory(prefix="segue-bench-") as name:
        asyncio.run(measure(wanted, Path(name)))


if __name__ == "__main__":
    main()
