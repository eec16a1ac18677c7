"""Repositories on several machines: what one of them makes, another one has again."""

from __future__ import annotations

from pathlib import Path

import pytest

from segue.adapters.git import bundles
from segue.adapters.git.shared import GitSharedRepositories
from segue.adapters.git.workspaces import GitWorkspaces
from segue.application.ports.shared import Work
from segue.application.ports.workspace import StepCommit, WorkspaceRequest
from segue.domain.errors import RepositoryError, TooLarge
from segue.domain.repository_source import RepositorySource, shared_address
from segue.domain.workspace import Workspace, WorkspaceChoice
from tests.git.repositories import commit, git, new_repository, write


class Machine:
    """A machine: a data folder of its own."""

    def __init__(self, folder: Path, push_to: str | None = None) -> None:
        self.folder = folder
        self.workspaces = GitWorkspaces(root=folder / "worktrees")
        self.shared = GitSharedRepositories(
            root=folder / "worktrees", clones=folder / "repositories", push_to=push_to
        )

    async def begin(self, folder: Path, branch: str | None = None) -> Workspace:
        return await self.workspaces.open(
            WorkspaceRequest(
                pipeline_id=1,
                title="Fix it",
                working_dir=str(folder),
                branch=branch,
                choice=WorkspaceChoice.AUTO,
            )
        )

    async def step(self, workspace: Workspace, number: int, files: dict[str, str | bytes]) -> str:
        """What a step does, and its commit."""
        write(Path(workspace.path), files)
        about = StepCommit(
            pipeline_id=1, step=number, agent_name="writer", title="Fix it", handoff_hash="0" * 64
        )
        made = await self.workspaces.commit(workspace, about)
        assert made is not None
        return made


async def described(machine: Machine, folder: Path, *known: str) -> tuple[RepositorySource, bytes | None]:
    """A repository, and a bundle of what a run there begins from."""
    place = await machine.workspaces.check(str(folder), None, WorkspaceChoice.AUTO)
    source = await machine.shared.describe(place)
    return source, await machine.shared.keep_base(place, source, known)


@pytest.fixture
def origin(tmp_path: Path) -> Path:
    """A bare repository that all machines can fetch from."""
    made = new_repository(tmp_path / "seed", {"app/main.py": "x = 1\n", "README": "hello\n"})
    git(tmp_path, "clone", "-q", "--bare", str(made), str(tmp_path / "origin.git"))
    return tmp_path / "origin.git"


@pytest.fixture
def folder(tmp_path: Path, origin: Path) -> Path:
    """The user's clone of it."""
    git(tmp_path, "clone", "-q", f"file://{origin}", str(tmp_path / "mine"))
    return tmp_path / "mine"


async def test_another_machine_has_the_work_after_each_step(tmp_path: Path, folder: Path) -> None:
    here, there = Machine(tmp_path / "here"), Machine(tmp_path / "there")
    workspace = await here.begin(folder / "app")
    source = await here.shared.describe(workspace)
    base = await here.shared.keep_base(workspace, source, [])
    assert base is None, "the origin has all that the run begins from"
    assert (source.url, source.below) == (f"file://{tmp_path}/origin.git", "app")
    first = await here.step(workspace, 1, {"one.py": "one = 1\n"})
    kept = [await here.shared.keep(workspace, source, [first], source.base)]
    second = await here.step(workspace, 2, {"two.py": "two = 2\n", "main.py": "x = 2\n"})
    kept.append(await here.shared.keep(workspace, source, [second], first))
    content = [each for each in kept if each is not None]
    assert len(content) == 2

    work = Work(source=source, branch="segue/1-fix-it", commit=second, bundles=content)
    again = await there.shared.restore(work, 1)
    assert again.path != workspace.path
    assert Path(again.path).is_relative_to(tmp_path / "there" / "worktrees")
    assert {file.name for file in Path(again.path).iterdir()} == {"main.py", "one.py", "two.py"}
    assert (again.branch, again.base) == (workspace.branch, workspace.base)
    assert await there.workspaces.mark(again) == second
    third = await there.step(again, 3, {"three.py": ""})
    assert git(Path(again.path), "log", "--format=%H", "-3").split() == [third, second, first]
    assert "+two = 2" in await there.workspaces.diff(again, first, second)
    assert await there.shared.restore(work, 1) != again, "what has been worked on is left alone"


