"""Too many connections, and no file handle left: running pipelines finish, and it is reported."""

from __future__ import annotations

import resource
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from tests.serving import ServedSegue

FILES = 256
CATALOG = """
agents:
  worker:
    backend: command
    options:
      command:
        - sh
        - -c
        - >-
          cat > /dev/null; while [ ! -e go ]; do sleep 0.05; done;
          printf '## Outcome\\ncompleted\\n## What Was Done\\n- Worked.\\n'
"""
HALF_OPEN = (
    b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n",
    b"POST /pipelines HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 99\r\n\r\n{",
    b"",
)


if sys.platform != "linux":
    pytest.skip("limits of another process can be set on Linux only", allow_module_level=True)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedSegue]:
    """A server that may open few files."""
    folder = tmp_path_factory.mktemp("served")
    (folder / "catalog.yaml").write_text(CATALOG, encoding="utf-8")
    segue = ServedSegue(folder, folder / "data", files=FILES, SEGUE_CONFIG_DIR=str(folder))
    segue.start()
    yield segue
    segue.close()


def begin(served: ServedSegue, folder: Path) -> int:
    """A pipeline of two steps, whose agents wait until the folder has a file `go`."""
    pipeline = served.submit(
        prompt="Work.", custom_steps=[{"agent": "worker"}] * 2, working_dir=str(folder), workspace="in_place"
    )
    return int(pipeline["id"])


def wait_until(holds: Callable[[], bool], what: Callable[[], object]) -> None:
    """Until something is true; the limit only stops a hang."""
    deadline = time.monotonic() + 120
    while not holds():
        assert time.monotonic() < deadline, what()
        time.sleep(0.02)


@pytest.mark.thorough
def test_half_open_connections_fail_no_pipeline(served: ServedSegue, tmp_path: Path) -> None:
    pipeline = begin(served, tmp_path)
    address = urlsplit(str(served.client.base_url))
    with ExitStack() as stack:
        for number in range(2 * FILES):
            connection = socket.create_connection((address.hostname, address.port), timeout=120)
            stack.enter_context(connection).sendall(HALF_OPEN[number % len(HALF_OPEN)])
        # A connection of its own: the idle one of the client is the first to make room.
        assert httpx.get(str(served.client.base_url.join("/health")), timeout=120).status_code == 200
        (tmp_path / "go").touch()
        ended = served.wait_for(pipeline, "done", "failed", seconds=120)
        assert served.client.get("/health").json()["status"] == "ok", served.log()
    assert ended["status"] == "done", ended["reason"]
    assert "connections_full" in served.log()
    assert "file_handles_exhausted" not in served.log()


@pytest.mark.thorough
@pytest.mark.thorough
def test_without_file_handles_work_waits_and_it_is_reported(served: ServedSegue, tmp_path: Path) -> None:
    pipeline = begin(served, tmp_path)
    wait_until(lambda: "attempt_started" in served.log(), served.log)
    resource.prlimit(served.pid, resource.RLIMIT_NOFILE, (3, FILES))  # it has more already: none is left
    try:
        (tmp_path / "go").touch()
        wait_until(lambda: "file_handles_exhausted" in served.log(), served.log)
    finally:
        resource.prlimit(served.pid, resource.RLIMIT_NOFILE, (FILES, FILES))
    health = served.client.get("/health").json()
    assert health["status"] == "degraded"
    assert "file handles ran out" in health["file_handles"]
    ended = served.wait_for(pipeline, "done", "failed", seconds=120)
    assert ended["status"] == "done", ended["reason"]
    assert "Traceback" not in served.log()
