"""1,000 pipelines at once in a real `segue serve`; followers, workers, and 100,000 finished pipelines.

    ./do bench load [PART ...] [--pipelines N] [--steps N] [--followers N] [--workers N] [--stored N]

Parts, all of them if none is named:

    sqlite, postgres   pipelines submitted at once over REST, while `GET /pipelines` is asked ten times a
                       second; with LangGraph and its SQLite saver doing as many steps in the same run
    followers          the same on SQLite with followers of `GET /events`: each must be sent each event once
    workers            the same on PostgreSQL with one worker and with several
    stored             list, show, search and start with few and with very many finished pipelines, in turn
    serial             pipelines one after the other: memory, open files, threads

The server is the one that is shipped, with its defaults. Agents are scripted and do nothing, each in a folder
without git: what is measured is Segue. PostgreSQL is the one of the tests, with fsync off.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from overhead import PROGRAMS, REFERENCE, STEPS_TOGETHER, install_peers
from reads import Server, serving
from stored import measure_stored

sys.path.insert(0, str(Path(__file__).parents[1]))  # for the PostgreSQL that tests use

from tests.postgres import running_postgres

PARTS = ("sqlite", "postgres", "followers", "workers", "stored", "serial")
CATALOG = """
agents:
  nothing:
    backend: scripted
    options:
      actions: [{say: "## What Was Done\\nDid nothing.\\n\\n## Next Agent Context\\nDo nothing.\\n"}]
"""
_CLIENTS = 100
"""Requests to submit that are under way at once."""
_LOOK_SECONDS = 0.1


@dataclass(kw_only=True, slots=True)
class Outcome:
    """What one server did."""

    seconds: float
    """From the first submission until no pipeline is pending or running."""
    submitted: float
    """Until the last one was submitted."""
    done: int
    peaks: list[float]
    """Megabytes that each process used at most."""
    processor: float
    """Seconds of processor of all processes together."""
    reads: list[float]
    """Seconds that each `GET /pipelines` took meanwhile."""


@dataclass(kw_only=True, slots=True)
class Followers:
    """Who follows all events, and what each was sent."""

    seen: list[Seen]

    def missed(self, database: Path) -> str:
        """How many events there are, and how many followers were sent each of them exactly once, in order."""
        counted = [_count(database, table) for table in ("audit_events", "activity")]
        whole = sum(each.counts == counted and each.is_ordered for each in self.seen)
        return f"{whole}/{len(self.seen)} followers were sent each of {sum(counted)} events once"


@dataclass(slots=True)
class Seen:
    """What one follower was sent."""

    counts: list[int] = field(default_factory=lambda: [0, 0])
    last: list[int] = field(default_factory=lambda: [0, 0])
    is_ordered: bool = True

    def take(self, line: bytes) -> None:
        """The line of an event's id: how far the stream has come in both tables."""
        position = [int(number) for number in line[3:].split(b"-")]
        moved = [new - old for new, old in zip(position, self.last, strict=True)]
        self.is_ordered = self.is_ordered and min(moved) == 0 < max(moved)
        self.counts[moved.index(max(moved))] += 1
        self.last = position


def _count(database: Path, table: str) -> int:
    """Rows of a table, without the library's own connection."""
    import sqlite3  # noqa: PLC0415

    connection = sqlite3.connect(database)
    (found,) = connection.execute(f"SELECT count(*) FROM {table}").fetchone()
    connection.close()
    return int(found)


@asynccontextmanager
async def following(server: Server, count: int) -> AsyncIterator[Followers]:
    """So many followers of everything."""
    followers = Followers(seen=[Seen() for _ in range(count)])
    async with AsyncExitStack() as stack:

        async def follow(seen: Seen) -> None:
            reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
            stack.callback(writer.close)
            writer.write(server.head("GET", "/events?after=0-0"))
            await reader.readuntil(b"\r\n\r\n")

            async def listen() -> None:
                rest = b""
                while chunk := await reader.read(1 << 18):
                    *lines, rest = (rest + chunk).split(b"\n")
                    for line in lines:
                        if line.startswith(b"id: "):
                            seen.take(line)

            stack.callback(asyncio.create_task(listen()).cancel)

        await asyncio.gather(*(follow(seen) for seen in followers.seen))
        yield followers


