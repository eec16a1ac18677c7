"""Over REST, a project that is not trusted is refused."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from segue.testing import trust_project
from tests.conftest import make_repository


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/pipelines", {"template": "quick_fix", "prompt": "x"}),
        ("/pipelines", {"custom_steps": [{"agent": "developer"}], "prompt": "x"}),
        ("/sessions", {"agent": "developer"}),
    ],
)
async def test_a_folder_of_an_untrusted_project_is_refused(
    client: httpx.AsyncClient, tmp_path: Path, path: str, body: dict[str, object]
) -> None:
    clone = tmp_path / "clone"
    (clone / ".segue").mkdir(parents=True)
    make_repository(clone)
    (clone / ".segue" / "catalog.yaml").write_text("agents: {developer: {backend: scripted}}\n")
    wanted = body | {"working_dir": str(clone)}
    refused = await client.post(path, json=wanted)
    assert refused.status_code == 403
    assert f"`segue trust {clone}`" in refused.json()["detail"]
    assert (await client.get(path)).json()["items"] == []
    trust_project(clone, data_dir=tmp_path / "data")
    assert (await client.post(path, json=wanted)).status_code != 403


async def test_without_a_token_health_does_not_read_the_catalog(
    client: httpx.AsyncClient, repository: Path
) -> None:
    (repository / ".segue").mkdir()
    (repository / ".segue" / "catalog.yaml").write_text("agents: {}\n")
    assert (await client.get("/health")).json()["status"] == "degraded"
    assert (await client.get("/health", auth=None)).json() == {"status": "ok"}


async def test_health_tells_of_a_change_that_is_not_trusted(
    client: httpx.AsyncClient, repository: Path
) -> None:
    file = repository / ".segue" / "catalog.yaml"
    file.parent.mkdir()
    file.write_text("agents: {}\n")
    trust_project(repository, data_dir=repository.parent / "data")
    assert (await client.get("/health")).json()["catalog_problem"] is None
    file.write_text("agents: {judge: {}}\n")
    problem = (await client.get("/health")).json()["catalog_problem"]
    assert "has changed since it was trusted (.segue/catalog.yaml)" in problem
    assert (await client.post("/pipelines", json={"template": "quick_fix", "prompt": "x"})).status_code == 201
