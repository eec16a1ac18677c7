"""The command line, in this process."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from segue.__main__ import LazyParts
from segue.interfaces.cli.app import run_cli
from tests.cli.documents import REPLY


@dataclass(frozen=True, kw_only=True, slots=True)
class Ran:
    """How a command ended."""

    code: int
    out: str
    err: str


@pytest.fixture
def segue(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Ran]:
    """Runs one command, with bytes as its standard input; gives its exit code and what it printed."""

    def run(*arguments: str, stdin: bytes = b"") -> Ran:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        code = run_cli(LazyParts(), list(arguments))
        printed = capsys.readouterr()
        return Ran(code=code, out=printed.out, err=printed.err)

    return run


@pytest.fixture
def folder(project: Path) -> Path:
    """Two replies, one of them deep, and things that are none."""
    (project / "coder.md").write_text(REPLY)
    (project / "deep" / "er").mkdir(parents=True)
    (project / "deep" / "er" / "planner.markdown").write_text(REPLY.replace("JWT", "cookies"))
    (project / "deep" / "picture.png").write_bytes(b"\x89PNG\0")
    (project / "node_modules").mkdir()
    (project / "node_modules" / "readme.md").write_text(REPLY)
    return project
