"""What the writer of a reply is asked, and what of its answer is kept: only what the reply says."""

from __future__ import annotations

import json
from typing import Any

import pytest

from segue.domain.asking import (
    HandoffReading,
    Missing,
    complete,
    reading_as_dict,
    reading_from_dict,
    reading_of,
    what_is_missing,
)
from segue.domain.briefing import ItemPlace
from segue.domain.briefing.repair_prompt import question_for
from segue.domain.handoff import Extraction, Handoff, Notation, OutputNotation, Span, extract_handoff
from segue.domain.handoff.checking.grounding import ground

REPLY = (
    "I fixed the total. The quantity is now taken into account in `total()` in cart.py, and I added a "
    "regression test for empty carts in test_cart.py. All 2 tests pass. I did not touch the database. Next I "
    "would add caching. I tried to use Decimal but it broke the API, so I kept floats.\n"
    "One open question: should the total be rounded?\n"
)


def grounded(**fields: Any) -> dict[str, Any]:
    return ground(Handoff.model_validate(fields), REPLY).handoff.model_dump(exclude_defaults=True)


@pytest.mark.parametrize(
    "statement",
    [
        "Fixed total() in cart.py so that the quantity is taken into account",
        "Added a regression test for empty carts",
        "All 2 tests pass",
        "I did not touch the database",
    ],
)
def test_what_the_reply_says_in_other_words_is_kept_with_its_passage(statement: str) -> None:
    found = ground(Handoff(what_was_done=(statement,)), REPLY)
    assert found.handoff.what_was_done == (statement,)
    span = found.spans["what_was_done[0]"]
    assert REPLY[span.start : span.end].strip()
    assert found.dropped == ()


@pytest.mark.parametrize(
    "invention",
    [
        "Deployed the service to production",
        "Fixed the total in checkout.py",
        "All 12 tests pass",
        "Touched the database",
        "Added caching",
        "Used Decimal",
        "Added `Cart.round()` to the cart",
    ],
)
def test_what_the_reply_does_not_say_is_dropped_and_noted(invention: str) -> None:
    found = ground(Handoff(what_was_done=(invention,)), REPLY)
    assert found.handoff.what_was_done == ()
    assert found.dropped == (f"what_was_done: {invention}",)


def test_a_plan_may_be_a_next_step_and_a_question_a_question() -> None:
    kept = grounded(suggested_next_steps=["Add caching"], open_questions=["Should the total be rounded?"])
    assert [each["step"] for each in kept["suggested_next_steps"]] == ["Add caching"]
    assert [each["question"] for each in kept["open_questions"]] == ["Should the total be rounded?"]


def test_the_parts_of_an_item_must_be_said_too() -> None:
    kept = grounded(
        decisions_made=[{"decision": "Kept floats", "rationale": "Decimal broke the API"}],
        suggested_next_steps=[{"step": "Add caching", "priority": "high", "depends_on": ["Redis"]}],
        commands_run=[{"command": "pytest -q", "exit_code": 0}],
    )
    assert kept == {
        "decisions_made": ({"decision": "Kept floats", "rationale": "Decimal broke the API"},),
        "suggested_next_steps": ({"step": "Add caching"},),
    }
    invented = grounded(decisions_made=[{"decision": "Kept floats", "rationale": "The cluster is slow"}])
    assert invented == {"decisions_made": ({"decision": "Kept floats"},)}


def test_of_a_text_the_sentences_that_are_said_stay() -> None:
    found = ground(Handoff(next_agent_context="Next add caching. Then deploy it to Mars."), REPLY)
    assert found.handoff.next_agent_context == "Next add caching."
    assert found.dropped == ("next_agent_context: Then deploy it to Mars.",)


def test_what_is_missing_is_told_by_the_record_and_how_it_was_read() -> None:
    done = Handoff(outcome="completed", what_was_done=("A", "B"))
    assert not what_is_missing(done, HandoffReading())
    assert what_is_missing(None, HandoffReading(coverage=0.0)) == Missing(handoff=True)
    assert what_is_missing(Handoff(goal="G"), HandoffReading()) == Missing(outcome=True)
    assert what_is_missing(done, HandoffReading(coverage=0.49)) == Missing(statements=True)
    guessed = ("what_was_done[0]", "what_was_done[1]")
    assert what_is_missing(done, HandoffReading(guessed=guessed)) == Missing(statements=True)
    assert not what_is_missing(done, HandoffReading(guessed=guessed[:1]))


