"""Shared by the tests of agents."""

from __future__ import annotations

import subprocess
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Protocol

import pytest

from segue.adapters.backends.acp.backend import AcpBackend


class StartAcp(Protocol):
    """Starts the `acp` back end over the sessions of this test, as one Segue does after another."""

    def __call__(self, *, timeout: float = ...) -> AcpBackend: ...


@pytest.fixture
async def start_acp(tmp_path: Path) -> AsyncIterator[StartAcp]:
    """What is left running is ended with the test, also where it fails."""
    made: list[AcpBackend] = []

    def start(*, timeout: float = 5) -> AcpBackend:
        made.append(AcpBackend(sessions_dir=tmp_path / "sessions", timeout=timeout))
        return made[-1]

    yield start
    for backend in made:
        await backend.shutdown()


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """An empty repository."""
    folder = tmp_path / "workspace"
    folder.mkdir()
    subprocess.run(["git", "init", "-q", "-b", "main"], cwd=folder, check=True)
    return folder
