"""The page on the scripted model: its example runs, its file is a script, it names all."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest
import yaml

import segue.testing
from segue.testing import hang, parse_script, turn
from segue.testing.model.faults import KINDS

PAGE = (Path(__file__).parents[2] / "docs" / "scripted-model.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def test_the_example_prints_what_the_page_says() -> None:
    [session] = blocks("pycon")
    examples = doctest.DocTestParser().get_doctest(session, {}, "scripted-model.md", None, 0)
    differences: list[str] = []
    result = doctest.DocTestRunner(verbose=False).run(examples, out=differences.append)
    assert result.attempted > 10
    assert not result.failed, "".join(differences)


def test_the_file_is_a_script() -> None:
    [text] = blocks("yaml")
    made = parse_script(yaml.safe_load(text))
    assert list(made.scenarios) == ["fix", "busy", "stuck"]
    assert made.scenarios["stuck"] == (turn(hang("I think ")),)


@pytest.mark.parametrize("name", [name for name in segue.testing.__all__ if name.islower()])
def test_every_step_is_named(name: str) -> None:
    others = {
        *("build_test_segue", "follow_to_end", "say_handoff", "trust_project"),
        *("load_script", "parse_script"),
    }
    assert name in others or f"{name}(" in PAGE


def test_every_kind_of_error_is_named() -> None:
    assert ", ".join(KINDS) in PAGE
