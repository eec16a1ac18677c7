"""Every rig by its name, and the project that its agents work in."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.agents import rig_acp, rig_claude_code, rig_codex, rig_opencode
from tests.agents.rig import Rig
from tests.trusting import write_project

Maker = Callable[[Path, str], Rig]

MAKERS: Mapping[str, Maker] = {
    "opencode": rig_opencode.make,
    "acp-opencode": rig_acp.make_opencode,
    "claude_code": rig_claude_code.make,
    "codex": rig_codex.make,
    "acp-goose": rig_acp.make_goose,
}


EACH_BACKEND = [name for name in MAKERS if name != "acp-opencode"]
"""One rig for each back end: that of OpenCode over ACP, which is slow to start, is Goose's, too."""


def every_rig() -> list[Any]:
    """All rigs as parameters of a test, of which `./do test` takes the first."""
    first, *others = MAKERS
    return [first, *(pytest.param(name, marks=pytest.mark.thorough) for name in others)]


def git(folder: Path, *arguments: str) -> str:
    """Run git with an identity of its own."""
    identity = ["-c", "user.name=T", "-c", "user.email=t@example.org"]
    done = subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)
    return done.stdout.decode()


def make_project(folder: Path, catalog: Mapping[str, Any]) -> Path:
    """A git repository with a bug in it, and a trusted catalog that git does not look at."""
    write_project(folder, json.dumps(catalog))
    (folder / ".gitignore").write_text(".segue/\n")
    (folder / "calc.py").write_text("def add(a, b):\n    return a - b\n")
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "Begin")
    return folder


def profile_of(rig: Rig, **changes: Any) -> dict[str, Any]:
    """The rig as an entry of a catalog."""
    return rig.profile(**changes).model_dump(mode="json", exclude_defaults=True)
