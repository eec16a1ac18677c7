"""The compiled reading of handoffs does what the Python one does: it passes the same tests."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WHERE = "import segue.domain.handoff.reading.extraction as it; print(it.__file__)"


@pytest.mark.thorough
@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
@pytest.mark.timeout(1200)
def test_the_compiled_reading_passes_all_tests_of_handoffs() -> None:
    made = run(sys.executable, ROOT / "bench" / "compiled.py")
    env = os.environ | {"PYTHONPATH": made, "HYPOTHESIS_PROFILE": "few"}
    used = run(sys.executable, "-c", WHERE, env=env)
    assert used.startswith(made)
    assert not used.endswith(".py")
    plain = ("-q", "-p", "no:xdist", "-p", "no:cacheprovider", "-m", "not thorough")
    run(sys.executable, "-m", "pytest", *plain, "tests/handoff", env=env)


def run(*command: str | Path, env: Mapping[str, str] | None = None) -> str:
    """What a command prints; a failure tells what it printed."""
    ended = subprocess.run(
        command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=1000, check=False
    )
    assert ended.returncode == 0, ended.stdout[-3000:] + ended.stderr[-1000:]
    return ended.stdout.strip()
