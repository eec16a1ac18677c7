"""The page on the Python API: its examples run, and it names everything that is public."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import segue

PAGE = (Path(__file__).parents[2] / "docs" / "python-api.md").read_text(encoding="utf-8")
_EXAMPLES = re.compile(r"^(`{3,})pycon\n(.*?)^\1$", re.MULTILINE | re.DOTALL)


def test_the_examples_print_what_the_page_says() -> None:
    session = "\n".join(code for _, code in _EXAMPLES.findall(PAGE))
    examples = doctest.DocTestParser().get_doctest(session, {}, "python-api.md", "python-api.md", 0)
    differences: list[str] = []
    result = doctest.DocTestRunner(verbose=False).run(examples, out=differences.append)
    assert result.attempted > 30
    assert not result.failed, "".join(differences)


def test_the_page_names_everything_public_once() -> None:
    table = PAGE.partition("\n## All names\n")[2].partition("\n## ")[0]
    named = re.findall(r"^\| `(\w+)", table, re.MULTILINE)
    assert sorted(named) == sorted(segue.__all__)
