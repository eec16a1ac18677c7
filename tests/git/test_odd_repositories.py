"""Workspaces on repositories of odd shapes, and after a crash."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from segue.domain.errors import RepositoryError
from tests.git.flow import ABOUT, Flow, change, flow_of
from tests.git.repositories import git, lines, new_repository


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return new_repository(tmp_path / "repo", {"a.txt": lines(5)})


@pytest.fixture
def flow(repo: Path, tmp_path: Path) -> Flow:
    return flow_of(repo, tmp_path)


@pytest.mark.parametrize("branch", ["feature", None])
async def test_a_crash_while_a_worktree_is_made_is_no_hindrance(flow: Flow, branch: str | None) -> None:
    """Its `.git` names the passing folder of a process that is gone, as git wrote it."""
    first = await flow.open(branch)
    git(flow.repo, "worktree", "lock", first.path)
    Path(first.path, ".git").write_text("gitdir: /nonexistent/segue-git-x/.git/worktrees/1\n")
    assert await flow.open(branch) == first


async def test_the_branch_of_a_bare_repository_with_worktrees(repo: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "--bare", str(repo), "bare")
    git(tmp_path / "bare", "worktree", "add", "-q", str(tmp_path / "work"), "-b", "work")
    flow = flow_of(tmp_path / "work", tmp_path)
    space = await flow.open("main")
    _, made, _ = await flow.step(space, change)
    assert git(tmp_path / "bare", "rev-parse", "main") == made


async def test_who_commits_may_be_set_for_the_worktree_of_the_user_alone(
    flow: Flow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    git(flow.repo, "config", "extensions.worktreeConfig", "true")
    git(flow.repo, "config", "--worktree", "user.name", "Me")
    git(flow.repo, "config", "--worktree", "user.email", "me@example.org")
    space = await flow.open()
    change(Path(space.path))
    made = await flow.spaces.commit(space, ABOUT)
    assert git(flow.repo, "log", "-1", "--format=%an %ae", made or "") == "Me me@example.org"


async def test_a_link_to_nothing_in_place_of_the_worktrees_is_one_sentence(flow: Flow) -> None:
    (flow.repo / ".git/worktrees").symlink_to("/nonexistent/x")
    with pytest.raises(RepositoryError, match=r"cannot make .*/\.git/worktrees: File exists"):
        await flow.open()


async def test_no_git_process_is_needed_to_see_that_a_folder_is_in_no_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "git"
    program.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/asked\nexit 128\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    (tmp_path / "plain").mkdir()
    flow = flow_of(tmp_path / "plain", tmp_path)
    assert (await flow.open()).repository is None
    assert not (tmp_path / "asked").exists()
    (tmp_path / "plain" / ".git").symlink_to("nowhere")
    with pytest.raises(RepositoryError):
        await flow.open()
    assert (tmp_path / "asked").exists(), "where there may be one, git is asked"
