"""Checks run in real processes, within limits."""

from __future__ import annotations

import asyncio
import os
import time
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from segue.adapters.checks import run_check, run_check_alongside
from segue.domain.errors import InvalidRequest


def test_a_check_tells_its_exit_code_and_its_output(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("here\n")
    run = run_check("cat a.txt; echo oops >&2; exit 3", tmp_path)
    assert (run.exit_code, run.output, run.is_cut, run.fault, run.by) == (
        3,
        "here\noops\n",
        False,
        None,
        "segue",
    )


def test_a_check_that_takes_too_long_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    run = run_check("sleep 61.5 & sleep 62.5", tmp_path, seconds=0.5)
    assert run.exit_code is None
    assert run.fault == "took longer than 0.5 s and was ended"
    started = (each for each in psutil.process_iter() if is_at(each, tmp_path))
    assert all(is_gone(each.pid) for each in started)


async def test_a_check_that_nobody_waits_for_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    waiting = asyncio.create_task(
        run_check_alongside("sleep 64.5 & echo $! > part; mv part pid; sleep 65.5", tmp_path)
    )
    async with asyncio.timeout(120):
        while not (tmp_path / "pid").exists():  # noqa: ASYNC110  # a file has no event
            await asyncio.sleep(0.02)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
    assert is_gone(int((tmp_path / "pid").read_text()))


def test_what_a_check_leaves_running_is_ended(tmp_path: Path) -> None:
    run = run_check("sleep 63.5 & echo $! > pid", tmp_path)
    assert run.exit_code == 0
    assert is_gone(int((tmp_path / "pid").read_text()))


def is_at(process: psutil.Process, folder: Path) -> bool:
    with suppress(psutil.Error):
        return process.cwd() == str(folder)
    return False


def is_gone(pid: int) -> bool:
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        try:
            if psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
                return True
        except psutil.NoSuchProcess:
            return True
        time.sleep(0.05)
    return False


def test_of_a_flood_the_end_is_kept(tmp_path: Path) -> None:
    run = run_check("yes words | head -c 30000000; echo; echo the end", tmp_path, most_output=1000)
    assert run.is_cut
    assert len(run.output) == 1000
    assert run.output.endswith("the end\n")


def test_a_check_sees_no_secrets_of_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("API_KEY", "secret")
    monkeypatch.setenv("HANDED_ON", "yes")
    run = run_check("env", tmp_path, pass_env=["HANDED_ON"])
    assert "API_KEY" not in run.output
    assert "HANDED_ON=yes" in run.output
    assert "TERM=dumb" in run.output
    assert f"PATH={os.environ['PATH']}" in run.output


def test_a_check_lets_no_package_manager_ask_for_a_newer_version_of_itself(tmp_path: Path) -> None:
    run = run_check("env", tmp_path)
    assert "NO_UPDATE_NOTIFIER=1" in run.output
    assert "npm_config_update_notifier=false" in run.output


def test_a_program_that_is_not_there_says_nothing_about_the_work(tmp_path: Path) -> None:
    run = run_check("no-such-program-at-all", tmp_path)
    assert run.exit_code == 127
    assert run.fault == "could not be run: the shell did not find its program"


def test_a_check_that_a_signal_ends(tmp_path: Path) -> None:
    run = run_check("kill -9 $$", tmp_path)
    assert (run.exit_code, run.fault) == (None, "was killed by signal 9")


def test_a_folder_that_is_gone_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(InvalidRequest, match="there is no folder"):
        run_check("true", tmp_path / "gone")
