"""Workspaces on odd and hostile repositories: each is handled, or refused with one clear sentence."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from segue.domain.errors import RepositoryError
from segue.domain.evidence.model import ChangeKind
from segue.domain.workspace import WorkspaceChoice, WorkspaceKind
from tests.git.flow import Flow, change, flow_of, kinds, run
from tests.git.repositories import commit, git, lines, new_repository, write

ADDED, MODIFIED = ChangeKind.ADDED, ChangeKind.MODIFIED


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return new_repository(tmp_path / "repo", {"a.txt": lines(5), "b.txt": lines(5), "sub/c.txt": "c\n"})


@pytest.fixture
def flow(repo: Path, tmp_path: Path) -> Flow:
    return flow_of(repo, tmp_path)


@pytest.fixture
def marker(tmp_path: Path) -> Path:
    """What a program of the repository leaves behind when it is run."""
    return tmp_path / "ran"


@pytest.fixture
def program(tmp_path: Path, marker: Path) -> str:
    path = tmp_path / "program"
    path.write_text(f"#!/bin/sh\necho \"$0 $*\" >> '{marker}'\ncat 2>/dev/null\nexit 1\n")
    path.chmod(0o755)
    return str(path)


# Names


@pytest.mark.parametrize(
    "name",
    ["--help", "-rf", "new\nline", "with space", "ünï/ködé.txt", ":(top)x", "*", "tab\there", 'q"uote'],
)
async def test_any_name_of_a_file(flow: Flow, name: str) -> None:
    evidence, _ = await flow.whole(lambda folder: write(folder, {name: "x\n"}))
    assert kinds(evidence) == {name: ADDED}
    assert (flow.repo / name).read_text() == "x\n"


async def test_a_name_that_is_no_text(flow: Flow) -> None:
    name = os.fsdecode(b"caf\xe9.txt")
    evidence, _ = await flow.whole(lambda folder: write(folder, {name: "x\n"}))
    assert kinds(evidence) == {name: ADDED}


@pytest.mark.parametrize("name", ["new\nline", "--upload-pack=x", "with space", "ü"])
async def test_any_name_of_the_repository(tmp_path: Path, name: str) -> None:
    repo = new_repository(tmp_path / name, {"a.txt": "a\n"})
    evidence, _ = await flow_of(repo, tmp_path).whole(change)
    assert kinds(evidence) == {"a.txt": MODIFIED, "new.txt": ADDED}


# Programs that the repository names


async def test_a_merge_driver_is_a_conflict_and_never_runs(flow: Flow, program: str, marker: Path) -> None:
    write(flow.repo, {".gitattributes": "* merge=x\n"})
    commit(flow.repo)
    git(flow.repo, "config", "merge.x.driver", program)
    space = await flow.open()
    await flow.step(space, change)
    write(flow.repo, {"a.txt": "mine\n"})
    head = commit(flow.repo)
    with pytest.raises(RepositoryError, match=r"conflicts with what is checked out in a\.txt; nothing was"):
        await flow.spaces.merge(space)
    assert not marker.exists(), marker.read_text()
    assert (flow.repo / "a.txt").read_text() == "mine\n"
    assert (git(flow.repo, "rev-parse", "HEAD"), git(flow.repo, "status", "--porcelain")) == (head, "")


# Shapes of repositories


async def test_pointers_of_large_files_stay_pointers_and_are_merged_by_git_itself(flow: Flow) -> None:
    git(flow.repo, "config", "filter.lfs.smudge", "false")
    git(flow.repo, "config", "filter.lfs.clean", "cat")
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:{}\nsize 3\n"
    write(flow.repo, {".gitattributes": "*.bin filter=lfs\n", "big.bin": pointer.format("0" * 64)})
    commit(flow.repo)
    space = await flow.open()
    assert "pointers in the worktree" in space.notes[-1]
    assert (Path(space.path) / "big.bin").read_text() == pointer.format("0" * 64)
    await flow.step(space, lambda folder: write(folder, {"big.bin": pointer.format("1" * 64)}))
    with pytest.raises(RepositoryError, match=r'changes big\.bin, which git\'s filter "lfs" writes'):
        await flow.spaces.merge(space)


async def test_a_detached_head(flow: Flow) -> None:
    git(flow.repo, "checkout", "-q", "--detach")
    await flow.whole(change)


async def test_no_commit_yet_means_in_place(tmp_path: Path) -> None:
    flow = flow_of(new_repository(tmp_path / "empty"), tmp_path)
    space = await flow.open()
    assert space.kind is WorkspaceKind.IN_PLACE
    assert "has no commit yet" in space.notes[0]
    evidence, made, shown = await flow.step(space, change)
    assert evidence is not None
    assert kinds(evidence) == {"a.txt": ADDED, "new.txt": ADDED}
    assert made is None, "nothing is committed in the user's own folder"
    assert shown == "" or "a.txt" in shown


@pytest.mark.parametrize("state", ["plain", "initialized", "staged"])
async def test_a_folder_is_made_a_repository_even_if_that_was_cut_off(tmp_path: Path, state: str) -> None:
    folder = tmp_path / "folder"
    write(folder, {"a.txt": "a\n", "nested/x.txt": "x\n"})
    git(folder / "nested", "init", "-q")
    if state != "plain":
        git(folder, "init", "-q")
    if state == "staged":
        git(folder, "add", "a.txt")
    flow = flow_of(folder, tmp_path)
    checked = await flow.spaces.check(str(folder), None, WorkspaceChoice.INIT_GIT)
    space = await flow.spaces.open(flow.wanted(choice=WorkspaceChoice.INIT_GIT))
    assert checked.kind is space.kind is WorkspaceKind.WORKTREE
    assert git(folder, "ls-tree", "-r", "--name-only", "HEAD") == "a.txt"
    assert git(folder, "status", "--porcelain", "-uno") == ""


@pytest.mark.parametrize("inside", [".", "objects"])
async def test_a_bare_repository_is_refused(tmp_path: Path, inside: str) -> None:
    git(tmp_path, "init", "-q", "--bare", "bare")
    flow = flow_of(tmp_path / "bare" / inside, tmp_path)
    with pytest.raises(RepositoryError, match=r"without a work tree .* name a folder"):
        await flow.open()


async def test_a_work_tree_elsewhere_is_refused(tmp_path: Path, flow: Flow) -> None:
    (tmp_path / "elsewhere").mkdir()
    git(flow.repo, "config", "core.worktree", str(tmp_path / "elsewhere"))
    with pytest.raises(RepositoryError, match="is not in the work tree of a git repository"):
        await flow.open()


async def test_a_shallow_clone(tmp_path: Path, repo: Path) -> None:
    commit(repo, "another")
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{repo}", "shallow")
    await flow_of(tmp_path / "shallow", tmp_path).whole(change)


async def test_a_folder_below_the_top(tmp_path: Path, repo: Path) -> None:
    flow = flow_of(repo / "sub", tmp_path)
    space = await flow.open()
    assert Path(space.path).name == "sub"
    mark = await flow.spaces.mark(space)
    write(Path(space.path), {"d.txt": "d\n"})
    assert "sub/d.txt" in await flow.spaces.diff(space, mark, None), "what is not committed yet is shown too"
    run(Path(space.path).parent, "rm", "-rf", "sub")
    evidence = await flow.spaces.evidence(space, mark)
    assert evidence is not None
    assert kinds(evidence) == {"sub/c.txt": ChangeKind.DELETED}
    run(Path(space.path).parent, "sh", "-c", "rmdir sub; ln -s / sub")
    with pytest.raises(RepositoryError, match="leads out of its worktree"):
        await flow.spaces.evidence(space, mark)