def read_by_rules(*guessed: str) -> tuple[Extraction, HandoffReading]:
    record = Handoff(what_was_done=("I fixed the total.",), open_questions=("should the total be rounded?",))
    spans = {"what_was_done[0]": Span(0, 18), "open_questions[0]": Span(REPLY.index("should"), len(REPLY))}
    extraction = Extraction(handoff=record, notation=Notation.NONE, spans=spans)
    return extraction, HandoffReading(coverage=0.2, guessed=guessed)


def test_an_answer_adds_what_rules_did_not_read_in_the_order_of_the_reply() -> None:
    answer = Handoff.model_validate(
        {
            "outcome": "completed",
            "what_was_done": ["Added a regression test for empty carts", "Fixed the total", "Sang a song"],
            "files_modified": ["cart.py"],
            "open_questions": ["Should the total be rounded?"],
        }
    )
    done = complete(*read_by_rules(), answer, Missing(outcome=True, statements=True), REPLY)
    assert done.handoff is not None
    assert done.handoff.outcome == "completed"
    assert done.handoff.what_was_done == ("I fixed the total.", "Added a regression test for empty carts")
    assert [each.path for each in done.handoff.files_modified] == ["cart.py"]
    assert len(done.handoff.open_questions) == 1
    assert done.reading.asked == ("outcome", "what_was_done[1]", "files_modified[0]")
    assert done.reading.dropped == ("what_was_done: Sang a song",)
    assert done.reading.coverage > 0.2


def test_an_answer_replaces_what_was_guessed() -> None:
    answer = Handoff.model_validate({"suggested_next_steps": ["Fixed the total"]})
    done = complete(*read_by_rules("what_was_done[0]"), answer, Missing(statements=True), REPLY)
    assert done.handoff is not None
    assert done.handoff.what_was_done == ()
    assert [each.step for each in done.handoff.suggested_next_steps] == ["Fixed the total"]
    assert done.reading.guessed == ()


def test_who_is_asked_for_the_outcome_can_add_nothing_else() -> None:
    answer = Handoff.model_validate({"outcome": "partial", "what_was_done": ["All 2 tests pass"]})
    done = complete(*read_by_rules(), answer, Missing(outcome=True), REPLY)
    assert done.handoff is not None
    assert (done.handoff.outcome, len(done.handoff.what_was_done)) == ("partial", 1)


def test_without_an_answer_all_stays_as_it_was() -> None:
    extraction, reading = read_by_rules()
    done = complete(extraction, reading, None, Missing(outcome=True), REPLY)
    assert (done.handoff, done.reading) == (extraction.handoff, reading)


def test_an_answer_of_inventions_alone_makes_no_handoff() -> None:
    nothing = Extraction(handoff=None, notation=Notation.NONE)
    answer = Handoff(what_was_done=("Deployed it to production",))
    done = complete(nothing, HandoffReading(coverage=0.0), answer, Missing(handoff=True), REPLY)
    assert done.handoff is None
    assert done.reading.dropped == ("what_was_done: Deployed it to production",)


def test_how_a_handoff_was_read_is_stored_and_read_again() -> None:
    reading = HandoffReading(
        coverage=0.75,
        guessed=("gotchas[0]",),
        asked=("outcome",),
        dropped=("goal: G",),
        places={"gotchas[0]": ItemPlace(heading="Web", lead_in="Careful:", extras=("owner: ops",))},
    )
    assert reading_from_dict(json.loads(json.dumps(reading_as_dict(reading)))) == reading


def test_the_whole_of_a_canonical_record_is_read_however_much_is_said_around_it() -> None:
    reply = (
        "Here you are, after a long night of work. " * 9
        + "\n\n## Handoff\n\n```yaml\noutcome: completed\nwhat_was_done:\n- Added it\n```\n"
    )
    assert reading_of(extract_handoff(reply)).coverage == 1.0


def test_the_question_asks_only_for_what_is_missing() -> None:
    outcome = question_for(Missing(outcome=True), OutputNotation.YAML)
    assert "outcome: completed | partial | failed | blocked" in outcome
    assert "what_was_done" not in outcome
    whole = question_for(Missing(statements=True), OutputNotation.YAML)
    assert "Use only what your reply says" in whole
    assert "what_was_done:" in whole


def test_who_does_not_remember_its_reply_is_given_it() -> None:
    for missing in (Missing(outcome=True), Missing(handoff=True)):
        assert REPLY.strip() in question_for(missing, OutputNotation.YAML, reply=REPLY)
