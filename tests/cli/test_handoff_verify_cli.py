"""`segue handoff verify`, on real repositories."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Ran
from tests.git.repositories import commit, git, new_repository, write

Segue = Callable[..., Ran]
TRUE = "## What Was Done\n- Created src/new.py\n- Updated src/a.py\n"
LIE = "## What Was Done\n- Created src/new.py\n- Updated src/a.py\n- Deleted src/b.py\n"


@pytest.fixture
def repo(project: Path) -> Path:
    new_repository(project, {"src/a.py": "a\n", "src/b.py": "b\n"})
    write(project, {"src/a.py": "changed\n", "src/new.py": "new\n"})
    return project


def test_a_true_handoff_ends_with_0(repo: Path, segue: Segue) -> None:
    (repo / "handoff.md").write_text(TRUE)
    ran = segue("handoff", "verify", "handoff.md", "--base", "HEAD")
    assert (ran.code, "✓ confirmed" in ran.out, "refuted" in ran.out) == (0, True, False)
    assert ran.err.startswith("2 claims: ")
    assert "100 %" not in ran.err
    assert "handoff.md" not in ran.out, "the document need not mention itself"


def test_a_lie_ends_with_1_and_its_line(repo: Path, segue: Segue) -> None:
    ran = segue("handoff", "verify", "-", stdin=LIE.encode())
    assert ran.code == 1
    line = next(line for line in ran.out.splitlines() if "refuted" in line)
    assert line.split()[:3] == ["4", "✗", "refuted"]
    assert "src/b.py is still there" in line


def test_standard_input_is_read_without_a_name(repo: Path, segue: Segue) -> None:
    assert segue("handoff", "verify", stdin=LIE.encode()).code == 1


def test_json_has_all_that_is_known(repo: Path, segue: Segue) -> None:
    ran = segue("handoff", "verify", "-", "--json", "--check", "exit 3", stdin=LIE.encode())
    found = json.loads(ran.out)
    assert ran.code == 1
    assert (found["counts"]["claims"], found["counts"]["refuted"]) == (3, 1)
    assert found["checks"] == [{"command": "exit 3", "exit_code": 3, "fault": None}]
    assert [entry["line"] for entry in found["entries"]] == [2, 3, 4]
    files = {each["path"]: each["kind"] for each in found["evidence"]["files"]}
    assert files == {"src/a.py": "modified", "src/new.py": "added"}
    assert found["evidence"]["checks"][0]["exit_code"] == 3
    assert found["problems"] == []
    assert found["weakened"] == []


def test_what_was_measured_is_shown_beside(repo: Path, segue: Segue) -> None:
    write(repo, {"src/a.py": "def total(xs):\n    return sum(xs)\n"})
    ran = segue("handoff", "verify", "-", "--check", "exit 3", "--task", "Sum it up", stdin=TRUE.encode())
    assert "Measured: 2 files changed: src/a.py (+2 -1: `total` added); src/new.py (new, +1 -0)" in ran.out
    assert "Measured: Segue ran `exit 3`, exit 3" in ran.out


def test_a_handoff_that_names_no_changed_file_is_told_so(repo: Path, segue: Segue) -> None:
    silent = b"## Outcome\npartial\n\n## What Was Done\n- Made it better\n"
    ran = segue("handoff", "verify", "-", stdin=silent)
    assert ran.code == 0
    assert "! H013  2 files changed, and none is listed" in ran.out
    assert segue("handoff", "verify", "-", "--strict", stdin=silent).code == 1
    found = json.loads(segue("handoff", "verify", "-", "--json", stdin=silent).out)
    assert [each["code"] for each in found["problems"]] == ["H013"]


def test_strict_minds_silence_and_doubt(repo: Path, segue: Segue) -> None:
    silent = b"## What Was Done\n- Created src/new.py\n"
    assert segue("handoff", "verify", "-", stdin=silent).code == 0
    ran = segue("handoff", "verify", "-", "--strict", stdin=silent)
    assert ran.code == 1
    assert "! unmentioned  src/a.py" in ran.out
    doubtful = (TRUE + "- All 3 tests pass\n").encode()
    assert segue("handoff", "verify", "-", stdin=doubtful).code == 0
    assert segue("handoff", "verify", "-", "--strict", stdin=doubtful).code == 1


def test_two_revisions_and_another_folder(repo: Path, segue: Segue, monkeypatch: pytest.MonkeyPatch) -> None:
    base = git(repo, "rev-parse", "HEAD")
    commit(repo)
    write(repo, {"src/b.py": "later\n"})
    monkeypatch.chdir("/")
    arguments = ("handoff", "verify", "-", "--repo", str(repo), "--base", base)
    assert segue(*arguments, "--head", "HEAD", "--strict", stdin=TRUE.encode()).code == 0
    assert segue(*arguments, "--strict", stdin=TRUE.encode()).code == 1, "the work tree has a change more"


def test_work_that_is_committed_already_gives_a_hint(repo: Path, segue: Segue) -> None:
    commit(repo)
    ran = segue("handoff", "verify", "-", stdin=TRUE.encode())
    assert ran.code == 1
    assert (
        "nothing changed from HEAD to the work tree; if the work is committed, name the revision" in ran.err
    )


def test_checks_are_run_in_the_folder(repo: Path, segue: Segue) -> None:
    done = b"## Outcome\ncompleted\n"
    assert segue("handoff", "verify", "-", "--check", "test -f src/new.py", stdin=done).code == 0
    ran = segue("handoff", "verify", "-", "--check", "true", "--check", "test -f nope", stdin=done)
    assert ran.code == 1
    assert "`test -f nope` ended with" in ran.out
    late = segue("handoff", "verify", "-", "--check", "sleep 20", "--timeout", "0.2", stdin=done)
    assert (late.code, "took longer than 0.2 s" in " ".join(late.out.split())) == (0, True)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("-", "--base", "nope"), 'there is no revision "nope"'),
        (("-", "--base=--all"), '"--all" is not a revision'),
        (("-", "--repo", "/nowhere"), "there is no folder /nowhere"),
        (("gone.md",), "cannot read gone.md"),
        (("src",), "src is a folder; name one file"),
    ],
)
def test_misuse_ends_with_2_and_one_sentence(
    repo: Path, segue: Segue, arguments: tuple[str, ...], words: str
) -> None:
    ran = segue("handoff", "verify", *arguments, stdin=TRUE.encode())
    assert ran.code == 2
    assert words in ran.err
    assert ran.err.startswith("segue: ")
    assert ran.err.count("\n") == 1


def test_a_folder_that_is_no_repository(project: Path, segue: Segue) -> None:
    ran = segue("handoff", "verify", "-", stdin=TRUE.encode())
    assert ran.code == 2
    assert "is not a git repository; run `git init` there" in ran.err


def test_a_text_without_a_handoff(repo: Path, segue: Segue) -> None:
    ran = segue("handoff", "verify", "-", stdin=b"Nice weather.\n")
    assert (ran.code, ran.err) == (2, "segue: no handoff in -\n")


def test_names_do_not_drive_the_terminal(repo: Path, segue: Segue) -> None:
    write(repo, {"\x1b[31mred.py": "x\n", "[bold]x[/bold].py": "x\n"})
    ran = segue("handoff", "verify", "-", stdin=TRUE.encode())
    assert "\x1b" not in ran.out
    assert "[bold]x[/bold].py" in ran.out
    assert "\x1b" not in segue("handoff", "verify", "-", "--json", stdin=TRUE.encode()).out
