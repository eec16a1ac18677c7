"""Real `segue serve` processes that can be killed, stopped and started again, each as if on its own machine.

python bench/hosts.py AHEAD serve --port 0     a `segue` whose machine has a clock that is AHEAD seconds ahead
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import httpx
import psutil

from segue.__main__ import LazyParts
from segue.application.ports.engine import WorkerPolicy
from segue.application.segue import Segue
from segue.bootstrap import open_segue
from segue.interfaces.cli.app import run_cli

_APART = ("unshare", "--user", "--map-root-user", "--pid", "--fork", "--kill-child", "--mount-proc")
"""In a process space of its own, as on another machine: others cannot see it, and all of it ends at once."""


@cache
def can_be_apart() -> bool:
    """Whether this machine lets us have process spaces."""
    try:
        return subprocess.run([*_APART, "true"], capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False


@dataclass(kw_only=True)
class Host:
    """A `segue serve` with a data folder of its own."""

    folder: Path
    config: Path
    database_url: str | None = None
    ahead: float = 0.0
    """Seconds that its clock is ahead."""
    is_apart: bool = False
    client: httpx.Client = field(default_factory=lambda: httpx.Client(timeout=120))
    _started: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, and wait until it answers."""
        self.folder.mkdir(exist_ok=True)
        program = [sys.executable, "-m", "segue"] if not self.ahead else _ahead(self.ahead)
        environment = {"SEGUE_DATA_DIR": str(self.folder / "data"), "SEGUE_CONFIG_DIR": str(self.config)}
        if self.database_url:
            environment["SEGUE_DATABASE_URL"] = self.database_url
        self.log.touch()
        size = len(self._said())
        with self.log.open("ab") as log:
            self._started = subprocess.Popen(
                [*(_APART if self.is_apart else ()), *program, "serve", "--port", "0"],
                cwd=self.folder,
                env=os.environ | environment,
                stdout=log,
                stderr=log,
            )
        while not (
            found := re.search(r" on (http://[\d.]+:\d+)", self.log.read_text(encoding="utf-8")[size:])
        ):
            assert self._started.poll() is None, self.log.read_text(encoding="utf-8")[size:]
            time.sleep(0.02)
        self.client.base_url = found[1]
        credential = (self.folder / "data" / "credential").read_text(encoding="ascii").strip()
        self.client.headers["Authorization"] = f"Bearer {credential}"

    def _said(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="replace")

    @property
    def log(self) -> Path:
        """What it has said since it was first started."""
        return self.folder / "log"

    @property
    def is_running(self) -> bool:
        """True if it was started and not ended since."""
        return self._started is not None

    def send_signal(self, number: int) -> None:
        """Send a signal to Segue itself."""
        assert self._started is not None
        pid = self._started.pid
        if self.is_apart:
            (child,) = psutil.Process(pid).children()
            pid = child.pid
        os.kill(pid, number)

    def end(self, number: int = signal.SIGKILL) -> None:
        """Send a signal that ends it, and wait for that."""
        if self._started is not None:
            if self._started.poll() is None:
                self.send_signal(number)
            self._started.wait()
            self._started = None

    def submit(self, key: str, order: dict[str, Any]) -> int | None:
        """Submit a pipeline; gives its id, or none if it does not answer."""
        try:
            answer = self.client.post("/pipelines", json=order, headers={"Idempotency-Key": key})
        except httpx.TransportError:
            return None
        assert answer.status_code == 201, answer.text
        return int(answer.json()["id"])


def _ahead(seconds: float) -> list[str]:
    return [sys.executable, str(Path(__file__)), str(seconds)]


def main() -> None:
    """Be `segue` on a machine whose clock is ahead."""
    ahead = timedelta(seconds=float(sys.argv[1]))

    class Clock:
        def now(self) -> datetime:
            return datetime.now(UTC) + ahead

    class Parts(LazyParts):
        def open(self, settings: Any, *, hosting: bool = False) -> AbstractAsyncContextManager[Segue]:
            policy = WorkerPolicy(hosting=hosting, room=settings.max_running)
            return open_segue(settings, policy=policy, own_clock=Clock())

    sys.exit(run_cli(Parts(), sys.argv[2:]))


if __name__ == "__main__":
    main()
