"""A Segue with scripted agents that can be talked to."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from segue.application.segue import Segue
from segue.testing import ScriptedBackend, build_test_segue
from tests.sessions.scripts import AGENTS, write_catalog


@pytest.fixture
def backend() -> ScriptedBackend:
    """The back end of all agents, to look into."""
    return ScriptedBackend()


@pytest.fixture
async def segue(tmp_path: Path, repository: Path, backend: ScriptedBackend) -> AsyncIterator[Segue]:
    """A running Segue in a git repository."""
    write_catalog(repository, AGENTS)
    async with build_test_segue(tmp_path, backend) as running:
        yield running
