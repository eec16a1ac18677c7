"""The examples on the pages about notations and briefings are what the code writes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from segue import Handoff, Predecessor, brief, render_handoff
from segue.domain.handoff.writing.markdown import ATTRIBUTE_LABELS
from segue.domain.handoff.writing.rendering import NOTATION_FIELDS, OutputNotation

DOCS = Path(__file__).parents[2] / "docs"
_BLOCK = re.compile(r"^(`{3,})(\w+)\n(.*?)^\1$", re.MULTILINE | re.DOTALL)


def page(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def block(name: str, heading: str) -> str:
    """The first code block below a heading of a page."""
    found = _BLOCK.search(page(name), page(name).index(f"\n## {heading}\n"))
    assert found is not None
    return found[3]


def example() -> Handoff:
    return Handoff.model_validate(yaml.safe_load(block("notations.md", "Canonical YAML")))


@pytest.mark.parametrize(
    ("heading", "notation"),
    [("Canonical YAML", "yaml"), ("Four sections", "four"), ("Six sections", "six")],
)
def test_the_page_shows_what_is_written(heading: str, notation: str) -> None:
    assert block("notations.md", heading) == render_handoff(example(), notation)


def test_the_page_names_every_notation_and_its_fields() -> None:
    text = page("notations.md")
    for notation in OutputNotation:
        [row] = [line for line in text.splitlines() if f"| `{notation}` |" in line]
        fields = NOTATION_FIELDS[notation]
        assert ("| all" in row) is (fields == set(Handoff.model_fields))
        if "| all" not in row:
            assert set(row.split("|")[3].strip().split(", ")) == fields


def test_the_page_names_every_label() -> None:
    rows = [line for line in page("notations.md").splitlines() if line.startswith("| ")]
    for labels in ATTRIBUTE_LABELS.values():
        assert any(all(f"`{label}" in row for label in labels.values()) for row in rows)


def test_the_page_shows_a_real_briefing() -> None:
    shown = next(text for _, word, text in _BLOCK.findall(page("briefing.md")) if word == "markdown")
    assert (
        shown
        == brief(
            prompt="Add a login to the shop.",
            agent_name="coder",
            job="Write the code and its tests.",
            predecessors=[Predecessor(agent_name="planner", handoff=example(), reply="")],
            corrections=["src/auth/jwt.ts was said to be created; it is not there"],
        ).text
    )
