"""Extraction, promise by promise."""

from __future__ import annotations

import pytest

from segue.domain.handoff import OutputNotation, check_handoff, render_handoff
from segue.domain.handoff.extract.extraction import extract_handoff
from segue.domain.handoff.extract.nothing import says_nothing
from segue.domain.handoff.extract.outcome import judge
from segue.domain.handoff.extract.result import Notation, Origin
from segue.domain.handoff.extract.vocabulary import read_heading
from segue.domain.handoff.model import Handoff, Outcome
from segue.domain.text.paths import paths_in


def read(source: str) -> Handoff:
    found = extract_handoff(source).handoff
    assert found is not None
    return found


@pytest.mark.parametrize("source", ["", " \n\t", "Hello.", "# Title\n\nNothing to see.", "{}", "---\n---\n"])
def test_a_text_without_a_handoff_gives_none(source: str) -> None:
    found = extract_handoff(source)
    assert (found.handoff, found.notation) == (None, Notation.NONE)


def test_a_span_cut_out_of_the_source_is_the_statement() -> None:
    source = (
        "# Übergabe ✅\n\n## Decisions made\n- **One lock**: simpler\n\n## Gotchas\n1. Der Index ⚠ wächst\n"
    )
    found = extract_handoff(source)
    assert found.handoff is not None
    span = found.spans["gotchas[0].issue"]
    assert source[span.start : span.end] == found.handoff.gotchas[0].issue == "Der Index ⚠ wächst"
    span = found.spans["decisions_made[0]"]
    assert source[span.start : span.end] == "**One lock**: simpler"


def test_spans_are_a_mapping_like_any_other() -> None:
    source = (
        "## Goal\nShip\n\n## Decisions\n- One lock\n  Rationale: simpler\n\n## Misc\nfoo\n\nStatus: done\n"
    )
    spans = extract_handoff(source).spans
    cuts = {name: source[span.start : span.end] for name, span in spans.items()}
    assert cuts["goal"] == "Ship"
    assert (cuts["decisions_made[0].decision"], cuts["decisions_made[0].rationale"]) == (
        "One lock",
        "simpler",
    )
    assert (len(spans), list(spans)) == (len(cuts), list(cuts))
    assert spans == dict(spans) == extract_handoff(source).spans
    assert repr(spans) == repr(dict(spans))
    assert "goal" in spans
    assert spans.get("blockers[0]") is None


def test_a_file_that_was_created_has_no_span_as_a_modified_one() -> None:
    found = extract_handoff("## Files created\n- a.py\n\n## Files modified\n- b.py\n- a.py\n- c.py\n")
    assert found.handoff is not None
    assert [each.path for each in found.handoff.files_modified] == ["b.py", "c.py"]
    assert {name for name in found.spans if name.startswith("files_modified")} == {
        *("files_modified[0]", "files_modified[0].path"),
        *("files_modified[1]", "files_modified[1].path"),
    }


def test_an_exit_code_that_is_no_number_is_left_out() -> None:
    found = extract_handoff("commands_run:\n  - command: make\n    exit_code: --5\n")
    assert found.handoff is not None
    assert found.handoff.commands_run[0].exit_code is None
    assert "commands_run[0].exit_code" not in found.spans


def test_a_table_of_decisions_gives_decision_and_rationale() -> None:
    handoff = read("## Decisions\n\n| # | Decision | Why |\n|---|---|---|\n| 1 | One lock | simpler |\n")
    assert [(d.decision, d.rationale) for d in handoff.decisions_made] == [("One lock", "simpler")]


def test_parts_on_lines_of_their_own_are_told_apart() -> None:
    handoff = read("## Decision log\n\n- Decision: one lock\n  Rationale: two would deadlock\n")
    assert [(d.decision, d.rationale) for d in handoff.decisions_made] == [
        ("Decision: one lock", "two would deadlock")
    ]


def test_commands_are_read_with_what_came_of_them() -> None:
    handoff = read("## Done\n- a\n\n## Verification\n- `pytest -q` — exit 0, 12 passed\n- read the code\n")
    command = handoff.commands_run[0]
    assert (command.command, command.exit_code, len(handoff.commands_run)) == ("pytest -q", 0, 1)


def test_a_statement_that_stands_twice_is_kept_noted_and_linted() -> None:
    found = extract_handoff("## Done\n- Fixed it\n- Fixed it\n\n## Next\n- Ship it\n- Ship it\n")
    assert found.handoff is not None
    assert found.handoff.what_was_done == ("Fixed it", "Fixed it")
    assert "what_was_done says the same thing twice" in found.notes
    problems = [p for p in check_handoff(found.handoff, found.spans) if p.code == "H031"]
    assert [(p.field, p.span) for p in problems] == [
        ("what_was_done[1]", found.spans["what_was_done[1]"]),
        ("suggested_next_steps[1]", found.spans["suggested_next_steps[1]"]),
    ]


