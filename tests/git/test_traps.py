"""No program that a repository names runs, wherever it is named and whatever Segue does with git."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from segue.adapters.git import collect_evidence
from segue.domain.errors import RepositoryError
from segue.domain.evidence.model import ChangeKind
from segue.domain.workspace import WorkspaceChoice
from tests.git.flow import ABOUT, Flow, change, flow_of, kinds, run
from tests.git.repositories import AUTHOR, commit, git, lines, new_repository, write
from tests.git.traps import ATTRIBUTES, Traps, hostile_nested_repository, make_traps

ADDED, MODIFIED = ChangeKind.ADDED, ChangeKind.MODIFIED


@pytest.fixture
def traps(tmp_path: Path) -> Traps:
    return make_traps(tmp_path / "traps")


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    files: dict[str, str | bytes] = {
        "a.txt": lines(5),
        "trap.md": "trap\n",
        "trap.rst": "trap\n",
        ".gitattributes": ATTRIBUTES,
        ".gitmodules": '[submodule "module"]\n\tpath = module\n\turl = ../module\n\tignore = none\n',
    }
    folder = new_repository(tmp_path / "repo", files)
    head = git(folder, "rev-parse", "HEAD")
    git(folder, "update-index", "--add", "--cacheinfo", f"160000,{head},module")
    git(folder, "commit", "-qm", "A submodule")
    (folder / "module").mkdir()
    return folder


@pytest.fixture
def flow(repo: Path, tmp_path: Path) -> Flow:
    return flow_of(repo, tmp_path)


def work(folder: Path) -> None:
    """Changes, and files whose time alone has changed: git reads those again, through their filters."""
    change(folder)
    for name in ("trap.md", "trap.rst"):
        os.utime(folder / name, (1, 1))


async def check_whole_life(flow: Flow, traps: Traps, agent: Callable[[Path], object] = work) -> None:
    """Everything that Segue does with git, in a worktree and in place; nothing ran, and all was done."""
    evidence, space = await flow.whole(agent)
    assert traps.sprung() == []
    assert kinds(evidence) == {"a.txt": MODIFIED, "new.txt": ADDED}
    assert git(flow.repo, "show", "--no-ext-diff", f"{space.branch}:new.txt") == "new"
    assert (flow.repo / "new.txt").read_text() == "new\n"
    traps.sprung()
    place = await flow.spaces.open(flow.wanted(choice=WorkspaceChoice.IN_PLACE))
    mark = await flow.spaces.mark(place)
    write(flow.repo, {"more.txt": "more\n"})
    in_place = await flow.spaces.evidence(place, mark)
    assert in_place is not None
    assert kinds(in_place) == {"more.txt": ADDED}
    assert "+++ b/more.txt" in await flow.spaces.diff(place, mark, None)
    assert set(collect_evidence(flow.repo, "HEAD").changes) == {"more.txt"}
    assert traps.sprung() == []


def in_the_configuration(repo: Path, traps: Traps) -> None:
    traps.set_in(repo / ".git")


def in_a_file_that_is_included(repo: Path, traps: Traps) -> None:
    included = traps.folder / "included"
    included.write_text(traps.settings)
    with (repo / ".git/config").open("a") as file:
        file.write(f"[include]\n\tpath = {included}\n")


def in_a_file_for_worktrees_alone(repo: Path, traps: Traps) -> None:
    included = traps.folder / "included"
    included.write_text(traps.settings)
    with (repo / ".git/config").open("a") as file:
        for condition in ("gitdir:**/worktrees/**", "onbranch:segue/**"):
            file.write(f'[includeIf "{condition}"]\n\tpath = {included}\n')


def in_the_file_of_a_worktree(repo: Path, traps: Traps) -> None:
    with (repo / ".git/config").open("a") as file:
        file.write("[core]\n\trepositoryFormatVersion = 1\n[extensions]\n\tworktreeConfig = true\n")
    (repo / ".git/config.worktree").write_text(traps.settings)


def in_the_configuration_of_the_user(_: Path, traps: Traps) -> None:
    home = traps.folder / "home"
    write(home, {".gitconfig": traps.settings, ".config/git/attributes": ATTRIBUTES})


@pytest.mark.parametrize(
    "set_traps",
    [
        in_the_configuration,
        in_a_file_that_is_included,
        in_a_file_for_worktrees_alone,
        in_the_file_of_a_worktree,
        in_the_configuration_of_the_user,
    ],
    ids=lambda chosen: chosen.__name__,
)
async def test_no_program_runs_wherever_it_is_named(
    flow: Flow, traps: Traps, monkeypatch: pytest.MonkeyPatch, set_traps: Callable[[Path, Traps], None]
) -> None:
    set_traps(flow.repo, traps)
    monkeypatch.setenv("HOME", str(traps.folder / "home"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    traps.sprung()
    await check_whole_life(flow, traps)


def test_the_traps_work(repo: Path, traps: Traps) -> None:
    """With plain git nearly all of them spring; else the tests here would show nothing."""
    traps.set_in(repo / ".git")
    work(repo)
    shutil.rmtree(repo / "module")
    hostile_nested_repository(repo / "module", traps)
    traps.sprung()
    for command in (
        "diff; diff --no-ext-diff; add -A; lazy; branch b",
        "commit --allow-empty -m x; commit --allow-empty --no-gpg-sign",
        "rm -q --cached trap.md; checkout HEAD trap.md",
    ):
        for arguments in command.split("; "):
            plain = ["git", *AUTHOR[:4], *arguments.split()]
            subprocess.run(
                plain, cwd=repo, stdin=subprocess.DEVNULL, capture_output=True, timeout=120, check=False
            )
    assert set(traps.sprung()) >= {
        "fsmonitor",
        "diff-command",
        "textconv",
        "clean",
        "smudge",
        "process",
        "alias",
        "gpg",
        "editor",
        "reference-transaction",
        "pre-commit",
        "transport",
    }


# Repositories inside the work tree


async def test_nothing_runs_in_a_repository_inside(flow: Flow, traps: Traps) -> None:
    """One that is recorded as a submodule, one that the agent added to the index, one that it just made."""

    def agent(folder: Path) -> None:
        work(folder)
        for name in ("module", "added", "made"):
            hostile_nested_repository(folder / name, traps)
        run(folder, "git", "-c", "core.fsmonitor=false", "add", "added")
        traps.sprung()

    space = await flow.open()
    evidence, end, shown = await flow.step(space, agent)
    assert traps.sprung() == []
    assert evidence is not None
    module = git(Path(space.path, "module"), "-c", "core.fsmonitor=false", "rev-parse", "HEAD")
    assert kinds(evidence) == {"a.txt": MODIFIED, "new.txt": ADDED, "module": MODIFIED}
    assert evidence.unseen["added/"] == evidence.unseen["made/"] == "it lies in a repository of its own"
    changed = git(flow.repo, "diff", "--name-only", "main", end or "").split()
    assert changed == ["a.txt", "module", "new.txt"]
    assert f"+Subproject commit {module}" in shown
    preview = await flow.spaces.preview_merge(space)
    assert preview.left_out == ("added/", "made/", "module/")
    await flow.spaces.merge(space)
    with pytest.raises(RepositoryError, match="no commit of this repository holds added/, made/, module/"):
        await flow.spaces.remove(space)
    assert traps.sprung() == []
    for name in ("module", "added", "made"):
        shutil.rmtree(Path(space.path, name))
    await flow.spaces.remove(space)
    assert not Path(space.path).exists()


async def test_nothing_runs_in_a_submodule_of_the_user(flow: Flow, traps: Traps) -> None:
    hostile_nested_repository(flow.repo / "module", traps)
    head = git(flow.repo / "module", "-c", "core.fsmonitor=false", "rev-parse", "HEAD")
    git(flow.repo, "update-index", "--cacheinfo", f"160000,{head},module")
    git(flow.repo, "commit", "-qm", "Move the submodule on")
    traps.sprung()
    assert "submodules are empty in the worktree" in (await flow.open()).notes[-1]
    await check_whole_life(flow, traps)
    run(flow.repo, "git", "status")
    assert traps.sprung(), "the traps do not work, so the test shows nothing"


# A configuration that changes, or that is too long


async def test_a_program_that_is_named_while_segue_works_does_not_run(
    flow: Flow, traps: Traps, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process of the agent's that waits for the listing of the settings: here it is the listing itself."""
    plain = tmp_path / "plain"
    shutil.copyfile(flow.repo / ".git/config", plain)
    traps.set_hooks(flow.repo / ".git")
    hostile = tmp_path / "hostile"
    hostile.write_text(plain.read_text() + traps.settings)
    config, real = flow.repo / ".git/config", shutil.which("git")
    script = [
        "#!/bin/sh",
        "case \" $* \" in *' --list '*) ;; *)",
        f"exec '{real}' \"$@\";; esac",
        f"cp '{plain}' '{config}'",
        f"'{real}' \"$@\"",
        f"code=$?; cp '{hostile}' '{config}'; exit $code",
    ]
    write(tmp_path / "late", {"git": "\n".join(script)})
    (tmp_path / "late/git").chmod(0o755)
    space = await flow.open()
    traps.sprung()
    with monkeypatch.context() as patch:
        patch.setenv("PATH", f"{tmp_path / 'late'}{os.pathsep}{os.environ['PATH']}")
        mark = await flow.spaces.mark(space)
        work(Path(space.path))
        evidence = await flow.spaces.evidence(space, mark)
        assert await flow.spaces.commit(space, ABOUT)
        assert traps.sprung() == []
        await flow.spaces.merge(space)
        await flow.spaces.remove(space)
    assert "fsmonitor" in config.read_text(), "the settings did change"
    assert traps.sprung() == []
    assert evidence is not None
    assert kinds(evidence) == {"a.txt": MODIFIED, "new.txt": ADDED}


