"""A real server: the examples that people type, live events, aborts that reach processes."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import httpx
import psutil
import pytest

from tests.conftest import make_repository
from tests.serving import ServedSegue, write_catalog

CATALOG = """
agents:
  developer:
    backend: scripted
    options:
      actions: [{delay: 0.2}, {say: "## What Was Done\\n- Fixed it"}]
  senior_reviewer:
    backend: scripted
    options:
      actions: [{delay: 0.2}, {say: "## What Was Done\\n- Reviewed it"}]
  slow:
    backend: command
    options: {command: [sh, -c, "sleep 86398 & sleep 86397"]}
templates:
  wait: {steps: [{agent: slow}]}
"""


@pytest.fixture
def served(tmp_path: Path, project: Path) -> Iterator[ServedSegue]:
    write_catalog(project, CATALOG)
    segue = ServedSegue(project, tmp_path / "data")
    segue.start()
    yield segue
    segue.close()


def agents_of(pipeline: int, served: ServedSegue) -> list[psutil.Process]:
    """The processes that the agent of a pipeline started; waits until they are there."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        found = [
            process
            for process in psutil.process_iter(["environ", "cwd", "cmdline"])
            if str(served.data_dir) in (process.info["environ"] or {}).get("SEGUE_SESSION", "")
        ]
        if sum("sleep" in (process.info["cmdline"] or [""])[0] for process in found) >= 2 * pipeline:
            return found
        time.sleep(0.05)
    raise AssertionError("the agent did not start")


def living(processes: list[psutil.Process]) -> list[psutil.Process]:
    return [p for p in processes if p.is_running() and p.status() != psutil.STATUS_ZOMBIE]


def lines_of_the_readme() -> list[str]:
    """What the README tells to type in another terminal than the server's."""
    text = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    blocks: list[str] = re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
    block = next(block for block in blocks if "segue serve" in block)
    return block.partition("# in another terminal:\n")[2].replace("\\\n", "").splitlines()


@pytest.mark.skipif(not shutil.which("curl"), reason="the lines of the README need curl")
def test_the_lines_of_the_readme_work_as_they_are_printed(served: ServedSegue) -> None:
    submit, look, follow = (
        line.replace("localhost:8000", f"localhost:{served.client.base_url.port}")
        for line in lines_of_the_readme()
    )
    here = Path(sys.executable).parent
    environment = served.environment() | {"PATH": f"{here}{os.pathsep}{os.environ['PATH']}"}

    def type_in(line: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            ["sh", "-c", line],
            cwd=served.project,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,  # curl shows its progress there
            text=True,
            start_new_session=True,
        )

    submitted = json.loads(type_in(submit).communicate(timeout=120)[0])
    assert (submitted["id"], submitted["status"]) == (1, "running")
    following = type_in(follow)
    assert following.stdout is not None
    kinds = []
    for line in following.stdout:
        kinds += re.findall(r"^event: (\w+)", line)
        if "pipeline_done" in kinds or "pipeline_failed" in kinds:
            break
    os.killpg(following.pid, signal.SIGTERM)
    following.communicate(timeout=120)
    assert (kinds[0], kinds[-1]) == ("pipeline_created", "pipeline_done")
    shown = json.loads(type_in(look).communicate(timeout=120)[0])
    assert shown["status"] == "done"
    assert shown["steps"][0]["latest_handoff"]["metadata"]["what_was_done"] == ["Fixed it"]


def test_one_abort_stops_one_pipeline_with_every_process_of_its_agent(served: ServedSegue) -> None:
    make_repository(served.project)
    one = served.submit(template="wait", prompt="Wait.")["id"]
    of_one = agents_of(1, served)
    other = served.submit(template="wait", prompt="Wait.")["id"]
    of_other = [p for p in agents_of(2, served) if p not in of_one]
    response = served.client.post(f"/pipelines/{one}/abort", json={"reason": "wrong branch"})
    assert response.status_code == 200
    assert living(of_one) == []
    found = served.pipeline(one)
    assert (found["status"], found["reason"]) == ("aborted", "wrong branch")
    assert served.client.post(f"/pipelines/{one}/abort").status_code == 409
    assert served.pipeline(other)["status"] == "running"
    assert len(living(of_other)) >= 2
    aborted = served.run_cli("pipelines", "abort", str(other))
    assert aborted.returncode == 0, aborted
    assert living(of_other) == [], "an abort from another process reaches the agent"


def test_an_agent_outlives_its_server_and_is_joined_again(served: ServedSegue) -> None:
    write_catalog(
        served.project,
        "agents: {once: {backend: command, options: {command: [sh, -c, "
        '\'echo x >> runs; sleep 3; echo "## What Was Done"; echo "- Slept"\']}}}\n'
        "templates: {sleep: {steps: [{agent: once}]}}\n",
    )
    pipeline = served.submit(template="sleep", prompt="Sleep.")["id"]
    deadline = time.monotonic() + 120
    while not (served.project / "runs").exists():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    served.kill()
    served.start()
    ended = served.wait_for(pipeline, "done", "failed")
    assert ended["status"] == "done", ended["reason"]
    assert ended["steps"][0]["attempt_count"] == 1
    assert (served.project / "runs").read_text() == "x\n", "the program ran once"


def read_events(
    client: httpx.Client, path: str, until: str, headers: dict[str, str]
) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    with client.stream("GET", path, headers=headers) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        for event in events_in(response):
            found.append(event)
            if event[1] == until:
                return found
    raise AssertionError(found)


def events_in(response: httpx.Response) -> Iterator[tuple[str, str]]:
    """The id and the kind of each event of a stream, as it comes."""
    event_id, kind = "", ""
    for line in response.iter_lines():
        if line.startswith("event: "):
            kind = line.removeprefix("event: ")
        elif line.startswith("id: "):
            event_id = line.removeprefix("id: ")
        elif not line and kind:
            yield event_id, kind
            kind = ""


def test_events_come_live_and_can_be_resumed_without_a_gap(served: ServedSegue) -> None:
    with (
        httpx.Client(base_url=served.client.base_url, headers=served.client.headers, timeout=120) as listener,
        listener.stream("GET", "/events") as response,
    ):
        pipeline = served.submit(template="quick_fix", prompt="Fix it.")["id"]
        path = f"/pipelines/{pipeline}/events"
        whole = read_events(served.client, path, "pipeline_done", {})
        live = list(islice(events_in(response), len(whole)))
    assert sorted(kind for _, kind in live) == sorted(kind for _, kind in whole)
    assert "agent_said" in {kind for _, kind in live}, "what agents say comes live too"
    assert [kind for _, kind in whole][:2] == ["pipeline_created", "pipeline_started"]
    middle = whole[len(whole) // 2][0]
    rest = read_events(served.client, path, "pipeline_done", {"Last-Event-ID": middle})
    assert sorted(kind for _, kind in rest) == sorted(kind for _, kind in whole[len(whole) // 2 + 1 :])
    served.kill()
    served.start()
    again = read_events(served.client, path, "pipeline_done", {"Last-Event-ID": middle})
    assert sorted(kind for _, kind in again) == sorted(kind for _, kind in rest)


def test_a_polite_end_leaves_pipelines_for_the_next_start(served: ServedSegue) -> None:
    pipeline = served.submit(template="quick_fix", prompt="Fix it.")["id"]
    log = served.stop()
    assert "Traceback" not in log
    served.start()
    assert served.wait_for(pipeline, "done", "failed")["status"] == "done"
