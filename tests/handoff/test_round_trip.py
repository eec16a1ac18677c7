"""The law of all notations: what Segue writes, Segue reads back as the same record."""

from __future__ import annotations

import pytest
from hypothesis import assume, given

from segue.domain.handoff import Handoff, extract_handoff
from segue.domain.handoff.writing.rendering import NOTATION_FIELDS, OutputNotation, render_handoff
from tests.handoff.strategies import any_text, handoffs, line, markdown_text, signs

MARKDOWN = (OutputNotation.FOUR_SECTIONS, OutputNotation.SIX_SECTIONS)
WHOLE_TEXT = (any_text | signs).map(lambda text: text.encode("utf-8", "replace").decode())
"""Any text that a file can hold: half of a surrogate pair is none."""
STRUCTURED = tuple(notation for notation in OutputNotation if notation not in MARKDOWN)


def assert_reads_back(handoff: Handoff, notation: OutputNotation) -> None:
    assume(not handoff.is_empty())
    kept = NOTATION_FIELDS[notation]
    read = extract_handoff(render_handoff(handoff, notation)).handoff or Handoff()
    assert {name: getattr(read, name) for name in kept} == {name: getattr(handoff, name) for name in kept}


@pytest.mark.parametrize("notation", list(OutputNotation))
@given(handoff=handoffs(line))
def test_what_is_written_reads_back_as_the_same_record(notation: OutputNotation, handoff: Handoff) -> None:
    assert_reads_back(handoff, notation)


@pytest.mark.parametrize("notation", MARKDOWN)
@given(handoff=handoffs(markdown_text))
def test_lines_that_look_like_markdown_read_back(notation: OutputNotation, handoff: Handoff) -> None:
    assert_reads_back(handoff, notation)


@pytest.mark.parametrize("notation", STRUCTURED)
@given(handoff=handoffs(WHOLE_TEXT))
def test_any_text_reads_back_from_yaml_and_json(notation: OutputNotation, handoff: Handoff) -> None:
    assert_reads_back(handoff, notation)