def test_a_file_that_is_named_twice_is_one_file() -> None:
    handoff = read("## Files changed\n- src/a.py: the lock\n- src/b.py\n- src/a.py: again\n")
    assert [each.path for each in handoff.files_modified] == ["src/a.py", "src/b.py"]


def test_names_under_an_item_are_read_one_by_one() -> None:
    handoff = read(
        "## Blockers\n- No key\n  - Suggested resolution: ask\n  - Blocking tasks: `a, b`, ``c`d``\n\n"
        "## Next steps\n- Add y\n  - Priority: high\n  - Depends on: jwt.ts, auth.ts\n"
    )
    blocker, step = handoff.blockers[0], handoff.suggested_next_steps[0]
    assert (blocker.suggested_resolution, blocker.blocking_tasks) == ("ask", ("a, b", "c`d"))
    assert (step.priority, step.depends_on) == ("high", ("jwt.ts", "auth.ts"))


def test_a_line_that_is_no_priority_is_not_taken_for_one() -> None:
    step = read("## Next steps\n- Add y\n  Priority: high\n  and then test it\n").suggested_next_steps[0]
    assert (step.priority, "and then test it" in step.step) == (None, True)


@pytest.mark.parametrize(
    "source",
    [
        "## What Was Done\n\n- Fixed it\n- Wrote it down\n",
        "## What Was Done\nFixed it.\n\n## Decisions Made\nUse a lock.\n",
        "## Progress\n\n### Done\n\n- [x] Fixed it\n",
    ],
)
def test_an_account_of_work_alone_states_no_outcome(source: str) -> None:
    assert read(source).outcome is None


def test_our_own_form_with_nothing_to_say_is_read_as_anybodys() -> None:
    assert read("## What Was Done\n\n- Fixed it\n\n## Open Questions\n\nNone\n").open_questions == ()


def test_what_maps_to_no_field_is_kept() -> None:
    handoff = read("## Done\n- a\n\n## Zebra lore\n\nStripes differ.\n")
    assert [(s.heading, s.text) for s in handoff.other_sections] == [("Zebra lore", "Stripes differ.")]


def test_front_matter_and_text_are_joined_in_the_order_of_the_source() -> None:
    handoff = read(
        "---\ndecisions:\n  - from the front matter\n---\n\n"
        "## Decisions\n- from the text\n\n## Next steps\n- b\n"
    )
    assert [d.decision for d in handoff.decisions_made] == ["from the front matter", "from the text"]
    assert [s.step for s in handoff.suggested_next_steps] == ["b"]


def test_a_leading_rule_is_no_front_matter() -> None:
    assert read("---\n\n# Handoff\n\n## Done\n- a\n\n---\n\n## Next\n- b\n").what_was_done == ("a",)


def test_an_html_comment_is_no_text() -> None:
    assert read("## Done\n\n<!-- - not this -->\n\n- this\n").what_was_done == ("this",)


def test_aliases_are_refused_in_a_note() -> None:
    found = extract_handoff("outcome: &a done\nblockers: [*a]\n")
    assert any("alias" in note for note in found.notes)


def test_fixing_is_told_in_a_note() -> None:
    found = extract_handoff('{"what_was_done": ["a",], "outcome": "completed",}')
    assert found.handoff is not None
    assert found.handoff.what_was_done == ("a",)
    assert any("trailing commas" in note for note in found.notes)


def test_curly_quotes_are_read() -> None:
    assert read("{\u201cwhat_was_done\u201d: [\u201ca b\u201d]}").what_was_done == ("a b",)


def test_a_configuration_in_a_fence_is_no_handoff() -> None:
    handoff = read("## Done\n- a\n\n```yaml\nservices:\n  web:\n    image: x\nstatus: failed\n```\n")
    assert handoff.outcome is None


@pytest.mark.parametrize(
    "sentence",
    ["The task is complete.", "MISSION ACCOMPLISHED", "Phase 2 Done", "All tasks FINISHED", "Work is done."],
)
def test_a_sentence_anywhere_states_that_the_work_is_done_in_any_case(sentence: str) -> None:
    source = f"# Notes\n\nSome words on the parser.\n\n{sentence}\n"
    found = extract_handoff(source, origin=Origin.REPLY).handoff
    assert found is not None
    assert found.outcome == "completed"


@pytest.mark.parametrize(
    ("line", "outcome"),
    [
        ("✅ Complete", Outcome.COMPLETED),
        ("MISSION_COMPLETE", Outcome.COMPLETED),
        ("80% done", Outcome.PARTIAL),
        ("Phase 1 complete (UAT pending)", Outcome.PARTIAL),
        ("not started", Outcome.PARTIAL),
        ("blocked on the soak", Outcome.BLOCKED),
        ("FAILED", Outcome.FAILED),
        ("No failures, all green", Outcome.COMPLETED),
        ("已完成", Outcome.COMPLETED),
        ("尚未", Outcome.PARTIAL),
        ("2026-01-01", None),
        ("v2", None),
    ],
)
def test_a_status_line_states_an_outcome(line: str, outcome: Outcome | None) -> None:
    assert judge(line) == outcome


