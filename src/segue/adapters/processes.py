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
    """On the same host a worker's process is looked at; elsewhere its heartbeat must be fresh."""

    def __init__(self, *, lease_seconds: float = 30.0) -> None:
        self._lease_seconds = lease_seconds

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
        """True if that worker will never move again."""
        if worker.host != host_name():
            return (now - worker.heartbeat_at).total_seconds() > self._lease_seconds
        try:
            same = _started(worker.pid) == worker.process_started_at
            return not same or psutil.Process(worker.pid).status() == psutil.STATUS_ZOMBIE
        except psutil.NoSuchProcess:
            return True


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
