"""`segue pipelines diff|merge|clean`, and runs in the folder itself."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Ran
from tests.git.flow import checkout_of
from tests.git.repositories import commit, git, write
from tests.serving import ServedSegue, write_catalog

Segue = Callable[..., Ran]

SAY = 'printf "## What Was Done\\n- Worked.\\n\\n## Next Agent Context\\nGo on.\\n"'
CATALOG = f"""
agents:
  one: {{backend: command, options: {{command: [sh, -c, 'echo one > one.txt; echo 1 >> old.py; {SAY}']}}}}
  two: {{backend: command, options: {{command: [sh, -c, 'echo two > two.txt; {SAY}']}}}}
  broken: {{backend: command, options: {{command: [sh, -c, 'echo half > half.txt; exit 3']}}}}
  slow: {{backend: command, options: {{command: [sh, -c, 'echo half > half.txt; sleep 86399']}}}}
templates:
  pair: {{steps: [{{agent: one}}, {{agent: two}}]}}
  break: {{steps: [{{agent: one}}, {{agent: broken}}]}}
  wait: {{steps: [{{agent: one}}, {{agent: slow}}]}}
"""


@pytest.fixture
def repo(repository: Path) -> Path:
    write_catalog(repository, CATALOG.replace("\\n", "\\\\n"))
    commit(repository)
    return repository


def files_of(patch: str) -> list[str]:
    return re.findall(r"^diff --git a/(\S+) ", patch, re.MULTILINE)


def test_the_difference_is_shown_merged_once_and_cleared_away(repo: Path, segue: Segue) -> None:
    assert segue("run", "pair", "Work.").code == 0
    before = checkout_of(repo)
    whole = segue("pipelines", "diff", "1")
    assert files_of(whole.out) == ["old.py", "one.txt", "two.txt"]
    assert files_of(segue("pipelines", "diff", "1", "--step", "2").out) == ["two.txt"]
    missing = segue("pipelines", "diff", "1", "--step", "3")
    assert missing.code != 0
    assert "step" in missing.err
    assert checkout_of(repo) == before, "looking changes nothing"

    merged = segue("pipelines", "merge", "1")
    assert merged.code == 0, merged.err
    head = git(repo, "rev-parse", "HEAD")
    assert head.startswith(merged.out.split()[2].rstrip(";"))
    assert (repo / "two.txt").read_text() == "two\n"
    assert segue("pipelines", "merge", "1").code == 0
    assert git(repo, "rev-parse", "HEAD") == head, "the second time there is nothing to do"

    for _ in range(2):
        cleaned = segue("pipelines", "clean", "1")
        assert cleaned.code == 0, cleaned.err
        assert "its work is on the branch segue/1-work" in cleaned.out
    assert len(git(repo, "worktree", "list").splitlines()) == 1
    assert segue("pipelines", "diff", "1").out == whole.out
    assert files_of(segue("pipelines", "diff", "1", "-s", "1").out) == ["old.py", "one.txt"]
    assert git(repo, "rev-parse", "segue/1-work")


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["staged", "unstaged", "untracked"])
def test_a_dirty_checkout_is_not_merged_into(repo: Path, segue: Segue, kind: str) -> None:
    assert segue("run", "pair", "Work.").code == 0
    write(repo, {"mine.txt": "mine\n"} if kind != "unstaged" else {"old.py": "MINE = 1\n"})
    if kind == "staged":
        git(repo, "add", "mine.txt")
    before = checkout_of(repo)
    refused = segue("pipelines", "merge", "1")
    assert refused.code != 0
    changed = "old.py" if kind == "unstaged" else "mine.txt"
    assert refused.err == (
        f"error: cannot merge 1: {changed} has uncommitted changes\n"
        "  hint: commit or stash it, then merge again\n"
    )
    assert checkout_of(repo) == before


def test_a_conflict_changes_nothing(repo: Path, segue: Segue) -> None:
    assert segue("run", "pair", "Work.").code == 0
    write(repo, {"old.py": "OLD = 3\n"})
    head = commit(repo)
    refused = segue("pipelines", "merge", "1")
    assert refused.code != 0
    assert "conflicts with what is checked out in old.py; nothing was changed" in refused.err
    assert (git(repo, "rev-parse", "HEAD"), git(repo, "status", "--porcelain")) == (head, "")
    assert (repo / "old.py").read_text() == "OLD = 3\n"
    assert not (repo / ".git/MERGE_HEAD").exists()


def test_a_failed_run_is_not_merged_and_its_half_work_survives_the_cleaning(repo: Path, segue: Segue) -> None:
    assert segue("run", "break", "Work.").code == 1
    whole = segue("pipelines", "diff", "1")
    assert files_of(whole.out) == ["half.txt", "old.py", "one.txt"]
    assert files_of(segue("pipelines", "diff", "1", "-s", "2").out) == ["half.txt"]
    refused = segue("pipelines", "merge", "1")
    assert refused.code != 0
    assert "pipeline 1 failed at step 2, so there is nothing to merge yet" in refused.err
    assert segue("pipelines", "clean", "1").code == 0
    assert segue("pipelines", "diff", "1").out == whole.out
    assert git(repo, "show", "segue/1-work:half.txt") == "half"


def test_a_run_in_place_has_a_difference_but_nothing_to_merge_or_clean(repo: Path, segue: Segue) -> None:
    ran = segue("run", "pair", "Work.", "--in-place")
    assert ran.code == 0, ran.err
    assert (repo / "two.txt").exists()
    assert files_of(segue("pipelines", "diff", "1").out) == ["old.py", "one.txt", "two.txt"]
    for command, sentence in (("merge", "there is no branch to merge"), ("clean", "nothing to clean up")):
        refused = segue("pipelines", command, "1")
        assert refused.code != 0
        assert sentence in refused.err


@pytest.fixture
def served(tmp_path: Path, repo: Path) -> Iterator[ServedSegue]:
    running = ServedSegue(repo, tmp_path / "data")
    running.start()
    yield running
    for each in running.client.get("/pipelines").json()["items"]:
        running.client.post(f"/pipelines/{each['id']}/abort")
    running.close()


@pytest.mark.thorough
def test_while_runs_go_on(served: ServedSegue, repo: Path) -> None:
    (repo / "sub").mkdir()
    worktree = served.submit(template="wait", prompt="Work.")["id"]
    place = served.submit(template="wait", prompt="Work.", workspace="in_place")["id"]
    while not (repo / "half.txt").exists() or not _has_begun(served, worktree):
        served.wait_for(place, "running", "pending")
        served.wait_for(worktree, "running", "pending")
    shown = served.client.get(f"/pipelines/{worktree}/diff").text
    assert files_of(shown) == ["half.txt", "old.py", "one.txt"]
    assert files_of(served.client.get(f"/pipelines/{worktree}/diff?step=2").text) == ["half.txt"]
    for folder in (repo, repo / "sub"):
        wanted = {"template": "wait", "prompt": "Work.", "workspace": "in_place"}
        refused = served.client.post("/pipelines", json={**wanted, "working_dir": str(folder)})
        assert refused.status_code == 409, refused.text
        assert f"pipeline {place} works in" in refused.json()["detail"]
    conflicts = served.client.get("/pipelines/conflicts", params={"working_dir": str(repo)}).json()
    assert [each["id"] for each in conflicts] == [worktree, place]
    assert served.client.get("/pipelines/conflicts", params={"working_dir": str(repo / "sub")}).json() == []
    for command in ("merge", "clean"):
        refused_cli = served.run_cli("pipelines", command, str(worktree))
        assert refused_cli.returncode != 0
        assert "running" in refused_cli.stderr


def _has_begun(served: ServedSegue, pipeline: int) -> bool:
    place = served.pipeline(pipeline)["workspace"]
    return place is not None and Path(place["path"], "half.txt").exists()
