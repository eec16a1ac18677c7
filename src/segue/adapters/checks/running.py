"""Runs the check commands of a step, with limits on time and output."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import threading
import time
from collections.abc import Collection, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from segue.domain.environment import basic_environment
from segue.domain.errors import InvalidRequest
from segue.domain.evidence.model import CommandRun, RunBy

SECONDS = 600.0
"""How long a check may take."""
MOST_OUTPUT = 200_000
"""So many of the last bytes that a check prints are kept."""
_CHUNK = 1 << 16
_GRACE = 2.0
_LOOK = 0.1
_ENVIRONMENT = {"TERM": "dumb", "NO_UPDATE_NOTIFIER": "1", "npm_config_update_notifier": "false"}
"""No colours, and no package manager that asks its registry for a newer version of itself."""


def run_check(  # noqa: PLR0913 - each is a limit or a part of the environment, and has a default
    command: str,
    folder: Path,
    *,
    seconds: float = SECONDS,
    pass_env: Collection[str] = (),
    environment: Mapping[str, str] | None = None,
    most_output: int = MOST_OUTPUT,
    given_up: threading.Event | None = None,
) -> CommandRun:
    """Run a command with the shell in a folder. However it ends, nothing of its process group is left.

    It is ended when it is given up, too. `environment` is added to the variables that it gets.
    """
    if not folder.is_dir():
        raise InvalidRequest(f"cannot run the check `{command}`: there is no folder {folder}")
    began = datetime.now(UTC)
    variables = basic_environment(os.environ, pass_env=pass_env) | _ENVIRONMENT
    process = subprocess.Popen(
        ["/bin/sh", "-c", command],
        cwd=folder,
        env=variables | dict(environment or {}),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    assert process.stdout is not None
    tail = _Tail(most_output)
    reader = threading.Thread(target=tail.read, args=[process.stdout], daemon=True)
    reader.start()
    fault = None
    try:
        if not _wait(process, seconds, given_up or threading.Event()):
            fault = f"took longer than {seconds:g} s and was ended"
    finally:
        _kill_group(process.pid)
        process.wait()
        reader.join(_GRACE)  # a process that left the group may hold the pipe for ever
    code = None if fault else process.returncode
    if code is not None and code < 0:
        code, fault = None, f"was killed by signal {-process.returncode}"
    elif code in (126, 127):
        fault = "could not be run: the shell did not find its program"
    return CommandRun(
        command=command,
        exit_code=code,
        output=tail.text(),
        is_cut=tail.is_cut,
        by=RunBy.SEGUE,
        at=began,
        fault=fault,
    )


async def run_check_alongside(command: str, folder: Path, *, seconds: float = SECONDS) -> CommandRun:
    """The same beside other work; to stop waiting for it ends it."""
    given_up = threading.Event()
    running = asyncio.create_task(
        asyncio.to_thread(run_check, command, folder, seconds=seconds, given_up=given_up)
    )
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        given_up.set()
        await asyncio.wait({running})
        raise


def _wait(process: subprocess.Popen[bytes], seconds: float, given_up: threading.Event) -> bool:
    """True if it has ended in time."""
    deadline = time.monotonic() + seconds
    while not given_up.is_set() and (left := deadline - time.monotonic()) > 0:
        with suppress(subprocess.TimeoutExpired):
            process.wait(min(left, _LOOK))
            return True
    return False


class _Tail:
    """The last bytes of a stream."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept = bytearray()
        self._lock = threading.Lock()
        self.is_cut = False

    def read(self, stream: IO[bytes]) -> None:
        with stream:
            while chunk := os.read(stream.fileno(), _CHUNK):
                with self._lock:
                    self._kept += chunk
                    if len(self._kept) > self._most:
                        del self._kept[: len(self._kept) - self._most]
                        self.is_cut = True

    def text(self) -> str:
        with self._lock:
            return bytes(self._kept).decode("utf-8", "replace").replace("\0", "\ufffd")


def _kill_group(group: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)
