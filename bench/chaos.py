"""kill -9 of real `segue serve` processes at random; hosts that are killed, stopped, or have a wrong clock.

    ./do bench chaos [PART ...] [--kills N] [--stops N] [--in-flight N] [--pause SECONDS]
                     [--stop SECONDS] [--seed N]

Parts, all of them if none is named:

    sqlite      one server, killed again and again
    postgres    three hosts with data folders of their own on one PostgreSQL; each time one of them is killed
    stops       the same, but each time one of them is stopped (SIGSTOP), long enough for others to take its
                pipelines over, and continued
    takeover    three hosts, one killed, one stopped (SIGSTOP) for a while and continued, one whose clock is
                ten minutes ahead: how long until others have what the first two had

Hosts are in process spaces of their own where the machine allows it, as on separate machines: who is killed
takes its agents with it. Half of the agents are commands, which outlive a server that shares its process
space; the others end with it. Each writes down when it begins, and which message it was given. Pipelines
work in worktrees of one repository. The last lines count what must not be; all of them should be 0.
"""

from __future__ import annotations

import argparse
import random
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psutil
import psycopg

sys.path.insert(0, str(Path(__file__).parents[1]))  # for the PostgreSQL that tests use

from tests.postgres import Server

from hosts import Host, can_be_apart

PARTS = ("sqlite", "postgres", "stops", "takeover")
STEPS = 4
_BEGIN = 'echo "begin {n} $(basename "$PWD") $(date +%s.%N) {message}" >> "{log}"'
_HANDOFF = (
    "## Outcome\\ncompleted\\n\\n## What Was Done\\n- Did part {n}.\\n\\n## Next Agent Context\\nContinue.\\n"
)
COMMAND = """\
cat > /dev/null
{begin}
sleep {pause}
echo {n} > part{n}.txt
printf '{handoff}'
"""
PROFILES = (
    """\
  agent{n}:
    backend: command
    options: {{command: [sh, "{script}"]}}
""",
    """\
  agent{n}:
    backend: scripted
    options:
      actions:
        - run: [sh, -c, {begin!r}]
        - delay: {pause}
        - write: {{path: "part{n}.txt", text: "{n}\\n"}}
        - say: "{handoff}"
""",
)
_BEGUN = re.compile(r"^begin (\d) (\d+)\S* ([\d.]+) (\S+)$", re.MULTILINE)
_UNFINISHED = ("pending", "running", "waiting_for_approval")


@contextmanager
def asking(database: str) -> Iterator[Callable[[str], list[Any]]]:
    """Asks the records themselves: a server may be dead."""
    if database.startswith("postgres"):
        with psycopg.connect(database, autocommit=True) as connection:
            yield lambda sql: connection.execute(sql).fetchall()
    else:
        with closing(sqlite3.connect(database, timeout=30)) as file:
            yield lambda sql: file.execute(sql).fetchall()


