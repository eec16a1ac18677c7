"""Commands that an agent runs through Segue: in the workspace, each in a process group, output kept short."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from segue.adapters.backends.acp.files import inside

_OUTPUT_LIMIT = 1_000_000
_TIMEOUT_SECONDS = 2.0


class Terminal:
    """One command and the end of its output."""

    def __init__(self, process: asyncio.subprocess.Process, limit: int) -> None:
        self._process = process
        self._limit = limit
        self._kept = bytearray()
        self._truncated = False
        self._reading = asyncio.create_task(self._read())

    async def _read(self) -> None:
        assert self._process.stdout is not None
        while data := await self._process.stdout.read(65536):
            self._kept += data
            if len(self._kept) > self._limit:
                del self._kept[: len(self._kept) - self._limit]
                self._truncated = True

    def output(self) -> dict[str, Any]:
        """What it wrote so far, and how it ended if it did."""
        said: dict[str, Any] = {"output": self._kept.decode("utf-8", "ignore"), "truncated": self._truncated}
        return said | ({"exitStatus": self.status()} if self._process.returncode is not None else {})

    def status(self) -> dict[str, Any]:
        """Its exit code, or the signal that ended it."""
        code = self._process.returncode
        if code is not None and code < 0:
            return {"exitCode": None, "signal": signal.Signals(-code).name}
        return {"exitCode": code, "signal": None}

    async def ended(self) -> dict[str, Any]:
        """Wait for its end, and for the rest of its output as long as that does not hang on."""
        await self._process.wait()
        await asyncio.wait([self._reading], timeout=_TIMEOUT_SECONDS)
        return self.status()

    async def kill(self) -> None:
        """End it with all of its group."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        await self._process.wait()

    async def release(self) -> None:
        """End it and let go of its pipe."""
        await self.kill()
        self._reading.cancel()
        await asyncio.wait([self._reading])


class Terminals:
    """The commands of one session."""

    def __init__(self, *, workspace: str, environment: Mapping[str, str]) -> None:
        self._workspace = workspace
        self._environment = environment
        self._open: dict[str, Terminal] = {}
        self._made = 0

    async def create(self, params: Mapping[str, Any]) -> str:
        """Run a command; gives the terminal's id."""
        folder = inside(self._workspace, str(params.get("cwd") or "."))
        given = {str(one["name"]): str(one["value"]) for one in params.get("env") or ()}
        process = await asyncio.create_subprocess_exec(
            *as_arguments(params),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            cwd=folder,
            env={**self._environment, "PWD": str(folder), **given},
            start_new_session=True,
        )
        self._made += 1
        name = f"terminal-{self._made}"
        limit = params.get("outputByteLimit")
        self._open[name] = Terminal(process, min(int(limit), _OUTPUT_LIMIT) if limit else _OUTPUT_LIMIT)
        return name

    def get(self, name: Any) -> Terminal | None:
        """The terminal with this id."""
        return self._open.get(str(name))

    async def release(self, name: Any) -> None:
        """End a terminal and forget it."""
        if terminal := self._open.pop(str(name), None):
            await terminal.release()

    async def release_all(self) -> None:
        """End every command."""
        for name in tuple(self._open):
            await self.release(name)


def as_arguments(params: Mapping[str, Any]) -> Sequence[str]:
    """Program and arguments; a command without arguments is a line for the shell."""
    command, arguments = str(params.get("command") or ""), [str(one) for one in params.get("args") or ()]
    return [command, *arguments] if arguments else ["/bin/sh", "-c", command]
