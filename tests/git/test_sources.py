"""The text of a repository before and after a step, hostile ones too."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from segue.adapters.git import changes as changes_module
from segue.adapters.git import observe, open_sources, sources
from segue.domain.evidence.model import Hunk, LineRange
from segue.domain.evidence.sources import FileLine
from tests.git.repositories import commit, git, lines, new_repository, write


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    files: dict[str, str | bytes] = {
        "src/a.py": "def total(xs):\n    return sum(xs)\n",
        "data.bin": b"\0total",
        "notes.md": "about total\n",
    }
    return new_repository(tmp_path / "repo", files)


def test_definitions_hunks_and_dependencies_come_with_the_changes(repo: Path) -> None:
    write(repo, {"src/a.py": "def total(xs):\n    return len(xs)\n\ndef mean(xs):\n    return 0\n"})
    write(repo, {"requirements.txt": "httpx==1\n"})
    found = observe(repo, "HEAD")
    assert [(str(each.fate), each.name) for each in found.evidence.definitions] == [
        ("changed", "total"),
        ("added", "mean"),
    ]
    assert [each.name for each in found.evidence.dependencies] == ["httpx"]
    assert found.evidence.changes["src/a.py"].hunks == (
        Hunk(
            old=LineRange(2, 2),
            new=LineRange(2, 5),
            removed=("    return sum(xs)",),
            added=("    return len(xs)", "", "def mean(xs):", "    return 0"),
        ),
    )


def test_lines_that_look_like_headers_stay_in_their_hunk(repo: Path) -> None:
    write(repo, {"notes.md": "-- a/x\n++ b/x\n@@ -1 +1 @@\ndiff --git a/x b/x\n"})
    (hunk,) = observe(repo, "HEAD").evidence.changes["notes.md"].hunks or ()
    assert hunk.removed == ("about total",)
    assert hunk.added == ("-- a/x", "++ b/x", "@@ -1 +1 @@", "diff --git a/x b/x")
    assert set(observe(repo, "HEAD").evidence.changes) == {"notes.md"}


def test_hunks_that_are_too_much_are_left_out_and_their_lines_still_counted(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changes_module, "MOST_HUNK_BYTES", 200)
    write(repo, {"a.txt": "x" * 3000 + "\n", "b.txt": "short\n", "c.txt": lines(100), "d.txt": "last\n"})
    found = observe(repo, "HEAD").evidence.changes
    assert {path: change.hunks is None for path, change in found.items()} == {
        "a.txt": True,
        "b.txt": True,
        "c.txt": True,
        "d.txt": True,
    }
    assert found["c.txt"].new_lines == (LineRange(1, 100),)


def test_text_is_told_of_both_states_and_of_two_revisions(repo: Path) -> None:
    base = git(repo, "rev-parse", "HEAD")
    write(repo, {"src/a.py": "new\n", "b.txt": "b\r\n"})
    for found in (open_sources(repo, base), (commit(repo), open_sources(repo, base, "HEAD"))[1]):
        assert found.text("src/a.py", before=True) == "def total(xs):\n    return sum(xs)\n"
        assert found.text("src/a.py") == "new\n"
        assert found.text("b.txt") == "b\n"
        assert found.text("b.txt", before=True) is None
        assert found.text("data.bin") is None
        assert found.text("../repo/src/a.py") is None
        assert found.text(".git/config") is None


def test_names_are_found_in_one_pass_as_parts_of_words_and_not_in_binaries(repo: Path) -> None:
    write(repo, {"src/a.py": "subtotals = 1\nx = 2\ntotal total\n"})
    found = open_sources(repo, "HEAD")
    after = found.find(["total", "nowhere", ""])
    assert after == {
        "total": (FileLine("notes.md", 1), FileLine("src/a.py", 1), FileLine("src/a.py", 3)),
        "nowhere": (),
        "": (),
    }
    before = found.find(["sum(xs)"], before=True)
    assert before == {"sum(xs)": (FileLine("src/a.py", 2),)}
    assert found.is_whole


def test_attributes_hide_no_file_from_the_search(repo: Path) -> None:
    write(repo, {".gitattributes": "* -diff binary filter=evil diff=evil\n"})
    git(repo, "config", "diff.evil.textconv", "touch EVIL")
    git(repo, "config", "filter.evil.clean", "touch EVIL")
    assert open_sources(repo, "HEAD").find(["about"])["about"] == (FileLine("notes.md", 1),)
    assert not list(repo.rglob("EVIL"))


def test_links_are_not_followed_in_the_work_tree(repo: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.py").write_text("def secret(): pass\n")
    (tmp_path / "out").mkdir()
    (tmp_path / "out/x.py").write_text("def secret(): pass\n")
    (repo / "link.py").symlink_to(tmp_path / "secret.py")
    (repo / "folder").symlink_to(tmp_path / "out")
    os.mkfifo(repo / "pipe.py")
    found = observe(repo, "HEAD")
    assert found.sources.text("link.py") is None
    assert found.sources.text("folder/x.py") is None
    assert found.sources.find(["secret"])["secret"] == ()
    assert not any(each.name == "secret" for each in found.evidence.definitions)


def test_what_was_too_large_to_search_is_told(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "LARGEST_FILE", 1000)
    write(repo, {"big.py": "x = 1\n" * 1000, "big.bin": b"\0" * 5000})
    found = observe(repo, "HEAD")
    assert found.evidence.unparsed == {"big.py"}
    assert found.sources.find(["nowhere"]) == {"nowhere": ()}
    assert not found.sources.is_whole
    commit(repo)
    later = open_sources(repo, "HEAD", "HEAD")
    later.find(["nowhere"], before=True)
    assert not later.is_whole


def test_a_large_binary_file_does_not_make_the_search_less_whole(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "LARGEST_FILE", 1000)
    write(repo, {"big.bin": b"\0" * 5000})
    found = open_sources(repo, "HEAD")
    found.find(["nowhere"])
    assert found.is_whole


def test_a_name_with_a_line_end_is_read_like_any_other(repo: Path) -> None:
    name = "odd\nname.py"
    write(repo, {name: "def f(): pass\n"})
    base = git(repo, "rev-parse", "HEAD")
    commit(repo)
    found = observe(repo, base, "HEAD")
    assert [each.path for each in found.evidence.definitions] == [name]
    assert found.sources.text(name) == "def f(): pass\n"
    assert found.sources.find(["def f"])["def f"] == (FileLine(name, 1),)


def test_ten_megabytes_of_source_are_unparsed_and_not_an_error(repo: Path) -> None:
    write(repo, {"big.py": "x = 1\n" * 1_700_000})
    found = observe(repo, "HEAD").evidence
    assert found.unparsed == {"big.py"}
    assert found.changes["big.py"].hunks is None
    assert found.changes["big.py"].additions == 1_700_000
