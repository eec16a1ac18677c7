"""Workspaces of large repositories and with large changes: memory stays within bounds."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.git.repositories import commit, new_repository

pytestmark = pytest.mark.thorough

MEASURE = """
import asyncio, json, resource, sys
from pathlib import Path
from tests.git.flow import flow_of

repo, work = Path(sys.argv[1]), sys.argv[2]

def act(folder):
    if work == "touch":
        (folder / "new.txt").write_text("new\\n")
        return
    block = b"".join(b"%08d some words on a line\\n" % number for number in range(70_000))
    for number in range(100):
        (folder / f"f{number:03}.txt").write_bytes(block)

async def main():
    flow = flow_of(repo, repo.parent)
    space = await flow.open()
    evidence, commit, shown = await flow.step(space, act)
    assert await flow.spaces.merge(space)
    await flow.spaces.remove(space)
    peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
    return len(evidence.changes), len(shown), int(peak.split()[1]) // 1024

changes, shown, peak = asyncio.run(main())
git = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
print(json.dumps({"changes": changes, "shown": shown, "peak": peak, "git": git}))
"""


def measure(repo: Path, work: str) -> dict[str, int]:
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, str(repo), work],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, int] = json.loads(done.stdout)
    return found


def test_fifty_thousand_files(tmp_path: Path) -> None:
    repo = new_repository(tmp_path / "repo", {"first.txt": "x\n"})
    for folder in range(100):
        (repo / f"d{folder}").mkdir()
        for file in range(500):
            (repo / f"d{folder}" / f"f{file}.txt").write_bytes(b"%d %d\n" % (folder, file))
    commit(repo)
    found = measure(repo, "touch")
    assert found["changes"] == 1
    assert found["peak"] < 300
    assert found["git"] < 300


def test_a_step_that_writes_two_hundred_megabytes(tmp_path: Path) -> None:
    repo = new_repository(tmp_path / "repo", {"first.txt": "x\n"})
    found = measure(repo, "write")
    assert found["changes"] == 100
    assert 19_000_000 < found["shown"] < 21_000_000, "what is shown is cut"
    assert found["peak"] < 300
    assert found["git"] < 300
