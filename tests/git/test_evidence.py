"""What git shows of a step: every kind of change, odd names, odd repositories."""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path

import pytest

from segue.adapters.git import collect_evidence, open_sources
from segue.domain.claims import ChangeKind, LineRange
from segue.domain.errors import RepositoryError
from tests.git.repositories import commit, git, lines, new_repository, write


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    files: dict[str, str | bytes] = {
        "src/a.py": lines(30),
        "src/b.py": lines(10, "b"),
        "old.py": lines(40, "old"),
        "data.bin": b"\0\1\2" * 100,
        ".gitignore": "build/\n*.log\n",
    }
    return new_repository(tmp_path / "repo", files)


def change_everything(repo: Path) -> None:
    changed = lines(30).replace("line 12\n", "changed\n").replace("line 20\n", "")
    write(repo, {"src/a.py": changed, "new.py": lines(5), "data.bin": b"\0new", "build/x": "x", "a.log": "x"})
    (repo / "src/b.py").unlink()
    (repo / "old.py").rename(repo / "moved.py")


def test_the_work_tree_is_compared_with_its_untracked_files(repo: Path) -> None:
    index = (repo / ".git/index").read_bytes()
    change_everything(repo)
    found = collect_evidence(repo, "HEAD")
    kinds = {path: str(change.kind) for path, change in found.changes.items()}
    assert kinds == {
        "src/a.py": "modified",
        "src/b.py": "deleted",
        "data.bin": "modified",
        "new.py": "added",
        "moved.py": "renamed",
    }
    assert found.changes["moved.py"].old_path == "old.py"
    assert found.changes["data.bin"].is_binary
    assert found.changes["new.py"].line_count == 5
    changed = found.changes["src/a.py"]
    assert (changed.additions, changed.deletions, changed.line_count) == (1, 2, 29)
    assert changed.new_lines == (LineRange(12, 12), LineRange(19, 20))
    assert changed.old_lines == (LineRange(12, 12), LineRange(20, 20))
    assert set(found.after or ()) == {"src/a.py", "data.bin", "new.py", "moved.py", ".gitignore"}
    assert set(found.before or ()) == {"src/a.py", "src/b.py", "old.py", "data.bin", ".gitignore"}
    assert found.unseen == {"build/x": "git ignores it", "a.log": "git ignores it"}
    assert found.is_diff_whole
    assert found.is_tree_whole
    assert (repo / ".git/index").read_bytes() == index, "the user's index is as it was"


def test_two_revisions_show_the_same_as_the_work_tree(repo: Path) -> None:
    change_everything(repo)
    in_tree = collect_evidence(repo, "HEAD")
    base = git(repo, "rev-parse", "HEAD")
    head = commit(repo)
    committed = collect_evidence(repo, base, "HEAD")
    assert committed.changes == in_tree.changes
    assert committed.after == in_tree.after
    assert committed.commits == (head,)
    assert committed.are_commits_whole
    sources = open_sources(repo, base, "HEAD")
    assert (sources.has_commit(base), sources.has_commit(head)) == (True, True)
    assert collect_evidence(repo, base).changes == in_tree.changes
    assert collect_evidence(repo, "HEAD").changes == {}


def test_commits_are_known_by_the_beginning_of_their_ids(repo: Path, tmp_path: Path) -> None:
    first = git(repo, "rev-parse", "HEAD")
    second = commit(repo)
    git(repo, "reset", "-q", "--hard", first)
    sources = open_sources(repo, first)
    assert [sources.has_commit(name) for name in (first, first[:7], second[:12])] == [True] * 3
    blob = git(repo, "rev-parse", "HEAD:src/a.py")
    assert [sources.has_commit(name) for name in ("0" * 12, blob, blob[:10])] == [False] * 3
    write(repo, {"third.txt": "3\n"})
    third = commit(repo)
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{repo}", "shallow")
    shallow = open_sources(tmp_path / "shallow", "HEAD")
    assert (shallow.has_commit(third[:9]), shallow.has_commit(first[:9])) == (True, None)


def test_nothing_is_written_into_the_repository(repo: Path) -> None:
    change_everything(repo)

    def state() -> dict[str, bytes]:
        return {str(p): p.read_bytes() for p in sorted((repo / ".git").rglob("*")) if p.is_file()}

    before = state()
    collect_evidence(repo, "HEAD")
    assert state() == before


ODD = [
    "--help",
    "-",
    "a b.py",
    "line\nbreak.py",
    "tab\there.py",
    'quo"te.py',
    "back\\slash.py",
    ":(glob)*",
    "*",
    "diff --git a b",
    "\n@@ -1 +1 @@\n",
    "ünïcode.py",
    os.fsdecode(b"latin\xe9.py"),
    "a\n+++ b/src/a.py",
]


