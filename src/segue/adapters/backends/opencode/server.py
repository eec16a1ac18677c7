"""A server of our own: started once for all who need it, found again after a crash, restarted, stopped."""

from __future__ import annotations

import asyncio
import fcntl
import os
import re
import secrets
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path

import psutil
import structlog
from pydantic import BaseModel, ConfigDict, ValidationError

from segue.adapters.backends import supervised
from segue.adapters.backends.opencode.client import OpenCodeAddress, OpenCodeClient
from segue.adapters.backends.opencode.errors import one_line
from segue.adapters.backends.opencode.options import REMEDY, ServerSpec
from segue.adapters.backends.private_files import write_private
from segue.domain.errors import BackendUnavailable
from segue.domain.permissions import SESSION_VARIABLE

log = structlog.get_logger()

_START_SECONDS = 50.0
_LOOK_SECONDS = 0.05
_LONGEST_BACKOFF = 30.0
_KILL_SECONDS = 5.0
"""How long a busy machine may take to end what was killed; until then it cannot be reaped."""
_HEALTHY_SECONDS = 60.0
"""A server that lived so long did not die of its start."""
_LISTENING = re.compile(r"listening on (http://\S+)")
_STARTER = 'cd "$1" && shift && exec "$@" > log 2>&1'


class ServerState(BaseModel):
    """A server that was started: how to find it and how to speak to it."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    pid: int
    started: float
    url: str
    password: str

    @property
    def mark(self) -> str:
        """Which life of the server this is."""
        return f"{self.pid}@{self.started:.2f}"

    @property
    def address(self) -> OpenCodeAddress:
        """How to speak to it."""
        return OpenCodeAddress(url=self.url, username="opencode", password=self.password, mark=self.mark)

    @property
    def lives(self) -> bool:
        """True if this very process runs."""
        supervised.reap(self.pid)
        try:
            process = psutil.Process(self.pid)
            return abs(process.create_time() - self.started) < 1 and process.status() != psutil.STATUS_ZOMBIE
        except psutil.Error:
            return False


class ServerFolder:
    """The files of one server; they outlive every Segue that uses it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def state(self) -> ServerState | None:
        """The server that lives, if one does."""
        try:
            state = ServerState.model_validate_json((self.folder / "state.json").read_bytes())
        except (OSError, ValidationError):
            return None
        return state if state.lives else None

    @asynccontextmanager
    async def locked(self) -> AsyncIterator[None]:
        """Nobody else starts or stops this server meanwhile, in any process."""
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with (self.folder / "lock").open("a") as file:
            while not _lock(file.fileno(), fcntl.LOCK_EX):  # noqa: ASYNC110  # of other processes too
                await asyncio.sleep(_LOOK_SECONDS)
            yield

    @contextmanager
    def unused(self) -> Iterator[bool]:
        """True if no living process has joined the server."""
        with (self.folder / "users").open("a") as file:
            yield _lock(file.fileno(), fcntl.LOCK_EX)

    async def stop_if_unused(self) -> None:
        """Stop the server unless somebody has joined it."""
        if not self.folder.is_dir():
            return
        async with self.locked():
            with self.unused() as unused:
                if unused:
                    await self.stop()

    async def stop(self, timeout: float = 3.0) -> None:
        """End the server and everything that it started."""
        for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGKILL):
            family = await asyncio.to_thread(self._family)
            if not family:
                break
            for process in family:
                with suppress(psutil.Error):
                    process.send_signal(number)
            await _wait_until_gone(family, timeout if number == signal.SIGTERM else _KILL_SECONDS)
        with suppress(OSError):
            (self.folder / "state.json").unlink()

    def _family(self) -> list[psutil.Process]:
        """Whoever carries the server's mark, which all that it starts inherit."""
        found = []
        for process in psutil.process_iter():
            with suppress(psutil.Error, OSError):
                if process.environ().get(SESSION_VARIABLE) == str(self.folder):
                    supervised.reap(process.pid)
                    if process.status() != psutil.STATUS_ZOMBIE:
                        found.append(process)
        return found


