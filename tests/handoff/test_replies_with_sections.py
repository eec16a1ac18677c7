"""Replies that have lists and sections: what introduces a list, offers, outcomes."""

from __future__ import annotations

import pytest

from segue.domain.handoff import Handoff, Origin, extract_handoff
from segue.domain.handoff.extract.reply_outcome import outcome_of_sentence


def _read(reply: str) -> Handoff:
    found = extract_handoff(reply, origin=Origin.REPLY)
    assert found.handoff is not None
    return found.handoff


@pytest.mark.parametrize(
    ("sentence", "outcome"),
    [
        ("I've successfully implemented the option.", "completed"),
        ("The migration completed successfully.", "completed"),
        ("S013 closed.", "completed"),
        ("C'est réglé.", "completed"),
        ("Listo.", "completed"),
        ("Nothing to do until the fix is applied.", "blocked"),
        ("Once you confirm the order, I can proceed with the changes.", "blocked"),
        ("Le run a échoué très tôt.", "failed"),
        ("I couldn't finish the migration.", "failed"),
        ("Short answer: Not yet.", "partial"),
        ("I could not run the tests here because installing is blocked by the network.", "partial"),
        ("I could not run the migration: permission denied.", "blocked"),
        ("`git push` failed for want of a network.", "partial"),
        ("Please add the two files to the chat so I can help you.", "blocked"),
        ("No changes are needed.", "completed"),
        ("What remains is the report.", "partial"),
        ("Could you not run the tests?", None),
        ("It failed to reproduce, so there is nothing to change.", None),
        ("If the build is complete, deploy it.", None),
        ("Previously the job was done by hand.", None),
        ("The report is closed source.", None),
        ("Is it done?", None),
    ],
)
def test_a_sentence_states_an_outcome_or_none(sentence: str, outcome: str | None) -> None:
    assert outcome_of_sentence(sentence) == outcome


def test_a_sentence_that_introduces_a_list_says_what_it_is_about() -> None:
    handoff = _read("I've updated the parser:\n\n- quotes are kept\n- comments are skipped\n")

    assert handoff.what_was_done[1:] == ("quotes are kept", "comments are skipped")


def test_a_list_right_after_finished_work_lists_that_work() -> None:
    handoff = _read("Done - I moved the cache.\n\n- `cache.py`: one class less\n- one lookup a request\n")

    assert "one lookup a request" in handoff.what_was_done
    assert [file.path for file in handoff.files_modified] == ["cache.py"]


def test_what_opens_a_reply_holds_where_its_headings_say_nothing() -> None:
    handoff = _read("Here's what was done:\n\n## Parser\n\n- quotes are kept\n\n## Next steps\n\n- Ship it\n")

    assert handoff.what_was_done == ("quotes are kept",)
    assert [step.step for step in handoff.suggested_next_steps] == ["Ship it"]


def test_a_question_after_finished_work_is_a_question() -> None:
    handoff = _read("## Summary\n\nI added the flag. Would you like me to document it?\n")

    assert handoff.what_was_done == ("I added the flag.",)
    assert [each.question for each in handoff.open_questions] == ["Would you like me to document it?"]


def test_files_under_a_heading_on_what_is_new_were_created() -> None:
    found = _read(
        "## Documentation created\n\n- **Guide** (`docs/export.md`)\n\n"
        "## Changes\n\n- Docs updated for the new command: `README.md`\n"
    )
    assert [file.path for file in found.files_created] == ["docs/export.md"]
    assert [file.path for file in found.files_modified] == ["README.md"]


def test_what_explains_closes_or_announces_an_account_is_no_work() -> None:
    found = _read(
        "I've added the export and its tests. Here is a summary of what was delivered:\n\n"
        "## Summary\n\nThe export writes one file a month. This allows you to load them one by one. "
        "You'll need to run the migration before the first export. The module is now ready for production. "
        "Changes remain **uncommitted** on `main`.\n"
    )
    assert found.what_was_done == (
        "I've added the export and its tests.",
        "The export writes one file a month.",
    )
    assert [step.step for step in found.suggested_next_steps] == [
        "You'll need to run the migration before the first export."
    ]
    assert [gotcha.issue for gotcha in found.gotchas] == ["Changes remain **uncommitted** on `main`."]


def test_a_heading_that_names_a_field_states_no_outcome() -> None:
    text = "## Done\n- Parsed the file\n\n## Next steps\n- Write it back\n"
    found = extract_handoff(text, origin=Origin.REPLY).handoff
    assert found is not None
    assert found.outcome is None


def test_a_title_of_a_reply_states_its_outcome() -> None:
    text = "## \U0001f389 План очистки успешно завершен!\n\n### Что было сделано:\n\n1. Удалены файлы\n"
    found = extract_handoff(text, origin=Origin.REPLY).handoff
    assert found is not None
    assert found.outcome == "completed"


def test_a_list_continues_finished_work_that_a_sentence_between_them_only_announces() -> None:
    handoff = _read(
        "I converted the page. The main points include:\n\n- `id`: the name of the file\n- no tags\n"
    )

    assert handoff.what_was_done[1:] == ("`id`: the name of the file", "no tags")


def test_the_next_list_is_announced_anew() -> None:
    handoff = _read("I moved the cache.\n\n- one class less\n\nThe input was:\n\n- two old pages\n")

    assert handoff.what_was_done == ("I moved the cache.", "one class less")


