"""The API on a running Segue, without a socket."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from segue.application.app import Segue
from segue.interfaces.api.app import ApiOptions, create_app
from segue.testing import ScriptedBackend, build_test_segue, say_handoff


@pytest.fixture
def backend() -> ScriptedBackend:
    """A developer that hands off well, a reviewer that only talks, and one that never ends."""
    return ScriptedBackend(
        {
            "developer": [say_handoff("Mended it.", decisions="- Small change", next="Review it.")],
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
    app = create_app(segue, ApiOptions(version="0.0.0"))
    transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as found:
        yield found
