"""A program that outlives Segue: run under a shell, found again by its folder, ended with all it started."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import psutil

from segue.domain.permissions import SESSION_VARIABLE

_SUPERVISOR = """
echo $$ > "$1/pid"
folder=$1; input=$2
cd "$3" || exit
shift 3
"$@" < "$input" > "$folder/stdout" 2> "$folder/stderr"
echo $? > "$folder/exit"
"""
"""Writes down its own pid first and the program's exit code last; both survive Segue."""

_LOOK_SECONDS = 0.02
_START_SECONDS = 20.0


def start(
    folder: Path, arguments: Sequence[str], *, source: str, working_dir: str, environment: Mapping[str, str]
) -> int:
    """Start a program whose files are in `folder`; gives the pid of its supervisor, a child of ours.

    If this raises, nothing was started.
    """
    shell = ["/bin/sh", "-c", _SUPERVISOR, "segue-agent", str(folder), source, working_dir]
    pid = spawn([*shell, *arguments], environment)
    _await_pid(folder)
    return pid


def spawn(arguments: Sequence[str], environment: Mapping[str, str]) -> int:
    """Start a child that outlives us, in a session of its own, with no file of ours; gives its pid.

    Not through `subprocess`: its objects kill or complain about a child that lives on when they go.
    """
    return os.posix_spawn(
        arguments[0],
        list(arguments),
        environment,
        file_actions=[
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
            (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
            *((os.POSIX_SPAWN_CLOSE, number) for number in _inherited_files()),
        ],
        setsid=True,
        setsigmask=(),
        setsigdef=(signal.SIGINT, signal.SIGTERM, signal.SIGPIPE, signal.SIGHUP),
    )


def _await_pid(folder: Path) -> None:
    """Wait until the shell has written its pid: until then its arguments may not be there to be seen."""
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline:
        with suppress(OSError):  # no file handle is left this moment
            if _read_pid(folder) is not None:
                return
        time.sleep(0.001)


def _inherited_files() -> Iterator[int]:
    """Open files that whoever started Segue left to be handed on; an agent has no business with them."""
    for path in Path("/dev/fd").iterdir():
        with suppress(OSError):
            if int(path.name) > 2 and os.get_inheritable(int(path.name)):
                yield int(path.name)


def reap(pid: int) -> None:
    """Let a child of ours that has ended go."""
    with suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)


def exit_code(folder: Path) -> int | None:
    """The program's exit code, none before its end."""
    try:
        text = (folder / "exit").read_text(encoding="ascii")
    except FileNotFoundError:
        return None
    return int(text) if text.endswith("\n") else None


def supervisor_of(folder: Path) -> psutil.Process | None:
    """The shell that supervises this program, if it lives; the folder stands in its arguments."""
    pid = _read_pid(folder)
    for candidate in psutil.pids() if pid is None else [pid]:
        with suppress(psutil.Error):
            process = psutil.Process(candidate)
            if lives(process) and str(folder) in process.cmdline():
                return process
    return None


def describe_exit(folder: Path, code: int, what: str) -> str:
    """How a program ended badly, with the last line that it wrote on its standard error."""
    how = f"{what} exited with {code}"
    if code > 128:
        how = f"{what} was killed by signal {_signal_name(code - 128)}"
    elif code in (126, 127):
        how += " (the shell could not run it)"
    lines = last_errors(folder)
    return f"{how}: {lines[-1].strip()[:300]}" if lines else how


def last_errors(folder: Path) -> list[str]:
    """The last lines of a program's standard error."""
    try:
        with (folder / "stderr").open("rb") as file:
            file.seek(max(0, (folder / "stderr").stat().st_size - 4096))
            return file.read().replace(b"\0", b"").decode("utf-8", "replace").strip().splitlines()
    except FileNotFoundError:
        return []


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)


async def end_session(
    session: Path,
    timeout: float,
    leaders: Collection[int] = (),
    *,
    politely: signal.Signals = signal.SIGTERM,
) -> None:
    """End everything a session started: politely, then for good. `leaders` are pids that belong to it too."""
    for number in (politely, signal.SIGKILL, signal.SIGKILL):
        family = await asyncio.to_thread(_family, session, leaders)
        for process in family:
            with suppress(psutil.Error):
                process.send_signal(number)
        await _wait_until_gone(family, timeout)


def _family(session: Path, others: Collection[int]) -> set[psutil.Process]:
    """The supervisors of a session, their groups and children, and whoever carries the session's mark."""
    found = [supervisor_of(folder) for folder in _messages(session)]
    leaders = {process.pid for process in found if process is not None} | set(others)
    family = {process for process in psutil.process_iter() if _belongs(process, leaders, str(session))}
    for process in tuple(family):
        with suppress(psutil.Error):
            family.update(child for child in process.children(recursive=True) if lives(child))
    return family


def _belongs(process: psutil.Process, leaders: set[int], mark: str) -> bool:
    try:
        if os.getsid(process.pid) in leaders:
            return lives(process)
        return process.environ().get(SESSION_VARIABLE) == mark and lives(process)
    except (psutil.Error, OSError):
        return False


def _messages(session: Path) -> Iterator[Path]:
    with suppress(FileNotFoundError):
        yield from (folder for folder in session.iterdir() if folder.is_dir())


async def _wait_until_gone(family: set[psutil.Process], seconds: float) -> None:
    loop = asyncio.get_running_loop()
    deadline = loop.time() + seconds
    while any(lives(process) for process in family) and loop.time() < deadline:  # noqa: ASYNC110  # not our children
        await asyncio.sleep(_LOOK_SECONDS)


def lives(process: psutil.Process) -> bool:
    """True if it runs; what has ended but was not reaped yet does not."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


def _read_pid(folder: Path) -> int | None:
    try:
        return int((folder / "pid").read_text(encoding="ascii"))
    except (FileNotFoundError, ValueError):
        return None
