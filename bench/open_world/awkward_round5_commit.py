"""A real commit of a public repository, read from a clone when it is needed; its text is not kept here."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from open_world.awkward_held_out import Repository, Said
from open_world.worlds import Run

_FILES = ("100644", "100755")


@dataclass(frozen=True, kw_only=True)
class RealCommit:
    """Where it is, what an agent ran while making it (made up), and what is said of it."""

    repository: str
    """Its owner and its name on GitHub."""
    commit: str
    said: Sequence[Said]
    runs: Sequence[Run] = ()


def repository_of(folder: Path, real: RealCommit) -> Repository:
    """Its files before and after, what was run, and what is said of it."""
    clone = clone_of(folder, real.repository)
    before, after = _tree(clone, f"{real.commit}^"), _tree(clone, real.commit)
    touched = _git(clone, "diff-tree", "-r", "--name-only", "-z", f"{real.commit}^", real.commit)
    for path in touched.decode().split("\0")[:-1]:
        if path not in before and path not in after:
            sys.exit(f"{real.repository} {real.commit}: {path} changed and is no text; choose another commit")
    return before, after, list(real.runs), list(real.said)


def clone_of(folder: Path, repository: str) -> Path:
    """The git directory of its clone in this folder, bare or not; ends the program if there is none."""
    place = folder / repository.replace("/", "+")
    for each in (place, place / ".git", place / "repo"):
        if (each / "objects").is_dir():
            return each
    sys.exit(
        f"no clone of {repository} in {folder}; run: git clone --bare https://github.com/{repository} {place}"
    )


def _tree(clone: Path, revision: str) -> dict[str, str]:
    """Path -> text of all its text files; no links, submodules, or names that git would quote."""
    rows = [each.split("\t", 1) for each in _git(clone, "ls-tree", "-rz", revision).decode().split("\0")[:-1]]
    named = {path: head.split() for head, path in rows}
    wanted = {
        path: each[2]
        for path, each in named.items()
        if each[0] in _FILES and path.isascii() and path.isprintable() and '"' not in path
    }
    found: dict[str, str] = {}
    texts = _blobs(clone, list(wanted.values()))
    for path, data in zip(wanted, texts, strict=True):
        try:
            found[path] = data.decode()
        except UnicodeDecodeError:
            continue
    return found


def _blobs(clone: Path, ids: Sequence[str]) -> list[bytes]:
    said = _git(clone, "cat-file", "--batch", given="".join(f"{each}\n" for each in ids).encode())
    found, at = [], 0
    for _ in ids:
        end = said.index(b"\n", at)
        size = int(said[at:end].split()[2])
        found.append(said[end + 1 : end + 1 + size])
        at = end + size + 2
    return found


def _git(clone: Path, *asked: str, given: bytes = b"") -> bytes:
    done = subprocess.run(
        ["git", f"--git-dir={clone}", *asked], input=given, capture_output=True, check=False
    )
    if done.returncode:
        sys.exit(f"{clone}: git {' '.join(asked)}: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout
