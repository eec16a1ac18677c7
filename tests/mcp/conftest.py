"""A running Segue whose agents have tools."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from segue.application.segue import Segue
from segue.testing import build_test_segue
from tests.mcp.rig import WaitingAgents


@pytest.fixture
def agents() -> WaitingAgents:
    """Agents that wait."""
    return WaitingAgents()


@pytest.fixture
async def segue(tmp_path: Path, repository: Path, agents: WaitingAgents) -> AsyncIterator[Segue]:
    """A running Segue."""
    async with build_test_segue(tmp_path, agents) as running:
        yield running
