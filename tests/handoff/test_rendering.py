"""Written handoffs read back as the same record, whatever their texts hold."""

from __future__ import annotations

import json

import pytest
import yaml
from hypothesis import given

from segue.domain.handoff.model import Decision, Handoff, NextStep, OpenQuestion
from segue.domain.handoff.writing.rendering import (
    NOTATION_FIELDS,
    OutputNotation,
    lost_fields,
    render_context_header,
    render_handoff,
)
from tests.handoff.own_markdown import read_sections
from tests.handoff.strategies import handoffs, markdown_text, signs


@given(handoffs())
def test_yaml_reads_back_as_the_same_record(handoff: Handoff) -> None:
    text = render_handoff(handoff, OutputNotation.YAML)
    assert Handoff.model_validate(yaml.safe_load(text)) == handoff


@given(handoffs())
def test_json_reads_back_as_the_same_record(handoff: Handoff) -> None:
    text = render_handoff(handoff, "json")
    assert Handoff.model_validate(json.loads(text)) == handoff


@given(signs, signs)
def test_texts_made_of_the_signs_of_yaml_read_back_as_they_were(one: str, other: str) -> None:
    handoff = Handoff(
        goal=one,
        what_was_done=(other, one),
        suggested_next_steps=(NextStep(step=other, priority=one, depends_on=(one, other)),),
    )
    assert Handoff.model_validate(yaml.safe_load(render_handoff(handoff))) == handoff


def only(handoff: Handoff, notation: OutputNotation) -> Handoff:
    """The part of a record that a notation has fields for."""
    kept = NOTATION_FIELDS[notation]
    return Handoff(**{name: getattr(handoff, name) for name in kept})


@pytest.mark.parametrize("notation", [OutputNotation.FOUR_SECTIONS, OutputNotation.SIX_SECTIONS])
@given(handoff=handoffs(markdown_text))
def test_sections_read_back_as_the_same_record_on_their_fields(
    notation: OutputNotation, handoff: Handoff
) -> None:
    assert read_sections(render_handoff(handoff, notation)) == only(handoff, notation)


def test_words_that_yaml_takes_for_values_stay_words() -> None:
    handoff = Handoff(goal="no", what_was_done=("yes", "1.0", "2026-01-01", "null"))
    read = yaml.safe_load(render_handoff(handoff))
    assert read == {"goal": "no", "what_was_done": ["yes", "1.0", "2026-01-01", "null"]}


def test_yaml_has_the_shape_of_the_template() -> None:
    handoff = Handoff.model_validate(
        {
            "outcome": "partial",
            "files_created": [{"path": "src/auth/jwt.ts", "purpose": "Tokens", "lines": "1-150"}],
            "patterns_discovered": [{"pattern": "Use AuthContext", "applies_to": ["auth", "user-state"]}],
            "open_questions": [{"question": "Cookies?"}],
        }
    )
    assert render_handoff(handoff) == (
        "outcome: partial\n"
        "\n"
        "files_created:\n"
        "  - path: src/auth/jwt.ts\n"
        "    purpose: Tokens\n"
        "    lines: 1-150\n"
        "\n"
        "patterns_discovered:\n"
        "  - pattern: Use AuthContext\n"
        "    applies_to: [auth, user-state]\n"
        "\n"
        "open_questions:\n"
        "  - question: Cookies?\n"
        "    blocking: false\n"
    )


def test_texts_of_several_lines_are_written_as_blocks() -> None:
    assert render_handoff(Handoff(next_agent_context="First.\nThen.")) == (
        "next_agent_context: |-\n  First.\n  Then.\n"
    )


def test_an_id_is_written_only_where_the_content_does_not_give_it() -> None:
    handoff = Handoff.model_validate({"gotchas": [{"issue": "A"}, {"issue": "B", "id": "gotcha-007"}]})
    text = render_handoff(handoff)
    assert text.count("id:") == 1
    assert "id: gotcha-007" in text


def test_what_belongs_to_an_item_stands_in_labelled_bullets_below_it() -> None:
    handoff = Handoff(
        decisions_made=(Decision(decision="JWT", rationale="No state"),),
        open_questions=(OpenQuestion(question="Rate limit?", recommendation="Yes", blocking=True),),
    )
    assert render_handoff(handoff, "four") == (
        "## Decisions Made\n\n- JWT\n  - Rationale: No state\n"
        "\n"
        "## Open Questions\n\n- Rate limit?\n  - Recommendation: Yes\n  - Blocking: yes\n"
    )


def test_names_in_a_list_are_code_spans_so_that_commas_are_no_borders() -> None:
    handoff = Handoff(suggested_next_steps=(NextStep(step="Go on", depends_on=("a, b", "c`d")),))
    assert "  - Depends on: `a, b`, ``c`d``\n" in render_handoff(handoff, "six")


def test_one_plain_item_is_a_paragraph_and_several_are_bullets() -> None:
    assert render_handoff(Handoff(what_was_done=("Built it",)), "four") == "## What Was Done\n\nBuilt it\n"
    assert "- A\n- B\n" in render_handoff(Handoff(what_was_done=("A", "B")), "four")


def test_a_heading_inside_a_text_cannot_end_its_section() -> None:
    handoff = Handoff(next_agent_context="Read this first.\n## What Was Done\nIt was a long day.")
    text = render_handoff(handoff, "four")
    assert "\n\\## What Was Done\n" in text
    assert read_sections(text) == handoff


def test_fields_without_a_place_in_a_notation_are_named() -> None:
    handoff = Handoff(outcome="completed", goal="Ship", next_agent_context="Go")
    assert lost_fields(handoff, "four") == ("outcome", "goal")
    assert lost_fields(handoff, "six") == ("outcome", "next_agent_context")
    assert lost_fields(handoff, "yaml") == ()


def test_the_context_header_leaves_out_what_is_empty() -> None:
    header = render_context_header(Handoff(next_agent_context="Add refresh tokens."))
    assert header == "## Handoff from previous step\n\n**Your task**: Add refresh tokens."
