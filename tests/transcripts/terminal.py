"""A terminal as a person has one: a program runs in it, its screen can be read, and it can be ended."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import psutil
import pyte

_COLUMNS, _LINES = 120, 40
_TAKE = (
    "import fcntl, os, sys, termios\n"
    "fcntl.ioctl(0, termios.TIOCSCTTY, 0)\n"
    "os.execv(sys.argv[1], sys.argv[1:])"
)
"""Makes the terminal the program's own, then becomes the program."""


class _Answering(pyte.Screen):
    """A screen that answers when a program asks it where the cursor is."""

    def __init__(self, master: int) -> None:
        super().__init__(_COLUMNS, _LINES)
        self._master = master

    def write_process_input(self, data: str) -> None:
        with contextlib.suppress(OSError):
            os.write(self._master, data.encode())


class Terminal:
    """`with Terminal([program], cwd=..., env=...) as terminal: ...`; leaving it ends all that runs there."""

    def __init__(self, command: Sequence[str], *, cwd: Path, env: Mapping[str, str]) -> None:
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", _LINES, _COLUMNS, 0, 0))
        self._screen = _Answering(self._master)
        self._stream = pyte.ByteStream(self._screen)
        self._lock = threading.Lock()
        self._process = subprocess.Popen(
            [sys.executable, "-c", _TAKE, *command],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            cwd=cwd,
            env=dict(env),
            start_new_session=True,
        )
        os.close(slave)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def screen(self) -> str:
        """What can be seen now."""
        with self._lock:
            return "\n".join(line.rstrip() for line in self._screen.display if line.strip())

    def wait_for(self, words: str, seconds: float) -> None:
        """Wait until these words can be seen."""
        deadline = time.monotonic() + seconds
        while words not in self.screen:
            assert time.monotonic() < deadline, f"{words!r} did not come; the screen shows:\n{self.screen}"
            time.sleep(0.05)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        running = (
            [psutil.Process(self._process.pid), *self._children()] if self._process.poll() is None else []
        )
        for process in running:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        self._process.wait(120)
        os.close(self._master)
        self._reader.join(120)

    def _children(self) -> list[psutil.Process]:
        return psutil.Process(self._process.pid).children(recursive=True)

    def _read(self) -> None:
        with contextlib.suppress(OSError):  # the program is gone, or the terminal is
            while data := os.read(self._master, 65536):
                with self._lock:
                    self._stream.feed(data)
