"""How many git processes are started, and that what is remembered in place of asking is not out of date."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from segue.adapters.git import evidence, index
from segue.adapters.git.configuration import Configuration
from segue.adapters.git.repository import Repository, open_repository
from segue.domain.claims.path_finder import EVERYWHERE
from segue.domain.errors import RepositoryError
from segue.domain.evidence.model import ChangeKind
from segue.domain.workspace import WorkspaceChoice
from tests.git.counting import Count
from tests.git.flow import ABOUT, flow_of, kinds
from tests.git.repositories import commit, git, lines, new_repository, write


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder whose git configuration includes two files that are not there yet."""
    home = tmp_path / "home"
    write(home, {".gitconfig": '[include]\n\tpath = extra\n[includeIf "gitdir:**"]\n\tpath = ~/more\n'})
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return home


@pytest.fixture
def count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Count:
    return Count(tmp_path, monkeypatch)


def said(repository: Repository) -> Configuration:
    return repository.configuration


def test_a_repository_that_is_as_it_was_is_opened_without_git(
    tmp_path: Path, home: Path, count: Count
) -> None:
    repo = new_repository(tmp_path / "repo", {"folder/a.txt": "a\n"})
    assert open_repository(repo).top == repo
    assert count.started()[-2:] == ["rev-parse", "config"]
    write(repo, {"b.txt": "b\n", "folder/a.txt": "other\n"})
    git(repo, "commit", "-qam", "More")
    count.started()
    assert open_repository(repo).top == repo
    assert count.started() == []
    assert open_repository(repo / "folder").prefix == "folder/"
    assert open_repository(repo / "folder").prefix == "folder/"
    assert count.started() == ["rev-parse", "config"]


def replace_repository(repo: Path) -> None:
    shutil.rmtree(repo / ".git")
    git(repo, "init", "-q")
    git(repo, "config", "core.eol", "crlf")


@pytest.mark.parametrize(
    "change",
    [
        lambda repo, _: git(repo, "config", "core.eol", "crlf"),
        lambda _, home: write(home, {".gitconfig": "[core]\n\teol = crlf\n"}),
        lambda _, home: write(home, {".config/git/config": "[core]\n\teol = crlf\n"}),
        lambda _, home: write(home, {"extra": "[core]\n\teol = crlf\n"}),
        lambda _, home: write(home, {"more": "[core]\n\teol = crlf\n"}),
        lambda repo, _: replace_repository(repo),
    ],
    ids=["own", "user's", "second of the user", "included", "included on a condition", "another repository"],
)
def test_a_change_of_the_configuration_is_noticed(
    tmp_path: Path, home: Path, change: Callable[[Path, Path], object]
) -> None:
    repo = new_repository(tmp_path / "repo", {"a.txt": "a\n"})
    assert b"eol" not in said(open_repository(repo)).text
    change(repo, home)
    assert b'eol = "crlf"' in said(open_repository(repo)).text


def test_settings_for_one_branch_are_never_remembered(tmp_path: Path, home: Path) -> None:
    write(
        home,
        {".gitconfig": '[includeIf "onbranch:other"]\n\tpath = ~/more\n', "more": "[core]\n\teol = crlf\n"},
    )
    repo = new_repository(tmp_path / "repo", {"a.txt": "a\n"})
    assert b"eol" not in said(open_repository(repo)).text
    git(repo, "checkout", "-qb", "other")
    assert b'eol = "crlf"' in said(open_repository(repo)).text


def test_a_repository_inside_or_none_at_all_is_noticed(tmp_path: Path, home: Path) -> None:
    repo = new_repository(tmp_path / "repo", {"folder/a.txt": "a\n"})
    assert open_repository(repo / "folder").top == repo
    git(repo / "folder", "init", "-q")
    assert open_repository(repo / "folder").top == repo / "folder"
    shutil.rmtree(repo / "folder/.git")
    shutil.rmtree(repo / ".git")
    with pytest.raises(RepositoryError, match="not a git repository"):
        open_repository(repo / "folder")


def test_the_private_folder_is_made_again_if_somebody_cleared_it(tmp_path: Path, home: Path) -> None:
    repo = new_repository(tmp_path / "repo", {"a.txt": "a\n"})
    first = open_repository(repo)
    shutil.rmtree(Path(first.private.environment["GIT_COMMON_DIR"]).parent)
    assert open_repository(repo).run("rev-parse", "HEAD").text.strip()


LOOK = ["ls-files", "status"]


async def test_a_run_begins_with_few_processes(tmp_path: Path, home: Path, count: Count) -> None:
    flow = flow_of(new_repository(tmp_path / "repo", {"a.txt": "a\n"}), tmp_path)
    await flow.spaces.check(str(flow.repo), None, WorkspaceChoice.AUTO)
    assert count.started()[-4:] == ["rev-parse", "config", "cat-file", "status"]
    space = await flow.open()
    # What `git worktree add` itself starts is not seen here.
    assert count.started() == [
        *["cat-file", "status"],
        *["cat-file", "for-each-ref", "cat-file", "worktree"],
        *["cat-file", "worktree", "rev-parse", "config", "reset"],
        "cat-file",
    ]
    await flow.spaces.remove(space)
    assert count.started()[-1] == "worktree"
    assert space.path not in git(flow.repo, "worktree", "list")


