"""Two machines with one PostgreSQL, each with a data folder of its own: what one leaves, the other ends."""

from __future__ import annotations

import os
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from segue.testing import trust_project
from tests.git.repositories import commit, git, new_repository
from tests.serving import ServedSegue

pytestmark = pytest.mark.thorough

_AGENT = """#!/bin/sh
cat > {folder}/briefing
step=$(( $(ls step-*.txt 2> /dev/null | wc -l) + 1 ))
cp {folder}/briefing {folder}/briefing-$step-$$
echo $$ > {folder}/agent-$step-$$
if [ $step = 3 ]; then
  echo half > unfinished.txt
  while [ ! -e {folder}/go ]; do sleep 0.1; done
fi
echo "$step" > step-$step.txt
echo "Done: wrote step-$step.txt."
"""


class Machines:
    """Two of them, what they share, and what is only on the first."""

    def __init__(self, folder: Path, database: str, mine: Path) -> None:
        self.folder, self.mine = folder, mine
        self.shared = folder / "shared"
        self.shared.mkdir()
        agent = self.shared / "agent.sh"
        agent.write_text(_AGENT.format(folder=self.shared))
        agent.chmod(0o755)
        config = folder / "config"
        config.mkdir()
        (config / "catalog.yaml").write_text(
            f"agents:\n  writer: {{backend: command, options: {{command: [{agent}]}}}}\n"
        )
        (folder / "elsewhere").mkdir()
        self.first, self.second = (
            ServedSegue(cwd, data, SEGUE_DATABASE_URL=database, SEGUE_CONFIG_DIR=str(config))
            for cwd, data in ((mine, folder / "first"), (folder / "elsewhere", folder / "second"))
        )

    def submit(self, steps: int = 4, agent: str = "writer", **more: str) -> int:
        submitted = self.first.submit(
            prompt="Write the files.",
            custom_steps=[{"agent": agent, "description": "Write one."}] * steps,
            working_dir=str(self.mine),
            **more,
        )
        found: int = submitted["id"]
        return found

    def wait_for_agents(self, step: int, count: int) -> None:
        deadline = time.monotonic() + 120
        while len(list(self.shared.glob(f"agent-{step}-*"))) < count:
            assert time.monotonic() < deadline, self.first.log()
            time.sleep(0.05)

    def lose_first(self) -> None:
        """Its power is cut, and nobody sees its disks again."""
        self.first.close()
        for file in self.shared.glob("agent-*"):
            with suppress(ProcessLookupError):
                os.killpg(os.getpgid(int(file.read_text())), signal.SIGKILL)
        shutil.rmtree(self.folder / "first")
        shutil.rmtree(self.mine)

    def close(self) -> None:
        (self.shared / "go").touch()
        self.first.close()
        self.second.close()


ALONE, WITH_ORIGIN = "a repository of this machine alone", "one with an origin and more"
in_a_repository_of_its_own = pytest.mark.parametrize("machines", [ALONE], indirect=True)


@pytest.fixture(params=[ALONE, WITH_ORIGIN])
def machines(request: pytest.FixtureRequest, tmp_path: Path, postgres_url: str) -> Iterator[Machines]:
    mine = new_repository(tmp_path / "mine", {"README": "hello\n"})
    if request.param == WITH_ORIGIN:
        git(tmp_path, "clone", "-q", "--bare", str(mine), str(tmp_path / "origin.git"))
        shutil.rmtree(mine)
        git(tmp_path, "clone", "-q", f"file://{tmp_path}/origin.git", str(mine))
        (mine / "unpushed.txt").write_text("not pushed\n")
        git(mine, "add", "-A")
        git(mine, "commit", "-qm", "Never pushed")
    made = Machines(tmp_path, postgres_url, mine)
    made.first.start()
    yield made
    made.close()