@dataclass(kw_only=True)
class Trial:
    """Hosts on one database, with the pipelines that were submitted."""

    folder: Path
    hosts: list[Host]
    database: str
    """The address, or the file."""
    pause: float
    submitted: list[int] = field(default_factory=list)

    @property
    def runs(self) -> Path:
        """What agents write down when they begin."""
        return self.folder / "runs.log"

    def lay_out(self) -> None:
        """The repository, and a template of four agents, two of each kind."""
        work, config = self.folder / "work", self.folder / "config"
        work.mkdir()
        config.mkdir()
        (work / "begin.txt").write_text("begin\n", encoding="utf-8")
        identity = ("-c", "user.name=Chaos", "-c", "user.email=chaos@example.org")
        for arguments in (("init", "-qb", "main"), ("add", "."), ("commit", "-qm", "Begin")):
            subprocess.run(["git", *identity, *arguments], cwd=work, check=True)
        agents = ""
        for n in range(1, STEPS + 1):
            script = self.folder / f"agent{n}.sh"
            pause, handoff = f"{self.pause * n / STEPS:.2f}", _HANDOFF.format(n=n)
            message = '$(basename "$(dirname "$SEGUE_BRIEFING_FILE")")' if n % 2 else "-"
            begin = _BEGIN.format(n=n, log=self.runs, message=message)
            script.write_text(
                COMMAND.format(begin=begin, pause=pause, n=n, handoff=handoff), encoding="utf-8"
            )
            agents += PROFILES[(n + 1) % 2].format(
                n=n, script=script, begin=begin, pause=pause, handoff=handoff
            )
        steps = "".join(
            f"      - {{agent: agent{n}, description: Do part {n}.}}\n" for n in range(1, STEPS + 1)
        )
        text = f"agents:\n{agents}templates:\n  chain:\n    on_bad_handoff: note\n    steps:\n{steps}"
        (config / "catalog.yaml").write_text(text, encoding="utf-8")

    def submit(self, host: Host) -> bool:
        """One more pipeline; false if the host does not answer."""
        order = {"template": "chain", "prompt": "Do four parts.", "working_dir": str(self.folder / "work")}
        found = host.submit(f"chaos-{len(self.submitted)}", order)
        if found is not None:
            self.submitted.append(found)
        return found is not None

    def fill(self, in_flight: int, moments: random.Random) -> None:
        """Submit until so many pipelines are in flight."""
        missing = in_flight - self.open()
        while missing > 0:
            missing -= self.submit(moments.choice([each for each in self.hosts if each.is_running]))

    def open(self) -> int:
        """How many pipelines have not ended."""
        with asking(self.database) as ask:
            ((count,),) = ask(f"SELECT count(*) FROM pipelines WHERE status IN {_UNFINISHED}")
        return int(count)

    def wait_for_all(self) -> None:
        """Until every pipeline has ended."""
        while self.open():
            time.sleep(0.2)

    def gone(self) -> int:
        """How often a host was declared gone."""
        logs = (host.log.read_text(encoding="utf-8", errors="replace") for host in self.hosts)
        return sum(log.count("worker_gone") for log in logs)

    def end(self) -> None:
        """End every host, politely."""
        for host in self.hosts:
            host.end(signal.SIGTERM)

    def count(self) -> Counter[str]:
        """How much there was, and what must not be."""
        with asking(self.database) as ask:
            statuses = dict(ask("SELECT status, count(*) FROM pipelines GROUP BY status"))
            steps = ask("SELECT pipeline_id, order_index + 1, finished_at, end_commit, id FROM steps")
            attempts = Counter(step for (step,) in ask("SELECT step_id FROM attempts"))
            lost = ask("SELECT count(*) FROM attempts WHERE status = 'lost'")[0][0]
            done = Counter(
                step for (step,) in ask("SELECT step_id FROM audit_events WHERE event_type = 'step_done'")
            )
            reasons = ask("SELECT id, reason FROM pipelines WHERE status <> 'done'")
            rows = 0
            if self.database.startswith("postgres"):
                rows = ask("SELECT count(*) FROM dbos.workflow_status")[0][0]
        for pipeline, reason in reasons:
            print(f"pipeline {pipeline}: {reason}", file=sys.stderr)
        found: Counter[str] = Counter(pipelines=len(self.submitted), steps=len(steps))
        found["attempts"], found["attempts cut off"] = attempts.total(), lost
        found["pipelines not done"] = len(self.submitted) - statuses.get("done", 0)
        begun = _begins(self.runs.read_text(encoding="utf-8"))
        for pipeline, number, finished, commit, step in steps:
            times = [moment for moment, _ in begun.get((pipeline, number), ())]
            ended = _seconds(finished) if finished else float("inf")
            found["finished steps whose agent began again"] += any(moment > ended for moment in times)
            found["attempts that began twice"] += max(0, len(times) - attempts[step])
            found["steps done without an agent, or without its commit"] += not times or not commit
            found["steps that were done twice"] += done[step] > 1
        messages = Counter(name for each in begun.values() for _, name in each if name != "-")
        found["messages given twice"] = sum(count - 1 for count in messages.values())
        found["rows left in DBOS"] = rows
        found["session folders left"] = sum(1 for _ in self.folder.glob("*/data/sessions/*/*/*"))
        found["processes left"] = _left(self.folder)
        return found


def _begins(log: str) -> dict[tuple[int, int], list[tuple[float, str]]]:
    """(pipeline, step) -> when its agents began, and with which message."""
    found: dict[tuple[int, int], list[tuple[float, str]]] = {}
    for number, place, moment, message in re.findall(
        r"^begin (\d) (\d+)\S* ([\d.]+) (\S+)$", log, re.MULTILINE
    ):
        found.setdefault((int(place), int(number)), []).append((float(moment), message))
    return found


def _seconds(moment: datetime | str) -> float:
    if isinstance(moment, str):
        moment = datetime.fromisoformat(moment).replace(tzinfo=UTC)
    return moment.timestamp()


def _left(folder: Path) -> int:
    """Processes that still work in the folder."""
    found = 0
    for process in psutil.process_iter():
        try:
            found += process.cwd().startswith(str(folder))
        except (psutil.Error, OSError):
            continue
    return found


def kill_again_and_again(trial: Trial, *, kills: int, in_flight: int, pause: float, seed: int) -> None:
    """Kill one host each time; with several, it is away until the next one is killed."""
    moments = random.Random(seed)
    for host in trial.hosts:
        host.start()
    for _ in range(kills):
        trial.fill(in_flight, moments)
        time.sleep(moments.uniform(0, 2 * pause))
        victim = moments.choice([each for each in trial.hosts if each.is_running])
        victim.end()
        for host in trial.hosts:
            if not host.is_running and (host is not victim or len(trial.hosts) == 1):
                host.start()
    for host in trial.hosts:
        if not host.is_running:
            host.start()
    trial.wait_for_all()


