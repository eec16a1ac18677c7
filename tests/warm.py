"""Starts `segue` without waiting for its imports: forked off a process that has done them already.

A command that is started this way has its own process, pid, environment, folder and standard streams, as if
`python -m segue` had been executed. What it does not show is that a cold start works: tests that are about
starting execute Python themselves.
"""

from __future__ import annotations

import atexit
import importlib
import os
import resource
import select
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, NoReturn

from tests import forks

_PRELOADED = (
    "segue.__main__",
    "segue.bootstrap",
    "segue.adapters.backends.command",
    "segue.adapters.backends.opencode.backend",
    "segue.adapters.backends.scripted",
    "segue.adapters.checks",
    "segue.adapters.engine.local_engine",
    "segue.adapters.git.workspaces",
    "segue.adapters.storage.database",
    "segue.adapters.tokens",
    "segue.interfaces.api.app",
    "segue.interfaces.cli.pipelines",
    "segue.interfaces.cli.run",
    "segue.interfaces.cli.serve",
    "segue.interfaces.mcp.http",
    "uvicorn",
)
_END_SECONDS = 120.0


class WarmProcess:
    """A running `segue`, with the part of `subprocess.Popen` that tests use."""

    def __init__(
        self,
        arguments: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str],
        stdout: IO[Any],
        stderr: IO[Any],
        files: int | None = None,
    ) -> None:
        wanted = {"arguments": list(arguments), "cwd": str(cwd), "env": dict(env), "files": files}
        with open(os.devnull, "rb") as nothing:  # noqa: PTH123  # a handle is wanted
            streams = [nothing.fileno(), stdout.fileno(), stderr.fileno()]
            self._connection, self._answers = forks.ask_for(_find_server(), wanted, streams)
        self.pid = int(self._answers.readline())
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """The exit code, none while it runs."""
        with suppress(subprocess.TimeoutExpired):
            self.wait(timeout=0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """The exit code, once it has ended."""
        if self.returncode is None:
            # Through `select` alone: a time-out of the socket would break the file that reads from it.
            if not select.select([self._connection], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired("segue", timeout or 0)
            self.returncode = int(self._answers.readline())
            self._answers.close()
            self._connection.close()
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Send it a signal, unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        """A polite kill."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """kill -9."""
        self.send_signal(signal.SIGKILL)


def run_warm(
    *arguments: str, cwd: Path, env: Mapping[str, str], seconds: float = _END_SECONDS
) -> subprocess.CompletedProcess[str]:
    """One command of `segue`, and what it printed."""
    with tempfile.TemporaryFile("w+b") as out, tempfile.TemporaryFile("w+b") as err:
        process = WarmProcess(arguments, cwd=cwd, env=env, stdout=out, stderr=err)
        try:
            code = process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(timeout=_END_SECONDS)
            raise
        printed = [
            os.pread(file.fileno(), os.fstat(file.fileno()).st_size, 0).decode() for file in (out, err)
        ]
    return subprocess.CompletedProcess(["segue", *arguments], code, *printed)


_server: list[str] = []
"""The socket of the process that all of ours are forked off: given, or of one made when first asked for."""


def use_server(address: str) -> None:
    """Have all of ours forked off the process that listens there."""
    _server[:] = [address]


def start_server(address: str) -> None:
    """Fork off a process that listens there until standard input ends."""
    if os.fork() == 0:
        os.dup2(2, 1)  # nobody is to wait for the end of this one
        forks.serve(address, _become, prepare=preload)
        sys.exit(0)
    use_server(address)


def preload() -> None:
    """Import what most commands need."""
    for name in _PRELOADED:
        importlib.import_module(name)


def _find_server() -> str:
    if not _server:
        folder = tempfile.mkdtemp(prefix="segue-warm-")
        address = f"{folder}/socket"
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.warm", address],
            cwd=Path(__file__).parents[1],
            stdin=subprocess.PIPE,
        )
        use_server(address)
        atexit.register(_close, os.getpid(), process, folder)
    return _server[0]


def _close(owner: int, process: subprocess.Popen[bytes], folder: str) -> None:
    """End the server; it ends by itself if this process dies first."""
    if os.getpid() == owner:
        assert process.stdin is not None
        process.stdin.close()
        process.wait(timeout=_END_SECONDS)
        shutil.rmtree(folder)


def _become(asked: forks.Asked) -> NoReturn:
    """Be `segue` from here on."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if asked["files"]:
        resource.setrlimit(resource.RLIMIT_NOFILE, (asked["files"], asked["files"]))
    sys.argv = ["segue", *asked["arguments"]]
    from segue.__main__ import main

    main()
    sys.exit(0)


if __name__ == "__main__":
    forks.serve(sys.argv[1], _become, prepare=preload)