@pytest.mark.parametrize("name", ODD, ids=ascii)
def test_a_file_may_have_any_name(repo: Path, name: str) -> None:
    write(repo, {name: lines(3)})
    assert collect_evidence(repo, "HEAD").changes[name].kind is ChangeKind.ADDED
    base = commit(repo)
    write(repo, {name: lines(3) + "more\n"})
    found = collect_evidence(repo, base)
    assert set(found.changes) == {name}
    assert found.changes[name].new_lines == (LineRange(4, 4),)
    assert found.changes[name].line_count == 4
    (repo / name).unlink()
    assert collect_evidence(repo, base).changes[name].kind is ChangeKind.DELETED


def test_lines_that_look_like_a_diff_are_content(repo: Path) -> None:
    write(repo, {"z.txt": "-- a/x\n@@ -1 +1 @@\n"})
    base = commit(repo)
    write(repo, {"z.txt": "++ b/src/b.py\n@@ -7 +7 @@\ndiff --git a/q b/q\n"})
    found = collect_evidence(repo, base)
    assert set(found.changes) == {"z.txt"}
    assert found.changes["z.txt"].new_lines
    assert max(each.last for each in found.changes["z.txt"].new_lines) == 3


def test_links_are_not_followed(repo: Path, tmp_path: Path) -> None:
    write(tmp_path, {"outside/secret.txt": "secret\n"})
    (repo / "link").symlink_to(tmp_path / "outside")
    (repo / "loop").symlink_to("loop")
    found = collect_evidence(repo, "HEAD")
    assert set(found.changes) == {"link", "loop"}
    assert found.unseen["link/"] == "it lies behind a symbolic link"


def test_a_file_that_became_a_link_or_a_folder(repo: Path) -> None:
    (repo / "src/b.py").unlink()
    (repo / "src/b.py").symlink_to("a.py")
    (repo / "old.py").unlink()
    write(repo, {"old.py/inner.py": "x\n"})
    found = collect_evidence(repo, "HEAD")
    assert found.changes["src/b.py"].kind is ChangeKind.TYPE_CHANGED
    assert found.changes["old.py"].kind is ChangeKind.DELETED
    assert found.changes["old.py/inner.py"].kind is ChangeKind.ADDED


def test_submodules_and_inner_repositories_are_not_looked_into(repo: Path, tmp_path: Path) -> None:
    inner = new_repository(tmp_path / "inner", {"x.py": "x\n"})
    git(repo, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner), "sub")
    base = commit(repo)
    write(repo, {"sub/x.py": "changed\n"})
    new_repository(repo / "own", {"y.py": "y\n"})
    new_repository(repo / "bare-new")
    found = collect_evidence(repo, base)
    assert found.unseen["sub/"] == "it lies in a submodule"
    assert found.unseen["own/"] == "it lies in a repository of its own"
    assert not found.changes
    git(repo / "sub", "commit", "-qam", "x")
    assert set(collect_evidence(repo, base).changes) == {"sub"}


def test_files_that_git_was_told_to_take_for_unchanged_are_looked_at(repo: Path) -> None:
    git(repo, "update-index", "--assume-unchanged", "src/a.py")
    write(repo, {"src/a.py": "changed\n"})
    assert set(collect_evidence(repo, "HEAD").changes) == {"src/a.py"}
    assert git(repo, "ls-files", "-v", "src/a.py").startswith("h"), "the user's own mark stays"


def test_a_file_that_was_only_touched_did_not_change(repo: Path) -> None:
    os.utime(repo / "src/a.py", (1, 1))
    assert collect_evidence(repo, "HEAD").changes == {}


def test_a_change_in_the_same_moment_as_the_commit_is_seen(repo: Path) -> None:
    """Of the same size and age as what was committed: only the age of the index gives it away."""
    moment = 1_700_000_000_000_000_000
    git(repo, "config", "core.trustctime", "false")
    write(repo, {"fast.txt": "one\n"})
    os.utime(repo / "fast.txt", ns=(moment, moment))
    base = commit(repo)
    (repo / "fast.txt").write_bytes(b"two\n")
    os.utime(repo / "fast.txt", ns=(moment, moment))
    os.utime(repo / ".git/index", ns=(moment, moment))
    assert set(collect_evidence(repo, base).changes) == {"fast.txt"}


def test_a_repository_without_a_commit(tmp_path: Path) -> None:
    repo = new_repository(tmp_path / "repo")
    write(repo, {"a.py": "x\n"})
    found = collect_evidence(repo, "HEAD")
    assert set(found.changes) == {"a.py"}
    assert found.before == frozenset()
    assert found.commits == ()
    assert found.are_commits_whole


