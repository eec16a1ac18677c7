"""Large repositories and large diffs: memory stays within bounds."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from segue.adapters.git import changes, collect_evidence
from tests.git.repositories import commit, lines, new_repository, write

pytestmark = pytest.mark.thorough

MEASURE = """
import json, resource, sys
from pathlib import Path
from segue.adapters.git import collect_evidence
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
found = collect_evidence(Path(sys.argv[1]), "HEAD")
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
git = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
known = sum(change.new_lines is not None for change in found.changes.values())
print(json.dumps({"grown": (after - before) // 1024, "git": git // 1024, "changes": len(found.changes),
                  "known": known, "whole": found.is_diff_whole}))
"""


def measure(repo: Path) -> dict[str, int]:
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, str(repo)], capture_output=True, text=True, timeout=500, check=False
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
    found = measure(repo)
    assert found["changes"] == 50_000
    assert found["whole"]
    assert found["grown"] < 200


def test_a_diff_of_two_hundred_megabytes(tmp_path: Path) -> None:
    repo = new_repository(tmp_path / "repo", {"first.txt": "x\n"})
    block = b"".join(b"%08d some words on a line\n" % number for number in range(70_000))
    for number in range(100):
        (repo / f"f{number:03}.txt").write_bytes(block)
    assert 100 * len(block) > 200_000_000
    found = measure(repo)
    assert found["changes"] == 100
    assert 0 < found["known"] < 100, "the diff is cut, and what came before the cut is known"
    assert found["grown"] < 60
    assert found["git"] < 300


def test_one_file_of_two_hundred_megabytes_without_a_line_end(tmp_path: Path) -> None:
    repo = new_repository(tmp_path / "repo", {"big.txt": "x\n"})
    with (repo / "big.txt").open("wb") as file:
        for _ in range(200):
            file.write(b"x" * 1_000_000)
    found = measure(repo)
    assert found["changes"] == 1
    assert found["grown"] < 60
    assert found["git"] < 300


def test_what_a_cut_diff_does_not_show_is_not_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repo = new_repository(tmp_path / "repo", {name: lines(200) for name in ("a.txt", "b.txt", "c.txt")})
    write(repo, {name: lines(200, "new") for name in ("a.txt", "b.txt", "c.txt")})
    monkeypatch.setattr(changes, "MOST_PATCH_BYTES", 6000)
    found = collect_evidence(repo, "HEAD")
    assert found.changes["a.txt"].new_lines is not None
    assert found.changes["b.txt"].new_lines is None
    assert found.changes["c.txt"].new_lines is None
    assert found.changes["c.txt"].line_count == 200
    commit(repo)
