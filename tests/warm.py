"""Starts `segue` without waiting for its imports: forked off a process that has done them already.

A command that is started this way has its own process, pid, environment, folder and standard streams, as if
`python -m segue` had been executed. What it does not show is that a cold start works: tests that are about
starting execute Python themselves.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import resource
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, NoReturn

_PRELOADED = (
    "segue.__main__",
    "segue.bootstrap",
    "segue.adapters.backends.command",
    "segue.adapters.backends.opencode.backend",
    "segue.adapters.backends.scripted",
    "segue.adapters.checks",
    "segue.adapters.engine.dbos_engine",
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
_LONGEST_REQUEST = 1 << 20


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
        self._connection = _connect()
        wanted = {"arguments": list(arguments), "cwd": str(cwd), "env": dict(env), "files": files}
        asked = json.dumps(wanted).encode()
        with open(os.devnull, "rb") as nothing:  # noqa: PTH123  # a handle is wanted
            streams = [nothing.fileno(), stdout.fileno(), stderr.fileno()]
            socket.send_fds(self._connection, [len(asked).to_bytes(4, "big")], streams)
            self._connection.sendall(asked)
        self._answers = self._connection.makefile("r", encoding="ascii")
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


_server: dict[str, Any] = {}
"""The process that all of ours are forked off, and its socket; made when first asked for."""


def _connect() -> socket.socket:
    if not _server:
        folder = tempfile.mkdtemp(prefix="segue-warm-")
        address = f"{folder}/socket"
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.warm", address],
            cwd=Path(__file__).parents[1],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        _server.update(address=address, process=process)
        atexit.register(_close, os.getpid())
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.connect(_server["address"])
    return connection


def _close(owner: int) -> None:
    """End the server; it ends by itself if this process dies first."""
    if os.getpid() == owner:
        _server["process"].stdin.close()
        _server["process"].wait(timeout=_END_SECONDS)


def _serve(address: str) -> None:
    """Fork off what is asked for, until standard input ends: until the test process has gone."""
    for name in _PRELOADED:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(address)
    listener.listen(64)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    while True:
        ready, _, _ = select.select([listener.fileno(), 0], [], [])
        if listener.fileno() not in ready:
            break
        connection, _ = listener.accept()
        if os.fork() == 0:
            listener.close()
            _watch(connection)
        connection.close()
    Path(address).unlink()
    Path(address).parent.rmdir()


def _watch(connection: socket.socket) -> NoReturn:
    """Fork off the command, and tell its pid and how it ended."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    size, files, _, _ = socket.recv_fds(connection, 4, 3)
    asked = b""
    while len(asked) < int.from_bytes(size, "big"):
        asked += connection.recv(_LONGEST_REQUEST)
    pid = os.fork()
    if pid == 0:
        connection.close()
        _become(json.loads(asked), files)
    for number in files:
        os.close(number)
    with suppress(OSError):
        connection.sendall(f"{pid}\n".encode())
        _, status = os.waitpid(pid, 0)
        connection.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())
    os._exit(0)


def _become(asked: Mapping[str, Any], files: Sequence[int]) -> NoReturn:
    """Be `segue` from here on."""
    for target, number in enumerate(files):
        os.dup2(number, target)
        os.close(number)
    os.environ.clear()
    os.environ.update(asked["env"])
    time.tzset()
    os.chdir(asked["cwd"])
    if asked["files"]:
        resource.setrlimit(resource.RLIMIT_NOFILE, (asked["files"], asked["files"]))
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.argv = ["segue", *asked["arguments"]]
    sys.path[0] = asked["cwd"]
    for name, number, mode in (("stdin", 0, "r"), ("stdout", 1, "w"), ("stderr", 2, "w")):
        stream = open(number, mode, -1 if number < 2 else 1, encoding="utf-8", closefd=False)  # noqa: SIM115
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    from segue.__main__ import main

    main()
    sys.exit(0)


if __name__ == "__main__":
    _serve(sys.argv[1])