def stop_again_and_again(trial: Trial, *, stops: int, in_flight: int, pause: float, seed: int) -> None:
    """Stop one host each time until others have declared it gone and a while longer, then continue it."""
    moments = random.Random(seed)
    for host in trial.hosts:
        host.start()
    for _ in range(stops):
        trial.fill(in_flight, moments)
        time.sleep(moments.uniform(0, pause))
        victim, gone = moments.choice(trial.hosts), trial.gone()
        victim.send_signal(signal.SIGSTOP)
        while trial.gone() == gone:
            time.sleep(0.1)
        time.sleep(moments.uniform(0, pause))
        victim.send_signal(signal.SIGCONT)
    trial.wait_for_all()
    print(f"hosts declared gone: {trial.gone()}, of {stops} that were stopped")


def take_over(trial: Trial, *, in_flight: int, stop: float) -> None:
    """Kill one host, stop another one, let the third have a wrong clock; print how long others take."""
    names = []
    for host in trial.hosts:
        host.start()
        with asking(trial.database) as ask:
            names.append(next(name for (name,) in ask("SELECT id FROM workers") if name not in names))
    for number in range(in_flight):
        assert trial.submit(trial.hosts[number % 3])
    for how, number, name in (("killed", signal.SIGKILL, names[0]), ("stopped", signal.SIGSTOP, names[1])):
        host = trial.hosts[names.index(name)]
        with asking(trial.database) as ask:
            mine = [row[0] for row in ask(f"SELECT id FROM pipelines WHERE worker_id = '{name}'")]
            assert mine, f"the host that is to be {how} has no pipeline"
            begun = time.monotonic()
            host.send_signal(number)
            left = mine
            while left:
                time.sleep(0.05)
                ids = ", ".join(map(str, mine))
                left = ask(
                    f"SELECT id FROM pipelines WHERE id IN ({ids}) AND status IN {_UNFINISHED} "
                    f"AND (worker_id IS NULL OR worker_id = '{name}')"
                )
        print(f"{how}: {len(mine)} pipelines taken over within {time.monotonic() - begun:.1f} s", flush=True)
        if number == signal.SIGSTOP:
            time.sleep(max(0.0, stop - (time.monotonic() - begun)))
            host.send_signal(signal.SIGCONT)
            print(f"continued after {time.monotonic() - begun:.0f} s", flush=True)
    for host in trial.hosts[1:]:
        assert trial.submit(host), "a host that lives takes no pipeline"
    trial.hosts[0].end()
    trial.hosts[0].start()
    trial.wait_for_all()
    print(f"hosts declared gone: {trial.gone()}, of 2 that were killed or stopped")


def run(part: str, options: argparse.Namespace) -> Counter[str]:
    """One part, in a folder that is removed."""
    with tempfile.TemporaryDirectory(prefix="segue-chaos-") as name:
        folder = Path(name)
        if part == "sqlite":
            host = Host(folder=folder / "host", config=folder / "config")
            database = str(folder / "host" / "data" / "segue.db")
            trial = Trial(folder=folder, hosts=[host], database=database, pause=options.work)
            return _carry_out(part, trial, options)
        with Server(tcp=True) as server:  # a socket file would be closed to other process spaces
            hosts = [
                Host(
                    folder=folder / f"host{n}",
                    config=folder / "config",
                    database_url=server.address,
                    ahead=600.0 if part == "takeover" and n == 2 else 0.0,
                    is_apart=can_be_apart(),
                )
                for n in range(3)
            ]
            trial = Trial(folder=folder, hosts=hosts, database=server.address, pause=options.work)
            return _carry_out(part, trial, options)


def _carry_out(part: str, trial: Trial, options: argparse.Namespace) -> Counter[str]:
    trial.lay_out()
    try:
        if part == "takeover":
            take_over(trial, in_flight=options.in_flight, stop=options.stop)
        elif part == "stops":
            stop_again_and_again(
                trial,
                stops=options.stops,
                in_flight=options.in_flight,
                pause=options.pause,
                seed=options.seed,
            )
        else:
            kill_again_and_again(
                trial,
                kills=options.kills,
                in_flight=options.in_flight,
                pause=options.pause,
                seed=options.seed,
            )
        trial.end()
        return trial.count()
    finally:
        for host in trial.hosts:
            host.end()


def main() -> None:
    """Kill, count and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("parts", nargs="*", choices=[[], *PARTS], metavar="PART")
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--stops", type=int, default=100)
    parser.add_argument("--in-flight", type=int, default=50)
    parser.add_argument("--pause", type=float, default=4.0, help="seconds between kills, on average")
    parser.add_argument("--stop", type=float, default=60.0, help="seconds that a host is stopped")
    parser.add_argument("--work", type=float, default=0.4, help="seconds that the longest agent works")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    for part in options.parts or PARTS:
        start = time.monotonic()
        where = "" if part == "sqlite" else ", separate hosts" if can_be_apart() else ", one host"
        times = {"takeover": "", "stops": f" {options.stops} stops,"}.get(part, f" {options.kills} kills,")
        print(f"\n{part}:{times} {options.in_flight} pipelines in flight{where}", flush=True)
        found = run(part, options)
        for what, count in found.items():
            print(f"{count:8} {what}", flush=True)
        print(f"{time.monotonic() - start:8.0f} s", flush=True)


if __name__ == "__main__":
    main()
