"""Real repositories for tests."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

AUTHOR = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgSign=false")


def git(folder: Path, *arguments: str | bytes, stdin: bytes | None = None) -> str:
    """Run git as a user would."""
    done = subprocess.run(
        ["git", *AUTHOR, *arguments], cwd=folder, input=stdin, capture_output=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    return os.fsdecode(done.stdout).strip()


def new_repository(folder: Path, files: dict[str, str | bytes] | None = None) -> Path:
    """A repository with one commit that has these files; without any, one without a commit."""
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "-q", "-b", "main")
    if files is not None:
        write(folder, files)
        commit(folder)
    return folder


def write(folder: Path, files: dict[str, str | bytes]) -> None:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)


def commit(folder: Path, message: str = "a step") -> str:
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "--allow-empty", "-m", message)
    return git(folder, "rev-parse", "HEAD")


def lines(count: int, word: str = "line") -> str:
    return "".join(f"{word} {number}\n" for number in range(1, count + 1))
