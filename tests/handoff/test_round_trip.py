"""The law of all notations: what Segue writes, Segue reads back as the same record."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from segue.domain.handoff import Handoff, extract_handoff
from segue.domain.handoff.rendering import NOTATION_FIELDS, OutputNotation, render_handoff
from tests.handoff.strategies import handoffs, line


@pytest.mark.parametrize("notation", [OutputNotation.YAML, OutputNotation.JSON])
@given(handoff=handoffs(line))
@settings(max_examples=50, deadline=None)
def test_what_is_written_reads_back_as_the_same_record(notation: OutputNotation, handoff: Handoff) -> None:
    kept = NOTATION_FIELDS[notation]
    read = extract_handoff(render_handoff(handoff, notation)).handoff or Handoff()
    assert {name: getattr(read, name) for name in kept} == {name: getattr(handoff, name) for name in kept}
