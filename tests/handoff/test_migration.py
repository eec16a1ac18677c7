"""A free-form note becomes a structured handoff; an agent is asked only where the rules are not sure."""

from __future__ import annotations

import yaml

from segue.domain.handoff.checking.grounding import keep_grounded
from segue.domain.handoff.extract.result import Extraction, Notation
from segue.domain.handoff.migration import (
    finish_migration,
    migrate_task_file,
    plan_migration,
    structuring_prompt,
)
from segue.domain.handoff.model import Handoff
from segue.domain.handoff.writing.taskfile import find_handoff_part
from segue.domain.handoff.writing.template import YAML_TEMPLATE
from segue.domain.text.span import Span

NOTE = "Added the login endpoint. Watch out for the rate limit of the API. The weather was nice all day."


def span(words: str) -> Span:
    return Span(NOTE.index(words), NOTE.index(words) + len(words))


def extracted(**more: Span) -> Extraction:
    handoff = Handoff.model_validate(
        {
            "what_was_done": ["Added the login endpoint."],
            "gotchas": ["Watch out for the rate limit of the API."],
            "other_sections": [{"heading": "", "text": "The weather was nice all day."}],
        }
    )
    spans = {
        "what_was_done[0]": span("Added the login endpoint."),
        "gotchas[0]": span("Watch out for the rate limit of the API."),
    }
    return Extraction(handoff=handoff, notation=Notation.REPLY, spans=spans | more)


class Scripted:
    """Gives one reply and remembers what it was asked."""

    def __init__(self, reply: str) -> None:
        self.reply = reply
        self.asked: list[str] = []

    def structure(self, prompt: str) -> str:
        self.asked.append(prompt)
        return self.reply


def test_a_missing_outcome_and_words_without_a_field_are_ambiguous() -> None:
    plan = plan_migration(NOTE, extracted())
    assert [(each.field, each.text) for each in plan.ambiguities] == [
        ("outcome", ""),
        ("", "The weather was nice all day."),
    ]


def test_words_without_a_field_are_kept() -> None:
    handoff = plan_migration(NOTE, extracted()).handoff
    assert handoff is not None
    assert handoff.other_sections[0].text == "The weather was nice all day."


def test_words_that_two_fields_claim_are_ambiguous() -> None:
    plan = plan_migration(NOTE, extracted(**{"open_questions[0]": span("the rate limit of the API.")}))
    assert "could belong to gotchas or to open_questions" in [each.why for each in plan.ambiguities]


def test_a_clear_note_asks_nobody() -> None:
    clear = "Added the login endpoint."
    handoff = Handoff(outcome="completed", what_was_done=(clear,))
    extraction = Extraction(
        handoff=handoff, notation=Notation.SECTIONS, spans={"what_was_done[0]": Span(0, len(clear))}
    )
    plan = plan_migration(clear, extraction)
    assert plan.prompt is None
    assert plan.handoff == handoff


def test_a_note_that_says_nothing_clear_is_ambiguous_as_a_whole() -> None:
    plan = plan_migration("Hm.", Extraction(handoff=None, notation=Notation.NONE))
    assert plan.handoff is None
    assert plan.prompt is not None


def test_the_prompt_holds_the_note_and_the_template() -> None:
    prompt = structuring_prompt("See:\n```\ncode\n```\n")
    assert prompt.startswith("Please structure this handoff note:\n\n````\nSee:\n```\ncode\n```\n````\n")
    assert "Into this format." in prompt
    assert YAML_TEMPLATE in prompt


def test_what_a_model_made_up_is_dropped() -> None:
    handoff = Handoff.model_validate(
        {
            "outcome": "completed",
            "what_was_done": ["Added the login endpoint", "Deployed everything to production servers"],
            "gotchas": [{"issue": "rate limit of the API"}],
            "files_created": [{"path": "src/invented.py"}],
        }
    )
    kept = keep_grounded(handoff, NOTE)
    assert kept.what_was_done == ("Added the login endpoint",)
    assert [gotcha.issue for gotcha in kept.gotchas] == ["rate limit of the API"]
    assert kept.files_created == ()
    assert kept.outcome == "completed"


def test_the_answer_fills_and_the_rules_stay_where_it_is_silent() -> None:
    plan = plan_migration(NOTE, extracted())
    answer = Handoff.model_validate(
        {"outcome": "completed", "critical_context": ["The weather was nice all day"]}
    )
    done = finish_migration(NOTE, plan, Extraction(handoff=answer, notation=Notation.SECTIONS))
    assert done is not None
    assert done.outcome == "completed"
    assert done.critical_context == ("The weather was nice all day",)
    assert done.what_was_done == ("Added the login endpoint.",)


def test_an_answer_without_a_handoff_changes_nothing() -> None:
    plan = plan_migration(NOTE, extracted())
    assert finish_migration(NOTE, plan, Extraction(handoff=None, notation=Notation.NONE)) == plan.handoff


FILE = "# Task 7\n\n## Objective\nA login.\n\n## Handoff\n\nAdded the login endpoint.\n"


def read_first_sentence(text: str) -> Extraction:
    """An extractor that takes the first sentence with `Added` in it for what was done."""
    start = text.find("Added")
    if start < 0:
        return Extraction(handoff=None, notation=Notation.NONE)
    end = text.index(".", start) + 1
    handoff = Handoff(what_was_done=(text[start:end],))
    return Extraction(
        handoff=handoff, notation=Notation.SECTIONS, spans={"what_was_done[0]": Span(start, end)}
    )


def test_a_task_file_is_structured_in_place_and_checked() -> None:
    migrated = migrate_task_file(FILE, extract=read_first_sentence)
    part = find_handoff_part(migrated.text)
    assert part is not None
    assert yaml.safe_load(part.text(migrated.text)) == {"what_was_done": ["Added the login endpoint."]}
    assert migrated.text.startswith("# Task 7\n\n## Objective\nA login.\n\n## Handoff\n")
    assert [problem.code for problem in migrated.problems] == ["H001"]


def test_an_agent_is_asked_once_and_only_about_the_note() -> None:
    agent = Scripted("Added a swimming pool behind the house.")
    migrated = migrate_task_file(FILE, structurer=agent, extract=read_first_sentence)
    [prompt] = agent.asked
    assert "Added the login endpoint." in prompt
    assert "A login." not in prompt
    assert migrated.handoff == Handoff(what_was_done=("Added the login endpoint.",))


def test_a_file_of_which_nothing_can_be_told_stays_as_it_is() -> None:
    assert migrate_task_file("## Handoff\n\n\n").text == "## Handoff\n\n\n"
