"""This process among the others: who we are, and whether another worker still lives."""

from __future__ import annotations

import os
import socket
from datetime import datetime
from pathlib import Path
from uuid import uuid4

import psutil

from segue.domain.workers import Worker


class LocalProcesses:
    """On the same host a worker's process is looked at; one that cannot be seen must be heard."""

    def __init__(self, *, silent_seconds: float = 10.0) -> None:
        self._silent_seconds = silent_seconds

    def me(self, now: datetime) -> Worker:
        """A new worker for this process."""
        return Worker(
            id=uuid4().hex[:12],
            host=host_name(),
            pid=os.getpid(),
            process_started_at=_started(os.getpid()),
            heartbeat_at=now,
        )

    def is_gone(self, worker: Worker, now: datetime) -> bool:
        """True if that worker will not move again, or is stopped or silent for too long to wait for it."""
        is_silent = (now - worker.heartbeat_at).total_seconds() > self._silent_seconds
        if worker.host != host_name():
            return is_silent
        try:
            if _started(worker.pid) != worker.process_started_at:
                return True
            status = psutil.Process(worker.pid).status()
        except psutil.NoSuchProcess:
            return True
        return status == psutil.STATUS_ZOMBIE or (is_silent and status == psutil.STATUS_STOPPED)


def _started(pid: int) -> float:
    """When a process began, in a measure that does not move when the clock is set."""
    try:
        # Behind the name in brackets, which may hold anything, the 20th value: ticks from boot to start.
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        return float(stat.rpartition(")")[2].split()[19])
    except FileNotFoundError:
        return psutil.Process(pid).create_time()


def host_name() -> str:
    """The machine, its boot and its process space: whoever shares it can see our pid."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        space = str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        boot, space = str(int(psutil.boot_time())), ""
    return f"{socket.gethostname()}/{boot}/{space}"
