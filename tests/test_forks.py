"""A process that is forked off another is like one that was started, and ends with who asked for it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests import forks

SERVER = """
import os, sys, time
from tests import forks

def become(asked):
    print(os.getcwd(), os.environ["WORD"], sys.stdin.read(), flush=True)
    time.sleep(asked["seconds"])
    sys.exit(7)

forks.serve(sys.argv[1], become, prepare=lambda: None, bound=True)
"""


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    place = str(tmp_path / "socket")
    root = str(Path(__file__).parents[1])
    server = subprocess.Popen([sys.executable, "-c", SERVER, place], stdin=subprocess.PIPE, cwd=root)
    yield place
    assert server.stdin is not None
    server.stdin.close()
    assert server.wait(timeout=120) == 0
    assert not Path(place).exists()


def test_it_has_its_own_folder_environment_and_streams_and_its_exit_code_is_told(
    address: str, tmp_path: Path
) -> None:
    (tmp_path / "in").write_text("from a file")
    asked = {"cwd": str(tmp_path), "env": {"WORD": "heard"}, "seconds": 0}
    with (tmp_path / "in").open() as given, (tmp_path / "out").open("w") as out:
        connection, answers = forks.ask_for(address, asked, [given.fileno(), out.fileno(), 2])
    with connection, answers:
        assert int(answers.readline()) != os.getpid()
        assert answers.readline() == "7\n"
    assert (tmp_path / "out").read_text() == f"{tmp_path} heard from a file\n"


def test_it_is_killed_when_who_asked_for_it_goes_away(address: str, tmp_path: Path) -> None:
    asked = {"cwd": str(tmp_path), "env": {"WORD": "heard"}, "seconds": 600}
    with open(os.devnull, "r+b") as nothing:  # noqa: PTH123  # a handle is wanted
        connection, answers = forks.ask_for(address, asked, [nothing.fileno()] * 2 + [2])
    process = psutil.Process(int(answers.readline()))
    answers.close()
    connection.close()
    psutil.wait_procs([process], timeout=120)
    assert not process.is_running()
