"""Each case file is a handoff as somebody writes it; the file beside it says what must be found."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from segue.domain.handoff.extract.extraction import extract_handoff
from segue.domain.handoff.extract.result import Notation, Origin
from segue.domain.handoff.model import Handoff

CASES = Path(__file__).parent / "cases"
HEADLINES = (
    "decision",
    "path",
    "command",
    "pattern",
    "issue",
    "approach",
    "file",
    "question",
    "step",
    "blocker",
)


def headline(item: Any) -> str:
    return item if isinstance(item, str) else next(getattr(item, n) for n in HEADLINES if hasattr(item, n))


def found_in(handoff: Handoff | None, name: str) -> Any:
    value = getattr(handoff or Handoff(), name)
    return [headline(item) for item in value] if isinstance(value, tuple) else value


@pytest.mark.parametrize("case", sorted(CASES.glob("*.md")), ids=lambda case: case.stem)
def test_a_case_gives_what_its_file_says(case: Path) -> None:
    wanted = yaml.safe_load(case.with_suffix(".yaml").read_text("utf-8"))
    notation = wanted.pop("notation", None)
    origin = Origin.REPLY if notation == Notation.REPLY else Origin.DOCUMENT
    extraction = extract_handoff(case.read_text("utf-8"), origin=origin)
    assert {name: found_in(extraction.handoff, name) for name in wanted} == wanted
    assert notation in (None, extraction.notation)