def test_a_configuration_that_is_too_long_to_be_read_is_refused(repo: Path, traps: Traps) -> None:
    """What comes after the part that is read could name anything."""
    with (repo / ".git/config").open("a") as file:
        file.write("[padding]\n" + f"\tkey = {'x' * 1000}\n" * 5000)
        file.write(traps.settings)
    with pytest.raises(RepositoryError, match=r"is longer than 4 MB, so Segue does not use it"):
        collect_evidence(repo, "HEAD")
    assert traps.sprung() == []


def test_settings_that_change_content_are_obeyed(repo: Path) -> None:
    """Whatever a value looks like, git is told the same as the repository says."""
    excludes = repo.parent / 'odd "name"\\;#\t.txt'
    excludes.write_text("*.tmp\n")
    git(repo, "config", "core.excludesFile", str(excludes))
    git(repo, "config", "core.autocrlf", "true")
    write(repo, {"x.tmp": "x", "b.txt": "1\r\n"})
    (repo / "a.txt").unlink()
    git(repo, "checkout", "a.txt")
    os.utime(repo / "a.txt", (1, 1))
    assert b"\r\n" in (repo / "a.txt").read_bytes()
    found = collect_evidence(repo, "HEAD")
    assert kinds(found) == {"b.txt": ADDED}
    assert found.unseen["x.tmp"] == "git ignores it"


