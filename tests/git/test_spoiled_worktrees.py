"""Workspaces of agents that do odd things, with odd branches, and merged in odd moments."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from segue.adapters.git import open_sources
from segue.domain.errors import RepositoryError
from segue.domain.evidence.model import ChangeKind
from segue.domain.workspace import WorkspaceChoice
from tests.git.flow import ABOUT, Flow, change, does, flow_of, kinds
from tests.git.repositories import commit, git, lines, new_repository, write

ADDED, MODIFIED = ChangeKind.ADDED, ChangeKind.MODIFIED


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return new_repository(tmp_path / "repo", {"a.txt": lines(5), "b.txt": lines(5), "sub/c.txt": "c\n"})


@pytest.fixture
def flow(repo: Path, tmp_path: Path) -> Flow:
    return flow_of(repo, tmp_path)


# What agents do


async def test_links_renames_and_binary_files(flow: Flow) -> None:
    def work(folder: Path) -> None:
        (folder / "out").symlink_to("/etc/passwd")
        (folder / "b.txt").rename(folder / "renamed.txt")
        write(folder, {"data.bin": b"\0\1\2" * 1000})

    evidence, _ = await flow.whole(work)
    found = {"out": ADDED, "renamed.txt": ChangeKind.RENAMED, "data.bin": ADDED}
    assert kinds(evidence) == found
    assert (flow.repo / "out").is_symlink()
    assert (flow.repo / "data.bin").stat().st_size == 3000


WAYS = {
    "another branch": ("git checkout -qb other", "echo 1 > new.txt"),
    "a commit on another branch": (
        "git checkout -qb other",
        "echo 1 > new.txt",
        "git add .",
        "git commit -qm x",
    ),
    "a detached head": ("git checkout -q --detach", "echo 1 > new.txt", "git add .", "git commit -qm x"),
    "its own commit": ("echo 1 > new.txt", "git add .", "git commit -qm x"),
    "a deleted branch": (
        "b=$(git branch --show-current)",
        "git checkout -q --detach",
        "git branch -D $b; echo 1 > new.txt",
    ),
    "no .git": ("echo 1 > new.txt", "rm .git"),
    "a broken .git": ("echo 1 > new.txt", "echo nonsense > .git"),
    "a lock": ("echo 1 > new.txt", "touch $(git rev-parse --git-dir)/index.lock"),
    "a lock of HEAD": ("echo 1 > new.txt", "touch $(git rev-parse --git-dir)/HEAD.lock"),
    "a lock of Segue's own reference": (
        "echo 1 > new.txt",
        "d=$(git rev-parse --git-dir)/refs/worktree/segue; mkdir -p $d; touch $d/tip.lock",
    ),
    "a lock of its branch": (
        "echo 1 > new.txt",
        "touch $(git rev-parse --git-common-dir)/$(git symbolic-ref HEAD).lock",
    ),
    "a merge that conflicts": (
        "git checkout -qb x; echo x > new.txt; git add .; git commit -qm x",
        "git checkout -q -; echo y > new.txt; git add .; git commit -qm y; git merge x; echo 1 > new.txt",
    ),
    "the stash": ("echo 1 > new.txt", "git add .", "git stash -q", "git stash pop"),
    "collected garbage": (
        "echo 1 > new.txt",
        "git reflog expire --expire=now --all",
        "git gc -q --prune=now",
    ),
    "assumed unchanged": ("echo 1 > new.txt", "git update-index --assume-unchanged a.txt", "echo 1 > a.txt"),
    "line ends": (
        "git config --local core.autocrlf true",
        "git config core.safecrlf true",
        "echo 1 > new.txt",
    ),
    "a worktree of its own": ("git worktree add -q ../more-$$ -b more-$$", "echo 1 > new.txt"),
}


@pytest.mark.thorough
@pytest.mark.parametrize("name", WAYS)
async def test_the_work_is_on_the_branch_whatever_the_agent_did(flow: Flow, name: str) -> None:
    space = await flow.open()
    evidence, made, shown = await flow.step(space, does(*WAYS[name]))
    assert evidence is not None
    expected = {"new.txt": ADDED} | ({"a.txt": MODIFIED} if name == "assumed unchanged" else {})
    assert kinds(evidence) == expected
    assert made is not None
    assert git(flow.repo, "rev-parse", f"refs/heads/{space.branch}") == made
    assert git(Path(space.path), "symbolic-ref", "--short", "HEAD") == space.branch
    assert git(flow.repo, "diff", "--name-only", "main", made).split() == sorted(expected)
    assert git(Path(space.path), "status", "--porcelain") == ""
    assert "+++ b/new.txt" in shown
    again = await flow.spaces.commit(space, ABOUT)
    assert again == made, "safe to repeat"
    await flow.spaces.merge(space)
    assert (flow.repo / "new.txt").read_text() == "1\n"
    await flow.spaces.remove(space)
    await flow.spaces.remove(space)


async def test_an_agent_that_resets_loses_no_commit_of_an_earlier_step(flow: Flow) -> None:
    space = await flow.open()
    _, first, _ = await flow.step(space, lambda folder: write(folder, {"first.txt": "1\n"}))
    evidence, second, _ = await flow.step(space, does("git reset -q --hard HEAD~1", "echo 2 > second.txt"))
    assert evidence is not None
    assert kinds(evidence) == {"first.txt": ChangeKind.DELETED, "second.txt": ADDED}
    assert first in git(flow.repo, "rev-list", second or "").split()


@pytest.mark.parametrize("with_commit", [False, True])
async def test_a_repository_that_an_agent_makes_inside_is_left_out(flow: Flow, with_commit: bool) -> None:
    made = "git init -q nested; cd nested; echo 1 > x.txt"
    made += "; git add .; git commit -qm x" if with_commit else ""
    space = await flow.open()
    evidence, end, _ = await flow.step(space, does(f"echo 1 > new.txt; ({made})"))
    assert evidence is not None
    assert kinds(evidence) == {"new.txt": ADDED}
    assert evidence.unseen["nested/"] == "it lies in a repository of its own"
    assert git(flow.repo, "diff", "--name-only", "main", end or "") == "new.txt"
    assert await flow.spaces.mark(space) == end


async def test_a_git_folder_of_its_own_is_refused_and_left_alone(flow: Flow) -> None:
    space = await flow.open()
    mark = await flow.spaces.mark(space)
    does("rm .git", "git init -q", "echo 1 > new.txt")(Path(space.path))
    for act in (
        flow.spaces.evidence(space, mark),
        flow.spaces.commit(space, ABOUT),
        flow.spaces.mark(space),
        flow.spaces.remove(space),
    ):
        with pytest.raises(RepositoryError, match=r"is no worktree of .* its \.git was replaced"):
            await act
    assert (Path(space.path) / "new.txt").exists()


async def test_a_repository_around_the_worktrees_is_never_taken_for_one(flow: Flow, tmp_path: Path) -> None:
    outer = new_repository(tmp_path / "home", {"dot": "file\n"})
    inside = flow_of(flow.repo, outer)
    space = await inside.open()
    mark = await inside.spaces.mark(space)
    before = git(outer, "rev-parse", "--all")
    does("rm .git", "echo 1 > new.txt")(Path(space.path))
    evidence = await inside.spaces.evidence(space, mark)
    assert evidence is not None
    assert kinds(evidence) == {"new.txt": ADDED}
    assert await inside.spaces.commit(space, ABOUT)
    assert git(outer, "rev-parse", "--all") == before


async def test_a_process_that_goes_on_is_no_hindrance(flow: Flow) -> None:
    space = await flow.open()
    command = ["git", "cat-file", "--batch"]
    left = subprocess.Popen(command, cwd=space.path, stdin=subprocess.PIPE)  # noqa: ASYNC220
    try:
        _, made, _ = await flow.step(space, change)
        assert made is not None
        await flow.spaces.merge(space)
        await flow.spaces.remove(space)
    finally:
        left.communicate(timeout=120)


# Branches and places


async def test_a_branch_of_the_user_is_gone_on_with(flow: Flow) -> None:
    git(flow.repo, "branch", "mine")
    space = await flow.open("mine")
    await flow.step(space, change)
    assert git(flow.repo, "log", "-1", "--format=%s", "mine") == "dev: Add a."


@pytest.mark.parametrize(
    ("branch", "sentence"),
    [
        ("main", "is checked out at"),
        ("main/x", 'there can be no branch "main/x" beside the branch "main"'),
        ("a", 'there can be no branch "a" beside the branch "a/b"'),
        ("-x", "is no name for a branch"),
        ("@{-1}", "is no name for a branch"),
        ("x..y", "is no name for a branch"),
        ("new\nline", "is no name for a branch"),
        ("", "is no name for a branch"),
    ],
)
async def test_a_branch_that_cannot_be_is_refused(flow: Flow, branch: str, sentence: str) -> None:
    git(flow.repo, "checkout", "-q", "-b", "a/b")
    git(flow.repo, "checkout", "-q", "main")
    with pytest.raises(RepositoryError) as refused:
        await flow.spaces.check(str(flow.repo), branch, WorkspaceChoice.AUTO)
    assert sentence in str(refused.value)


async def test_a_branch_of_ours_that_has_work_on_it_is_not_gone_on_with(flow: Flow, tmp_path: Path) -> None:
    first = await flow.open()
    _, made, _ = await flow.step(first, change)
    other = flow_of(flow.repo, tmp_path / "other data")
    second = await other.open()
    assert second.branch == f"{first.branch}-2"
    assert second.base == git(flow.repo, "rev-parse", "main")
    assert git(flow.repo, "rev-parse", first.branch or "") == made


async def test_a_worktree_with_somebodys_work_is_left_alone(flow: Flow) -> None:
    first = await flow.open()
    change(Path(first.path))
    second = await flow.open()
    assert second.path != first.path
    assert second.branch != first.branch
    assert (Path(first.path) / "new.txt").exists()
    await flow.spaces.remove(second)


async def test_a_worktree_is_found_again_after_a_crash_and_fixed_if_it_was_not_finished(flow: Flow) -> None:
    first = await flow.open()
    assert await flow.open() == first
    git(flow.repo, "worktree", "lock", first.path)
    (Path(first.path) / "a.txt").unlink()
    assert await flow.open() == first
    assert (Path(first.path) / "a.txt").exists()


async def test_a_branch_named_segue_is_no_hindrance(flow: Flow) -> None:
    git(flow.repo, "branch", "segue")
    space = await flow.open()
    assert (space.branch or "").startswith("segue-1-")
    assert await flow.open() == space


async def test_worktrees_of_the_user_are_left_alone_though_their_disk_is_away(
    flow: Flow, tmp_path: Path
) -> None:
    git(flow.repo, "worktree", "add", "-q", str(tmp_path / "disk"), "-b", "mine")
    (tmp_path / "disk").rename(tmp_path / "away")
    await flow.whole(change)
    (tmp_path / "away").rename(tmp_path / "disk")
    assert git(tmp_path / "disk", "status", "--porcelain") == ""


# Merging


async def test_an_ignored_file_of_the_user_is_not_overwritten(flow: Flow) -> None:
    write(flow.repo, {".gitignore": ".env\n"})
    commit(flow.repo)
    write(flow.repo, {".env": "secret\n"})
    space = await flow.open()
    await flow.step(space, does("echo mine > .env", "git add -f .env", "git commit -qm env"))
    with pytest.raises(RepositoryError, match=r"would overwrite \.env, which git ignores in"):
        await flow.spaces.merge(space)
    assert (flow.repo / ".env").read_text() == "secret\n"


@pytest.mark.parametrize("what", ["merge", "rebase", "bisection"])
async def test_what_the_user_is_in_the_middle_of_is_left_alone(flow: Flow, what: str) -> None:
    space = await flow.open()
    await flow.step(space, change)
    git(flow.repo, "checkout", "-q", "-b", "mine")
    write(flow.repo, {"b.txt": "mine\n"})
    commit(flow.repo)
    commands = {
        "merge": "git checkout -q main; git merge --no-ff --no-commit -s ours mine",
        "rebase": "GIT_SEQUENCE_EDITOR='sed -i s/^pick/edit/' git rebase -qi main",
        "bisection": "git bisect start",
    }
    does(commands[what])(flow.repo)
    head = git(flow.repo, "rev-parse", "HEAD")
    assert git(flow.repo, "status", "--porcelain") == ""
    with pytest.raises(RepositoryError, match=f"a {what} is under way in .*; finish or abort it, then merge"):
        await flow.spaces.merge(space)
    assert git(flow.repo, "rev-parse", "HEAD") == head
    assert what in git(flow.repo, "status").replace("bisecting", "bisection").replace("merging", "merge")


async def test_what_was_not_committed_is_kept_when_its_worktree_is_removed(flow: Flow) -> None:
    space = await flow.open()
    mark = await flow.spaces.mark(space)
    change(Path(space.path))
    await flow.spaces.remove(space)
    assert "+++ b/new.txt" in await flow.spaces.diff(space, mark, None)
    assert git(flow.repo, "show", f"{space.branch}:new.txt") == "new"


async def test_a_worktree_of_another_run_that_is_being_made_is_no_matter(flow: Flow, repo: Path) -> None:
    """While git makes a worktree, its HEAD names a commit that does not exist."""
    git(repo, "worktree", "add", "-q", "--detach", str(repo.parent / "other"))
    (repo / ".git" / "worktrees" / "other" / "HEAD").write_text("0" * 39 + "1\n")
    failing = subprocess.run(["git", "rev-list", "--all"], cwd=repo, capture_output=True, check=False)
    assert b"bad object worktrees/other/HEAD" in failing.stderr
    sources = open_sources(repo, "HEAD")
    assert sources.has_commit(git(repo, "rev-parse", "HEAD")[:9])
    assert sources.has_commit("0" * 39 + "1") is False, "a name is not a commit"
    evidence, _ = await flow.whole(lambda folder: write(folder, {"new.txt": "1\n"}))
    assert kinds(evidence) == {"new.txt": ADDED}
    assert evidence.are_commits_whole, "those of the step itself"


async def test_a_repository_that_an_agent_makes_of_its_folder_takes_no_work_away(
    repo: Path, tmp_path: Path
) -> None:
    flow = flow_of(repo / "sub", tmp_path)
    space = await flow.open()
    agent = does("git init -q .", "echo more >> c.txt")
    evidence, _, patch = await flow.step(space, agent)
    assert evidence is not None
    assert kinds(evidence) == {"sub/c.txt": MODIFIED}
    assert "+more" in patch
