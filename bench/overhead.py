"""What Segue itself costs a step, in one run with LangGraph and its SQLite saver, bare DBOS and bare SQLite.

    ./do bench overhead [--rounds N] [--alone 1 10 100] [--together 50] [--no-peers]

Each figure is of a process of its own, in rounds that take the programs in turn; printed is the median.
LangGraph and DBOS come from an environment that is made for this run and removed after it; where they cannot
be installed, their rows are left out. All write to a file in the same mode (WAL, synchronous=FULL), 2 kB
a step. Segue's step has what a user's has: a session with its messages, the handoff, the ledger, the audit.
Statements and transactions a step are counted by tests/engine/test_cost_of_a_step.py.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

PROGRAMS = Path(__file__).parent / "chains"
PEERS = ("langgraph==1.*", "langgraph-checkpoint-sqlite==3.*", "dbos==3.3.*")
REFERENCE = "LangGraph, SQLite saver"
STEPS_TOGETHER = 10


@dataclass(frozen=True, kw_only=True)
class Subject:
    """A program that runs chains of steps."""

    name: str
    python: str
    program: str
    words: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Load:
    """So many chains at once, of so many steps each."""

    steps: int
    chains: int

    def __str__(self) -> str:
        if self.chains == 1:
            return f"one chain of {self.steps}"
        return f"{self.chains} chains of {self.steps} at once"


def install_peers(folder: Path) -> str | None:
    """The Python of an environment with LangGraph and DBOS; none if they cannot be installed."""
    made = subprocess.run([sys.executable, "-m", "venv", str(folder)], capture_output=True, check=False)
    pip = [str(folder / "bin" / "pip"), "install", "-q", *PEERS]
    if made.returncode or subprocess.run(pip, capture_output=True, check=False).returncode:
        return None
    return str(folder / "bin" / "python")


def measure(subject: Subject, load: Load) -> dict[str, float]:
    """Milliseconds a step, by the clock and of processor."""
    with tempfile.TemporaryDirectory(prefix="segue-bench-") as folder:
        counts = (str(load.steps), str(load.chains))
        ran = subprocess.run(
            [subject.python, str(PROGRAMS / subject.program), folder, *counts, *subject.words],
            stdout=subprocess.PIPE,
            check=True,
            env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"},
        )
    found: dict[str, float] = json.loads(ran.stdout.splitlines()[-1])  # after what was logged
    return found


def compare(subjects: Sequence[Subject], load: Load, rounds: int) -> None:
    """Take the subjects in turn, round after round, and print the medians."""
    found: dict[str, list[dict[str, float]]] = {subject.name: [] for subject in subjects}
    for _ in range(rounds):
        for subject in subjects:
            found[subject.name].append(measure(subject, load))
    medians = {
        name: {key: statistics.median(each[key] for each in taken) for key in taken[0]}
        for name, taken in found.items()
    }
    reference = medians.get(REFERENCE)
    print(f"\n{load}; ms a step, median of {rounds}{', x as a multiple of LangGraph' if reference else ''}")
    print(f"{'':34}{'processor':>11}{'x':>7}{'wall':>11}{'x':>7}")
    for name, each in medians.items():
        cells = ""
        for key in ("processor", "wall"):
            ratio = f"{each[key] / reference[key]:.2f}" if reference else ""
            cells += f"{each[key]:11.2f}{ratio:>7}"
        git = f"   {each['git processes']:.1f} git processes" if "git processes" in each else ""
        print(f"{name:34}{cells}{git}", flush=True)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument(
        "--alone", type=int, nargs="*", default=[1, 10, 100], help="lengths of a single chain"
    )
    parser.add_argument("--together", type=int, default=50, help="chains at once; 0 leaves them out")
    parser.add_argument("--no-peers", action="store_true", help="install nothing: Segue and bare SQLite")
    options = parser.parse_args()
    subjects = [
        Subject(name="bare SQLite, 5 commits", python=sys.executable, program="sqlite_chain.py"),
        Subject(name="Segue", python=sys.executable, program="segue_chain.py"),
        Subject(name="Segue, git worktrees", python=sys.executable, program="segue_chain.py", words=("git",)),
    ]
    loads = [Load(steps=steps, chains=1) for steps in options.alone]
    if options.together:
        loads.append(Load(steps=STEPS_TOGETHER, chains=options.together))
    with tempfile.TemporaryDirectory(prefix="segue-bench-peers-") as folder:
        peers = None if options.no_peers else install_peers(Path(folder) / "venv")
        if peers:
            subjects[1:1] = [
                Subject(name=REFERENCE, python=peers, program="langgraph_chain.py"),
                Subject(name="bare DBOS on SQLite", python=peers, program="dbos_chain.py"),
            ]
        elif not options.no_peers:
            print("LangGraph and DBOS cannot be installed here: their rows are left out")
        for load in loads:
            compare(subjects, load, options.rounds)


if __name__ == "__main__":
    main()