class LocalServer:
    """A server that this process has joined, and starts when it is not there."""

    def __init__(self, folder: Path, spec: ServerSpec) -> None:
        self.files = ServerFolder(folder)
        self._spec = spec
        self._state: ServerState | None = None
        self._mutex = asyncio.Lock()
        self._joined: int | None = None
        self._failures = 0

    async def address(self, *, start: bool = True) -> OpenCodeAddress | None:
        """Where it is: found, or started anew; none if it is not there and shall not be started."""
        async with self._mutex:
            if self._state is not None and self._state.lives:
                return self._state.address
            async with self.files.locked():
                found = self.files.state()
                if found is not None and not await _answers(found.address):
                    log.warning("opencode_hangs", pid=found.pid)
                    await self.files.stop()
                    found = None
                if found is None and not start:
                    return None
                self._state = found or await self._start()
                self._join()
            return self._state.address

    async def recover(self, known: OpenCodeAddress) -> bool:
        """Look after a server that did not answer; true if it must be taken for dead, and is stopped."""
        async with self._mutex:
            if self._state is None or self._state.mark != known.mark:
                return True
            if self._state.lives and await _answers(known):
                return False
            log.warning("opencode_died", pid=self._state.pid)
            async with self.files.locked():
                current = self.files.state()
                if current is None or current.mark == known.mark:
                    await self.files.stop(timeout=0.5)
            self._state = None
            return True

    async def release(self, *, needed: bool) -> None:
        """This process needs it no more; it is stopped if nobody else does."""
        if self._joined is not None:
            os.close(self._joined)
            self._joined = None
        self._state = None
        if not needed:
            await self.files.stop_if_unused()

    def _join(self) -> None:
        if self._joined is None:
            self._joined = os.open(self.files.folder / "users", os.O_RDWR | os.O_CREAT, 0o600)
            _lock(self._joined, fcntl.LOCK_SH)

    async def _start(self) -> ServerState:
        await asyncio.sleep(0 if self._failures == 0 else min(2.0 ** (self._failures - 1), _LONGEST_BACKOFF))
        self._failures += 1
        await self.files.stop()  # what an earlier one may have left behind
        password, state = secrets.token_urlsafe(24), None
        try:
            pid = self._spawn(password)
            url = await self._listening(pid)
            started = psutil.Process(pid).create_time()
            fresh = ServerState(pid=pid, started=started, url=url, password=password)
            if not await _answers(fresh.address):
                raise BackendUnavailable("the OpenCode server was started, but does not answer")
            write_private(self.files.folder / "state.json", fresh.model_dump_json())
            state = fresh
        except psutil.Error as error:
            raise BackendUnavailable(
                f"the OpenCode server ended at its start: {self._last_words()}"
            ) from error
        finally:
            if state is None:
                await self.files.stop(timeout=0.5)
        log.info("opencode_started", pid=state.pid, url=state.url)
        asyncio.get_running_loop().call_later(_HEALTHY_SECONDS, self._forgive, state.mark)
        return state

    def _forgive(self, mark: str) -> None:
        if self._state is not None and self._state.mark == mark and self._state.lives:
            self._failures = 0

    def _spawn(self, password: str) -> int:
        folder = self.files.folder
        with suppress(FileNotFoundError):
            (folder / "log").replace(folder / "log.old")
        arguments = [self._spec.program, "serve", "--port", "0", "--hostname", "127.0.0.1"]
        environment = self._spec.environment(folder, password)
        try:
            return supervised.spawn(
                ["/bin/sh", "-c", _STARTER, "segue-opencode", str(folder), *arguments],
                {**environment, SESSION_VARIABLE: str(folder)},
            )
        except OSError as error:
            raise BackendUnavailable(f"could not start {self._spec.program}: {error.strerror}") from error

    async def _listening(self, pid: int) -> str:
        """The address it tells; asked any earlier, it would never answer."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + _START_SECONDS
        while loop.time() < deadline:
            if found := _LISTENING.search(self._said()):
                return found[1]
            supervised.reap(pid)
            if not psutil.pid_exists(pid):
                raise BackendUnavailable(f"the OpenCode server ended at its start: {self._last_words()}")
            await asyncio.sleep(_LOOK_SECONDS)
        raise BackendUnavailable(f"the OpenCode server did not start within {_START_SECONDS:g} s; {REMEDY}")

    def _said(self) -> str:
        try:
            return (self.files.folder / "log").read_text(encoding="utf-8", errors="replace")
        except FileNotFoundError:
            return ""

    def _last_words(self) -> str:
        lines = self._said().strip().splitlines()
        return one_line(lines[-1]) if lines else "it said nothing"


async def _answers(address: OpenCodeAddress) -> bool:
    """True if a server answers: asked again and again with little patience, and once with more."""
    client = OpenCodeClient(address)
    try:
        for timeout in (1.0, 1.0, 1.0, 1.0, 5.0):
            if await client.healthy(timeout) is not None:
                return True
            await asyncio.sleep(_LOOK_SECONDS)
        return False
    finally:
        await client.close()


async def _wait_until_gone(family: list[psutil.Process], seconds: float) -> None:
    loop = asyncio.get_running_loop()
    deadline = loop.time() + seconds
    while loop.time() < deadline:
        for process in family:
            supervised.reap(process.pid)
        if not any(supervised.lives(process) or _is_child(process) for process in family):
            return
        await asyncio.sleep(_LOOK_SECONDS)


def _is_child(process: psutil.Process) -> bool:
    """True for a child of ours that is not reaped yet: its last thread must have ended before."""
    try:
        return process.ppid() == os.getpid()
    except psutil.Error:
        return False


def _lock(number: int, kind: int) -> bool:
    try:
        fcntl.flock(number, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
