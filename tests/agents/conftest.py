"""Shared by the tests of agents."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """An empty repository."""
    folder = tmp_path / "workspace"
    folder.mkdir()
    subprocess.run(["git", "init", "-q", "-b", "main"], cwd=folder, check=True)
    return folder
