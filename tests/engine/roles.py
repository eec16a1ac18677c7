"""The processes of several machines on one PostgreSQL: each `segue` has a data folder of its own."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Self

import httpx

from segue.testing.pipelines import lay_out_database
from tests.warm import WarmProcess

_SECONDS = 120.0


class Machine:
    """One `segue worker` or `segue serve`, with what it prints; of this package, or of one in a folder."""

    def __init__(
        self,
        folder: Path,
        *arguments: str,
        database: str,
        agent: str,
        package: Path | None = None,
        may_fail: bool = False,
    ) -> None:
        self.data_dir = folder / "data"
        folder.mkdir(parents=True)
        lay_out_database(self.data_dir)
        self._clients: list[httpx.Client] = []
        self._log = tempfile.TemporaryFile("w+")  # noqa: SIM115  # lives as long as the process
        own = {
            "SEGUE_DATA_DIR": str(self.data_dir),
            "SEGUE_DATABASE_URL": database,
            "SEGUE_BACKEND": "command",
            "SEGUE_BACKEND_OPTIONS": json.dumps({"command": {"command": agent}}),
            "SEGUE_ASK_WRITER": "false",
            "SEGUE_DRAIN_SECONDS": "600",
        }
        self.process: WarmProcess | subprocess.Popen[bytes]
        if package is None:
            self.process = WarmProcess(
                arguments, cwd=folder, env=os.environ | own, stdout=self._log, stderr=self._log
            )
        else:
            own["PYTHONPATH"] = str(package)
            self.process = subprocess.Popen(
                [sys.executable, "-m", "segue", *arguments],
                cwd=folder,
                env=os.environ | own,
                stdin=subprocess.DEVNULL,
                stdout=self._log,
                stderr=self._log,
            )
        if not may_fail:
            self.says(r"^segue \S+ ")

    def says(self, pattern: str) -> re.Match[str]:
        """Wait until it prints this."""
        wait_until(lambda: re.search(pattern, self.log(), re.MULTILINE), self.log, self.process)
        found = re.search(pattern, self.log(), re.MULTILINE)
        assert found is not None
        return found

    def log(self) -> str:
        """All that it printed."""
        return os.pread(self._log.fileno(), os.fstat(self._log.fileno()).st_size, 0).decode()

    def client(self) -> httpx.Client:
        """A client of what it serves."""
        token = (self.data_dir / "credential").read_text(encoding="ascii").strip()
        address = self.says(r"^segue .* on (http://\S+)")[1]
        made = httpx.Client(base_url=address, headers={"Authorization": f"Bearer {token}"}, timeout=_SECONDS)
        self._clients.append(made)
        return made

    def end(self) -> int:
        """A polite kill; its exit code."""
        self.process.terminate()
        return self.process.wait(_SECONDS)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for client in self._clients:
            client.close()
        self.process.kill()
        self.process.wait(_SECONDS)
        self._log.close()


def wait_until(
    holds: Callable[[], object],
    tell: Callable[[], str] = str,
    process: WarmProcess | subprocess.Popen[bytes] | None = None,
) -> None:
    """Look again and again for two minutes."""
    deadline = time.monotonic() + _SECONDS
    while not holds():
        assert time.monotonic() < deadline, tell()
        assert process is None or process.poll() is None, tell()
        time.sleep(0.05)


def patient_agent(folder: Path) -> str:
    """An agent that notes each prompt, and replies when `go` is there."""
    program = folder / "agent.sh"
    program.write_text(
        f"#!/bin/sh\ncat > /dev/null\npwd >> {folder}/begun\n"
        f"while [ ! -e {folder}/go ]; do sleep 0.05; done\necho hello > greeting.txt\n"
        "echo 'Done: added greeting.txt.'\n"
    )
    program.chmod(0o755)
    return str(program)


def begun(folder: Path) -> int:
    """How often that agent was asked."""
    path = folder / "begun"
    return len(path.read_text().split()) if path.exists() else 0