def test_a_detached_head_and_a_linked_work_tree(repo: Path, tmp_path: Path) -> None:
    git(repo, "worktree", "add", "-q", "--detach", str(tmp_path / "tree"))
    write(tmp_path / "tree", {"new.py": "x\n"})
    assert set(collect_evidence(tmp_path / "tree", "HEAD").changes) == {"new.py"}
    assert collect_evidence(repo, "HEAD").changes == {}


def test_a_folder_below_the_top(repo: Path) -> None:
    write(repo, {"src/c.py": "x\n", "top.py": "x\n"})
    found = collect_evidence(repo / "src", "HEAD")
    assert set(found.changes) == {"src/c.py", "top.py"}
    assert found.prefix == "src/"


def test_a_conflict_is_a_change(repo: Path) -> None:
    git(repo, "checkout", "-qb", "other")
    write(repo, {"src/a.py": "theirs\n"})
    commit(repo)
    git(repo, "checkout", "-q", "main")
    write(repo, {"src/a.py": "ours\n"})
    base = commit(repo)
    with pytest.raises(AssertionError):
        git(repo, "merge", "other")
    assert collect_evidence(repo, base).changes["src/a.py"].kind is ChangeKind.MODIFIED


def lfs_pointer(content: bytes) -> bytes:
    digest = hashlib.sha256(content).hexdigest()
    return f"version https://git-lfs.github.com/spec/v1\noid sha256:{digest}\nsize {len(content)}\n".encode()


def test_a_large_file_behind_a_pointer_changed_only_if_its_content_did(repo: Path) -> None:
    write(
        repo,
        {
            "big.psd": lfs_pointer(b"large"),
            "same.psd": lfs_pointer(b"same"),
            ".gitattributes": "*.psd filter=lfs\n",
        },
    )
    base = commit(repo)
    git(repo, "config", "filter.lfs.clean", "git-lfs clean -- %f")
    git(repo, "config", "filter.lfs.required", "true")
    write(repo, {"big.psd": b"other", "same.psd": b"same"})
    assert set(collect_evidence(repo, base).changes) == {"big.psd"}


def test_a_change_behind_another_filter_is_not_certain(repo: Path) -> None:
    write(repo, {"x.enc": "secret\n", ".gitattributes": "*.enc filter=crypt\n"})
    base = commit(repo)
    git(repo, "config", "filter.crypt.clean", "tr a-z A-Z")
    write(repo, {"x.enc": "plain\n"})
    assert not collect_evidence(repo, base).changes["x.enc"].is_certain


@pytest.mark.parametrize(
    ("base", "words"),
    [
        ("nope", 'there is no revision "nope"'),
        ("--output=x", '"--output=x" is not a revision'),
        ("", '"" is not a revision'),
        ("HEAD:src/a.py", "there is no revision"),
    ],
)
def test_a_revision_that_is_none_is_said_so(repo: Path, base: str, words: str) -> None:
    with pytest.raises(RepositoryError, match=words):
        collect_evidence(repo, base)
    assert not (repo / "x").exists()


def test_a_folder_that_is_no_repository_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(RepositoryError, match="is not a git repository; run `git init` there"):
        collect_evidence(tmp_path, "HEAD")
    with pytest.raises(RepositoryError, match="there is no folder"):
        collect_evidence(tmp_path / "gone", "HEAD")


def test_the_inside_of_a_repository_has_no_work_tree(repo: Path) -> None:
    with pytest.raises(RepositoryError):
        collect_evidence(repo / ".git", "HEAD")


def test_a_work_tree_elsewhere_is_not_looked_at(repo: Path, tmp_path: Path) -> None:
    write(tmp_path, {"elsewhere/private.txt": "x"})
    git(repo, "config", "core.worktree", str(tmp_path / "elsewhere"))
    with pytest.raises(RepositoryError):
        collect_evidence(repo, "HEAD")


def test_without_git_the_error_says_so(repo: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RepositoryError, match="git is not on the PATH"):
        collect_evidence(repo, "HEAD")


def test_an_index_that_is_no_file_is_refused(repo: Path) -> None:
    (repo / ".git/index").unlink()
    os.mkfifo(repo / ".git/index")
    with pytest.raises(RepositoryError, match="is not an index"):
        collect_evidence(repo, "HEAD")


def test_a_broken_repository_ends_in_one_sentence(repo: Path) -> None:
    shutil.rmtree(repo / ".git/objects")
    (repo / ".git/objects").mkdir()
    with pytest.raises(RepositoryError) as caught:
        collect_evidence(repo, "HEAD")
    assert "\n" not in str(caught.value)
