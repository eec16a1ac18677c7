"""kill -9 of an agent, of a command it runs, or of Segue: always a handoff says what is there."""

from __future__ import annotations

import json
import random
import sqlite3
import subprocess
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.serving import ServedSegue, write_catalog

pytestmark = pytest.mark.thorough

KILLS = 10
STATE = "git status --porcelain --untracked-files=all --no-renames"

AGENT = f"""#!/bin/sh
# $1: strict or tolerant. Every attempt writes down what it finds, outside of its worktree.
mine=$NOTES_FOLDER/$(basename "$PWD"); mkdir -p "$mine"
{STATE} > "$mine/begin.part"; mv "$mine/begin.part" "$mine/begin-$(date +%s.%N)"
echo $$ > "$mine/agent.part"; mv "$mine/agent.part" "$mine/agent"
for number in $(seq 20); do
    sh "$NOTES_FOLDER/command.sh" $number "$mine" || [ "$1" = tolerant ] || exit 1
done
while [ "$1" = patient ] && ! [ -e "$NOTES_FOLDER/go" ]; do sleep 0.1; done
printf '## What Was Done\\n- Worked on the files.\\n\\n## Next Agent Context\\nGo on.\\n'
"""

COMMAND = """#!/bin/sh
# One of the steps of an agent: makes a file, changes one, removes one.
echo $$ > "$2/command.part"; mv "$2/command.part" "$2/command"
echo "$1" >> "made $1.txt"
sleep 0.15
echo "# $1" >> old.py
[ "$1" != 3 ] || rm -f gone.txt
sleep 0.15
"""

CATALOG = """
agents:
  strict: {{backend: command, options: {{command: ["{agent}", strict], pass_env: [NOTES_FOLDER]}}}}
  tolerant: {{backend: command, options: {{command: ["{agent}", tolerant], pass_env: [NOTES_FOLDER]}}}}
  patient: {{backend: command, options: {{command: ["{agent}", patient], pass_env: [NOTES_FOLDER]}}}}
  scripted:
    backend: scripted
    options:
      actions:
        - run: [sh, -c, '{state} > "{notes}/scripted-$(date +%s.%N)"']
        {work}
        - say: "## What Was Done\\n- Worked on the files.\\n\\n## Next Agent Context\\nGo on."
templates:
  strict: {{steps: [{{agent: strict}}]}}
  tolerant: {{steps: [{{agent: tolerant}}]}}
  patient: {{steps: [{{agent: patient}}]}}
  scripted: {{steps: [{{agent: scripted}}]}}
"""

WORK = "\n        ".join(
    f'- append: {{path: "made {number}.txt", text: "x"}}\n'
    f'        - run: [sh, -c, "echo >> old.py; sleep 0.1; [ {number} != 3 ] || rm -f gone.txt"]\n'
    "        - delay: 0.2"
    for number in range(1, 9)
)


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "command.sh").write_text(COMMAND)
    (folder / "agent.sh").write_text(AGENT)
    (folder / "agent.sh").chmod(0o755)
    return folder


@pytest.fixture
def served(tmp_path: Path, repository: Path, notes: Path) -> Iterator[ServedSegue]:
    catalog = CATALOG.format(agent=notes / "agent.sh", notes=notes, state=STATE, work=WORK)
    (repository / "gone.txt").write_text("soon\n")
    write_catalog(repository, catalog)
    identity = ["-c", "user.name=T", "-c", "user.email=t@example.org"]
    for arguments in (["add", "."], ["commit", "-qm", "More"]):
        subprocess.run(["git", *identity, *arguments], cwd=repository, check=True)
    segue = ServedSegue(repository, tmp_path / "data", NOTES_FOLDER=str(notes))
    segue.start()
    yield segue
    segue.close()


def test_the_agent_is_killed(served: ServedSegue, notes: Path) -> None:
    at_work = 0
    for pipeline in _kill_in_each(served, notes, "agent", ["strict"] * KILLS, random.Random(1)):
        ended = served.wait_for(pipeline, "failed", "done")
        assert ended["status"] == "failed"
        assert "SIGKILL" in ended["reason"]
        at_work += _check_state(served, ended)
    assert at_work > KILLS // 2


def test_a_command_of_the_agent_is_killed(served: ServedSegue, notes: Path) -> None:
    templates = ["strict"] * 7 + ["tolerant"] * 3
    pipelines = _kill_in_each(served, notes, "command", templates, random.Random(2))
    for pipeline, template in zip(pipelines, templates, strict=True):
        ended = served.wait_for(pipeline, "failed", "done")
        if template == "strict":
            assert ended["status"] == "failed"
            _check_state(served, ended)
        else:  # this one lives on without its command, and hands off by itself
            assert ended["status"] == "done"
            assert not ended["steps"][0]["latest_handoff"]["is_synthetic"]


