"""The lines of a change are those that git shows, whether a patch was read or a repository observed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from segue.adapters.git import observe
from segue.interfaces.xray.hunks import hunks_observed, hunks_of_patch
from segue.interfaces.xray.model import DiffHunk
from tests.git.repositories import git, lines, new_repository, write

BEFORE: Mapping[str, str | bytes] = {
    "far.txt": lines(60),
    "near.txt": lines(20),
    "gone.txt": lines(5),
    "end.txt": "a\nb\nno newline",
    "old name.txt": lines(30),
    "-- a.sql": "-- drop\n++ add\n",
    "windows.txt": "one\r\ntwo\r\nthree\r\n",
}


def numbered(
    found: Mapping[str, Sequence[DiffHunk]],
) -> dict[str, list[list[tuple[str, int | None, int | None, str]]]]:
    return {
        path: [[(*line[:3], line.text.rstrip("\r")) for line in hunk.lines] for hunk in hunks]
        for path, hunks in sorted(found.items())
    }


@pytest.fixture
def repo(project: Path) -> Path:
    new_repository(project, dict(BEFORE))
    far = lines(60).replace("line 5\n", "line five\nand a half\n").replace("line 50\n", "")
    near = lines(20).replace("line 8\n", "line eight\n").replace("line 12\n", "line twelve\n")
    write(
        project,
        {
            "far.txt": far,
            "near.txt": near,
            "end.txt": "a\nb\nno newline here",
            'new/näme "x".py': "VALUE = 1\n",
            "-- a.sql": "++ add\n",
            "windows.txt": "one\r\n2\r\nthree\r\n",
        },
    )
    (project / "gone.txt").unlink()
    (project / "old name.txt").rename(project / "new name.txt")
    write(project, {"new name.txt": lines(30).replace("line 30\n", "line thirty\n")})
    git(project, "add", "-A")
    return project


def test_a_patch_and_an_observed_repository_give_the_same_lines(repo: Path) -> None:
    patch = git(repo, "diff", "--cached", "-M", "--src-prefix=a/", "--dst-prefix=b/", "HEAD")
    from_patch = numbered(hunks_of_patch(patch))
    assert from_patch == numbered(hunks_observed(observe(repo, "HEAD")))
    assert sorted(from_patch) == sorted(
        [
            "far.txt",
            "near.txt",
            "gone.txt",
            "end.txt",
            "new name.txt",
            "-- a.sql",
            "windows.txt",
            'new/näme "x".py',
        ]
    )
    assert [len(hunks) for hunks in (from_patch["far.txt"], from_patch["near.txt"])] == [2, 1]


def test_lines_that_look_like_headers_are_lines(repo: Path) -> None:
    patch = git(repo, "diff", "--cached", "HEAD", "--", "-- a.sql")
    ((lines_of_file,),) = numbered(hunks_of_patch(patch)).values()
    assert lines_of_file == [("-", 1, None, "-- drop"), (" ", 2, 1, "++ add")]


def test_a_patch_that_was_cut_gives_what_is_there() -> None:
    patch = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,9 +1,9 @@\n one\n-two"
    ((hunk,),) = hunks_of_patch(patch).values()
    assert [line.text for line in hunk.lines] == ["one", "two"]


@pytest.mark.parametrize("patch", ["", "no patch\n", "@@ -1 +1 @@\n-a\n+b\n", "+++ b/x\n@@ -x +y @@\n"])
def test_what_is_not_a_patch_gives_nothing(patch: str) -> None:
    assert hunks_of_patch(patch) == {}
