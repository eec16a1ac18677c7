"""Signals that ask a command to end, and those that were ignored when it started."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import pytest

from tests.interrupts import deaf_to_ctrl_c, hearing_ctrl_c

CODE = """
import asyncio, os, signal
from segue.interfaces.cli.live import on_interrupt

async def raised(number):
    told, later = asyncio.Event(), asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, later.set)
    async with on_interrupt(told.set):
        os.kill(os.getpid(), number)
        os.kill(os.getpid(), signal.SIGUSR1)
        await later.wait()
    return told.is_set()

signal.signal(signal.SIGHUP, signal.SIG_IGN)
print(*(asyncio.run(raised(number)) for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM)))
"""


@pytest.mark.parametrize(
    ("started", "heard"),
    [(hearing_ctrl_c, ["True", "False", "True"]), (deaf_to_ctrl_c, ["False", "False", "True"])],
)
def test_what_a_script_or_nohup_ignores_stays_ignored(
    started: Callable[[list[str]], list[str]], heard: list[str]
) -> None:
    done = subprocess.run(
        started([sys.executable, "-c", CODE]), capture_output=True, text=True, timeout=120, check=False
    )
    assert done.stdout.split() == heard, done.stderr
