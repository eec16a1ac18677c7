"""The real agent programs that tests drive: installed beforehand, outside the clone, and only found by tests.

python -m tests.agents.programs install opencode
python -m tests.agents.programs install all
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from segue.adapters.installs import Installer, known_programs, pinned_program
from segue.domain.errors import BackendUnavailable, SegueError

CACHE = Path(os.environ.get("SEGUE_TEST_CACHE") or "~/.cache/segue-tests").expanduser().absolute()
"""Read when this is imported: a test has a home of its own."""
ALL = ("opencode", "claude", "codex", "goose", "codex-acp", "claude-agent-acp", "pi")


def find(name: str) -> Path | None:
    """The program, if it is installed."""
    return Installer(CACHE / "agents").find(name) if why_none(name) is None else None


def why_none(name: str) -> str | None:
    """Why this platform cannot have the program."""
    try:
        pinned_program(name)
    except BackendUnavailable as error:
        return str(error)
    return None


def need(name: str) -> Path:
    """The program; skips the test, with the reason, where it is not."""
    found = find(name)
    if found is None:
        pytest.skip(
            why_none(name) or f"{name} is not installed: python -m tests.agents.programs install {name}"
        )
    return found


def install(names: Sequence[str]) -> int:
    """Install what is not there yet; the exit code. What this platform cannot have is passed over."""
    installer = Installer(CACHE / "agents", say=_say)
    for name in names:
        if reason := why_none(name):
            _say(f"{reason}; its tests are skipped")
            continue
        try:
            installer.install(name)
        except SegueError as error:
            _say(str(error))
            return 1
    return 0


def _say(line: str) -> None:
    sys.stderr.write(f"setting up: {line}\n")


def main(arguments: Sequence[str]) -> int:
    """`install NAME ...` or `install all`."""
    if len(arguments) < 2 or arguments[0] != "install":
        _say(f"say what to install: install all, or install NAME of {', '.join(known_programs())}")
        return 2
    return install(ALL if "all" in arguments[1:] else arguments[1:])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
