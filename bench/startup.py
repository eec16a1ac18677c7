"""What commands cost before they do anything: processor time, beside Python; and when the first line comes.

python bench/startup.py [--rounds N]
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

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
        first = [first_line(command, Path(folder)) for command in FIRST_LINE.values() for _ in range(rounds)]
        best = {name: min(cost(command, folder) for _ in range(rounds)) for name, command in COMMANDS.items()}
    for at, name in enumerate(FIRST_LINE):
        taken = first[at * rounds : (at + 1) * rounds]
        seconds, processor = min(each[0] for each in taken), min(each[1] for each in taken)
        shown = f"{1000 * seconds:>6.0f} ms to the first line, {1000 * processor:.0f} ms of it computing"
        print(f"{name:<24}{shown}")
    bare = best["python, nothing"]
    for name, seconds in best.items():
        print(f"{name:<24}{1000 * seconds:>6.0f} ms  {seconds / bare:>5.1f} times bare Python")


def first_line(command: tuple[str, ...], folder: Path) -> tuple[float, float]:
    """Seconds, and processor seconds, until a command says something; then it is ended."""
    project = folder / "project"
    project.mkdir(exist_ok=True)
    began = time.perf_counter()
    with subprocess.Popen(
        [sys.executable, *command],
        cwd=project,
        env=environment(folder) | AGENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    ) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        seconds = time.perf_counter() - began
        times = psutil.Process(process.pid).cpu_times()
        process.terminate()
        rest = process.stdout.read()
    assert line.strip(), rest
    return seconds, times.user + times.system


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