async def submit_all(server: Server, pipelines: int, steps: int) -> None:
    """Submit so many pipelines, many at once."""
    folders = [server.folder / f"work{number}" for number in range(pipelines)]
    clients = asyncio.Semaphore(_CLIENTS)
    request = {
        "prompt": "Do nothing.",
        "custom_steps": [{"agent": "nothing", "description": "Do nothing."}] * steps,
    }

    async def submit(folder: Path) -> None:
        folder.mkdir()
        async with clients:
            status, answer = await server.ask("POST", "/pipelines", {**request, "working_dir": str(folder)})
        assert status == 201, answer

    await asyncio.gather(*(submit(folder) for folder in folders))


async def run_load(servers: Sequence[Server], pipelines: int, steps: int) -> Outcome:
    """Submit to the first of the servers, and wait until all has ended."""
    first = servers[0]
    processes = [psutil.Process(server.pid) for server in servers]
    before = sum(sum(each.cpu_times()[:4]) for each in processes)
    reads: list[float] = []
    begin = time.perf_counter()
    submitting = asyncio.create_task(submit_all(first, pipelines, steps))
    submitted = 0.0
    unfinished = True
    while unfinished:
        status, took = await first.timed("/pipelines")
        assert status == 200
        reads.append(took)
        if submitting.done():
            submitted = submitted or time.perf_counter() - begin
            submitting.result()
            unfinished = await _has_unfinished(first)
        await asyncio.sleep(_LOOK_SECONDS)
    return Outcome(
        seconds=time.perf_counter() - begin,
        submitted=submitted,
        done=await _count_done(first),
        peaks=[peak_megabytes(server.pid) for server in servers],
        processor=sum(sum(each.cpu_times()[:4]) for each in processes) - before,
        reads=reads,
    )


async def _has_unfinished(server: Server) -> bool:
    for status in ("running", "pending", "running"):  # what is pending may begin to run in between
        _, found = await server.ask("GET", f"/pipelines?status={status}&limit=1")
        if found["items"]:
            return True
    return False


async def _count_done(server: Server) -> int:
    done, cursor = 0, ""
    while True:
        _, page = await server.ask("GET", f"/pipelines?status=done&limit=200{cursor}")
        done += len(page["items"])
        if page["next_cursor"] is None:
            return done
        cursor = f"&before={page['next_cursor']}"


def peak_megabytes(pid: int) -> float:
    """What a process used at most."""
    lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


def describe(outcome: Outcome, pipelines: int, steps: int, reference: float | None) -> str:
    """The figures of a run, in some lines."""
    rate = pipelines * steps / outcome.seconds
    share = f", {rate / reference:.2f} of LangGraph's" if reference else ""
    ordered = sorted(each * 1000 for each in outcome.reads)
    p99 = ordered[max(0, round(len(ordered) * 0.99) - 1)]
    return (
        f"    {outcome.done}/{pipelines} done, {rate:.0f} steps a second{share}; submitted after "
        f"{outcome.submitted:.1f} s, ended after {outcome.seconds:.1f} s\n"
        f"    {outcome.processor * 1000 / (pipelines * steps):.2f} ms of processor a step; "
        f"memory at most {', '.join(f'{peak:.0f}' for peak in outcome.peaks)} MB\n"
        f"    GET /pipelines meanwhile, {len(ordered)} times: p50 {statistics.median(ordered):.0f} ms, "
        f"p99 {p99:.0f} ms, slowest {ordered[-1]:.0f} ms"
    )


@asynccontextmanager
async def some_servers(folder: Path, count: int, address: str | None) -> AsyncIterator[list[Server]]:
    """So many servers of one user on one database: with the data folder of the first, as it is by default."""
    variables = {"SEGUE_DATABASE_URL": address} if address else {}
    async with AsyncExitStack() as stack:
        servers: list[Server] = []
        for number in range(count):
            place = folder / f"server{number}"
            place.mkdir()
            servers.append(await stack.enter_async_context(serving(place, 4096, CATALOG, variables)))
            variables["SEGUE_DATA_DIR"] = str(servers[0].data_dir)
        yield servers


async def measure_load(
    options: argparse.Namespace,
    reference: float | None,
    *,
    on_postgres: bool,
    servers: int = 1,
    followers: int = 0,
) -> None:
    """One run on empty records."""
    with (
        tempfile.TemporaryDirectory(prefix="segue-load-") as name,
        running_postgres() if on_postgres else nullcontext() as address,
    ):
        async with some_servers(Path(name), servers, address) as running:
            if not followers:
                outcome = await run_load(running, options.pipelines, options.steps)
                print(describe(outcome, options.pipelines, options.steps, reference), flush=True)
                return
            async with following(running[0], followers) as seen:
                outcome = await run_load(running, options.pipelines, options.steps)
                database = running[0].data_dir / "segue.db"
                deadline = time.monotonic() + 300
                while (told := seen.missed(database)).startswith(f"{followers}/") is False:
                    if time.monotonic() > deadline:
                        break
                    await asyncio.sleep(1)
                print(describe(outcome, options.pipelines, options.steps, reference))
                print(f"    {told}, {peak_megabytes(running[0].pid):.0f} MB at most", flush=True)


