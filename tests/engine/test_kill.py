"""kill -9 of `segue serve`, at any moment, any number of times."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.serving import ServedSegue, write_catalog

STEPS = 5
KILLS = 10

_AGENT = """
  agent{n}:
    backend: scripted
    options:
      actions:
        - append: {{path: runs.log, text: "begin {n}\\n"}}
        - delay: 0.12
        - write: {{path: "file{n}.txt", text: "made by {n}\\n"}}
        - delay: 0.12
        - append: {{path: runs.log, text: "end {n}\\n"}}
        - say: "## What Was Done\\n- Made file{n}.txt\\n\\n## Next Agent Context\\nGo on after {n}."
"""

CATALOG = (
    "agents:"
    + "".join(_AGENT.format(n=n) for n in range(1, STEPS + 1))
    + "templates:\n  chain:\n    steps:\n"
    + "".join(f"      - {{agent: agent{n}, description: Make file{n}.txt.}}\n" for n in range(1, STEPS + 1))
)


@pytest.fixture
def served(tmp_path: Path, project: Path) -> Iterator[ServedSegue]:
    write_catalog(project, CATALOG)
    segue = ServedSegue(project, tmp_path / "data")
    segue.start()
    yield segue
    segue.close()


@pytest.mark.thorough
def test_ten_kills_lose_nothing_and_repeat_no_finished_step(served: ServedSegue) -> None:
    undisturbed = served.submit(template="chain", prompt="Make five files.")["id"]
    assert served.wait_for(undisturbed, "done", "failed")["status"] == "done"
    (served.project / "runs.log").unlink()

    rng = random.Random(20261115)
    pipeline = served.submit(template="chain", prompt="Make five files.")["id"]
    begun_when_done: dict[int, int] = {}
    for kill in range(1, KILLS + 1):
        time.sleep(rng.uniform(0.0, 0.5))
        while kill == KILLS // 2 and not _done(served, pipeline):
            time.sleep(0.02)  # on a slow machine, the first steps need more than these moments
        done = _done(served, pipeline)
        begun_when_done |= {n: _begun(served, n) for n in done if n not in begun_when_done}
        served.kill()
        served.start()
    ended = served.wait_for(pipeline, "done", "failed")

    assert ended["status"] == "done", ended["reason"]
    assert [step["status"] for step in ended["steps"]] == ["done"] * STEPS
    assert begun_when_done, "no kill came after a step was done: the test shows nothing"
    assert {n: _begun(served, n) for n in begun_when_done} == begun_when_done
    for number in range(1, STEPS + 1):
        *cut_off, last = served.client.get(f"/pipelines/{pipeline}/steps/{number}").json()["attempts"]
        assert last["status"] == "done"
        assert {each["status"] for each in cut_off} <= {"lost"}
        assert _begun(served, number) <= len(cut_off) + 1
    assert _briefing(served, pipeline) == _briefing(served, undisturbed)


def test_a_killed_server_goes_on_at_the_next_start_and_says_so(served: ServedSegue) -> None:
    pipeline = served.submit(template="chain", prompt="Make five files.")["id"]
    served.wait_for(pipeline, "running")
    served.kill()
    listed = served.run_cli("pipelines", "list")
    assert "interrupted" in listed.stdout, listed
    served.start()
    ended = served.wait_for(pipeline, "done", "failed")
    assert ended["status"] == "done"
    events = served.client.get(f"/pipelines/{pipeline}/steps/1").json()["attempts"]
    assert events[-1]["status"] == "done"


@pytest.mark.thorough
def test_an_interrupted_pipeline_goes_on_in_the_foreground(served: ServedSegue) -> None:
    pipeline = served.submit(template="chain", prompt="Make five files.")["id"]
    served.kill()
    resumed = served.run_cli("pipelines", "resume", str(pipeline))
    assert resumed.returncode == 0, resumed
    assert resumed.stdout.startswith("Done in ")
    again = served.run_cli("pipelines", "resume", str(pipeline))
    assert again.returncode == 1
    assert "nothing to continue" in again.stderr


def _briefing(served: ServedSegue, pipeline: int) -> str:
    tries = served.client.get(f"/pipelines/{pipeline}/steps/{STEPS}").json()["attempts"]
    assert len({each["briefing"] for each in tries}) == 1
    found: str = tries[-1]["briefing"]
    return found


def _done(served: ServedSegue, pipeline: int) -> list[int]:
    """The numbers of the steps that are done."""
    steps = served.pipeline(pipeline)["steps"]
    return [step["order_index"] + 1 for step in steps if step["status"] == "done"]


def _begun(served: ServedSegue, number: int) -> int:
    """How often the agent of a step has begun to work."""
    return (served.project / "runs.log").read_text().count(f"begin {number}\n")
