"""The four sections that everything began with: what the first plan promised of them still holds."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from segue import Predecessor, brief
from segue.domain.handoff import Handoff, Notation, extract_handoff, render_context_header

ALL_FOUR = """\
## What Was Done
Added the login endpoint.

## Decisions Made
Use JWT.

## Open Questions
Where do refresh tokens live?

## Next Agent Context
Write the tests for the login.
"""


def texts(source: str) -> dict[str, list[str]]:
    """Each of the four fields as the words of its items."""
    handoff = extract_handoff(source).handoff
    assert handoff is not None
    return {
        "what_was_done": list(handoff.what_was_done),
        "decisions_made": [item.decision for item in handoff.decisions_made],
        "open_questions": [item.question for item in handoff.open_questions],
        "next_agent_context": [handoff.next_agent_context] if handoff.next_agent_context else [],
    }


EXPECTED = {
    "what_was_done": ["Added the login endpoint."],
    "decisions_made": ["Use JWT."],
    "open_questions": ["Where do refresh tokens live?"],
    "next_agent_context": ["Write the tests for the login."],
}


def test_all_four_sections_are_read() -> None:
    assert texts(ALL_FOUR) == EXPECTED


def test_sections_that_are_missing_stay_empty() -> None:
    source = "## What Was Done\nAdded the login.\n\n## Next Agent Context\nTest it.\n"
    assert texts(source) == {
        "what_was_done": ["Added the login."],
        "decisions_made": [],
        "open_questions": [],
        "next_agent_context": ["Test it."],
    }


def test_plain_prose_without_sections_gives_none() -> None:
    found = extract_handoff("The weather was nice today, and the tea was warm.\n\nSee you tomorrow.")
    assert (found.handoff, found.notation) == (None, Notation.NONE)


@pytest.mark.parametrize("source", ["", "   \n\t\n  "])
def test_an_empty_text_gives_none(source: str) -> None:
    assert extract_handoff(source).handoff is None


@pytest.mark.parametrize("write", [str.upper, str.title, str.swapcase], ids=["upper", "title", "mixed"])
def test_the_case_of_a_heading_does_not_matter(write: Callable[[str], str]) -> None:
    lines = [write(line) if line.startswith("##") else line for line in ALL_FOUR.splitlines()]
    assert texts("\n".join(lines)) == EXPECTED


@pytest.mark.parametrize("heading", ["what_was_done", "whatwasdone", "what-was-done", "What Was Done:"])
def test_the_signs_in_a_heading_do_not_matter(heading: str) -> None:
    assert texts(f"# {heading}\nAdded the login.\n")["what_was_done"] == ["Added the login."]


def test_white_space_around_the_words_is_stripped() -> None:
    source = ALL_FOUR.replace(
        "Done\nAdded the login endpoint.", "Done\n\n\n   Added the login endpoint.   \n\n"
    )
    assert texts(source) == EXPECTED


def test_what_stands_before_the_first_section_is_in_no_field() -> None:
    assert texts("Hello there, here is my report for you.\n\n" + ALL_FOUR) == EXPECTED


def test_what_stands_before_the_first_section_is_handed_on_below_the_record() -> None:
    found = extract_handoff("Chatter of an agent.\n\n" + ALL_FOUR)
    assert found.handoff is not None
    assert [section.text for section in found.handoff.other_sections] == ["Chatter of an agent."]
    before = Predecessor(agent_name="a", handoff=found.handoff, reply="")
    given = brief(prompt="p", agent_name="b", job="j", predecessors=[before]).text
    assert 0 < given.index("Added the login endpoint.") < given.index("Chatter")


def test_of_a_section_that_stands_twice_the_first_wins() -> None:
    source = ALL_FOUR + "\n## What Was Done\nSomething else entirely.\n"
    assert texts(source) == EXPECTED
    assert any("first one was taken" in note for note in extract_handoff(source).notes)


def test_the_context_header_has_all_fields_and_the_agent() -> None:
    handoff = extract_handoff(ALL_FOUR).handoff
    assert handoff is not None
    assert render_context_header(handoff, "planner") == (
        "## Handoff from previous step (planner)\n\n"
        "**What was done**: Added the login endpoint.\n\n"
        "**Decisions made**:\nUse JWT.\n\n"
        "**Open questions**:\nWhere do refresh tokens live?\n\n"
        "**Your task**: Write the tests for the login."
    )


def test_the_context_header_leaves_empty_fields_out() -> None:
    header = render_context_header(Handoff(next_agent_context="Test it."), "planner")
    assert header == "## Handoff from previous step (planner)\n\n**Your task**: Test it."


def test_the_context_header_does_without_an_agent_name() -> None:
    header = render_context_header(Handoff(next_agent_context="Test it."))
    assert header.splitlines()[0] == "## Handoff from previous step"


def test_a_handoff_without_anything_is_empty() -> None:
    assert Handoff().is_empty()
    assert Handoff(goal="  ", what_was_done="").is_empty()


def test_a_handoff_with_one_field_is_not_empty() -> None:
    assert not Handoff(open_questions="Where do refresh tokens live?").is_empty()