def test_a_machine_that_is_lost_for_good_in_the_middle_of_a_step(machines: Machines) -> None:
    pipeline = machines.submit()
    machines.wait_for_agents(3, 1)
    before = machines.first.pipeline(pipeline)
    machines.lose_first()
    (machines.shared / "go").touch()
    machines.second.start()
    ended = machines.second.wait_for(pipeline, "done", "failed", "aborted")
    assert ended["status"] == "done", ended
    assert [step["attempt_count"] for step in ended["steps"]] == [1, 1, 2, 1]
    commits = [step["end_commit"] for step in ended["steps"]]
    assert commits[:2] == [step["end_commit"] for step in before["steps"]][:2]
    (clone,) = (machines.folder / "second" / "repositories").glob("*/*")
    assert git(clone, "log", "--reverse", "--format=%H", f"-{len(commits)}", commits[-1]).split() == commits
    (again,) = [file for file in machines.shared.glob("briefing-3-*") if "is gone" in file.read_text()]
    assert "An earlier attempt was cut off" in again.read_text()
    diff = machines.second.client.get(f"/pipelines/{pipeline}/diff").text
    assert all(f"+++ b/step-{number}.txt" in diff for number in (1, 2, 3, 4))
    assert "unfinished.txt" in diff, "the second attempt wrote it, too"


@in_a_repository_of_its_own
def test_a_machine_that_comes_back_with_empty_disks_and_the_same_paths(machines: Machines) -> None:
    pipeline = machines.submit()
    machines.wait_for_agents(3, 1)
    machines.lose_first()
    machines.mine.mkdir()
    machines.first = machines.first.like()
    machines.first.start()
    (machines.shared / "go").touch()
    ended = machines.first.wait_for(pipeline, "done", "failed", "aborted")
    assert ended["status"] == "done", ended
    assert [step["attempt_count"] for step in ended["steps"]] == [1, 1, 2, 1]
    assert Path(ended["workspace"]["path"]).is_relative_to(machines.folder / "first")


def test_a_worker_that_is_killed_with_four_pipelines_and_what_it_left(machines: Machines) -> None:
    first, second = machines.first, machines.second
    pipelines = [machines.submit(3) for _ in range(4)]
    machines.wait_for_agents(3, 4)
    left = [int(file.read_text()) for file in machines.shared.glob("agent-3-*")]
    first.kill()
    second.start()
    machines.wait_for_agents(3, 8)
    assert all(psutil.pid_exists(pid) for pid in left), "only the worker was killed"
    first.start()
    wait_until(lambda: not any(psutil.pid_exists(pid) for pid in left))
    wait_until(lambda: len(session_folders(machines.folder / "first")) == 0)
    wait_until(lambda: list((machines.folder / "first" / "worktrees").glob("*/[0-9]*")) == [])
    (machines.shared / "go").touch()
    ended = [second.wait_for(each, "done", "failed", "aborted") for each in pipelines]
    assert [each["status"] for each in ended] == ["done"] * 4, ended
    assert [[step["attempt_count"] for step in each["steps"]] for each in ended] == [[1, 1, 2]] * 4

    seen_from_first = first.client.get(f"/pipelines/{pipelines[0]}/diff").text
    assert seen_from_first == second.client.get(f"/pipelines/{pipelines[0]}/diff").text
    assert "+++ b/step-3.txt" in seen_from_first
    away = machines.mine.rename(machines.folder / "away")
    refused = second.run_cli("pipelines", "merge", str(pipelines[0]))
    away.rename(machines.mine)
    assert refused.returncode == 1
    assert f"{machines.mine} is not its repository here" in refused.stderr
    merged = first.run_cli("pipelines", "merge", str(pipelines[0]))
    assert merged.returncode == 0, merged.stderr
    assert (machines.mine / "step-3.txt").is_file()
    cleaned = first.run_cli("pipelines", "clean", str(pipelines[0]))
    assert "on another machine" in cleaned.stderr
    assert second.run_cli("pipelines", "clean", str(pipelines[0])).returncode == 0


@in_a_repository_of_its_own
def test_a_worker_that_slept_while_another_one_took_over(machines: Machines) -> None:
    pipeline = machines.submit(3)
    machines.wait_for_agents(3, 1)
    os.kill(machines.first.pid, signal.SIGSTOP)
    machines.second.start()
    machines.wait_for_agents(3, 2)
    os.kill(machines.first.pid, signal.SIGCONT)
    wait_until(lambda: "lease_lost" in machines.first.log())
    (machines.shared / "go").touch()
    ended = machines.second.wait_for(pipeline, "done", "failed", "aborted")
    assert ended["status"] == "done", ended
    assert [step["attempt_count"] for step in ended["steps"]] == [1, 1, 2]
    assert "Traceback" not in machines.first.log()


