"""A task file keeps every byte but its handoff; the handoff is found, read and written in place."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from segue.domain.handoff.model import Handoff
from segue.domain.handoff.writing.rendering import render_handoff
from segue.domain.handoff.writing.taskfile import (
    TaskHeader,
    find_handoff_part,
    render_task_file,
    rewrite_task_file,
)
from tests.handoff.strategies import handoffs

NEW = Handoff(outcome="completed", what_was_done=("Added it",))

BEFORE = (
    "# Task 7: Login\n\n## Objective\nA login.  \n\n"
    "```md\n## Handoff\nno: heading\n```\n\n---\n\n## Handoff\n"
)
AFTER = "\n---\n\n*Task completed: [timestamp]*\n\n## Appendix\n\ttabs stay"
FENCED = "\n```yaml\noutcome: [completed | partial]\n```\n"


def read(text: str) -> Handoff:
    part = find_handoff_part(text)
    assert part is not None
    return Handoff.model_validate(yaml.safe_load(part.text(text)))


def test_a_new_task_file_has_the_parts_of_the_template() -> None:
    header = TaskHeader(id="007", name="Login", objective="A login.", acceptance_criteria=("Tests pass",))
    assert render_task_file(NEW, header) == (
        "# Task 007: Login\n\n## Objective\n\nA login.\n\n## Acceptance Criteria\n\n- Tests pass\n\n---\n\n"
        "## Handoff\n\n```yaml\noutcome: completed\n\nwhat_was_done:\n  - Added it\n```\n"
    )


@given(handoffs())
def test_a_task_file_reads_back_as_the_same_record(handoff: Handoff) -> None:
    assert read(render_handoff(handoff, "task")) == handoff


def test_only_the_block_changes() -> None:
    text = rewrite_task_file(BEFORE + FENCED + AFTER, NEW)
    assert text.startswith(BEFORE + "\n```yaml\n")
    assert text.endswith("\n```\n" + AFTER)
    assert read(text) == NEW


def test_words_around_the_block_stay() -> None:
    text = rewrite_task_file(BEFORE + "\nSee below." + FENCED + "And that was it.\n" + AFTER, NEW)
    assert "\nSee below.\n```yaml\n" in text
    assert "```\nAnd that was it.\n" + AFTER in text


def test_free_text_gives_way_to_the_block() -> None:
    text = rewrite_task_file(BEFORE + "\nWatch out for the limit.\n" + AFTER, NEW)
    assert "Watch out" not in text
    assert text.startswith(BEFORE)
    assert text.endswith(AFTER)
    assert read(text) == NEW


def test_a_part_ends_at_the_next_heading_of_its_level() -> None:
    text = "## Handoff\nold\n### Notes\nold too\n## Log\nstays\n"
    assert rewrite_task_file(text, NEW).endswith("## Log\nstays\n")
    assert "old" not in rewrite_task_file(text, NEW)


def test_the_last_handoff_counts() -> None:
    text = "## Handoff\n\nfirst\n\n## Handoff\n\nsecond\n"
    assert "first" in rewrite_task_file(text, NEW)
    assert "second" not in rewrite_task_file(text, NEW)


def test_a_file_without_a_handoff_gets_one_at_its_end() -> None:
    text = rewrite_task_file("# Task 7", NEW)
    assert text.startswith("# Task 7\n\n## Handoff\n\n```yaml\n")
    assert read(text) == NEW


def test_an_empty_file_becomes_a_handoff() -> None:
    assert rewrite_task_file("", NEW).startswith("## Handoff\n")


def test_line_ends_are_those_of_the_file() -> None:
    text = rewrite_task_file((BEFORE + FENCED + AFTER).replace("\n", "\r\n"), NEW)
    assert "\n" not in text.replace("\r\n", "")


def test_backticks_in_a_text_do_not_end_the_block() -> None:
    handoff = Handoff(next_agent_context="Run:\n```\nmake\n```\n````")
    text = rewrite_task_file(BEFORE + FENCED + AFTER, handoff)
    assert read(text) == handoff
    assert read(rewrite_task_file(text, NEW)) == NEW


@pytest.mark.parametrize("heading", ["# handoff", "### Handoff ###", "## **Handoff**", "## Handoff Notes"])
def test_the_heading_may_be_written_in_many_ways(heading: str) -> None:
    assert find_handoff_part(f"{heading}\n\nx\n") is not None


def test_a_file_that_ends_inside_its_heading_is_fine() -> None:
    assert read(rewrite_task_file("# A\n\n## Handoff", NEW)) == NEW


@given(st.text(max_size=200), st.text(max_size=200), handoffs())
def test_writing_twice_is_writing_once(before: str, after: str, handoff: Handoff) -> None:
    text = f"{before}\n\n## Handoff\n{after}"
    once = rewrite_task_file(text, handoff)
    assert rewrite_task_file(once, handoff) == once
