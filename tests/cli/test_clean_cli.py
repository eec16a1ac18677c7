"""`segue clean`: what ended pipelines left goes, what says what happened stays."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.cli.conftest import Ran
from tests.git.repositories import commit, git
from tests.serving import write_catalog

Segue = Callable[..., Ran]

CATALOG = """
agents:
  one:
    backend: scripted
    options:
      actions: [{say: Thinking.}, {write: {path: one.txt, text: one}}, {say: "Done: wrote one.txt."}]
  shell:
    backend: command
    options: {command: [sh, -c, "echo 'outcome: completed'"]}
templates:
  single: {steps: [{agent: one}]}
  shelled: {steps: [{agent: shell}]}
"""


@pytest.fixture
def repo(repository: Path) -> Path:
    write_catalog(repository, CATALOG)
    commit(repository)
    return repository


def worktree(segue: Segue) -> Path:
    """That of the first pipeline."""
    shown = json.loads(segue("pipelines", "show", "1", "--json").out)
    return Path(shown["workspace"]["path"])


def kinds(segue: Segue) -> list[str]:
    listed = json.loads(segue("audit", "list", "--json").out)
    return [entry["event_type"] for entry in listed["items"]]


def test_what_an_old_pipeline_left_is_shown_then_removed_and_its_story_stays(
    repo: Path, segue: Segue
) -> None:
    assert segue("run", "single", "Work.").code == 0
    place, before = worktree(segue), json.loads(segue("pipelines", "show", "1", "--json").out)
    patch = segue("pipelines", "diff", "1").out
    assert segue("clean", "--older-than", "1d").out == "nothing to remove\n"

    shown = segue("clean", "--older-than", "0m", "--dry-run").out
    assert shown.startswith("would remove of 1 (Work.): ")
    assert str(place) in shown
    assert place.is_dir()
    assert "leftovers_removed" not in kinds(segue)

    removed = segue("clean", "--older-than", "0m")
    assert removed.out == shown.replace("would remove", "removed")
    assert not place.exists()
    assert {"leftovers_removed", "workspace_removed"} <= set(kinds(segue))
    assert segue("audit", "verify").code == 0
    assert json.loads(segue("pipelines", "show", "1", "--json").out) == before
    assert segue("pipelines", "diff", "1").out == patch
    assert segue("clean", "--older-than", "0m").out == "nothing to remove\n"


def test_a_worktree_with_work_in_no_commit_stays_with_the_reason(repo: Path, segue: Segue) -> None:
    assert segue("run", "single", "Work.").code == 0
    inside = worktree(segue) / "inside"
    inside.mkdir()
    git(inside, "init", "-q")
    (inside / "precious.txt").write_text("work\n")
    cleaned = segue("clean", "--older-than", "0m")
    assert cleaned.code == 0
    assert "kept of 1: " in cleaned.err
    assert "inside/" in cleaned.err
    assert (inside / "precious.txt").exists()


def test_without_an_age_nothing_is_removed(repo: Path, segue: Segue) -> None:
    asked = segue("clean")
    assert asked.code == 2
    assert "segue clean --older-than 30d --dry-run" in asked.err
    assert '"soon" is not a duration' in segue("clean", "--older-than", "soon").err


def test_the_folder_of_a_session_that_was_killed_before_it_was_released_is_removed(
    repo: Path, segue: Segue
) -> None:
    data_dir = Path(os.environ["XDG_DATA_HOME"], "segue")
    assert segue("run", "shelled", "Work.").code == 0
    with closing(sqlite3.connect(data_dir / "segue.db")) as database:
        (key,) = database.execute("SELECT session_ref FROM agents").fetchone()
    (sessions,) = data_dir.glob("sessions/*/command")
    left = sessions / key
    assert not left.exists()
    (left / "files").mkdir(parents=True)
    assert segue("clean", "--older-than", "1d", "--dry-run").code == 0
    assert left.exists()
    assert segue("clean", "--older-than", "1d").code == 0
    assert not left.exists()
