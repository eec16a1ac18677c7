"""JSON-RPC with an agent's process: the SDK's connection on the pipes of a program of ours.

The one module that imports the SDK, which takes most of a second: it is loaded with the first session.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from acp.connection import Connection
from acp.exceptions import RequestError
from acp.meta import PROTOCOL_VERSION

__all__ = ["PROTOCOL_VERSION", "AgentProcess", "Connection", "Handler", "RequestError"]

Handler = Callable[[str, Any, bool], Awaitable[Any]]
_LINE_LIMIT = 2**26


class _Pipes:
    """Messages on the pipes of a process. What is no message is skipped; a broken pipe is an ended one."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self.ended = False

    async def send(self, message: dict[str, Any]) -> None:
        data = json.dumps(message, separators=(",", ":")).encode() + b"\n"
        with suppress(ConnectionError, RuntimeError):  # the reading side sees the end, and tells everybody
            self._writer.write(data)
            await self._writer.drain()

    async def receive(self) -> dict[str, Any] | None:
        while line := await self._line():
            with suppress(ValueError):
                message = json.loads(line)
                if isinstance(message, dict):
                    return message
        self.ended = True
        return None

    async def close(self) -> None:
        with suppress(ConnectionError, RuntimeError):
            self._writer.close()

    async def _line(self) -> bytes:
        try:
            return await self._reader.readline()
        except (ConnectionError, ValueError):  # ValueError: a line beyond the limit
            return b""


class AgentProcess:
    """An agent's program, in a process session of its own, and the connection to it."""

    def __init__(self, process: asyncio.subprocess.Process, pipes: _Pipes, handler: Handler) -> None:
        self._process = process
        self._pipes = pipes
        self.connection = Connection(handler, pipes)

    @classmethod
    async def start(
        cls,
        command: Sequence[str],
        *,
        handler: Handler,
        environment: Mapping[str, str],
        working_dir: str,
        stderr: Path,
    ) -> AgentProcess:
        """Start the program and listen to it."""
        with stderr.open("ab") as errors:
            process = await asyncio.create_subprocess_exec(
                *command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=errors,
                env=dict(environment),
                cwd=working_dir,
                limit=_LINE_LIMIT,
                start_new_session=True,
            )
        assert process.stdin is not None
        assert process.stdout is not None
        return cls(process, _Pipes(process.stdout, process.stdin), handler)

    @property
    def pid(self) -> int:
        """Its process id, which is that of its group and session too."""
        return self._process.pid

    @property
    def answers(self) -> bool:
        """True as long as it has not closed its output."""
        return not self._pipes.ended and self._process.returncode is None

    async def exit_code(self, timeout: float) -> int | None:
        """Its exit code, if it ends within this time; negative if a signal ended it."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._process.wait(), timeout)
        return self._process.returncode

    async def close(self) -> None:
        """Stop listening. The process is ended by whoever knows its family."""
        await self.connection.close()
