"""The private folders of Segue's git: a killed Segue leaves one, the next one removes it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from segue.adapters.git.private_folders import PrivateFolder, remove_if_left_over

USER = """
import os, signal
from segue.adapters.git.private_folders import PrivateFolder
folder = PrivateFolder()
(folder.path / "config").touch()
print(folder.path, flush=True)
signal.pause()
"""


def make_old(folder: Path) -> None:
    os.utime(folder, (0, 0))


def start_user(place: Path) -> tuple[subprocess.Popen[str], Path]:
    """A process that uses a folder, and the folder."""
    process = subprocess.Popen(
        [sys.executable, "-c", USER],
        env=os.environ | {"TMPDIR": str(place)},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    return process, Path(process.stdout.readline().strip())


def test_a_folder_is_removed_by_its_user() -> None:
    folder = PrivateFolder()
    (folder.path / "config").touch()
    folder.remove()
    assert not folder.path.exists()


def test_what_a_killed_process_left_is_removed_by_the_next_and_what_is_in_use_stays(tmp_path: Path) -> None:
    killed, left = start_user(tmp_path)
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    make_old(left)
    first, used = start_user(tmp_path)
    assert not left.exists()
    make_old(used)
    second, other = start_user(tmp_path)
    assert used.is_dir()
    for process in (first, second):
        process.kill()
        process.communicate()
    assert other.is_dir(), "new ones are left alone"


def test_a_link_in_its_place_is_not_followed(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "segue-git-x"
    target.mkdir()
    link.symlink_to(target)
    os.utime(link, (0, 0), follow_symlinks=False)
    with pytest.raises(NotADirectoryError):
        remove_if_left_over(link)
    assert target.is_dir()
