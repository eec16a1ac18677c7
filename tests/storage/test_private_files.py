"""What other users of the machine can do with the data folder and the databases: nothing."""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from segue.adapters.storage.database import open_database
from segue.adapters.storage.wal import use_wal
from segue.bootstrap import make_data_dir, open_tokens, open_trust
from segue.domain.errors import StorageError
from segue.settings import Settings, load_settings


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def lax_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "data"
    made.mkdir()
    return made


async def test_databases_are_for_their_owner_alone(lax_umask: None, folder: Path) -> None:
    folder.chmod(0o755)
    database = await open_database(f"sqlite:///{folder / 'segue.db'}")
    try:
        await database.write(lambda rows: rows.drop_codes(name="mara"))
        found = {path.name: mode_of(path) for path in folder.iterdir()}
    finally:
        await database.close()
    assert found == dict.fromkeys(("segue.db", "segue.db-wal", "segue.db-shm"), 0o600)


def test_databases_that_are_there_are_closed_to_others(lax_umask: None, folder: Path) -> None:
    path = folder / "segue.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("PRAGMA journal_mode=WAL")
        other.execute("CREATE TABLE t (a)")
        assert {mode_of(each) for each in folder.iterdir()} == {0o644}
        use_wal(str(path))
        assert [mode_of(each) for each in folder.iterdir()] == [0o600] * 3


def test_the_folders_of_agents_are_for_their_owner_alone(lax_umask: None, folder: Path) -> None:
    folder.chmod(0o755)
    (folder / "sessions").mkdir(mode=0o755)
    make_data_dir(Settings(data_dir=folder))
    assert mode_of(folder) == 0o755, "it is the user's own folder, and others only read it"
    assert {path.name: mode_of(path) for path in folder.iterdir()} == {
        "sessions": 0o700,
        "worktrees": 0o700,
        "personas": 0o700,
    }


def test_the_default_folder_is_closed_to_others() -> None:
    settings = load_settings(with_project=False)
    settings.data_dir.mkdir(parents=True)
    settings.data_dir.chmod(0o755)
    make_data_dir(settings)
    assert mode_of(settings.data_dir) == 0o700


@pytest.mark.parametrize("mode", [0o775, 0o757, 0o1777])
async def test_a_folder_that_others_can_write_is_refused(folder: Path, mode: int) -> None:
    folder.chmod(mode)
    settings = Settings(data_dir=folder)
    with pytest.raises(StorageError, match=rf"{folder} \(mode {mode:04o}\).*chmod go-w.*SEGUE_DATA_DIR"):
        async with open_tokens(settings):
            pass
    with pytest.raises(StorageError):
        open_trust(settings).projects()
    assert not list(folder.iterdir())
    folder.chmod(0o755)
    async with open_tokens(settings):
        pass


async def test_a_folder_of_another_user_is_refused(folder: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give a folder to another user")
    os.chown(folder, 65534, -1)
    settings = Settings(data_dir=folder)
    with pytest.raises(StorageError, match=r"another user \(uid 65534\).*chown.*SEGUE_DATA_DIR"):
        async with open_tokens(settings):
            pass
    with pytest.raises(StorageError):
        open_trust(settings).projects()
    assert not list(folder.iterdir())
