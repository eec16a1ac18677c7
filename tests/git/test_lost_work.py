"""Nothing is lost: neither what the user has, ignored files too, nor what an agent made in an odd place."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from segue.adapters.git.repository import Repository
from segue.domain.errors import RepositoryError
from tests.git.flow import ABOUT, Flow, change, checkout_of, does, flow_of, run
from tests.git.repositories import commit, git, lines, new_repository, write


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return new_repository(tmp_path / "repo", {"a.txt": lines(5), "b.txt": lines(5), "sub/c.txt": "c\n"})


@pytest.fixture
def flow(repo: Path, tmp_path: Path) -> Flow:
    return flow_of(repo, tmp_path)


# Merging


async def test_a_merge_that_cannot_move_the_branch_changes_nothing(flow: Flow) -> None:
    space = await flow.open()
    await flow.step(space, change)
    write(flow.repo, {".git/ORIG_HEAD/x": "git cannot write a reference here\n"})
    with pytest.raises(RepositoryError, match="nothing changed, because git update-ref failed"):
        await flow.spaces.merge(space)
    run(flow.repo, "rm", "-r", ".git/ORIG_HEAD")
    assert git(flow.repo, "status", "--porcelain") == ""
    assert not (flow.repo / "new.txt").exists()
    await flow.spaces.merge(space)
    assert (flow.repo / "new.txt").exists()


async def test_an_ignored_file_is_not_replaced_by_a_folder(flow: Flow) -> None:
    write(flow.repo, {".gitignore": "local.env\n"})
    commit(flow.repo)
    write(flow.repo, {"local.env": "secret\n"})
    space = await flow.open()
    await flow.step(space, does("echo > .gitignore", "mkdir local.env", "echo 1 > local.env/x"))
    before = checkout_of(flow.repo)
    with pytest.raises(RepositoryError, match=r"would overwrite local\.env, which git ignores in"):
        await flow.spaces.merge(space)
    assert checkout_of(flow.repo) == before


async def test_an_ignored_folder_is_not_replaced_by_a_file(flow: Flow) -> None:
    write(flow.repo, {".gitignore": "build\n"})
    commit(flow.repo)
    write(flow.repo, {"build/out": "mine\n"})
    space = await flow.open()
    await flow.step(space, does("echo > .gitignore", "echo 1 > build"))
    with pytest.raises(RepositoryError, match="would overwrite build/out, which git ignores in"):
        await flow.spaces.merge(space)
    assert (flow.repo / "build/out").read_text() == "mine\n"


async def test_an_ignored_file_is_not_overwritten_by_one_in_a_renamed_folder(flow: Flow) -> None:
    """The branch renames a folder; what the user added to it meanwhile lands in the new one."""
    write(flow.repo, {f"old/{name}": lines(4, name) for name in "1234"})
    write(flow.repo, {".gitignore": "new/\n"})
    commit(flow.repo)
    git(flow.repo, "config", "merge.directoryRenames", "true")
    space = await flow.open()
    await flow.step(space, does("git mv old new", "echo > .gitignore", "git add -f .", "git commit -qm x"))
    write(flow.repo, {"old/5": "added\n"})
    commit(flow.repo)
    write(flow.repo, {"new/5": "mine\n"})
    with pytest.raises(RepositoryError, match="would overwrite new/5, which git ignores in"):
        await flow.spaces.merge(space)
    assert (flow.repo / "new/5").read_text() == "mine\n"


async def test_a_folder_of_tracked_files_may_become_a_file(flow: Flow) -> None:
    await flow.whole(does("rm -r sub", "echo 1 > sub"))
    assert (flow.repo / "sub").read_text() == "1\n"
    await flow.whole(does("rm sub", "mkdir sub", "echo 1 > sub/c.txt"))
    assert (flow.repo / "sub/c.txt").read_text() == "1\n"


# What agents make


@pytest.fixture
def with_submodule(flow: Flow, tmp_path: Path) -> Flow:
    lib = new_repository(tmp_path / "lib", {"lib.txt": "lib\n"})
    git(flow.repo, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(lib), "z/lib")
    commit(flow.repo)
    return flow


async def test_a_sparse_partial_clone(tmp_path: Path, repo: Path) -> None:
    """The content of what is not checked out was never fetched."""
    git(repo, "config", "uploadpack.allowFilter", "true")
    write(repo, {"out/x": "x\n", "out/y": "y\n"})
    commit(repo)
    git(tmp_path, "clone", "-q", "--filter=blob:none", "--sparse", f"file://{repo}", "part")
    git(tmp_path / "part", "sparse-checkout", "set", "sub")
    flow = flow_of(tmp_path / "part", tmp_path)
    space = await flow.open()
    _, made, _ = await flow.step(space, lambda folder: write(folder, {"out/new": "new\n"}))
    listed = git(flow.repo, "ls-tree", "-r", "--name-only", made or "")
    assert {"out/new", "out/x", "out/y"} < set(listed.split())
    await flow.spaces.merge(space)


async def test_a_long_listing_loses_no_submodule(
    with_submodule: Flow, monkeypatch: pytest.MonkeyPatch
) -> None:
    space = await with_submodule.open()
    await with_submodule.step(space, lambda folder: write(folder, {f"a/{n}": "x\n" for n in range(200)}))
    listed = git(Path(space.path), "ls-files", "-z", "--stage")
    assert Repository.run.__kwdefaults__ is not None
    monkeypatch.setitem(Repository.run.__kwdefaults__, "most_bytes", len(listed) + 10)
    write(Path(space.path), {"new.txt": "new\n"})
    made = await with_submodule.spaces.commit(space, ABOUT)
    assert git(with_submodule.repo, "ls-tree", made or "", "z/lib").startswith("160000 commit")


async def test_work_in_the_folder_of_an_empty_submodule_is_not_removed(with_submodule: Flow) -> None:
    flow = with_submodule
    space = await flow.open()
    evidence, _, _ = await flow.step(space, lambda folder: write(folder, {"z/lib/new.py": "work\n"}))
    assert evidence is not None
    assert evidence.unseen["z/lib/"] == "it lies in the folder of a submodule, and no commit holds it"
    assert (await flow.spaces.preview_merge(space)).left_out == ("z/lib/",)
    with pytest.raises(RepositoryError, match=r"no commit of this repository holds z/lib/ in it"):
        await flow.spaces.remove(space)
    assert (Path(space.path) / "z/lib/new.py").exists()
    await flow.spaces.remove(space, force=True)
    assert not Path(space.path).exists()


IN_A_SUBMODULE = {
    "nothing": ("true", True),
    "a new file": ("echo 1 > z/lib/new.txt", False),
    "a change that git is told to skip": (
        "cd z/lib; git update-index --skip-worktree lib.txt; echo 1 > lib.txt",
        False,
    ),
    "a commit": ("cd z/lib; echo 1 > lib.txt; git commit -qam x", False),
    "a commit that is left": ("cd z/lib; echo 1 > lib.txt; git commit -qam x; git checkout -q HEAD~1", False),
    "a repository": ("cd z/lib; git init -q more; echo 1 > more/x", False),
}


@pytest.mark.parametrize("what", IN_A_SUBMODULE)
async def test_a_submodule_that_an_agent_fetched_is_removed_unless_it_has_work(
    with_submodule: Flow, what: str
) -> None:
    flow = with_submodule
    work, can_go = IN_A_SUBMODULE[what]
    space = await flow.open()
    await flow.step(space, does("git -c protocol.file.allow=always submodule update -q --init", work))
    assert (Path(space.path) / "z/lib/lib.txt").exists()
    if not can_go:
        with pytest.raises(RepositoryError, match="no commit of this repository holds z/lib/ in it"):
            await flow.spaces.remove(space)
    await flow.spaces.remove(space, force=not can_go)
    assert not Path(space.path).exists()


async def test_a_file_with_a_name_that_git_refuses_is_not_removed(flow: Flow) -> None:
    space = await flow.open()
    evidence, made, _ = await flow.step(
        space, lambda folder: write(folder, {"git~1": "x\n", "new.txt": "x\n"})
    )
    assert evidence is not None
    assert set(evidence.changes) == {"new.txt"}
    assert evidence.unseen["git~1"] == "git refuses its name"
    assert git(flow.repo, "diff", "--name-only", "main", made or "") == "new.txt"
    with pytest.raises(RepositoryError, match="no commit of this repository holds git~1 in it"):
        await flow.spaces.remove(space)
    assert (Path(space.path) / "git~1").exists()


@pytest.mark.parametrize(
    "hide",
    ["git config core.trustctime false", "git config core.checkStat minimal"],
)
async def test_a_change_is_seen_though_size_and_time_are_as_before(flow: Flow, hide: str) -> None:
    space = await flow.open()
    file = Path(space.path) / "sub/c.txt"
    os.utime(file, (1, 1))
    git(Path(space.path), "update-index", "--refresh")

    def work(folder: Path) -> None:
        does(hide)(folder)
        before = int(file.stat().st_ctime)
        while int(file.stat().st_ctime) == before:  # git compares whole seconds of it
            file.write_text("d\n")
            os.utime(file, (1, 1))

    evidence, made, _ = await flow.step(space, work)
    assert evidence is not None
    assert set(evidence.changes) == {"sub/c.txt"}
    assert git(flow.repo, "show", f"{made}:sub/c.txt") == "d"


async def test_a_change_is_seen_though_git_is_told_to_skip_the_file(flow: Flow) -> None:
    space = await flow.open()
    hidden = does("git update-index --skip-worktree a.txt", "echo 1 > a.txt")
    evidence, made, _ = await flow.step(space, hidden)
    assert evidence is not None
    assert set(evidence.changes) == {"a.txt"}
    assert git(flow.repo, "show", f"{made}:a.txt") == "1"


async def test_a_submodule_that_both_sides_moved_is_a_conflict(with_submodule: Flow) -> None:
    """Refused before git looks into it."""
    flow, first = with_submodule, "git update-index --cacheinfo 160000,{},z/lib; git commit -qm x"
    space = await flow.open()
    await flow.step(space, does(first.format("1" * 40)))
    does(first.format("2" * 40))(flow.repo)
    head = git(flow.repo, "rev-parse", "HEAD")
    run(flow.repo, "rm", "-rf", "z/lib/.git", "z/lib/lib.txt")
    with pytest.raises(RepositoryError, match="in the submodule z/lib; nothing was changed"):
        await flow.spaces.merge(space)
    assert git(flow.repo, "rev-parse", "HEAD") == head
