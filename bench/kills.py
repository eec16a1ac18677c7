"""kill -9 of a real `segue serve` at random moments, with pipelines in flight, on SQLite and on PostgreSQL.

    ./do bench kills [--kills N] [--in-flight N] [--seed N] [--only sqlite|postgres]

Half of the agents are commands, which outlive Segue and are found again; the others end with it and are tried
again. Each writes down when it begins and which message it was given. Counted at the end: pipelines that are
not done, steps whose agent began again after the step was done, attempts that began twice, messages that a
command was given twice, and steps that are done although no agent began.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

sys.path.insert(0, str(Path(__file__).parents[1]))  # for the PostgreSQL that tests use

from tests.postgres import running_postgres

STEPS = 4
AGENT = """\
cat > /dev/null
echo "begin {n} $(basename "$(dirname "$SEGUE_BRIEFING_FILE")")" >> runs.log
sleep 0.{pause}
echo "## What Was Done"
echo "- Did part {n}."
echo
echo "## Next Agent Context"
echo "Continue after {n}."
"""
COMMAND = """\
  agent{n}:
    backend: command
    options: {{command: [sh, "{script}"]}}
"""
SCRIPTED = """\
  agent{n}:
    backend: scripted
    options:
      actions:
        - append: {{path: runs.log, text: "begin {n} scripted\\n"}}
        - delay: 0.{pause}
        - say: "## What Was Done\\n- Did part {n}.\\n\\n## Next Agent Context\\nContinue after {n}."
