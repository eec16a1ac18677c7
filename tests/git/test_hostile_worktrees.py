"""Workspaces on odd and hostile repositories: each is handled, or refused with one clear sentence."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from segue.domain.errors import RepositoryError
from segue.domain.ledger.evidence import ChangeKind
from segue.domain.workspace import WorkspaceChoice, WorkspaceKind
from tests.git.flow import ABOUT, Flow, flow_of, kinds
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


def change(folder: Path) -> None:
    write(folder, {"a.txt": lines(6), "new.txt": "new\n"})


def run(folder: Path, *command: str) -> None:
    """A command of the agent's, whatever comes of it."""
    subprocess.run(command, cwd=folder, capture_output=True, timeout=60, check=False)


def does(*commands: str) -> Callable[[Path], None]:
    """An agent that runs shell commands."""
    identity = "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b; "
    return lambda folder: run(folder, "sh", "-c", identity + "; ".join(commands))


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

TRAPS: dict[str, tuple[dict[str, str], str]] = {
    "file system monitor": ({"core.fsmonitor": "PROGRAM"}, ""),
    "smudge filter": ({"filter.x.smudge": "PROGRAM", "filter.x.clean": "PROGRAM"}, "*.md filter=x\n"),
    "required filter": ({"filter.x.smudge": "PROGRAM", "filter.x.required": "true"}, "*.md filter=x\n"),
    "filter process": ({"filter.x.process": "PROGRAM"}, "*.md filter=x\n"),
    "external diff": ({"diff.external": "PROGRAM", "diff.x.textconv": "PROGRAM"}, "* diff=x\n"),
    "signer": ({"commit.gpgSign": "true", "gpg.program": "PROGRAM"}, ""),
    "merge driver": ({"merge.x.driver": "PROGRAM %A"}, "* merge=x\n"),
    "editor": ({"core.editor": "PROGRAM", "sequence.editor": "PROGRAM"}, ""),
    "merge options": ({"branch.main.mergeOptions": "--squash"}, ""),
    "settings of worktrees alone": ({"includeIf.gitdir:**/worktrees/**.path": "INCLUDED"}, "*.md filter=y\n"),
    "settings of our branches alone": ({"includeIf.onbranch:segue/**.path": "INCLUDED"}, "*.md filter=y\n"),
    "alternate references": ({"core.alternateRefsCommand": "PROGRAM"}, ""),
    "prefixes": ({"diff.noprefix": "true", "diff.orderFile": "missing", "color.ui": "always"}, ""),
}


@pytest.mark.parametrize("name", TRAPS)
async def test_no_program_of_the_configuration_runs(
    tmp_path: Path, flow: Flow, program: str, marker: Path, name: str
) -> None:
    settings, attributes = TRAPS[name]
    write(flow.repo, {".gitattributes": attributes, "trap.md": "trap\n"})
    commit(flow.repo)
    (tmp_path / "included").write_text(f'[filter "y"]\n\tsmudge = {program}\n\tclean = {program}\n')
    for key, value in settings.items():
        filled = value.replace("PROGRAM", program).replace("INCLUDED", str(tmp_path / "included"))
        git(flow.repo, "config", key, filled)
    evidence, _ = await flow.whole(change)
    assert kinds(evidence) == {"a.txt": MODIFIED, "new.txt": ADDED}
    assert not marker.exists(), marker.read_text()
    assert (flow.repo / "new.txt").exists()
    assert not git(flow.repo, "diff", "--cached", "--no-ext-diff", "--name-only")


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


@pytest.mark.parametrize("where", ["hooks", "hooksPath"])
async def test_no_hook_runs_or_hinders(
    tmp_path: Path, flow: Flow, program: str, marker: Path, where: str
) -> None:
    hooks = flow.repo / ".git/hooks" if where == "hooks" else tmp_path / "hooks"
    hooks.mkdir(exist_ok=True)
    names = "pre-commit post-checkout post-commit prepare-commit-msg commit-msg reference-transaction"
    for hook in f"{names} pre-merge-commit post-merge post-index-change post-rewrite".split():
        (hooks / hook).symlink_to(program)
    if where == "hooksPath":
        git(flow.repo, "config", "core.hooksPath", str(hooks))
    evidence, _ = await flow.whole(change)
    assert kinds(evidence) == {"a.txt": MODIFIED, "new.txt": ADDED}
    assert not marker.exists(), marker.read_text()
    run(flow.repo, "git", "branch", "other")
    assert marker.exists(), "the trap does not work, so the test shows nothing"


async def test_nothing_runs_in_a_submodule(tmp_path: Path, flow: Flow, program: str, marker: Path) -> None:
    inner = new_repository(tmp_path / "inner", {"x.txt": "x\n"})
    git(flow.repo, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner), "module")
    commit(flow.repo)
    git(flow.repo / "module", "config", "core.fsmonitor", program)
    git(flow.repo, "config", "submodule.module.ignore", "none")
    assert "submodules are empty in the worktree" in (await flow.open()).notes[-1]
    evidence, _ = await flow.whole(change)
    assert kinds(evidence) == {"a.txt": MODIFIED, "new.txt": ADDED}
    place = await flow.spaces.open(flow.wanted(choice=WorkspaceChoice.IN_PLACE))
    assert await flow.spaces.mark(place)
    assert not marker.exists(), marker.read_text()
    run(flow.repo, "git", "status")
    assert marker.exists(), "the trap does not work, so the test shows nothing"


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


async def test_settings_of_each_worktree(flow: Flow, program: str, marker: Path) -> None:
    git(flow.repo, "config", "extensions.worktreeConfig", "true")
    git(flow.repo, "config", "--worktree", "core.fsmonitor", program)
    git(flow.repo, "config", "--worktree", "filter.x.smudge", program)
    write(flow.repo, {".gitattributes": "*.md filter=x\n", "x.md": "x\n"})
    commit(flow.repo)
    marker.unlink(missing_ok=True)
    await flow.whole(change)
    assert not marker.exists(), marker.read_text()


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
        left.communicate(timeout=30)


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


async def test_a_worktree_is_found_again_after_a_crash_and_mended_if_it_was_not_finished(flow: Flow) -> None:
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
    with pytest.raises(RepositoryError, match=r"adds \.env, which git ignores in .* would overwrite"):
        await flow.spaces.merge(space)
    assert (flow.repo / ".env").read_text() == "secret\n"


async def test_what_was_not_committed_is_kept_when_its_worktree_is_removed(flow: Flow) -> None:
    space = await flow.open()
    mark = await flow.spaces.mark(space)
    change(Path(space.path))
    await flow.spaces.remove(space)
    assert "+++ b/new.txt" in await flow.spaces.diff(space, mark, None)
    assert git(flow.repo, "show", f"{space.branch}:new.txt") == "new"