async def test_a_restored_worktree_is_found_again_after_a_crash(tmp_path: Path, folder: Path) -> None:
    here, there = Machine(tmp_path / "here"), Machine(tmp_path / "there")
    source = await here.shared.describe(await here.begin(folder))
    work = Work(source=source, branch="segue/1-fix-it", commit=source.base)
    assert await there.shared.restore(work, 1) == await there.shared.restore(work, 1)


async def test_locks_that_a_killed_git_left_on_the_branch_of_a_run_stop_nothing(
    tmp_path: Path, folder: Path
) -> None:
    here, there = Machine(tmp_path / "here"), Machine(tmp_path / "there")

    def lock(repository: Path) -> Path:
        left = repository / "refs/heads/segue/1-fix-it.lock"
        left.parent.mkdir(parents=True, exist_ok=True)
        left.touch()
        return left

    left = lock(folder / ".git")
    workspace = await here.begin(folder)
    assert (workspace.branch, left.exists()) == ("segue/1-fix-it", False)
    source = await here.shared.describe(workspace)
    work = Work(source=source, branch="segue/1-fix-it", commit=source.base)
    first = await there.shared.restore(work, 1)
    await there.step(first, 1, {"one.py": "one = 1\n"})
    left = lock(Path(str(first.repository)) / ".git")
    again = await there.shared.restore(work, 2)
    assert await there.workspaces.mark(again) == source.base
    assert not left.exists()


async def test_commits_that_were_never_pushed_are_bundled_without_what_the_origin_has(
    tmp_path: Path, folder: Path
) -> None:
    pushed = git(folder, "rev-parse", "HEAD")
    write(folder, {"large.bin": "x" * 10})
    base = commit(folder, "not pushed")
    here, there = Machine(tmp_path / "here"), Machine(tmp_path / "there")
    source, bundle = await described(here, folder)
    assert bundle is not None
    assert f"\n-{pushed}\n".encode() in bundle
    work = Work(source=source, branch="segue/1", commit=base, bundles=[bundle])
    again = await there.shared.restore(work, 1)
    assert (Path(again.path) / "large.bin").is_file()


async def test_a_repository_without_an_origin_is_bundled_whole_and_only_once(tmp_path: Path) -> None:
    folder = new_repository(tmp_path / "alone", {"a.py": "a = 1\n"})
    first = git(folder, "rev-parse", "HEAD")
    here, there = Machine(tmp_path / "here"), Machine(tmp_path / "there")
    source, begun = await described(here, folder)
    assert source.url is None
    assert (await described(here, folder, first))[1] is None
    write(folder, {"b.py": "b = 1\n"})
    second = commit(folder)
    source, more = await described(here, folder, first, "0" * 40)
    assert begun is not None
    assert more is not None
    assert f"\n-{first}\n".encode() in more
    work = Work(source=source, branch="segue/1", commit=second, bundles=[begun, more])
    again = await there.shared.restore(work, 1)
    assert sorted(file.name for file in Path(again.path).glob("*.py")) == ["a.py", "b.py"]


async def test_people_can_read_a_bundle_with_git_itself(tmp_path: Path) -> None:
    for digest in ("sha1", "sha256"):
        folder = tmp_path / digest
        folder.mkdir()
        git(folder, "init", "-q", f"--object-format={digest}")
        write(folder, {"a.py": "a = 1\n"})
        commit(folder)
        here, there = Machine(tmp_path / f"here-{digest}"), Machine(tmp_path / f"there-{digest}")
        source, bundle = await described(here, folder)
        assert bundle is not None
        (tmp_path / "bundle").write_bytes(bundle)
        git(tmp_path, "clone", "-q", "--bare", "bundle", f"cloned-{digest}")
        assert git(tmp_path / f"cloned-{digest}", "cat-file", "-t", source.base) == "commit"
        work = Work(source=source, branch="segue/1", commit=source.base, bundles=[bundle])
        assert (Path((await there.shared.restore(work, 1)).path) / "a.py").is_file()