async def test_line_ends_are_stored_as_git_would_and_what_cannot_be_converted_is_kept(flow: Flow) -> None:
    space = await flow.open()
    written: dict[str, str | bytes] = {
        ".gitattributes": "*.txt text\n*.utf16 working-tree-encoding=UTF-16\n",
        "b.txt": "1\r\n2\r\n",
        "good.utf16": "word\n".encode("utf-16"),
        "odd.utf16": b"\xff\xfe\x00\xd8x",
        "c.txt": "c\n",
    }
    _, end, _ = await flow.step(space, lambda folder: write(folder, written))
    assert git(flow.repo, "cat-file", "-s", f"{end}:b.txt") == "4"
    assert git(flow.repo, "cat-file", "-p", f"{end}:good.utf16") == "word"
    assert git(flow.repo, "cat-file", "-s", f"{end}:odd.utf16") == "5"
    assert git(flow.repo, "cat-file", "-p", f"{end}:c.txt") == "c"


async def test_a_sparse_checkout_stays_sparse_in_the_worktree(flow: Flow) -> None:
    write(flow.repo, {"in/a.txt": "a\n", "out/b.txt": "b\n"})
    commit(flow.repo)
    git(flow.repo, "sparse-checkout", "set", "in")
    space = await flow.open()
    assert (Path(space.path) / "in/a.txt").exists()
    assert not (Path(space.path) / "out").exists()
    _, end, _ = await flow.step(space, change)
    assert git(flow.repo, "diff", "--name-only", "main", end or "").split() == ["a.txt", "new.txt"]


# Links


async def test_a_link_in_place_of_the_git_file_of_a_worktree_is_replaced_not_followed(
    flow: Flow, traps: Traps, tmp_path: Path
) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine\n")
    other = new_repository(tmp_path / "other", {"elsewhere.txt": "x\n"})
    git(other, "worktree", "add", "-q", str(tmp_path / "linked"))
    traps.set_in(other / ".git")
    traps.sprung()
    space = await flow.open()
    mark = await flow.spaces.mark(space)
    dot_git = Path(space.path, ".git")
    for target in (victim, tmp_path / "linked/.git"):
        dot_git.unlink()
        dot_git.symlink_to(target)
        before = target.read_bytes()
        evidence = await flow.spaces.evidence(space, mark)
        assert evidence is not None
        assert kinds(evidence) == {}
        assert target.read_bytes() == before
        assert not dot_git.is_symlink()
    dot_git.write_text(f"gitdir: {other / '.git'}\n")
    work(Path(space.path))
    assert await flow.spaces.commit(space, ABOUT)
    assert git(other, "-c", "core.fsmonitor=false", "log", "--format=%s", "--no-show-signature") == "a step"
    traps.sprung()
    await flow.spaces.merge(space)
    await flow.spaces.remove(space)
    assert traps.sprung() == []


async def test_a_git_folder_behind_a_link_and_links_to_the_outside(
    flow: Flow, traps: Traps, tmp_path: Path
) -> None:
    (flow.repo / ".git").rename(tmp_path / "elsewhere.git")
    (flow.repo / ".git").symlink_to(tmp_path / "elsewhere.git")
    traps.set_in(tmp_path / "elsewhere.git")
    write(tmp_path, {"outside/secret.md": "secret\n"})

    def agent(folder: Path) -> None:
        (folder / "out").symlink_to(tmp_path / "outside")
        (folder / "secret.txt").symlink_to(tmp_path / "outside/secret.md")

    evidence, space = await flow.whole(agent)
    assert traps.sprung() == []
    assert kinds(evidence) == {"out": ADDED, "secret.txt": ADDED}
    assert git(flow.repo, "cat-file", "-p", f"{space.branch}:secret.txt") == str(
        tmp_path / "outside/secret.md"
    )
