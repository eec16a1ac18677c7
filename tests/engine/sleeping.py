"""A Segue in a process of its own that falls asleep (SIGSTOP) when it is about to send a message."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import sys
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import psutil

from segue.application.pipelines.submit import PipelineRequest
from segue.application.ports.engine import WorkerPolicy
from segue.bootstrap import open_segue
from segue.settings import Settings

_forking = multiprocessing.get_context("forkserver")


@dataclass(frozen=True, kw_only=True, slots=True)
class Bed:
    """Where it works, and when it falls asleep."""

    folder: Path
    backend: str
    method: str = "send"
    """Of the back end, or of its records: the call before which it sleeps."""

    @property
    def settings(self) -> Settings:
        """Those of every Segue on this data."""
        return Settings(data_dir=self.folder / "data", config_dir=self.folder / "config", ask_writer=False)

    @property
    def log(self) -> str:
        """What it has logged."""
        return (self.folder / "log").read_text() if (self.folder / "log").exists() else ""

    @property
    def may_end(self) -> Path:
        """Once this file is there, it ends."""
        return self.folder / "may end"

    def start(self, request: PipelineRequest) -> Any:
        """Start it; it submits a pipeline, and sleeps before it says anything to its agent."""
        process = _forking.Process(target=_be_asleep, args=(self, request))
        process.start()
        return process


def is_asleep(process: Any) -> bool:
    """True once it was stopped."""
    assert process.exitcode is None, "it has ended"
    return bool(psutil.Process(process.pid).status() == psutil.STATUS_STOPPED)


def _be_asleep(bed: Bed, request: PipelineRequest) -> None:
    log = os.open(bed.folder / "log", os.O_CREAT | os.O_WRONLY | os.O_APPEND)
    sys.stdout.flush()
    os.dup2(log, 1)
    os.dup2(log, 2)
    asyncio.run(_submit(bed, request))


async def _submit(bed: Bed, request: PipelineRequest) -> None:
    policy = WorkerPolicy(hosting=False, beat_seconds=0.2)
    async with open_segue(bed.settings, policy=policy) as segue:
        _, backend = segue.backends.get(bed.backend, "dev")
        place = backend if hasattr(backend, bed.method) else backend._records  # type: ignore[attr-defined]
        setattr(place, bed.method, partial(_sleep_once, [], getattr(place, bed.method)))
        await segue.start()
        await segue.pipelines.submit(request)
        while not await asyncio.to_thread(bed.may_end.exists):  # noqa: ASYNC110  # another process makes it
            await asyncio.sleep(0.05)


def _sleep_once(before: list[bool], act: Any, *given: Any) -> Any:
    if not before:
        before.append(True)
        os.kill(os.getpid(), signal.SIGSTOP)
        time.sleep(0.2)  # this thread may not be the one that the signal stops first
    return act(*given)