async def measure_serial(count: int) -> None:
    """One pipeline after the other in one server."""
    with tempfile.TemporaryDirectory(prefix="segue-load-") as name:
        async with some_servers(Path(name), 1, None) as (server,):
            process = psutil.Process(server.pid)
            folder = server.folder / "work"
            folder.mkdir()
            request = {
                "prompt": "Do nothing.",
                "working_dir": str(folder),
                "custom_steps": [{"agent": "nothing"}] * 2,
            }
            for number in range(count + 1):
                if number % max(1, count // 5) == 0:
                    used = process.memory_info().rss / 1_048_576
                    print(
                        f"    after {number:5}: {used:6.1f} MB, {process.num_fds()} files, "
                        f"{process.num_threads()} threads, {_files_below(server.data_dir)} files of data",
                        flush=True,
                    )
                _, pipeline = await server.ask("POST", "/pipelines", request)
                ended = await server.ended(pipeline["id"], seconds=0.01)
                assert ended["status"] == "done", ended


def _files_below(folder: Path) -> int:
    return sum(each.is_file() for each in folder.rglob("*"))


def langgraph_rate(python: str, pipelines: int, steps: int) -> float:
    """Steps a second of as many chains at once in LangGraph, called in its own process."""
    with tempfile.TemporaryDirectory(prefix="segue-load-") as folder:
        words = [python, str(PROGRAMS / "langgraph_chain.py"), folder, str(steps), str(pipelines)]
        ran = subprocess.run(words, stdout=subprocess.PIPE, check=True)
    took = json.loads(ran.stdout.splitlines()[-1])
    rate = 1000 / float(took["wall"])
    print(f"{REFERENCE}: {rate:.0f} steps a second, {took['processor']:.2f} ms of processor a step")
    return rate


async def measure(options: argparse.Namespace, reference: float | None) -> None:
    """Run the parts."""
    size = f"{options.pipelines} pipelines of {options.steps} steps at once"
    if "sqlite" in options.parts:
        print(f"{size}, SQLite:", flush=True)
        await measure_load(options, reference, on_postgres=False)
    if "postgres" in options.parts:
        print(f"{size}, PostgreSQL:", flush=True)
        await measure_load(options, reference, on_postgres=True)
    if "followers" in options.parts:
        print(f"{size}, SQLite, {options.followers} followers of all events:", flush=True)
        await measure_load(options, reference, on_postgres=False, followers=options.followers)
    if "workers" in options.parts:
        for count in (1, options.workers):
            print(f"{size}, PostgreSQL, {count} {'worker' if count == 1 else 'workers'}:", flush=True)
            await measure_load(options, reference, on_postgres=True, servers=count)
    if "stored" in options.parts:
        await measure_stored(options.stored, CATALOG)
    if "serial" in options.parts:
        print(f"{options.serial} pipelines one after the other, SQLite:", flush=True)
        await measure_serial(options.serial)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--pipelines", type=int, default=1000)
    parser.add_argument("--steps", type=int, default=STEPS_TOGETHER)
    parser.add_argument("--followers", type=int, default=100)
    parser.add_argument("--workers", type=int, default=3)
    parser.add_argument("--stored", type=int, default=100_000)
    parser.add_argument("--serial", type=int, default=2000)
    parser.add_argument("--no-peers", action="store_true", help="without LangGraph")
    options = parser.parse_args()
    options.parts = options.parts or PARTS
    if unknown := set(options.parts) - set(PARTS):
        parser.error(f"no part {min(unknown)!r}. Known: {', '.join(PARTS)}")
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(8192, hard), hard))
    reference = None
    if not options.no_peers and {"sqlite", "postgres", "followers", "workers"} & set(options.parts):
        with tempfile.TemporaryDirectory(prefix="segue-bench-peers-") as folder:
            if python := install_peers(Path(folder) / "venv"):
                reference = langgraph_rate(python, options.pipelines, options.steps)
            else:
                print("LangGraph cannot be installed here: no shares of it are printed")
    asyncio.run(measure(options, reference))


if __name__ == "__main__":
    main()
