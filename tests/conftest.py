"""Shared by all tests: nothing of the user's own settings or data is ever touched."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from hypothesis import settings

from segue.adapters.storage.database import SqlStore, open_database
from segue.testing.pipelines import lay_out_database
from tests.postgres import new_database, running_postgres
from tests.stacks import pytest_runtest_makereport  # noqa: F401  # a hook
from tests.workers import ForkedWorkers

# The same examples in every run, so that a commit is green or red and never by chance: a few in `./do test`,
# more in `./do test all`. To look for new ones: HYPOTHESIS_PROFILE=explore .venv/bin/pytest tests/handoff
settings.register_profile("few", max_examples=10, derandomize=True, deadline=None)
settings.register_profile("steady", max_examples=40, derandomize=True, deadline=None)
settings.register_profile("explore", max_examples=2000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))


def pytest_configure(config: pytest.Config) -> None:
    """Workers need not import everything, each for itself."""
    if getattr(config.option, "dist", "no") != "no":
        config.pluginmanager.register(ForkedWorkers())


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What needs PostgreSQL is left to `./do test all`."""
    for item in items:
        if {"postgres", "postgres_url"} & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.thorough)


@pytest.fixture(autouse=True)
def own_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home, configuration and data folder of this test alone."""
    home = tmp_path_factory.mktemp("home")
    for name in [name for name in os.environ if name.startswith("SEGUE_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "config"))
    monkeypatch.setenv("XDG_DATA_HOME", str(home / "data"))
    # what tests check with pytest needs none of our plugins, and they are half of its start
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    return home


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty project folder, which is the working directory."""
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def make_repository(folder: Path) -> Path:
    """A git repository with one commit."""
    identity = ["-c", "user.name=T", "-c", "user.email=t@example.org"]
    (folder / "old.py").write_text("OLD = 1\n")
    for arguments in (["init", "-q", "-b", "main"], ["add", "old.py"], ["commit", "-qm", "Begin"]):
        subprocess.run(["git", *identity, *arguments], cwd=folder, check=True)
    return folder


@pytest.fixture
def repository(project: Path) -> Path:
    """The project folder as a git repository with one commit: runs there have a worktree each."""
    return make_repository(project)


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """A PostgreSQL server of this test process alone."""
    with running_postgres() as address:
        yield address


@pytest.fixture
def postgres_url(postgres: str) -> Iterator[str]:
    """An empty PostgreSQL database of this test alone."""
    with new_database(postgres, f"test_{uuid4().hex}") as url:
        yield url


@pytest.fixture(scope="session")
def migrated_postgres(postgres: str) -> Iterator[str]:
    """The name of a database with all tables and nothing in them, to make copies of."""

    async def migrate(url: str) -> None:
        await (await open_database(url)).close()

    with new_database(postgres, "migrated") as url:
        asyncio.run(migrate(url))
        yield "migrated"


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.thorough)])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A database of this test alone, of either kind: empty, or with its tables if the test has it opened."""
    migrated = "database" in request.fixturenames
    if request.param == "sqlite":
        if migrated:
            lay_out_database(tmp_path / "laid out")
            (tmp_path / "laid out" / "segue.db").rename(tmp_path / "test.db")
        yield f"sqlite:///{tmp_path / 'test.db'}"
    elif migrated:
        postgres, like = map(request.getfixturevalue, ("postgres", "migrated_postgres"))
        with new_database(postgres, f"test_{uuid4().hex}", like) as url:
            yield url
    else:
        yield request.getfixturevalue("postgres_url")


@pytest.fixture
async def database(database_url: str) -> AsyncIterator[SqlStore]:
    """An open database of either kind, migrated and empty."""
    opened = await open_database(database_url)
    yield opened
    await opened.close()


@pytest.fixture
def no_agents(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """No agent program is on the PATH, only what tests need; gives the first folder of the PATH."""
    folder = tmp_path_factory.mktemp("bin")
    for name in ("sh", "cat", "env", "sleep", "git", "python3", "wc", "ps"):
        if found := shutil.which(name):
            (folder / name).symlink_to(found)
    monkeypatch.setenv("PATH", str(folder))
    return folder
