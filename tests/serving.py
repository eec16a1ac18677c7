"""A real `segue serve` in a process of its own, for tests that must kill it."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx

from segue.testing.pipelines import lay_out_database
from tests.trusting import write_project
from tests.warm import WarmProcess, run_warm

_START_SECONDS = 120.0


class ServedSegue:
    """`segue serve` on a free port, in its own data folder; it can be killed and started again."""

    def __init__(self, project: Path, data_dir: Path, *, files: int | None = None, **settings: str) -> None:
        self.project = project
        self.data_dir = data_dir
        self._settings = settings
        self._files = files
        self._process: WarmProcess | None = None
        self.client = httpx.Client(timeout=120)
        lay_out_database(data_dir)

    def like(self, **settings: str) -> ServedSegue:
        """Another one with the same data and further settings."""
        return ServedSegue(self.project, self.data_dir, files=self._files, **(self._settings | settings))

    def start(self) -> None:
        """Start it and wait until it answers."""
        self._log = tempfile.TemporaryFile("w+")  # noqa: SIM115  # lives as long as the process
        self._process = WarmProcess(
            ("serve", "--port", "0"),
            cwd=self.project,
            env=self.environment(),
            stdout=self._log,
            stderr=self._log,
            files=self._files,
        )
        deadline = time.monotonic() + _START_SECONDS
        while not (found := re.search(r"^segue .* on (http://\S+)", self.log(), re.MULTILINE)):
            assert self._process.poll() is None, self.log()
            assert time.monotonic() < deadline, self.log()
            time.sleep(0.02)
        self.client.base_url = found.group(1)
        self.client.headers["Authorization"] = f"Bearer {self.credential()}"

    def credential(self) -> str:
        """What its own user can read."""
        return (self.data_dir / "credential").read_text(encoding="ascii").strip()

    def log(self) -> str:
        """What it printed on stderr since it was started."""
        size = os.fstat(self._log.fileno()).st_size
        return os.pread(self._log.fileno(), size, 0).decode()

    def environment(self) -> dict[str, str]:
        """The environment of `segue` on the same data."""
        return os.environ | {"SEGUE_DATA_DIR": str(self.data_dir)} | self._settings

    @property
    def pid(self) -> int:
        """Its process id."""
        assert self._process is not None
        return self._process.pid

    def kill(self) -> None:
        """kill -9: no goodbye, no cleaning up."""
        assert self._process is not None
        self._process.kill()
        self._close()

    def stop(self) -> str:
        """A polite kill, and what it printed since it began to serve."""
        assert self._process is not None
        self._process.terminate()
        return self._close()

    def _close(self) -> str:
        assert self._process is not None
        self._process.wait(timeout=120)
        self._process = None
        errors = self.log()
        self._log.close()
        return errors

    def run_cli(self, *arguments: str, seconds: float = 120) -> subprocess.CompletedProcess[str]:
        """Another `segue` on the same data."""
        return run_warm(*arguments, cwd=self.project, env=self.environment(), seconds=seconds)

    def submit(self, **wanted: Any) -> dict[str, Any]:
        """POST /pipelines."""
        response = self.client.post("/pipelines", json=wanted)
        assert response.status_code == 201, response.text
        found: dict[str, Any] = response.json()
        return found

    def pipeline(self, pipeline_id: int) -> dict[str, Any]:
        """GET /pipelines/{id}."""
        found: dict[str, Any] = self.client.get(f"/pipelines/{pipeline_id}").json()
        return found

    def wait_for(self, pipeline_id: int, *statuses: str, seconds: float = 120) -> Mapping[str, Any]:
        """The pipeline, once it has one of these statuses."""
        deadline = time.monotonic() + seconds
        while (found := self.pipeline(pipeline_id))["status"] not in statuses:
            assert time.monotonic() < deadline, found
            time.sleep(0.05)
        return found

    def close(self) -> None:
        """End it, however it is."""
        if self._process is not None:
            self.kill()
        self.client.close()


def write_catalog(project: Path, text: str) -> None:
    """The project's own catalog, trusted."""
    write_project(project, text)