async def test_the_folder_above_is_no_place_of_a_worktree(tmp_path: Path, home: Path) -> None:
    flow = flow_of(new_repository(tmp_path / "repo", {"a.txt": "a\n"}), tmp_path)
    space = await flow.open()
    shared = flow.repo / ".git"
    own = Path(space.path, ".git")
    (shared / "gitdir").write_text(f"{own}\n")
    own.write_text(f"gitdir: {shared}/worktrees/..\n")
    before = (shared / "HEAD").read_text()
    await flow.step(space, lambda folder: write(folder, {"new.txt": "new\n"}))
    assert (shared / "HEAD").read_text() == before
    assert git(flow.repo, "ls-tree", "--name-only", str(space.branch)).split() == ["a.txt", "new.txt"]


async def test_a_step_without_changes_starts_nine_processes(tmp_path: Path, home: Path, count: Count) -> None:
    flow = flow_of(new_repository(tmp_path / "repo", {"a.txt": "a\n"}), tmp_path)
    space = await flow.open()
    await flow.step(space, lambda _: None)
    count.started()
    mark = await flow.spaces.mark(space)
    assert count.started() == LOOK
    assert await flow.spaces.evidence(space, mark) is not None
    assert count.started() == LOOK
    # The next step, because this one has its commit already.
    assert await flow.spaces.commit(space, replace(ABOUT, step=2)) != mark
    assert count.started() == ["cat-file", *LOOK, "commit-tree", "update-ref"]


async def test_a_step_with_changes_starts_some_more(tmp_path: Path, home: Path, count: Count) -> None:
    files: dict[str, str | bytes] = {
        "a.py": "def f(): pass\n",
        "b.py": "x = 1\n",
        "c.txt": lines(9),
        "d.txt": "gone\n",
    }
    flow = flow_of(new_repository(tmp_path / "repo", files), tmp_path)
    space = await flow.open()
    mark = await flow.spaces.mark(space)
    folder = Path(space.path)
    write(folder, {"a.py": "def g(): pass\n", "b.py": "x = 2\n", "c.txt": lines(8), "e.py": "y = 3\n"})
    (folder / "d.txt").unlink()
    count.started()
    found = await flow.spaces.evidence(space, mark)
    assert count.started() == [*LOOK, "ls-tree", "update-index", "diff-index", "cat-file"]
    assert found is not None
    assert {path: each.line_count for path, each in found.changes.items()} == {
        "a.py": 1,
        "b.py": 1,
        "c.txt": 8,
        "d.txt": None,
        "e.py": 1,
    }
    await flow.spaces.commit(space, ABOUT)
    assert count.started() == [
        "cat-file",
        *LOOK,
        *["update-index"] * 2,
        "write-tree",
        "commit-tree",
        "update-ref",
    ]


async def test_a_head_that_names_no_commit_counts_as_none(tmp_path: Path, home: Path) -> None:
    flow = flow_of(new_repository(tmp_path / "repo", {"a.txt": "a\n"}), tmp_path)
    space = await flow.open()
    mark = await flow.spaces.mark(space)
    write(Path(space.path), {"new.txt": "new\n"})
    head = Path(git(Path(space.path), "rev-parse", "--absolute-git-dir"), "HEAD")
    head.write_text("1" * 40 + "\n")
    found = await flow.spaces.evidence(space, mark)
    assert found is not None
    assert kinds(found) == {"new.txt": ChangeKind.ADDED}
    made = await flow.spaces.commit(space, ABOUT)
    assert git(flow.repo, "show", "--format=%P", "--name-only", str(made)).split() == [mark, "new.txt"]
    assert head.read_text() == f"ref: refs/heads/{space.branch}\n"


@pytest.mark.parametrize("hidden", ["--assume-unchanged", "--skip-worktree"])
def test_a_clean_status_is_not_believed_if_git_was_told_not_to_look(tmp_path: Path, hidden: str) -> None:
    repo = new_repository(tmp_path / "repo", {"a.txt": "a\n"})
    git(repo, "update-index", hidden, "a.txt")
    write(repo, {"a.txt": "b\n"})
    assert git(repo, "status", "--porcelain") == ""
    assert kinds(evidence.collect_evidence(repo, "HEAD")) == {"a.txt": ChangeKind.MODIFIED}


def test_ignored_files_beyond_the_limit_are_told_and_nothing_else_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = new_repository(tmp_path / "repo", {".gitignore": "out/\n", "a.txt": "a\n"})
    write(repo, {"z.txt": "new\n", **dict.fromkeys((f"out/{number}" for number in range(50)), "")})
    monkeypatch.setattr(index, "MOST_IGNORED_BYTES", 100)
    found = evidence.collect_evidence(repo, "HEAD")
    assert kinds(found) == {"z.txt": ChangeKind.ADDED}
    assert found.is_diff_whole
    assert found.unseen[EVERYWHERE] == "git ignores too many files to look at each"
    assert found.unseen["out/"] == "git ignores it"


def test_names_are_told_apart_from_what_git_says_about_them(tmp_path: Path) -> None:
    odd = ["? a", "1 .M N", "! x", "u UU", "a  b", "-n", "with\nline", "\ttab ", '"q"', "é"]
    repo = new_repository(tmp_path / "repo", dict.fromkeys(odd, "one\n"))
    write(repo, dict.fromkeys(odd, "two\nlines\n"))
    for name in odd:
        write(repo, {f"{name}.new": "new\n"})
    found = evidence.collect_evidence(repo, "HEAD")
    assert kinds(found) == dict.fromkeys(odd, ChangeKind.MODIFIED) | {
        f"{name}.new": ChangeKind.ADDED for name in odd
    }
    assert all(change.hunks and change.line_count for change in found.changes.values())
    base = git(repo, "rev-parse", "HEAD")
    commit(repo)
    assert kinds(evidence.collect_evidence(repo, base, "HEAD")) == kinds(found)
