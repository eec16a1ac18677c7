"""Whether another worker lives: its process where it can be seen, else its heartbeat."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import psutil
import pytest

from segue.adapters import processes
from segue.adapters.processes import LocalProcesses
from segue.domain.workers import Worker
from tests.engine.test_steps import until

NOW = datetime(2026, 11, 19, 7, 30, tzinfo=UTC)
LONG_AGO = NOW - timedelta(seconds=11)


@pytest.fixture
def process() -> Iterator[subprocess.Popen[bytes]]:
    found = subprocess.Popen(["sleep", "600"])
    yield found
    found.kill()
    found.wait()


def worker_of(pid: int, heartbeat: datetime) -> Worker:
    """The worker that a process would be."""
    me = LocalProcesses().me(heartbeat)
    return replace(me, pid=pid, process_started_at=processes._started(pid))


async def test_a_process_that_is_stopped_counts_as_gone_once_it_was_silent(
    process: subprocess.Popen[bytes],
) -> None:
    is_gone = LocalProcesses().is_gone
    assert not is_gone(worker_of(process.pid, LONG_AGO), NOW), "it runs, whatever it says"
    process.send_signal(signal.SIGSTOP)
    await until(lambda: psutil.Process(process.pid).status() == psutil.STATUS_STOPPED)
    assert not is_gone(worker_of(process.pid, NOW), NOW)
    assert is_gone(worker_of(process.pid, LONG_AGO), NOW)
    process.send_signal(signal.SIGCONT)
    await until(lambda: psutil.Process(process.pid).status() != psutil.STATUS_STOPPED)
    assert not is_gone(worker_of(process.pid, LONG_AGO), NOW)


async def test_a_process_that_has_ended_is_gone_at_once(process: subprocess.Popen[bytes]) -> None:
    worker = worker_of(process.pid, NOW)
    process.kill()
    await until(lambda: psutil.Process(process.pid).status() == psutil.STATUS_ZOMBIE)
    assert LocalProcesses().is_gone(worker, NOW)
    assert LocalProcesses().is_gone(replace(worker, process_started_at=1.0), NOW)


def test_elsewhere_the_heartbeat_decides() -> None:
    elsewhere = replace(LocalProcesses().me(NOW), host="another/1/2")
    assert not LocalProcesses().is_gone(elsewhere, NOW + timedelta(seconds=9))
    assert LocalProcesses().is_gone(elsewhere, NOW + timedelta(seconds=11))