"""
ENDED = ("done", "failed", "aborted")


@dataclass(kw_only=True)
class Server:
    """A `segue serve` that can be killed and started again on the same data."""

    folder: Path
    database_url: str | None
    process: subprocess.Popen[bytes] | None = None
    client: httpx.Client = field(default_factory=lambda: httpx.Client(timeout=120))

    def start(self) -> None:
        """Start it, and wait until it answers."""
        variables = {
            "SEGUE_DATA_DIR": str(self.folder / "data"),
            "SEGUE_CONFIG_DIR": str(self.folder / "config"),
        }
        if self.database_url:
            variables["SEGUE_DATABASE_URL"] = self.database_url
        log = self.folder / "log"
        with log.open("wb") as errors:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "segue", "serve", "--port", "0"],
                cwd=self.folder,
                env=os.environ | variables,
                stderr=errors,
            )
        while not (found := re.search(r" on (http://[\d.]+:\d+)", log.read_text(encoding="utf-8"))):
            assert self.process.poll() is None, log.read_text(encoding="utf-8")
            time.sleep(0.02)
        self.client.base_url = found[1]
        credential = (self.folder / "data" / "credential").read_text(encoding="ascii").strip()
        self.client.headers["Authorization"] = f"Bearer {credential}"

    def kill(self) -> None:
        """No goodbye, no cleaning up."""
        assert self.process is not None
        self.process.kill()
        self.process.wait()

    def ask(self, path: str) -> Any:
        """What a read gives."""
        answer = self.client.get(path)
        answer.raise_for_status()
        return answer.json()


@dataclass(kw_only=True)
class Trial:
    """The pipelines of one server, and what was seen of them before each kill."""

    server: Server
    folders: dict[int, Path] = field(default_factory=dict)
    begun_when_done: dict[tuple[int, int], int] = field(default_factory=dict)
    """How often the agent of a step had begun when the step was first seen done."""
    open: set[int] = field(default_factory=set)

    def fill(self, in_flight: int) -> None:
        """Submit until so many pipelines are in flight."""
        while len(self.open) < in_flight:
            folder = self.server.folder / f"work{len(self.folders)}"
            folder.mkdir()
            order = {"template": "chain", "prompt": "Do four parts.", "working_dir": str(folder)}
            answer = self.server.client.post("/pipelines", json=order)
            assert answer.status_code == 201, answer.text
            self.folders[answer.json()["id"]] = folder
            self.open.add(answer.json()["id"])

    def look(self) -> None:
        """Note which steps are done, and how often their agents have begun."""
        for pipeline_id in sorted(self.open):
            found = self.server.ask(f"/pipelines/{pipeline_id}")
            for step in found["steps"]:
                if step["status"] == "done":
                    key = (pipeline_id, step["order_index"] + 1)
                    self.begun_when_done.setdefault(key, len(self.begins(*key)))
            if found["status"] in ENDED:
                self.open.discard(pipeline_id)

    def begins(self, pipeline_id: int, number: int) -> list[str]:
        """What the agents of a step wrote down when they began."""
        log = self.folders[pipeline_id] / "runs.log"
        lines = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
        return [line for line in lines if line.startswith(f"begin {number} ")]

    def count(self) -> Counter[str]:
        """What went wrong, and how much there was to go wrong."""
        found: Counter[str] = Counter(pipelines=len(self.folders), steps=len(self.folders) * STEPS)
        for pipeline_id in self.folders:
            pipeline = self.server.ask(f"/pipelines/{pipeline_id}")
            found["pipelines not done"] += pipeline["status"] != "done"
            for number in range(1, STEPS + 1):
                attempts = self.server.ask(f"/pipelines/{pipeline_id}/steps/{number}")["attempts"]
                begins = self.begins(pipeline_id, number)
                found["attempts"] += len(attempts)
                found["finished steps that ran again"] += (
                    len(begins) != self.begun_when_done[pipeline_id, number]
                )
                found["attempts that began twice"] += max(0, len(begins) - len(attempts))
                named = Counter(line for line in begins if not line.endswith(" scripted"))
                found["messages given twice to a command"] += sum(n - 1 for n in named.values())
                found["steps done without an agent"] += not begins
                found["attempts cut off by a kill"] += sum(each["status"] == "lost" for each in attempts)
        return found


def write_catalog(folder: Path) -> None:
    """Four agents, two of each kind, and the template that chains them."""
    (folder / "config").mkdir()
    agents = ""
    for n in range(1, STEPS + 1):
        script = folder / f"agent{n}.sh"
        script.write_text(AGENT.format(n=n, pause=n), encoding="utf-8")
        agents += (COMMAND if n % 2 else SCRIPTED).format(n=n, script=script, pause=n)
    steps = "".join(f"      - {{agent: agent{n}, description: Do part {n}.}}\n" for n in range(1, STEPS + 1))
    text = f"agents:\n{agents}templates:\n  chain:\n    steps:\n{steps}"
    (folder / "config" / "catalog.yaml").write_text(text, encoding="utf-8")


def run_trial(
    folder: Path, database_url: str | None, *, kills: int, in_flight: int, seed: int
) -> Counter[str]:
    """Kill so often, let everything end, and count."""
    write_catalog(folder)
    moments = random.Random(seed)
    trial = Trial(server=Server(folder=folder, database_url=database_url))
    trial.server.start()
    try:
        for _ in range(kills):
            trial.look()
            trial.fill(in_flight)
            time.sleep(moments.uniform(0, 0.6))
            trial.server.kill()
            trial.server.start()
        while trial.open:
            trial.look()
            time.sleep(0.2)
        return trial.count()
    finally:
        trial.server.kill()


@contextmanager
def database(name: str) -> Iterator[str | None]:
    """The address of a database; none for the file that Segue makes by itself."""
    if name == "sqlite":
        yield None
    else:
        with running_postgres() as address:
            yield address


def main() -> None:
    """Kill, count and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--in-flight", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=["sqlite", "postgres"])
    options = parser.parse_args()
    for name in [options.only] if options.only else ["sqlite", "postgres"]:
        start = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="segue-kills-") as folder, database(name) as address:
            found = run_trial(
                Path(folder), address, kills=options.kills, in_flight=options.in_flight, seed=options.seed
            )
        took = time.monotonic() - start
        print(f"\n{name}: {options.kills} kills, {options.in_flight} pipelines in flight, {took:.0f} s")
        for what, count in found.items():
            print(f"{count:8} {what}", flush=True)


if __name__ == "__main__":
    main()
