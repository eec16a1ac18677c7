"""A program in a process group of its own: it is ended with all its children, even while it is starting."""

from __future__ import annotations

import asyncio
import os
import signal
from asyncio.subprocess import DEVNULL, PIPE, STDOUT, Process
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from segue.application.file_handles import retry_without_handles


async def run_in_group(
    command: Sequence[str], folder: Path, environment: Mapping[str, str]
) -> tuple[int, bytes]:
    """Run a program to its end; gives its exit code and output. Cancelling the wait ends it."""
    process = await retry_without_handles(lambda: _start(command, folder, environment))
    try:
        output, _ = await process.communicate()
    except asyncio.CancelledError:
        await _end(process)
        raise
    return process.returncode or 0, output


async def _start(command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> Process:
    starting = asyncio.ensure_future(
        asyncio.create_subprocess_exec(
            *command,
            cwd=folder,
            env=environment,
            stdin=DEVNULL,
            stdout=PIPE,
            stderr=STDOUT,
            start_new_session=True,
        )
    )
    try:
        return await asyncio.shield(starting)
    except asyncio.CancelledError:  # unshielded, asyncio would kill the program and leave its children
        with suppress(OSError):
            await _end(await starting)
        raise


async def _end(process: Process) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    await process.wait()