def test_segue_is_killed(served: ServedSegue, notes: Path) -> None:
    rng = random.Random(3)
    scripted = served.submit(template="scripted", prompt="Work.")["id"]
    patient = served.submit(template="patient", prompt="Work.")["id"]
    mortal = served.submit(template="patient", prompt="Work.")["id"]
    agent = _pid(notes, patient, "agent")
    killed_too = 0
    for kill in range(KILLS):
        if kill < 3:  # on a slow machine, a server may be killed before it has begun anew
            _wait_for_files(notes, "scripted-*", kill + 1)
        time.sleep(rng.uniform(0.1, 1.2))
        served.kill()
        if kill % 3 == 0 and _end_tree(notes, mortal):
            killed_too += 1
        served.start()
    (notes / "go").touch()
    ended = {each: served.wait_for(each, "done", "failed") for each in (scripted, patient, mortal)}
    assert {each["status"] for each in ended.values()} == {"done"}, ended

    # The agent that lived was joined again: one attempt, one process, its own handoff.
    assert _pid(notes, patient, "agent") == agent
    assert [each["status"] for each in _tries(served, patient)] == ["done"]
    assert not ended[patient]["steps"][0]["latest_handoff"]["is_synthetic"]
    assert not _synthetic(served, patient)

    # Those that were cut off: one synthetic handoff each, which says what the next attempt found.
    place = ended[mortal]["workspace"]["path"]
    begun = {scripted: notes.glob("scripted-*"), mortal: (notes / Path(place).name).glob("begin-*")}
    for pipeline, found in begun.items():
        lost = [each for each in _tries(served, pipeline) if each["status"] == "lost"]
        left = _synthetic(served, pipeline)
        assert len(lost) == len(left) >= (3 if pipeline == scripted else killed_too)
        seen = sorted((float(path.name.partition("-")[2]), _read_state(path.read_text())) for path in found)
        compared = 0
        for before, (at, state) in zip([0.0, *(at for at, _ in seen)], seen, strict=False):
            for handoff in (each for when, each in left if before < when < at):
                assert _told(handoff) == state
                compared += 1
        assert compared == len(left)
    assert killed_too


def _kill_in_each(
    served: ServedSegue, notes: Path, what: str, templates: list[str], rng: random.Random
) -> list[int]:
    """Begin pipelines, and kill an agent or a command in each, at a moment of its own."""

    def run(template: str, moment: float) -> int:
        pipeline: int = served.submit(template=template, prompt="Work.")["id"]
        _pid(notes, pipeline, what)
        time.sleep(moment)
        for _ in range(200):  # a command may end by itself this very moment: then the next one is taken
            try:
                process = psutil.Process(_pid(notes, pipeline, what))
                process.suspend()  # one that has ended cannot be stopped: then it stays what it is
                if process.status() != psutil.STATUS_ZOMBIE:
                    process.kill()
                    return pipeline
            except psutil.NoSuchProcess:
                time.sleep(0.005)
        raise AssertionError(f"pipeline {pipeline} had ended before its {what} could be killed")

    moments = [rng.uniform(0.0, 1.5) for _ in templates]
    with ThreadPoolExecutor(len(templates)) as pool:
        return list(pool.map(run, templates, moments))


def _pid(notes: Path, pipeline: int, what: str) -> int:
    _wait_for_files(notes / str(pipeline), what, 1)
    return int((notes / str(pipeline) / what).read_text())


def _wait_for_files(folder: Path, name: str, count: int) -> None:
    deadline = time.monotonic() + 120
    while len(list(folder.glob(name))) < count:
        assert time.monotonic() < deadline, f"{folder} has no {count} {name}"
        time.sleep(0.01)


def _end_tree(notes: Path, pipeline: int) -> bool:
    """Kill an agent with its supervisor and all it runs, if it lives."""
    try:
        agent = psutil.Process(int((notes / str(pipeline) / "agent").read_text()))
        family = [*agent.parents()[:1], agent, *agent.children(recursive=True)]
        assert "segue-agent" in " ".join(family[0].cmdline())
    except (psutil.Error, FileNotFoundError):
        return False
    for process in family:  # the supervisor first: it must not write down how its program ended
        with suppress(psutil.NoSuchProcess):
            process.kill()
    psutil.wait_procs(family, timeout=120)
    return True


def _tries(served: ServedSegue, pipeline: int) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = served.client.get(f"/pipelines/{pipeline}/steps/1").json()["attempts"]
    return found


def _synthetic(served: ServedSegue, pipeline: int) -> list[tuple[float, dict[str, Any]]]:
    """When they were written, and the records."""
    step = served.pipeline(pipeline)["steps"][0]["id"]
    query = (
        "SELECT strftime('%s', created_at) + mod(strftime('%f', created_at), 1), metadata_json FROM handoffs "
        "WHERE step_id = ? AND is_synthetic ORDER BY id"
    )
    with closing(sqlite3.connect(served.data_dir / "segue.db")) as database:
        return [(at, json.loads(record)) for at, record in database.execute(query, (step,))]


def _check_state(served: ServedSegue, ended: Mapping[str, Any]) -> bool:
    """The handoff says what is there; true if that is something."""
    step, place = ended["steps"][0], ended["workspace"]["path"]
    handoff = step["latest_handoff"]
    assert handoff["is_synthetic"]
    assert len(_synthetic(served, ended["id"])) == len(_tries(served, ended["id"])) == 1
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=place, capture_output=True, text=True, check=True)
    assert step["base_mark"] == head.stdout.strip(), "so the status is what changed since the step began"
    state = subprocess.run(STATE.split(), cwd=place, capture_output=True, text=True, check=True).stdout
    assert _told(handoff["metadata"]) == _read_state(state)
    return bool(state)


def _read_state(status: str) -> dict[str, set[str]]:
    """`git status --porcelain`, by what happened."""
    state: dict[str, set[str]] = {"added": set(), "modified": set(), "deleted": set()}
    for line in status.splitlines():
        kind = {"??": "added", " M": "modified", " D": "deleted"}[line[:2]]
        state[kind].add(line[3:].strip('"'))
    return state


def _told(record: Mapping[str, Any]) -> dict[str, set[str]]:
    deleted = [line.split(" (")[0] for line in record.get("what_was_done", ()) if line.startswith("deleted ")]
    return {
        "added": {each["path"] for each in record.get("files_created", ())},
        "modified": {each["path"] for each in record.get("files_modified", ())},
        "deleted": {line.removeprefix("deleted ") for line in deleted},
    }
