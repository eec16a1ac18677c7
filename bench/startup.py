"""What commands cost before they do anything: processor time, beside Python; and when the first line comes.

python bench/startup.py [--rounds N]

On SQLite no DBOS is loaded; on PostgreSQL it is where pipelines of others are taken up. The database is there
and current, as at each start but the first. A server that prints its line listens, and answers from then on.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

import psutil

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.postgres import running_postgres

SEGUE = ("-m", "segue")
HANDOFF = "## Done\n- Mended `add` in `calc.py`\n"
AGENT = {
    "SEGUE_BACKEND": "scripted",
    "SEGUE_BACKEND_OPTIONS": '{"scripted": {"actions": [{"delay": 600}]}}',
}
FIRST_LINE: dict[str, tuple[str, ...]] = {
    "segue run": (*SEGUE, "run", "quick_fix", "Fix it."),
    "segue serve": (*SEGUE, "serve", "--port", "0"),
}
ON_POSTGRESQL: dict[str, tuple[str, ...]] = {
    "segue run": (*SEGUE, "run", "quick_fix", "Fix it."),
    "segue serve --front": (*SEGUE, "serve", "--front", "--port", "0"),
    "segue serve, with DBOS": (*SEGUE, "serve", "--port", "0"),
    "segue worker, with DBOS": (*SEGUE, "worker"),
}
COMMANDS: dict[str, tuple[str, ...]] = {
    "python, nothing": ("-c", "pass"),
    "segue --version": (*SEGUE, "--version"),
    "segue --help": (*SEGUE, "--help"),
    "segue handoff extract": (*SEGUE, "handoff", "extract", "handoff.md"),
    "segue templates list": (*SEGUE, "templates", "list"),
    "segue pipelines list": (*SEGUE, "pipelines", "list"),
    "import segue": ("-c", "import segue"),
    "segue.extract_handoff": ("-c", "import segue; segue.extract_handoff('')"),
}


def main() -> None:
    """Take the best of some rounds: what disturbs a machine only adds."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--rounds", type=int, default=7)
    rounds = asked.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "handoff.md").write_text(HANDOFF, encoding="utf-8")
        print("SQLite")
        show_first_lines(FIRST_LINE, Path(folder), rounds, {})
        with running_postgres() as address:
            print("PostgreSQL")
            database = {"SEGUE_DATABASE_URL": address, "SEGUE_DRAIN_SECONDS": "0"}
            show_first_lines(ON_POSTGRESQL, Path(folder), rounds, database)
        print()
        best = {name: min(cost(command, folder) for _ in range(rounds)) for name, command in COMMANDS.items()}
    bare = best["python, nothing"]
    for name, seconds in best.items():
        print(f"{name:<24}{1000 * seconds:>6.0f} ms  {seconds / bare:>5.1f} times bare Python")


def show_first_lines(
    commands: Mapping[str, tuple[str, ...]], folder: Path, rounds: int, settings: dict[str, str]
) -> None:
    """Print when the first line of each command comes, and what it has used by then."""
    for name, command in commands.items():
        first_line(command, folder, settings)  # makes the database
        taken = [first_line(command, folder, settings) for _ in range(rounds)]
        seconds, processor, memory = (min(each[at] for each in taken) for at in range(3))
        print(
            f"{name:<24}{1000 * seconds:>6.0f} ms to the first line, {1000 * processor:.0f} ms of it "
            f"computing, {memory / 1e6:.0f} MB",
            flush=True,
        )


def first_line(
    command: tuple[str, ...], folder: Path, settings: dict[str, str]
) -> tuple[float, float, float]:
    """Seconds, processor seconds and bytes of memory, until a command says something; then it is ended."""
    project = folder / "project"
    project.mkdir(exist_ok=True)
    began = time.perf_counter()
    with subprocess.Popen(
        [sys.executable, *command],
        cwd=project,
        env=environment(folder) | AGENT | settings,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    ) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        seconds = time.perf_counter() - began
        seen = psutil.Process(process.pid)
        times, memory = seen.cpu_times(), seen.memory_info().rss
        process.terminate()
        rest = process.stdout.read()
    assert line.strip(), rest
    return seconds, times.user + times.system, float(memory)


def environment(folder: Path) -> dict[str, str]:
    """That of a command, with data of its own."""
    # Without bytecode, each start would compile anew; an installed package has it.
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return env | {"SEGUE_DATA_DIR": str(folder / "data"), "PYTHONUNBUFFERED": "1"}


def cost(command: tuple[str, ...], folder: str) -> float:
    """Processor seconds of a command."""
    before = used()
    subprocess.run(
        [sys.executable, *command],
        cwd=folder,
        env=environment(Path(folder)),
        stdout=subprocess.DEVNULL,
        check=True,
    )
    return used() - before


def used() -> float:
    """Processor seconds of all commands so far."""
    found = resource.getrusage(resource.RUSAGE_CHILDREN)
    return found.ru_utime + found.ru_stime


if __name__ == "__main__":
    main()
