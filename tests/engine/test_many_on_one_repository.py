"""Twenty pipelines at once on one repository: none disturbs another, none disturbs the user."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from segue.application.pipelines.submit import PipelineRequest
from segue.testing import ScriptedBackend, build_test_segue, follow_to_end
from tests.git.flow import checkout_of
from tests.git.repositories import git
from tests.trusting import write_project

pytestmark = pytest.mark.thorough

RUNS = 20
LOCKED = ("index.lock", "unable to lock", "cannot lock", "file exists")
WORK = """
set -e
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
for number in 1 2 3; do
    echo NAME $number >> shared.txt
    echo NAME > "NAME-$number.txt"
    git add --all
    git commit -qm "NAME $number"
done
git stash list
echo rest > NAME-rest.txt
"""


def _catalog() -> dict[str, Any]:
    agents, templates = {}, {}
    for number in range(RUNS):
        name = f"agent{number}"
        record = {"what_was_done": [f"Added {name}-1.txt."], "files_created": [f"{name}-1.txt"]}
        said = f"## Handoff\n\n```json\n{json.dumps({**record, 'outcome': 'completed'})}\n```\n"
        actions = [{"run": ["sh", "-c", WORK.replace("NAME", name)]}, {"say": "exit {exit_code}: {output}"}]
        agents[name] = {"backend": "scripted", "options": {"actions": [*actions, {"say": said}]}}
        templates[name] = {"steps": [{"agent": name}, {"agent": name}]}
    return {"agents": agents, "templates": templates}


def _make_dirty(repository: Path) -> None:
    """Staged, unstaged and untracked work, and something in the stash."""
    (repository / "old.py").write_text("STASHED = 1\n")
    git(repository, "stash", "-q")
    (repository / "staged.txt").write_text("staged\n")
    git(repository, "add", "staged.txt")
    (repository / "staged.txt").write_text("staged, then changed\n")
    (repository / "old.py").write_text("OLD = 2\n")
    (repository / "untracked.txt").write_text("untracked\n")


@pytest.mark.parametrize("state", ["clean", "dirty"])
async def test_twenty_at_once(
    tmp_path: Path, repository: Path, state: str, capfd: pytest.CaptureFixture[str]
) -> None:
    (repository / "shared.txt").write_text("shared\n")
    write_project(repository, json.dumps(_catalog()), "many.yaml")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "Shared")
    if state == "dirty":
        _make_dirty(repository)
    status, stash = git(repository, "status", "--porcelain"), git(repository, "stash", "list")
    before = checkout_of(repository)
    runs = RUNS if state == "dirty" else 4
    async with build_test_segue(tmp_path, ScriptedBackend()) as segue:
        submitted = [
            await segue.pipelines.submit(
                PipelineRequest(template=f"agent{number}", prompt="Work.", working_dir=str(repository))
            )
            for number in range(runs)
        ]
        ended = [await follow_to_end(segue, each.id) for each in submitted]
        steps = [await segue.views.step(each.id, number) for each in ended for number in (1, 2)]
    assert [each.reason for each in ended if each.status != "done"] == []
    for number, pipeline in enumerate(ended):
        assert pipeline.workspace is not None
        branch, name = pipeline.workspace.branch or "", f"agent{number}"
        own = [f"{name}-{count}.txt" for count in (1, 2, 3)] + [f"{name}-rest.txt"]
        assert git(repository, "diff", "--name-only", "main", branch).splitlines() == sorted(
            [*own, "shared.txt"]
        )
        expected = ["shared"] + [f"{name} {count}" for count in (1, 2, 3)] * 2
        assert git(repository, "show", f"{branch}:shared.txt").splitlines() == expected
        mine = [f"{name}: Work.", f"{name} 3", f"{name} 2", f"{name} 1"]
        assert git(repository, "log", "--format=%s", f"main..{branch}").splitlines() == mine * 2
    assert len({each.workspace.path for each in ended if each.workspace}) == runs
    said = "\n".join(each.attempts[0].reply or "" for each in steps) + "".join(capfd.readouterr())
    assert not [word for word in LOCKED if word in said.lower()], said
    assert said.count("exit 0") == 2 * runs
    assert checkout_of(repository) == before
    assert git(repository, "status", "--porcelain") == status
    assert git(repository, "stash", "list") == stash
    checked = subprocess.run(["git", "fsck", "--strict"], cwd=repository, capture_output=True, check=False)
    assert checked.returncode == 0, checked.stderr
