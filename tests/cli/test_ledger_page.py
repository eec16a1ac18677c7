"""The session on the page about the claim ledger is what is really printed."""

from __future__ import annotations

import doctest
import io
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from segue.domain.claims import Verdict
from segue.domain.claims.verbs import Relation
from tests.cli.test_handoff_page import run_in

PAGE = (Path(__file__).parents[2] / "docs" / "ledger.md").read_text(encoding="utf-8")
_BLOCK = re.compile(r"^(`{3,})(\w+)\n(.*?)^\1$", re.MULTILINE | re.DOTALL)
_NAMED = re.compile(r"`([\w-]+\.\w+)`:\n\n\Z")


def play(text: str) -> str:
    """What a console block prints now."""
    printed, code = io.StringIO(), 0
    for line in re.findall(r"^\$ .*$", text, re.MULTILINE):
        printed.write(f"{line}\n")
        if line.startswith("$ segue "):
            code = run_in(printed, printed, shlex.split(line)[2:])
        elif line == "$ echo $?":
            printed.write(f"{code}\n")
        else:
            subprocess.run(line[2:], shell=True, check=True, timeout=120)
    return "".join(f"{line.rstrip()}\n" for line in printed.getvalue().splitlines())


def test_the_session_is_what_is_printed(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    for name in ("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"):
        monkeypatch.setenv(name, "someone@example.org")
    blocks = list(_BLOCK.finditer(PAGE))
    assert len(blocks) > 6
    for found in blocks:
        _, word, text = found.groups()
        if named := _NAMED.search(PAGE[: found.start()]):
            Path(named[1]).write_text(text, encoding="utf-8")
        elif word == "console":
            assert play(text) == text
            remove_cache(project)
        elif word == "pycon":
            examples = doctest.DocTestParser().get_doctest(text, {}, "ledger.md", "ledger.md", 0)
            differences: list[str] = []
            assert not doctest.DocTestRunner(verbose=False).run(examples, out=differences.append).failed, (
                differences
            )


def remove_cache(folder: Path) -> None:
    """What Python leaves behind when the check runs is none of the step's changes."""
    for path in (folder / "__pycache__").glob("*"):
        path.unlink()


def test_the_page_names_every_relation_and_verdict() -> None:
    named = set(re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE))
    assert named == {str(relation) for relation in Relation} | {str(verdict) for verdict in Verdict}
