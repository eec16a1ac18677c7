"""A back end that starts one process for each message: a session is a folder, a message a folder in it."""

from __future__ import annotations

import asyncio
import shutil
import signal
from abc import abstractmethod
from collections.abc import Collection
from pathlib import Path
from typing import ClassVar

from segue.adapters.backends import supervised
from segue.application.ports.backend import AgentBackend, SessionRequest
from segue.domain.errors import AgentFailed, BackendUnavailable, SessionLost


class ProcessPerMessage(AgentBackend):
    """The folders are all that it knows, so that the next Segue finds the processes of this one."""

    name: ClassVar[str]
    """Of its folder among those of the other back ends."""
    politely: ClassVar[signal.Signals] = signal.SIGTERM
    """The signal that asks its program to end."""

    def __init__(self, *, sessions_dir: Path, timeout: float = 3.0) -> None:
        super().__init__(sessions_dir=sessions_dir)
        self._root = sessions_dir / self.name
        self._timeout = timeout
        """Seconds that a program has between being asked to end and being killed."""
        self._own: dict[str, list[int]] = {}
        """Session -> pids of the supervisors that this process started and must let go."""

    @abstractmethod
    def _check_request(self, request: SessionRequest) -> None:
        """Raise `BackendUnavailable` if what was asked for cannot be started here."""

    async def open(self, request: SessionRequest) -> str:
        """Make the session's folder."""
        self._check_request(request)
        folder = self._root / request.key
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise BackendUnavailable(f"cannot make the session folder {folder}: {error.strerror}") from error
        return request.key

    async def abort(self, session: str) -> None:
        """End the program and everything it started: politely, then for good."""
        await supervised.end_session(self._root / session, self._timeout, politely=self.politely)
        own = self._own.get(session, [])
        while own:
            supervised.reap(own.pop())

    async def close(self, session: str) -> None:
        """Forget the session and its files; what its programs left running ends too."""
        await self.abort(session)
        self._own.pop(session, None)
        await asyncio.to_thread(shutil.rmtree, self._root / session, ignore_errors=True)

    async def leftovers(self) -> Collection[str]:
        """The sessions whose folders are there."""
        return [folder.name for folder in self._root.iterdir()] if self._root.is_dir() else []

    async def shutdown(self) -> None:
        """Programs that run continue by themselves; the next Segue finds them."""
        self._own.clear()

    def _vanished(self, session: str) -> Exception:
        """Why a process left no exit code."""
        if session in self._own:
            return AgentFailed("its process was killed before it could reply")
        return SessionLost("its process is gone and left no exit code")
