"""The API on a running Segue, without a socket."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from segue.application.segue import Segue
from segue.testing import ScriptedBackend, build_test_segue, say_handoff
from tests.api.clients import client_of


@pytest.fixture
def backend() -> ScriptedBackend:
    """A developer that hands off well, a reviewer that only talks, and one that never ends."""
    return ScriptedBackend(
        {
            "developer": [say_handoff("Fixed it.", decisions="- Small change", next="Review it.")],
            "senior_reviewer": [{"say": "Looks fine to me."}],
            "qa": [{"delay": 600}],
        }
    )


@pytest.fixture
async def segue(tmp_path: Path, repository: Path, backend: ScriptedBackend) -> AsyncIterator[Segue]:
    """A running Segue."""
    async with build_test_segue(tmp_path, backend) as running:
        yield running


@pytest.fixture
async def client(segue: Segue) -> AsyncIterator[httpx.AsyncClient]:
    """A client of its API."""
    async with client_of(segue) as found:
        yield found
