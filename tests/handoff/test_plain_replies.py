"""Plain replies: each sentence says by its own words what it is, and how the work ended."""

from __future__ import annotations

import pytest

from segue.domain.handoff import Handoff, Notation, Origin, extract_handoff
from segue.domain.handoff.extract.plain_reply import topic_of_sentence
from segue.domain.handoff.extract.reply_outcome import outcome_of_sentence


def read(reply: str) -> Handoff:
    found = extract_handoff(reply, origin=Origin.REPLY)
    assert found.notation is Notation.REPLY
    assert found.handoff is not None
    return found.handoff


@pytest.mark.parametrize(
    ("keyword", "field"),
    [
        ("watch out for", "gotchas"),
        ("be careful with", "gotchas"),
        ("pattern", "patterns_discovered"),
        ("always use", "patterns_discovered"),
        ("next", "suggested_next_steps"),
        ("then", "suggested_next_steps"),
        ("should", "suggested_next_steps"),
        ("question", "open_questions"),
        ("unclear", "open_questions"),
    ],
)
@pytest.mark.parametrize("sentence", ["{} the cache", "{}: the cache", "About the cache, {} the tests"])
@pytest.mark.parametrize("write", [str.capitalize, str.upper])
def test_a_keyword_of_the_migration_names_the_field_wherever_it_stands(
    keyword: str, field: str, sentence: str, write: object
) -> None:
    said = write(sentence.format(keyword)) + "."  # type: ignore[operator]  # str.capitalize or str.upper
    assert topic_of_sentence(said) == field


@pytest.mark.parametrize(
    ("sentence", "field"),
    [
        ("I fixed the total.", "what_was_done"),
        ("I've also moved the tests.", "what_was_done"),
        ("The quantity is now taken into account.", "what_was_done"),
        ("`cart.py`: takes the quantity into account", "what_was_done"),
        ("The retry has been removed.", "what_was_done"),
        ("I ran the tests and then pushed.", "what_was_done"),
        ("I chose SQLite over PostgreSQL.", "decisions_made"),
        ("I kept the old name for now, because callers use it.", "decisions_made"),
        ("All 12 tests pass.", "commands_run"),
        ("The CLI still needs the new flag.", "suggested_next_steps"),
        ("You will need to run the migration.", "suggested_next_steps"),
        ("I don't have access to the staging database.", "blockers"),
        ("We are waiting for the security team.", "blockers"),
        ("Please don't merge this yet.", "gotchas"),
        ("Which of the two names is right?", "open_questions"),
        ("Let me know if you want it shorter.", "other_sections"),
        ("Would you like me to add tests?", "open_questions"),
        ("If you want, I can add tests for it.", "suggested_next_steps"),
        ("I did not touch the printer.", "other_sections"),
        ("It should now work.", "other_sections"),
        ("The columns should now stay as two when printed.", "other_sections"),
        ("The next page is loaded lazily.", "other_sections"),
        ("It uses pattern matching.", "other_sections"),
        ("There are no open questions.", "other_sections"),
        ("The sky is blue.", "other_sections"),
    ],
)
def test_a_sentence_is_read_by_the_first_rule_that_fits(sentence: str, field: str) -> None:
    assert topic_of_sentence(sentence) == field


@pytest.mark.parametrize(
    ("sentence", "outcome"),
    [
        ("Done.", "completed"),
        ("All set!", "completed"),
        ("The task is complete.", "completed"),
        ("I successfully implemented the parser.", "completed"),
        ("The migration is now finished.", "completed"),
        ("I couldn't finish the migration.", "failed"),
        ("I was unable to fix the parser.", "failed"),
        ("The build still fails.", "failed"),
        ("I'm blocked: no key.", "blocked"),
        ("Permission denied on the database.", "blocked"),
        ("I cannot proceed without the key.", "blocked"),
        ("Let me clarify a few things before implementing:", "blocked"),
        ("I need to see the files that define the buttons.", "blocked"),
        ("Let me know your preferences and I'll build it.", "blocked"),
        ("All changes have been committed successfully.", "completed"),
        ("План очистки успешно завершен!", "completed"),
        ("Phase 0-8 sind komplett.", "completed"),
        ("完成\uff01我已經轉換了文件。", "completed"),
        ("切换已成功\uff01", "completed"),
        ("I need the parser only once.", None),
        ("尚未完成。", None),
        ("I partially migrated the tables.", "partial"),
        ("I ran out of time.", "partial"),
        ("Not everything is covered.", "partial"),
        ("I haven't tested it on Windows.", "partial"),
        ("Once the key is there, the task is complete.", None),
        ("Is the task done?", None),
        ('The log says "permission denied".', None),
        ("Previously the build still failed.", None),
        ("If it still fails, call me.", None),
        ("I fixed the total.", None),
        ("The done column is blue.", None),
    ],
)
def test_a_sentence_states_an_outcome_or_none(sentence: str, outcome: str | None) -> None:
    assert outcome_of_sentence(sentence) == outcome


