"""A process that forks others off itself, so that they need not import what it has imported."""

from __future__ import annotations

import gc
import json
import os
import select
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, NoReturn

Asked = Mapping[str, Any]
_START_SECONDS = 120.0
_LONGEST_REQUEST = 1 << 20


def ask_for(address: str, asked: Asked, streams: Sequence[int]) -> tuple[socket.socket, IO[str]]:
    """Have a process forked off, with these as its standard streams.

    Its answers are lines: the process id, and, when it has ended, the exit code.
    """
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    _connect(connection, address)
    message = json.dumps(asked).encode()
    socket.send_fds(connection, [len(message).to_bytes(4, "big")], streams)
    connection.sendall(message)
    return connection, connection.makefile("r", encoding="ascii")


def _connect(connection: socket.socket, address: str) -> None:
    """Wait for the process to listen, if it has just been started."""
    deadline = time.monotonic() + _START_SECONDS
    while True:
        try:
            return connection.connect(address)
        except FileNotFoundError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)


def serve(
    address: str,
    become: Callable[[Asked], NoReturn],
    *,
    prepare: Callable[[], None],
    bound: bool = False,
) -> None:
    """Prepare, then fork off what is asked for, until standard input ends.

    A bound process is killed when the one that asked for it goes away.
    """
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(f"{address}.new")
    listener.listen(64)
    Path(f"{address}.new").rename(address)
    prepare()
    gc.collect()
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    at_interrupt = signal.signal(signal.SIGINT, signal.SIG_IGN)
    while True:
        found, _, _ = select.select([listener.fileno(), 0], [], [])
        if listener.fileno() not in found:
            break
        connection, _ = listener.accept()
        if os.fork() == 0:
            listener.close()
            signal.signal(signal.SIGINT, at_interrupt)
            _watch(connection, become, bound=bound)
        connection.close()
    listener.close()
    Path(address).unlink()


def _watch(connection: socket.socket, become: Callable[[Asked], NoReturn], *, bound: bool) -> NoReturn:
    """Fork off the process, and tell its id and how it ended."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    size, files, _, _ = socket.recv_fds(connection, 4, 3)
    message = b""
    while len(message) < int.from_bytes(size, "big"):
        message += connection.recv(_LONGEST_REQUEST)
    pid = os.fork()
    if pid == 0:
        connection.close()
        asked = json.loads(message)
        _take_over(asked, files)
        become(asked)
    for number in files:
        os.close(number)
    with suppress(OSError):
        connection.sendall(f"{pid}\n".encode())
        if bound:
            threading.Thread(target=_end_with, args=(connection, pid), daemon=True).start()
        _, status = os.waitpid(pid, 0)
        connection.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())
    os._exit(0)


def _end_with(connection: socket.socket, pid: int) -> None:
    with suppress(OSError):
        connection.recv(1)
        os.kill(pid, signal.SIGKILL)


def _take_over(asked: Asked, files: Sequence[int]) -> None:
    """Streams, environment and folder as if the process had been started with them."""
    for target, number in enumerate(files):
        os.dup2(number, target)
        os.close(number)
    os.environ.clear()
    os.environ.update(asked["env"])
    time.tzset()
    os.chdir(asked["cwd"])
    sys.path[0] = asked["cwd"]
    for name, number, mode in (("stdin", 0, "r"), ("stdout", 1, "w"), ("stderr", 2, "w")):
        stream = open(number, mode, -1 if number < 2 else 1, encoding="utf-8", closefd=False)  # noqa: SIM115
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