async def test_a_clone_is_fetched_into_and_not_made_anew(tmp_path: Path, folder: Path) -> None:
    here, there = Machine(tmp_path / "here"), Machine(tmp_path / "there")
    source = await here.shared.describe(await here.begin(folder))
    await there.shared.restore(Work(source=source, branch="segue/1", commit=source.base), 1)
    (clone,) = (tmp_path / "there" / "repositories").iterdir()
    write(folder, {"new.py": "new = 1\n"})
    base = commit(folder)
    git(folder, "push", "-q", "origin", "HEAD")
    later = await here.shared.describe(await here.begin(folder, "later"))
    assert later.base == base
    assert not await there.shared.has(later, base)
    began = (clone / ".git" / "HEAD").stat().st_ino
    again = await there.shared.restore(Work(source=later, branch="later", commit=base), 2)
    assert (Path(again.path) / "new.py").is_file()
    assert list((tmp_path / "there" / "repositories").iterdir()) == [clone]
    assert (clone / ".git" / "HEAD").stat().st_ino == began


async def test_steps_are_pushed_where_the_settings_say_and_bundled_while_that_fails(
    tmp_path: Path, folder: Path
) -> None:
    remote = tmp_path / "kept.git"
    git(tmp_path, "init", "-q", "--bare", str(remote))
    here = Machine(tmp_path / "here", push_to=f"file://{remote}")
    there = Machine(tmp_path / "there", push_to=f"file://{remote}")
    workspace = await here.begin(folder)
    source = await here.shared.describe(workspace)
    first = await here.step(workspace, 1, {"one.py": "one = 1\n"})
    assert await here.shared.keep(workspace, source, [first], source.base) is None
    assert git(remote, "rev-parse", "refs/heads/segue/1-fix-it") == first
    remote.rename(tmp_path / "away.git")
    second = await here.step(workspace, 2, {"two.py": "two = 2\n"})
    bundle = await here.shared.keep(workspace, source, [second], first)
    assert bundle is not None
    (tmp_path / "away.git").rename(remote)
    work = Work(source=source, branch="segue/1-fix-it", commit=second, bundles=[bundle])
    again = await there.shared.restore(work, 1)
    assert git(Path(again.path), "log", "--format=%H", "-2").split() == [second, first]


async def test_a_pushed_branch_of_somebody_else_is_never_overwritten(tmp_path: Path, folder: Path) -> None:
    other = new_repository(tmp_path / "other", {"other.py": ""})
    git(folder, "fetch", "-q", str(other), "main")
    git(folder, "push", "-q", "origin", "FETCH_HEAD:refs/heads/segue/1-fix-it")
    here = Machine(tmp_path / "here", push_to="origin")
    workspace = await here.begin(folder)
    source = await here.shared.describe(workspace)
    first = await here.step(workspace, 1, {"one.py": "one = 1\n"})
    assert await here.shared.keep(workspace, source, [first], source.base) is not None
    theirs = git(other, "rev-parse", "HEAD")
    assert git(tmp_path / "origin.git", "rev-parse", "refs/heads/segue/1-fix-it") == theirs


