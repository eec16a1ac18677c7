"""A real terminal around `segue chat`: a pseudo-terminal whose screen can be read."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pyte

_PATIENCE = 120.0


class Terminal:
    """The program, what it shows, and its keys."""

    def __init__(self, pid: int, master: int, columns: int, rows: int) -> None:
        self.pid, self._master = pid, master
        self._screen = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self._screen)
        self.exit_code: int | None = None
        self._is_closed = False

    @property
    def screen(self) -> str:
        """What can be read now."""
        return "\n".join(line.rstrip() for line in self._screen.display)

    @property
    def title(self) -> str:
        """The title of the window."""
        return str(self._screen.title)

    def type(self, text: str) -> None:
        """Type something; `\\r` is Enter."""
        os.write(self._master, text.encode())

    def resize(self, columns: int, rows: int) -> None:
        """Make the window larger or smaller."""
        self._screen.resize(rows, columns)
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def sees(self, *texts: str) -> str:
        """Wait until all of these stand on the screen; gives the screen."""
        deadline = time.monotonic() + _PATIENCE
        while not all(text in self.screen for text in texts):
            assert time.monotonic() < deadline, f"{texts} did not come up on\n{self.screen}"
            assert self._read(), f"it ended before {texts} came up on\n{self.screen}"
        return self.screen

    def ends(self) -> int:
        """Wait until the program has ended; gives its exit code."""
        deadline = time.monotonic() + _PATIENCE
        while not self._is_closed and self._read():
            assert time.monotonic() < deadline, f"it did not end:\n{self.screen}"
        ended, status = os.waitpid(self.pid, os.WNOHANG)
        while not ended:
            assert time.monotonic() < deadline, "it did not end"
            time.sleep(0.02)
            ended, status = os.waitpid(self.pid, os.WNOHANG)
        self.exit_code = os.waitstatus_to_exitcode(status)
        return self.exit_code

    def close(self) -> None:
        """Close the window."""
        if not self._is_closed:
            self._is_closed = True
            os.close(self._master)

    def _read(self) -> bool:
        """Take what comes; false if the program has ended."""
        if not select.select([self._master], [], [], 0.1)[0]:
            return True
        try:
            came = os.read(self._master, 65536)
        except OSError:  # Linux says so when the other side is closed
            return False
        self._stream.feed(came)
        return bool(came)


@contextmanager
def in_terminal(
    folder: Path, *arguments: str, command: str = "chat", columns: int = 100, rows: int = 34
) -> Iterator[Terminal]:
    """`segue chat`, or another command, in a folder; it is ended if the test does not."""
    pid, master = pty.fork()
    if pid == 0:
        os.chdir(folder)
        os.environ.update(TERM="xterm-256color", COLUMNS=str(columns), LINES=str(rows))
        os.execv(sys.executable, [sys.executable, "-m", "segue", command, *arguments])
    fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    terminal = Terminal(pid, master, columns, rows)
    try:
        yield terminal
    finally:
        if terminal.exit_code is None:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        terminal.close()