@in_a_repository_of_its_own
def test_a_worker_of_the_same_machine_goes_first_and_joins_the_agent(machines: Machines) -> None:
    neighbour = machines.first.like()
    try:
        neighbour.start()
        pipeline = machines.submit(3)
        machines.wait_for_agents(3, 1)
        machines.second.start()
        first_worker = machines.second.pipeline(pipeline)["worker_id"]
        machines.first.kill()
        wait_until(lambda: machines.second.pipeline(pipeline)["worker_id"] not in (None, first_worker))
        (machines.shared / "go").touch()
        ended = machines.second.wait_for(pipeline, "done", "failed", "aborted")
    finally:
        neighbour.close()
    assert ended["status"] == "done", ended
    assert [step["attempt_count"] for step in ended["steps"]] == [1, 1, 1], "its agent was joined"


@in_a_repository_of_its_own
def test_a_run_that_had_not_begun_begins_on_another_machine(machines: Machines) -> None:
    machines.first.close()
    machines.first = machines.first.like(SEGUE_MAX_RUNNING="1")
    machines.first.start()
    begun, waiting = machines.submit(4), machines.submit(2)
    machines.wait_for_agents(3, 1)
    assert machines.first.pipeline(waiting)["status"] == "pending"
    machines.lose_first()
    (machines.shared / "go").touch()
    machines.second.start()
    ended = [machines.second.wait_for(each, "done", "failed", "aborted") for each in (begun, waiting)]
    assert [each["status"] for each in ended] == ["done", "done"], ended


@in_a_repository_of_its_own
def test_a_run_of_a_trusted_project_begins_on_a_machine_without_it(machines: Machines) -> None:
    script = machines.mine / "agent.sh"
    script.write_text("#!/bin/sh\ncat > /dev/null\necho 'Done: the work.'\n")
    script.chmod(0o755)
    (machines.mine / ".segue").mkdir()
    (machines.mine / ".segue" / "catalog.yaml").write_text(
        "agents: {own: {backend: command, options: {command: [./agent.sh]}}}\n"
    )
    commit(machines.mine, "Our agent")
    git(machines.mine, "checkout", "-qb", "pr")
    script.write_text("#!/bin/sh\necho 'Done: something worse.'\n")
    commit(machines.mine, "Worse")
    git(machines.mine, "checkout", "-q", "-")
    trust_project(machines.mine, data_dir=machines.folder / "first")
    machines.first.close()
    machines.first = machines.first.like(SEGUE_MAX_RUNNING="1")
    machines.first.start()
    machines.submit(3)
    trusted, worse = machines.submit(1, agent="own"), machines.submit(1, agent="own", branch="pr")
    machines.wait_for_agents(3, 1)
    machines.lose_first()
    machines.second.start()
    (machines.shared / "go").touch()
    assert machines.second.wait_for(trusted, "done", "failed", "aborted")["status"] == "done"
    failed = machines.second.wait_for(worse, "done", "failed", "aborted")
    assert "the branch pr has other scripts than those that you trusted" in failed["reason"]


@in_a_repository_of_its_own
def test_a_run_in_place_waits_for_its_machine(machines: Machines) -> None:
    first, second = machines.first, machines.second
    pipeline = machines.submit(3, workspace="in_place")
    machines.wait_for_agents(3, 1)
    first.kill()
    second.start()
    refused = second.run_cli("pipelines", "resume", str(pipeline))
    assert refused.returncode != 0
    assert "only a Segue with the same data folder can continue it" in refused.stderr
    assert second.pipeline(pipeline)["worker_id"] is None
    first.start()
    (machines.shared / "go").touch()
    ended = first.wait_for(pipeline, "done", "failed", "aborted")
    assert ended["status"] == "done", ended
    assert [step["attempt_count"] for step in ended["steps"]] == [1, 1, 1], "its agent was joined"


def session_folders(data: Path) -> list[Path]:
    return list((data / "sessions").glob("*/command/*"))


def wait_until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not holds():
        assert time.monotonic() < deadline, "it did not come to pass"
        time.sleep(0.1)