async def test_what_is_too_large_is_said(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = Machine(tmp_path / "here")
    workspace = await here.begin(folder)
    source = await here.shared.describe(workspace)
    commit_id = await here.step(workspace, 1, {"one.py": "one = 1\n"})
    alone = new_repository(tmp_path / "alone", {"a.py": "a = 1\n"})
    monkeypatch.setattr(bundles, "MOST_BYTES", 10)
    with pytest.raises(TooLarge):
        await here.shared.keep(workspace, source, [commit_id], source.base)
    with pytest.raises(TooLarge, match=r"what \S+/alone has and its origin does not is more than 256 MB"):
        await described(Machine(tmp_path / "second"), alone)


async def test_a_commit_that_nobody_has_is_named_with_where_it_was_looked_for(
    tmp_path: Path, folder: Path
) -> None:
    here, there = Machine(tmp_path / "here"), Machine(tmp_path / "there")
    source = await here.shared.describe(await here.begin(folder))
    with pytest.raises(RepositoryError, match=r"0{40} of file://\S+ was looked for in file://"):
        await there.shared.restore(Work(source=source, branch="segue/1", commit="0" * 40), 1)
    (tmp_path / "origin.git").rename(tmp_path / "gone.git")
    with pytest.raises(RepositoryError, match=r"does not appear to be a git repository|does not exist"):
        await Machine(tmp_path / "third").shared.restore(
            Work(source=source, branch="segue/1", commit=source.base), 1
        )


async def test_the_branch_is_shown_in_the_folder_of_the_user_beside_what_has_its_name(
    tmp_path: Path, folder: Path
) -> None:
    here, there = Machine(tmp_path / "here"), Machine(tmp_path / "there")
    workspace = await here.begin(folder)
    source = await here.shared.describe(workspace)
    again = await there.shared.restore(Work(source=source, branch="segue/1-fix-it", commit=source.base), 1)
    first = await there.step(again, 1, {"one.py": "one = 1\n"})
    bundle = await there.shared.keep(again, source, [first], source.base)
    assert bundle is not None
    work = Work(source=source, branch="segue/1-fix-it", commit=first, bundles=[bundle])
    shown = await here.shared.show(work, str(folder))
    assert shown.branch == f"segue/1-fix-it-{first[:7]}", "the worktree that was left has the branch"
    assert "+one = 1" in await here.workspaces.diff(shown, source.base, None)
    await here.workspaces.merge(shown)
    assert (folder / "one.py").is_file()
    assert (await there.shared.show(work)).repository == again.repository


async def test_a_stray_worktree_goes_and_what_was_not_committed_stays_on_its_branch(
    tmp_path: Path, folder: Path
) -> None:
    here = Machine(tmp_path / "here")
    workspace = await here.begin(folder)
    write(Path(workspace.path), {"half.py": "half = 1\n"})
    assert await here.shared.worktrees() == {workspace.path: 1}
    await here.shared.remove_stray(workspace.path)
    assert await here.shared.worktrees() == {}
    assert git(folder, "show", "segue/1-fix-it:half.py") == "half = 1"
    assert git(folder, "worktree", "list").count("\n") == 0
    write(Path((await here.begin(folder)).path), {"git~1": "a name that git refuses\n"})
    (left,) = await here.shared.worktrees()
    with pytest.raises(RepositoryError, match="no commit holds git~1"):
        await here.shared.remove_stray(left)
    assert (Path(left) / "git~1").is_file()


async def test_a_clone_obeys_nothing_that_an_agent_wrote_into_it(tmp_path: Path, folder: Path) -> None:
    here, there = Machine(tmp_path / "here"), Machine(tmp_path / "there")
    source = await here.shared.describe(await here.begin(folder))
    again = await there.shared.restore(Work(source=source, branch="segue/1", commit=source.base), 1)
    trap = tmp_path / "trap.sh"
    trap.write_text(f"#!/bin/sh\n: > {tmp_path}/ran\nexit 1\n")
    trap.chmod(0o755)
    clone = Path(again.repository or "")
    for name in ("reference-transaction", "post-checkout", "pre-push", "post-index-change"):
        (clone / ".git" / "hooks").mkdir(exist_ok=True)
        (clone / ".git" / "hooks" / name).symlink_to(trap)
    for name in (
        "core.sshCommand",
        "core.fsmonitor",
        "credential.helper",
        "remote.origin.uploadpack",
        "remote.origin.receivepack",
        "url.ext::sh -c false.insteadOf",
        "core.gitProxy",
    ):
        git(clone, "config", name, str(trap))
    write(folder, {"new.py": "new = 1\n"})
    base = commit(folder)
    git(folder, "push", "-q", "origin", "HEAD")
    later = await here.shared.describe(await here.begin(folder, "later"))
    second = await there.shared.restore(Work(source=later, branch="later", commit=base), 2)
    step = await there.step(second, 1, {"two.py": ""})
    pushing = RepositorySource(
        name=later.name, url=later.url, base=later.base, push_to=f"file://{tmp_path}/origin.git"
    )
    assert await there.shared.keep(second, pushing, [step], base) is None
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("written", "shared"),
    [
        ("https://me:secret@example.org/a.git", "https://example.org/a.git"),
        ("ssh://git@example.org:2222/a.git", "ssh://git@example.org:2222/a.git"),
        ("git@example.org:a/b.git", "git@example.org:a/b.git"),
        ("file:///srv/a.git", "file:///srv/a.git"),
        ("/srv/a.git", None),
        ("../a.git", None),
        ("ext::sh -c true", None),
        ("transport::https://example.org/a.git", None),
        ("--upload-pack=true", None),
        ("fd://17", None),
        (None, None),
    ],
)
def test_which_addresses_every_machine_can_use(written: str | None, shared: str | None) -> None:
    assert shared_address(written) == shared


def test_two_data_folders_have_two_names_and_each_keeps_its_own(tmp_path: Path) -> None:
    here, there = Machine(tmp_path / "here"), Machine(tmp_path / "there")
    assert here.shared.home != there.shared.home
    assert Machine(tmp_path / "here").shared.home == here.shared.home