def test_every_statement_of_a_reply_is_in_its_record() -> None:
    handoff = read(
        "I fixed the total. The quantity is now taken into account in `total()` in cart.py, and I added a "
        "regression test for empty carts in test_cart.py. All 2 tests pass. I also updated the README. "
        "One open question: should discounts apply before tax?"
    )
    assert len(handoff.what_was_done) == 3
    assert [each.path for each in handoff.files_modified] == ["cart.py", "test_cart.py"]
    assert [each.question for each in handoff.open_questions] == [
        "One open question: should discounts apply before tax?"
    ]
    assert [each.text for each in handoff.other_sections] == ["All 2 tests pass."]


def test_clauses_on_different_things_are_told_apart() -> None:
    handoff = read("I created migrations/002.sql, but it is untested, so please don't merge.")
    assert handoff.what_was_done == ("I created migrations/002.sql",)
    assert [each.path for each in handoff.files_created] == ["migrations/002.sql"]
    assert len(handoff.gotchas) == 1


def test_a_remark_in_brackets_is_not_cut_from_its_sentence() -> None:
    sentence = "I created src/ (1,600 lines; all 24 checks pass) and the readme."
    assert read(sentence).what_was_done == (sentence,)


def test_words_of_failure_outweigh_words_of_success() -> None:
    assert read("All set. I couldn't finish the migration, sorry. I wrote a.py.").outcome == "failed"


def test_a_failure_against_a_stated_outcome_is_noted() -> None:
    source = "I couldn't finish it.\n\n**Status:** done\n\n## Done\n- a\n"
    found = extract_handoff(source, origin=Origin.REPLY)
    assert found.handoff is not None
    assert found.handoff.outcome == "completed"
    assert any("the text says failed" in note for note in found.notes)


def test_a_verdict_behind_a_decision_is_the_outcome() -> None:
    found = extract_handoff("**QA decision:** FAIL, cannot merge\n\n## Next steps\n- Fix it\n").handoff
    assert found is not None
    assert found.outcome == "failed"


def test_what_introduces_a_list_opens_a_field_for_that_list_alone() -> None:
    handoff = read("I rewrote the parser.\n\nWhat changed:\n- `a.py`: recursion\n\nThe CLI still needs it.")
    assert handoff.what_was_done == ("I rewrote the parser.", "`a.py`: recursion")
    assert [each.step for each in handoff.suggested_next_steps] == ["The CLI still needs it."]


@pytest.mark.parametrize("reply", ["Thanks for the ping! See you at lunch.", "def f(x):\n    return x\n", ""])
def test_a_reply_that_states_nothing_gives_none(reply: str) -> None:
    assert extract_handoff(reply, origin=Origin.REPLY).handoff is None


def test_colour_codes_hide_nothing_and_places_stand_in_the_source() -> None:
    reply = (
        "\x1b[32mI fixed the total in \x1b[1mcart.py\x1b[0m.\x1b[0m\n"
        "All 2 tests pass.\n\x1b[31mI could not push.\x1b[0m"
    )

    found = extract_handoff(reply, origin=Origin.REPLY)

    assert found.handoff is not None
    assert found.handoff.what_was_done == ("I fixed the total in cart.py.",)
    assert [file.path for file in found.handoff.files_modified] == ["cart.py"]
    assert [each.blocker for each in found.handoff.blockers] == ["I could not push."]
    start, end = found.spans["files_modified[0].path"]
    assert reply[start:end] == "cart.py"
    start, end = found.spans["what_was_done[0]"]
    assert reply[start:end] == "I fixed the total in \x1b[1mcart.py\x1b[0m."


@pytest.mark.parametrize(
    ("reply", "paths"),
    [
        ("I fixed `.gitignore`, so that commits do not include `.env`.", {".gitignore"}),
        ("I updated the hook in `hook.py`; it blocks secrets in files like `.env`.", {"hook.py"}),
        ("I moved the parser out of `a.py`.", {"a.py"}),
    ],
)
def test_a_file_that_is_only_named_was_not_changed(reply: str, paths: set[str]) -> None:
    found = extract_handoff(reply, origin=Origin.REPLY).handoff
    assert found is not None
    assert {each.path for each in found.files_modified} == paths
