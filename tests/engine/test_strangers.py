"""Another user of the machine, at the door of a real server on loopback."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import make_repository
from tests.serving import ServedSegue, write_catalog

CATALOG = """
agents:
  developer:
    backend: scripted
    options: {actions: [{ask: run npm publish}, {say: "## What Was Done\\n- Published it"}]}
"""
NOBODY = ("setpriv", "--reuid", "nobody", "--regid", "nogroup", "--clear-groups")


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user can look into; so only what is in it can guard itself."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        for each in (folder, folder / "data", folder / "project"):
            each.mkdir(exist_ok=True)
            each.chmod(0o755)
        yield folder


@pytest.fixture
def served(open_folder: Path) -> Iterator[ServedSegue]:
    write_catalog(make_repository(open_folder / "project"), CATALOG)  # so that runs do not exclude each other
    segue = ServedSegue(open_folder / "project", open_folder / "data")
    segue.start()
    yield segue
    segue.close()


def as_nobody(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*NOBODY, *command], capture_output=True, text=True, timeout=120, check=False, cwd="/"
    )


def ask_as_nobody(served: ServedSegue, method: str, path: str, body: Any = None) -> tuple[int, str]:
    """The status and the text of the answer that another user gets."""
    url = str(served.client.base_url).rstrip("/") + path
    sent = () if body is None else ("-H", "Content-Type: application/json", "-d", json.dumps(body))
    ran = as_nobody("curl", "-sS", "-m", "60", "-X", method, "-w", "\n%{http_code}", *sent, url)
    assert ran.returncode == 0, ran.stderr
    text, _, status = ran.stdout.rpartition("\n")
    return int(status), text


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as another user")
@pytest.mark.skipif(not all(map(shutil.which, ("setpriv", "curl"))), reason="needs setpriv and curl")
def test_another_user_can_neither_run_nor_approve_nor_read(served: ServedSegue, tmp_path: Path) -> None:
    waiting = served.submit(custom_steps=[{"agent": "developer"}], prompt="Publish.")["id"]
    while not (asked := served.client.get("/approvals").json()):
        time.sleep(0.02)
    assert as_nobody("id", "-un").stdout == "nobody\n"
    ran = tmp_path / "ran"
    attack = {"custom_steps": [{"agent": "developer", "checks": [f"touch {ran}"]}], "prompt": "x"}
    decision = {"decided_by": "root"}
    for method, path, body in (
        ("POST", "/pipelines", attack),
        ("POST", f"/approvals/{asked[0]['id']}/approve", decision),
        ("POST", f"/pipelines/{waiting}/approve", decision),
        ("POST", f"/pipelines/{waiting}/abort", {}),
        ("GET", "/pipelines", None),
        ("GET", f"/pipelines/{waiting}/events", None),
        ("GET", "/openapi.json", None),
    ):
        status, text = ask_as_nobody(served, method, path, body)
        assert status == 401, (path, text)
        assert "Publish" not in text
    assert ask_as_nobody(served, "GET", "/health") == (200, '{"status":"ok"}')
    assert served.client.get("/approvals").json() == asked
    assert len(served.client.get("/pipelines").json()["items"]) == 1
    assert not ran.exists()

    file = served.data_dir / "credential"
    assert as_nobody("ls", str(served.data_dir)).stdout.split().count("credential") == 1
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    read = as_nobody("cat", str(file))
    assert (read.returncode, read.stdout) == (1, "")
    assert "Permission denied" in read.stderr
    assert served.credential() not in served.log()
    for place in served.data_dir.iterdir():
        assert place == file or not place.is_file() or served.credential().encode() not in place.read_bytes()


@pytest.mark.thorough
def test_a_token_that_another_process_revokes_stops_working_at_once(served: ServedSegue) -> None:
    made = served.run_cli("token", "new", "ci", "--role", "read")
    assert made.returncode == 0, made.stderr
    shown = {"Authorization": f"Bearer {made.stdout.strip()}"}
    assert served.client.get("/pipelines", headers=shown).status_code == 200
    with served.client.stream("GET", "/events", headers=shown) as stream:
        assert stream.status_code == 200
        assert served.run_cli("token", "revoke", "ci").returncode == 0
        assert served.client.get("/pipelines", headers=shown).status_code == 401
        for _ in stream.iter_lines():
            pass  # to the end: a stream that went on would never come to it
    assert "Traceback" not in served.stop()