@pytest.mark.parametrize(
    "line", ["This report includes:", "See `REPORT.md` for:", "The hook blocks these patterns:"]
)
def test_what_a_thing_holds_is_not_work(line: str) -> None:
    handoff = _read(f"## What was done\n\n- Wrote the report\n\n{line}\n\n- the causes\n- a comparison\n")

    assert handoff.what_was_done == ("Wrote the report",)
    assert handoff.patterns_discovered == ()


def test_a_weak_word_in_one_item_says_nothing_of_a_list_about_something_else() -> None:
    handoff = _read(
        "I recommend one file. Two would mean:\n\n- changes need to be made twice\n- more text\n- drift\n"
    )

    assert [step.step for step in handoff.suggested_next_steps] == ["I recommend one file."]


def test_a_quoted_paragraph_is_not_said_by_the_agent() -> None:
    handoff = _read(
        'I reworded the rule. It now reads:\n\n"Write plain text. Never use asterisks. Be careful."\n'
    )

    assert handoff.gotchas == ()
    assert any("asterisks" in section.text for section in handoff.other_sections)


def test_a_need_is_not_finished_work() -> None:
    handoff = _read("I need to see the file with the buttons. Could you share it?")

    assert handoff.what_was_done == ()
    assert [blocker.blocker for blocker in handoff.blockers] == ["I need to see the file with the buttons."]


def test_the_second_verb_of_a_sentence_may_tell_of_the_work() -> None:
    handoff = _read("Done. I used the import script and converted all pages.")

    assert "I used the import script and converted all pages." in handoff.what_was_done


@pytest.mark.parametrize(
    "item", ["Skipped files: none", "Secrets found: none detected", "Open points: keine"]
)
def test_a_count_of_none_is_not_an_item(item: str) -> None:
    handoff = _read(f"Done. I split the commit.\n\n- the parser first\n- {item}\n")

    assert item not in handoff.what_was_done
    assert any(item in section.text for section in handoff.other_sections)


def test_zero_risk_is_no_warning() -> None:
    assert _read("I reviewed it.\n\n**Risk:** **Zero risk**\n").gotchas == ()


def test_what_closes_the_next_steps_is_not_one() -> None:
    reply = "## Done\n\n- Wrote it\n\n## Next steps\n\n- Ship it\n\n"
    handoff = _read(f"{reply}The hook is now ready to use.\n\nShall I start?\n")

    assert [step.step for step in handoff.suggested_next_steps] == ["Ship it"]
    assert [question.question for question in handoff.open_questions] == ["Shall I start?"]


def test_something_that_is_so_on_purpose_is_not_a_decision() -> None:
    assert _read("I drew the lanes. The road is intentionally narrow there.").decisions_made == ()
    assert _read("I drew the lanes. I intentionally left the river wide.").decisions_made != ()


def test_a_remark_in_brackets_does_not_begin_a_sentence() -> None:
    handoff = _read("I changed the flag from `Text(...)` (unbound) to `TextVar(...)`. I ran it.")

    assert handoff.what_was_done[0] == "I changed the flag from `Text(...)` (unbound) to `TextVar(...)`."


def test_what_could_not_be_checked_counts_wherever_a_reply_says_it() -> None:
    work = "Implemented. The parser keeps quotes.\n\n" + "- Added a rule.\n" * 5
    handoff = _read(
        f"{work}\nI could not run the tests here.\n\n## Usage\n\nCall it.\n\nIt prints.\n\nBye.\n"
    )

    assert handoff.outcome == "partial"
    assert [gotcha.issue for gotcha in handoff.gotchas] == ["I could not run the tests here."]
    assert handoff.blockers == ()


def test_a_line_that_names_own_work_introduces_it() -> None:
    handoff = _read("Key fixes I added on top of the rest:\n\n- Ownership fixed for rows\n- a limit of 50\n")

    assert handoff.what_was_done == ("Ownership fixed for rows", "a limit of 50")


def test_i_have_before_a_list_leaves_the_work_to_the_list() -> None:
    record = _read(
        "Nothing is needed from me - I have already:\n\n1. Sent the report\n2. Notes are up to date\n"
    )
    assert record.what_was_done == ("Sent the report", "Notes are up to date")


def test_points_after_a_sentence_on_work_are_not_that_work() -> None:
    record = _read("I've sent my review. My key points:\n\n- The play-test is missing\n- Music loops\n")
    assert record.what_was_done == ("I've sent my review.",)


def test_one_of_several_tasks_is_not_the_goal() -> None:
    record = _read(
        "Summary of this session's deliverables:\n\n- **Task 4**: `path()`\n- **Task 3**: seven tests\n"
    )
    assert record.goal is None
    assert len(record.what_was_done) == 2


def test_a_value_in_brackets_in_an_introduction_says_nothing() -> None:
    record = _read(
        "Updated the row, with commits instead of `(pending)`:\n\n- `88f3124` scaffold\n- `d97043e` docs\n"
    )
    assert not record.suggested_next_steps


def test_who_waits_for_the_next_task_is_not_blocked() -> None:
    record = _read("Task 3 is done. I fixed the parser. I'm waiting for a new assignment.\n")
    assert not record.blockers
    assert record.outcome == "completed"


def test_what_is_included_is_no_new_file() -> None:
    record = _read("I fixed the mesh.\n\n- Added includes for `Mesh.h`\n")
    assert not record.files_created


def test_a_dotted_name_of_a_test_is_no_file() -> None:
    record = _read(
        "## Files created\n\n- `tests/MeshTest.cpp`\n- `Frog.Mesh.HazardBaseHasMesh`: checks the mesh\n"
    )
    assert [file.path for file in record.files_created] == ["tests/MeshTest.cpp"]
