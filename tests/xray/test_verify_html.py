"""`segue handoff verify --html`: the X-ray of a document, beside what is printed anyway."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Ran
from tests.git.repositories import new_repository, write
from tests.xray.hostile import HOSTILE
from tests.xray.pages import Elements, data_of

Segue = Callable[..., Ran]
REPLY = """\
## Outcome
completed

## What Was Done
- Added `mean` to calc.py
- Created docs/usage.md
- All 7 tests pass
"""
CHECK = "echo '1 passed'"


@pytest.fixture
def repo(project: Path) -> Path:
    before = "def total(xs):\n    return sum(xs)\n"
    new_repository(project, {"calc.py": before})
    write(
        project,
        {"calc.py": f"{before}\n\ndef mean(xs):\n    return total(xs) / len(xs)\n", "debug.txt": "5\n"},
    )
    write(project, {"handoff.md": REPLY})
    return project


def verified(segue: Segue, *arguments: str, stdin: bytes = b"") -> dict[str, Any]:
    ran = segue("handoff", "verify", *arguments, "--html", "out.html", "--check", CHECK, stdin=stdin)
    assert ran.code == 1, ran.err
    assert "wrote out.html\n" in ran.err
    assert "Traceback" not in ran.err
    return data_of(Path("out.html").read_text(encoding="utf-8"))


def test_the_page_shows_what_is_printed(repo: Path, segue: Segue) -> None:
    plain = segue("handoff", "verify", "handoff.md", "--check", CHECK)
    page = verified(segue, "handoff.md")
    again = segue("handoff", "verify", "handoff.md", "--check", CHECK, "--html", "out.html")
    assert again.out == plain.out, "the page about the repository is none of its changes"
    (handoff,) = page["handoffs"]
    (version,) = handoff["versions"]
    marks = {each["words"]: each["mark"] for each in version["statements"]}
    assert marks["Added `mean` to calc.py"] == "confirmed"
    assert marks["Created docs/usage.md"] == "refuted"
    assert marks["debug.txt"] == "unmentioned"
    assert not {"out.html", "handoff.md"} & marks.keys()
    assert (page["title"], page["subtitle"]) == ("handoff.md", "HEAD to the work tree")


def test_the_line_that_decides_is_marked(repo: Path, segue: Segue) -> None:
    (handoff,) = verified(segue, "handoff.md")["handoffs"]
    (added,) = [each for each in handoff["versions"][0]["statements"] if each["words"].startswith("Added")]
    (reference,) = added["references"]
    (block,) = [each for each in handoff["evidence"] if each["id"] == reference["evidence"]]
    flat = [line for hunk in block["hunks"] for line in hunk["lines"]]
    assert [flat[at] for at in reference["lines"]] == [["+", None, 5, "def mean(xs):"]]
    assert [line[1:3] for line in flat[:2]] == [[1, 1], [2, 2]], "with the lines before it"


def test_what_the_next_agent_would_be_given_is_below(repo: Path, segue: Segue) -> None:
    (handoff,) = verified(segue, "handoff.md", "--task", "Add a mean.")["handoffs"]
    briefing = handoff["briefing"]
    assert (briefing["is_sent"], briefing["sha256"]) == (False, None)
    assert "Add a mean." in briefing["lines"]
    (false,) = [each for each in handoff["versions"][0]["statements"] if each["words"].startswith("Created")]
    corrected = [briefing["lines"][each["line"] - 1] for each in false["read"] if each["is_correction"]]
    assert corrected == ['- "Created docs/usage.md" is not true: there is no docs/usage.md.']


def test_standard_input_may_hold_anything(repo: Path, segue: Segue) -> None:
    text = HOSTILE.replace("\x00", "").replace("\ud800", "")
    reply = f"{REPLY}- {text}\n\n## Next Agent Context\n{text}\n"
    page = verified(segue, "-", stdin=reply.encode())
    html = Path("out.html").read_text(encoding="utf-8")
    assert [tag for tag, _ in Elements(html).found].count("script") == 2
    said = ["".join(run[0] for run in line) for line in page["handoffs"][0]["versions"][0]["words"]]
    assert "</script><script>window.harmed = 1</script>" in "\n".join(said)
    assert len(said) == reply.count("\n") + 1


def test_a_secret_in_the_reply_or_in_the_diff_is_not_in_the_file(repo: Path, segue: Segue) -> None:
    secret = "AKIA" + "Q7RT2WXY3ZAB4CDE"
    write(repo, {"calc.py": f'KEY = "{secret}"\n', "handoff.md": f"{REPLY}- Set the key to {secret}\n"})
    verified(segue, "handoff.md")
    html = Path("out.html").read_text(encoding="utf-8")
    assert secret not in html
    assert "[redacted: AWS access key id]" in html


def test_a_file_that_cannot_be_written_is_said(repo: Path, segue: Segue) -> None:
    ran = segue("handoff", "verify", "handoff.md", "--html", "no/such/out.html")
    assert (ran.code, "cannot write no/such/out.html" in ran.err) == (1, True)
