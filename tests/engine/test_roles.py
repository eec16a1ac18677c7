"""`segue worker` and `segue serve --front`: who takes pipelines in, who runs them, and how they end."""

from __future__ import annotations

import shutil
import signal
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.engine.roles import Machine, begun, patient_agent, wait_until
from tests.git.repositories import new_repository
from tests.warm import run_warm


@pytest.mark.parametrize("command", [("worker",), ("serve", "--front", "--port", "0")])
def test_without_postgresql_nobody_else_could_do_the_work(tmp_path: Path, command: tuple[str, ...]) -> None:
    environment = {"PATH": "", "HOME": str(tmp_path), "SEGUE_DATA_DIR": str(tmp_path / "data")}
    done = run_warm(*command, cwd=tmp_path, env=environment)
    assert done.returncode == 2
    assert "needs PostgreSQL" in done.stderr
    assert "SEGUE_DATABASE_URL=postgresql://" in done.stderr


@pytest.mark.thorough
def test_a_worker_whose_tools_would_be_served_by_http_says_so(tmp_path: Path) -> None:
    environment = {"PATH": "", "HOME": str(tmp_path), "SEGUE_MCP": "http"}
    environment |= {"SEGUE_DATABASE_URL": "postgresql://localhost/none"}
    done = run_warm("worker", cwd=tmp_path, env=environment)
    assert (done.returncode, '"mcp" is http' in done.stderr) == (2, True)


def wait_for(client: httpx.Client, pipeline_id: int, *statuses: str) -> dict[str, Any]:
    found: dict[str, Any] = {}

    def look() -> bool:
        found.update(client.get(f"/pipelines/{pipeline_id}").json())
        return found["status"] in statuses

    wait_until(look, lambda: str(found))
    return found


def submit(client: httpx.Client, repo: Path) -> dict[str, Any]:
    steps = [{"agent": "developer", "description": "Greet."}, {"agent": "developer", "description": "Again."}]
    asked = {"prompt": "Add a greeting.", "custom_steps": steps, "working_dir": str(repo)}
    response = client.post("/pipelines", json=asked)
    assert response.status_code == 201, response.text
    found: dict[str, Any] = response.json()
    return found


def test_a_front_shows_all_that_a_worker_made_whose_disk_is_gone(tmp_path: Path, postgres_url: str) -> None:
    repo = new_repository(tmp_path / "repo", {"a.txt": "a\n"})
    agent = patient_agent(tmp_path)
    (tmp_path / "go").touch()
    with Machine(
        tmp_path / "one", "serve", "--front", "--port", "0", database=postgres_url, agent=agent
    ) as front:
        client = front.client()
        assert client.get("/health").json()["engine"] == "elsewhere"
        submitted = submit(client, repo)
        assert submitted["status"] == "pending"
        with Machine(tmp_path / "two", "worker", database=postgres_url, agent=agent) as worker:
            ended = wait_for(client, submitted["id"], "done", "failed")
            assert ended["status"] == "done", ended
            assert worker.end() == 0
            shutil.rmtree(worker.data_dir)
        assert not list(front.data_dir.glob("worktrees/*/[0-9]*")), "the front did no work itself"
        place = f"/pipelines/{submitted['id']}"
        diff = client.get(f"{place}/diff")
        assert diff.status_code == 200, diff.text
        assert "+hello" in diff.text
        shown = client.get(f"{place}/steps/1").json()
        verdicts = [each["verdict"] for each in shown["latest_handoff"]["ledger"]["entries"]]
        assert verdicts == ["confirmed"]
        assert "greeting.txt" in str(shown["latest_handoff"])
        assert client.get("/audit/verify").json()["is_whole"]
        # A token that another machine made is known here.
        made = run_warm(
            *("token", "new", "ci", "--role", "read"),
            cwd=tmp_path,
            env={
                "PATH": "",
                "HOME": str(tmp_path),
                "SEGUE_DATA_DIR": str(tmp_path / "three"),
                "SEGUE_DATABASE_URL": postgres_url,
            },
        )
        value = made.stdout.split()[-1]
        assert client.get(place, headers={"Authorization": f"Bearer {value}"}).status_code == 200
        assert front.end() == 0


def test_a_drained_worker_ends_its_step_and_another_one_continues(tmp_path: Path, postgres_url: str) -> None:
    repo = new_repository(tmp_path / "repo", {"a.txt": "a\n"})
    agent = patient_agent(tmp_path)
    front = Machine(tmp_path / "one", "serve", "--front", "--port", "0", database=postgres_url, agent=agent)
    first = Machine(tmp_path / "two", "worker", database=postgres_url, agent=agent)
    with front, first:
        client = front.client()
        submitted = submit(client, repo)
        wait_until(lambda: begun(tmp_path))
        first.process.terminate()
        first.says("^ending: 1 running")
        later = submit(client, new_repository(tmp_path / "other", {"a.txt": "a\n"}))
        (tmp_path / "go").touch()
        assert first.process.wait(120) == 0
        assert "unfinished" not in first.log()
        shown = client.get(f"/pipelines/{submitted['id']}").json()
        assert [step["status"] for step in shown["steps"]] == ["done", "pending"]
        assert begun(tmp_path) == 1, (tmp_path / "begun").read_text()
        with Machine(tmp_path / "three", "worker", database=postgres_url, agent=agent) as second:
            for each in (submitted, later):
                ended = wait_for(client, each["id"], "done", "failed")
                assert [step["attempt_count"] for step in ended["steps"]] == [1, 1]
                assert ended["status"] == "done"
            assert begun(tmp_path) == 4
            assert second.end() == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_second_signal_does_not_wait(tmp_path: Path, postgres_url: str, number: signal.Signals) -> None:
    repo = new_repository(tmp_path / "repo", {"a.txt": "a\n"})
    agent = patient_agent(tmp_path)
    with Machine(tmp_path / "one", "serve", "--port", "0", database=postgres_url, agent=agent) as server:
        client = server.client()
        submitted = submit(client, repo)
        wait_until(lambda: begun(tmp_path))
        server.process.terminate()
        server.says("^ending: 1 running")
        assert client.get("/health").json()["engine"] == "draining"
        server.process.send_signal(number)
        assert server.process.wait(120) == 0
        assert "1 unfinished" in server.log()
        (tmp_path / "go").touch()
        with Machine(tmp_path / "two", "serve", "--port", "0", database=postgres_url, agent=agent) as other:
            assert wait_for(other.client(), submitted["id"], "done", "failed")["status"] == "done"
