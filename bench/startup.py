"""What commands cost before they do anything: processor time, beside Python that does nothing.

python bench/startup.py [--rounds N]
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

SEGUE = ("-m", "segue")
HANDOFF = "## Done\n- Mended `add` in `calc.py`\n"
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
        best = {name: min(cost(command, folder) for _ in range(rounds)) for name, command in COMMANDS.items()}
    bare = best["python, nothing"]
    for name, seconds in best.items():
        print(f"{name:<24}{1000 * seconds:>6.0f} ms  {seconds / bare:>5.1f} times bare Python")


def cost(command: tuple[str, ...], folder: str) -> float:
    """Processor seconds of a command."""
    before = used()
    # Without bytecode, each start would compile anew; an installed package has it.
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    subprocess.run(
        [sys.executable, *command],
        cwd=folder,
        env=env | {"SEGUE_DATA_DIR": str(Path(folder, "data"))},
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