@pytest.mark.parametrize(
    ("heading", "topic"),
    [
        ("3. Next Steps (this week)", "suggested_next_steps"),
        ("🚀 What's next", "suggested_next_steps"),
        ("What not to do next", "gotchas"),
        ("Not done / deferred", "suggested_next_steps"),
        ("Files to Modify", "suggested_next_steps"),
        ("Beobachtungen", None),
        ("/bug-reports", None),
        ("whatWasLeftUndone", "suggested_next_steps"),
        ("Done and remaining", "tasks"),
        ("Status: done", "outcome"),
        ("已完成 / 進行中", "tasks"),
        ("Next.js setup", "critical_context"),
    ],
)
def test_a_heading_means_a_topic(heading: str, topic: str | None) -> None:
    reading = read_heading(heading)
    assert (reading and reading.topic) == topic


@pytest.mark.parametrize(
    "text", ["None.", "- None remaining", "Нет", "無し", "[]", "n/a", "—", "None. All went well."]
)
def test_nothing_is_nothing(text: str) -> None:
    assert says_nothing(text)


def test_a_statement_about_nothing_is_something() -> None:
    assert not says_nothing("None of the tests ran")


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("`src/a.py:12-20` and (b/c.ts)", ["src/a.py", "b/c.ts"]),
        ("go.mod/go.sum", []),
        ("setup.cfg/tox.ini", ["setup.cfg", "tox.ini"]),
        ("see https://x.y/z.html or Next.js, CI/CD", []),
        ("[`src/a.py`](../x/src/a.py) and [the plan](docs/plan.md)", ["src/a.py", "docs/plan.md"]),
        ("_quarto.yml, **README.md**.", ["_quarto.yml", "README.md"]),
        ("a.{ts,tsx} in packages/core/src/", ["packages/core/src/"]),
        ("the Makefile (and Dockerfile) of a/b.py", ["Makefile", "Dockerfile", "a/b.py"]),
        ("Done. It works.", []),
    ],
)
def test_paths_are_found_without_their_surroundings(text: str, paths: list[str]) -> None:
    assert [piece.text for piece in paths_in(text)] == paths


@pytest.mark.parametrize(
    ("done", "created", "modified"),
    [
        ("Created the new module src/a.py", ["src/a.py"], []),
        ("Refactored `src/b.py` for speed", [], ["src/b.py"]),
        ("**src/c.py**: Updated the lock", [], ["src/c.py"]),
        ("\u0421\u043e\u0437\u0434\u0430\u043d \u0444\u0430\u0439\u043b src/d.py", ["src/d.py"], []),
        ("\u5df2\u4fee\u6539 src/e.py", [], ["src/e.py"]),
        ("Created a plan after we had read src/f.py", [], []),
        ("See src/g.py", [], []),
    ],
)
def test_an_account_of_work_tells_the_files_after_its_verbs(
    done: str, created: list[str], modified: list[str]
) -> None:
    handoff = read(f"## Done\n- {done}\n")
    assert [each.path for each in handoff.files_created] == created
    assert [each.path for each in handoff.files_modified] == modified


@pytest.mark.parametrize("notation", [OutputNotation.YAML, OutputNotation.JSON])
def test_a_document_of_lists_is_not_taken_for_sections(notation: OutputNotation) -> None:
    record = Handoff(what_was_done=("Found the cause",), critical_context=("Use one handler",))
    found = extract_handoff(render_handoff(record, notation))
    assert (found.handoff, found.notation) == (record, Notation(notation))


@pytest.mark.parametrize(
    ("sentence", "outcome"),
    [
        ("Phase 0 bis 8 sind komplett und in `main`.", "completed"),
        ("Чистка проекта завершена.", "completed"),
        ("La migración terminó con éxito.", "completed"),
        ("公开部署已完成。", "completed"),
        ("已完成列表显示全部任务。", None),
        ("Wenn die Phasen komplett sind, folgt der Rest.", None),
        ("Phase 1 ist fertig, der Export ist noch nicht getestet.", "partial"),
    ],
)
def test_a_sentence_of_another_language_may_tell_that_the_work_is_complete(
    sentence: str, outcome: str | None
) -> None:
    handoff = extract_handoff(f"# Handoff\n\n{sentence}\n\n## Next steps\n\n- Ship it\n").handoff
    assert handoff is not None
    assert handoff.outcome == outcome


def test_a_whole_sentence_in_bold_is_no_heading() -> None:
    handoff = extract_handoff(
        "# Handoff\n\n## Status\n\n**Fix applied, not yet tested or committed.**\n\n## Next steps\n\n- Test\n"
    ).handoff
    assert handoff is not None
    assert handoff.outcome == "partial"
