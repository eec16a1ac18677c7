"""The rules find what is wrong, say where, and fix what can be fixed; the docs hold the examples."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given

from segue.domain.errors import UnknownName
from segue.domain.evidence.model import Change, ChangeKind, Evidence
from segue.domain.handoff import Origin, extract_handoff
from segue.domain.handoff.checking.against_evidence import check_against_evidence
from segue.domain.handoff.checking.against_source import check_extraction
from segue.domain.handoff.checking.fixing import Fix, fix_handoff
from segue.domain.handoff.checking.lint import Problem, check_handoff, has_errors, select_rules
from segue.domain.handoff.checking.output import CharacterPosition, CheckedFile, format_problems, locate
from segue.domain.handoff.checking.patching import Patched, patch_source
from segue.domain.handoff.checking.rules import RULES, RULES_BY_CODE, Severity
from segue.domain.handoff.checking.rules_explained import EXPLANATIONS
from segue.domain.handoff.model import Handoff
from segue.domain.text.span import Span
from tests.handoff.strategies import handoffs

PAGE = Path(__file__).parents[2] / "docs" / "lint.md"
_EXAMPLE = re.compile(r"^(Fails|Passes):\n\n```(?:yaml|markdown)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def parts_of_page() -> dict[str, str]:
    """Heading (`H001 outcome-missing (error)`) -> the text below it."""
    pieces = re.split(r"^## (H\d{3} .*)$", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return dict(zip(pieces[1::2], pieces[2::2], strict=True))


def examples() -> list[Any]:
    return [
        pytest.param(heading[:4], word, text, id=f"{heading[:4]}-{word.lower()}")
        for heading, body in parts_of_page().items()
        for word, text in _EXAMPLE.findall(body)
    ]


def record(**fields: Any) -> Handoff:
    return Handoff.model_validate(fields)


def codes(handoff: Handoff) -> list[str]:
    return [problem.code for problem in check_handoff(handoff)]


def test_the_page_explains_every_rule_with_both_examples() -> None:
    parts = parts_of_page()
    assert list(parts) == [f"{rule.code} {rule.name} ({rule.severity})" for rule in RULES]
    for body in parts.values():
        assert [word for word, _ in _EXAMPLE.findall(body)] == ["Fails", "Passes"]


def test_the_page_gives_every_rule_in_its_own_words() -> None:
    for rule, body in zip(RULES, parts_of_page().values(), strict=True):
        assert rule.doc.rstrip(".") in " ".join(body.split())


def test_the_program_explains_a_rule_as_the_page_does() -> None:
    for (code, explained), body in zip(EXPLANATIONS.items(), parts_of_page().values(), strict=True):
        assert code in RULES_BY_CODE
        assert " ".join(explained.text.split()) == " ".join(body.partition("\nFails:")[0].split())
        assert _EXAMPLE.findall(body) == [("Fails", explained.fails), ("Passes", explained.passes)]


@pytest.mark.parametrize(("code", "word", "text"), examples())
def test_the_examples_of_the_page_fail_and_pass(code: str, word: str, text: str) -> None:
    extraction = extract_handoff(text, origin=Origin.REPLY)
    is_text = code in {"H032", "H041"}
    handoff = extraction.handoff if is_text else Handoff.model_validate(yaml.safe_load(text))
    assert handoff is not None
    evidence = Evidence(
        changes={"src/auth/login.py": Change(kind=ChangeKind.MODIFIED)} if code == "H013" else {}
    )
    found = {*codes(handoff), *(each.code for each in check_against_evidence(handoff, evidence))}
    found |= {each.code for each in check_extraction(extraction)} & {"H032", "H041"}
    assert found == ({code} if word == "Fails" else set())


def test_a_changed_file_that_is_named_in_the_text_is_enough() -> None:
    evidence = Evidence(changes={"src/login.py": Change(kind=ChangeKind.ADDED)})
    assert check_against_evidence(record(what_was_done=["Wrote login.py"]), evidence) == []
    (problem,) = check_against_evidence(record(what_was_done=["Wrote it"]), evidence)
    assert (problem.code, problem.field) == ("H013", "files_modified")
    assert "src/login.py" in problem.hint
    assert check_against_evidence(record(what_was_done=["Wrote it"]), Evidence()) == []


OUR_SCHEMA = {"H001", "H010", "H011", "H012"}


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("## What was done\n\n- Added the endpoint\n- Wrote tests\n\n## Next steps\n\n- Deploy\n", "H001"),
        (
            "Status: blocked\n\n## What was done\n\n- Added it\n\n## Blockers\n\n- No key\n",
            "H012",
        ),
    ],
)
def test_a_foreign_document_is_only_warned_of_what_our_schema_asks(text: str, code: str) -> None:
    problems = check_extraction(extract_handoff(text))
    assert [each.code for each in problems if each.code in OUR_SCHEMA] == [code]
    assert not has_errors(problems)


def test_who_states_an_outcome_by_its_name_knows_our_schema() -> None:
    text = "## Outcome\n\nblocked\n\n## What Was Done\n\n- Added it\n\n## Blockers\n\n- No key\n"
    assert has_errors(check_extraction(extract_handoff(text)))


def test_a_text_without_a_handoff_is_an_error_in_any_schema() -> None:
    assert has_errors(check_extraction(extract_handoff("Dear all, lunch is at noon.\n")))


def test_text_that_was_not_understood_is_shown_where_most_of_it_is() -> None:
    text = "Outcome: completed\n\n## Weather\n\n" + "It rained, and the trains were late again. " * 5
    (problem,) = check_extraction(extract_handoff(text, origin=Origin.REPLY))
    assert (problem.code, problem.field) == ("H032", "other_sections")
    assert problem.span is not None
    assert text[problem.span.start :].startswith("It rained")


def test_codes_stand_in_order_and_once() -> None:
    assert [rule.code for rule in RULES] == sorted(RULES_BY_CODE)


def test_statements_may_be_poor_and_still_be_no_error() -> None:
    warnings = {rule.code for rule in RULES if rule.severity is Severity.WARNING}
    assert warnings == {"H030", "H031", "H032", "H040", "H041"}
    assert not has_errors(check_handoff(record(outcome="completed", what_was_done=["TODO"])))
    assert has_errors(check_handoff(record(what_was_done=["Did it"])))


@given(handoffs())
def test_no_handoff_makes_a_rule_raise(handoff: Handoff) -> None:
    assert all(problem.code in RULES_BY_CODE for problem in check_handoff(handoff))


@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd",
        "~/notes.md",
        "C:\\x",
        "\\\\host\\x",
        "a/../../b",
        "..",
        "./",
        ".",
        "file:///a",
        "$HOME/a",
    ],
)
def test_a_path_that_leaves_the_project_is_found(path: str) -> None:
    assert codes(record(outcome="completed", files_created=[{"path": path}])) == ["H020"]


@pytest.mark.parametrize(
    "path", ["a.py", "./a.py", "src/[id]/page.tsx", "a/../b", "..env", "Makefile", "docs/"]
)
def test_a_path_inside_the_project_is_fine(path: str) -> None:
    assert codes(record(outcome="completed", files_created=[{"path": path}])) == []


@pytest.mark.parametrize(
    ("lines", "fine"), [("1-1", True), ("all", True), ("0-3", False), ("3-2", False), ("7", False)]
)
def test_a_range_of_lines_is_two_numbers_or_all(lines: str, fine: bool) -> None:
    assert (codes(record(outcome="completed", files_modified=[{"path": "a", "lines": lines}])) == []) is fine


@pytest.mark.parametrize(
    "text", ["[path]", "TODO", "...", "…", "<description>", "{{step}}", "-", "N/A", "`[why needed]`"]
)
def test_what_a_template_left_behind_is_a_placeholder(text: str) -> None:
    assert codes(record(outcome="completed", what_was_done=[text])) == ["H030"]


@pytest.mark.parametrize("text", ["[docs](a.md)", "Removed a TODO", "日本語", "[x] and more", "vec<T>"])
def test_words_around_brackets_are_a_statement(text: str) -> None:
    assert codes(record(outcome="completed", what_was_done=[text])) == []


@pytest.mark.parametrize(
    ("path", "fault"),
    [
        ("/a", "is absolute"),
        ("../a", "leaves the project"),
        ("a/../../b/c", "leaves the project"),
        ("a/..", "names no file"),
    ],
)
def test_a_bad_path_is_told_in_plain_words(path: str, fault: str) -> None:
    [problem] = check_handoff(record(outcome="completed", dependencies_for_next=[{"file": path}]))
    assert problem.message == f'path "{path}" {fault}'


def test_a_blank_task_is_no_task() -> None:
    assert codes(record(outcome="blocked", blockers=[{"blocker": "No key", "blocking_tasks": [" "]}])) == [
        "H012"
    ]


def test_partial_work_says_what_is_missing() -> None:
    [problem] = check_handoff(record(outcome="partial"))
    assert problem.message == "partial, but no blockers and no suggested_next_steps"


def test_an_outcome_by_another_name_obliges_all_the_same() -> None:
    assert codes(record(outcome="Stuck")) == ["H002", "H012"]


def test_a_problem_points_to_its_own_place_or_to_the_nearest_one() -> None:
    handoff = record(outcome="done", gotchas=[{"issue": "A", "severity": "bad"}, {"issue": "a"}])
    spans = {"outcome": Span(0, 4), "gotchas[0]": Span(10, 20)}
    found = {problem.field: problem.span for problem in check_handoff(handoff, spans)}
    assert found == {"outcome": Span(0, 4), "gotchas[0].severity": Span(10, 20), "gotchas[1]": None}


def test_rules_are_chosen_by_code_or_by_its_beginning() -> None:
    assert [rule.code for rule in select_rules(["H01"], ["H012"])] == ["H010", "H011", "H013"]
    assert len(select_rules()) == len(RULES)
    assert [rule.code for rule in select_rules(ignore=["h0"])] == []


def test_a_rule_that_does_not_exist_is_named() -> None:
    with pytest.raises(UnknownName, match='no rule "H999"'):
        select_rules(["H999"])


def test_fixing_puts_values_paths_lines_and_tags_right() -> None:
    handoff = record(
        outcome="Done",
        files_modified=[
            {"path": "./`a.py`", "lines": "L4-L9", "change_type": "Updated"},
            {"path": "./b", "lines": "7"},
        ],
        gotchas=[{"issue": "A", "severity": "CRITICAL"}],
        patterns_discovered=[{"pattern": "P", "applies_to": ["UserState", "user_state", "Über uns"]}],
    )
    fixed, fixes = fix_handoff(handoff)
    assert fixed.outcome == "completed"
    assert fixed.files_modified[0].lines == "4-9"
    assert fixed.files_modified[0].change_type == "modify"
    assert fixed.files_modified[1].path == "b"
    assert fixed.files_modified[1].lines == "7-7"
    assert fixed.gotchas[0].severity == "high"
    assert fixed.patterns_discovered[0].applies_to == ("user-state", "user-state", "über-uns")
    assert ("H002", "outcome", "Done", "completed") in [(f.code, f.field, f.before, f.after) for f in fixes]


def test_fixing_leaves_alone_what_it_would_have_to_guess() -> None:
    handoff = record(outcome="mostly", files_modified=[{"path": "/abs", "lines": "9-4"}])
    assert fix_handoff(handoff) == (handoff, ())


def test_a_repetition_goes_only_if_it_adds_nothing() -> None:
    handoff = record(
        what_was_done=["Built it", "built it."],
        decisions_made=[
            {"decision": "JWT", "rationale": "No state"},
            "JWT",
            {"decision": "JWT", "rationale": "Fast"},
        ],
    )
    fixed, fixes = fix_handoff(handoff)
    assert fixed.what_was_done == ("Built it",)
    assert [d.rationale for d in fixed.decisions_made] == ["No state", "Fast"]
    assert [fix.field for fix in fixes] == ["what_was_done[1]", "decisions_made[1]"]


@given(handoffs())
def test_fixing_twice_changes_nothing_more(handoff: Handoff) -> None:
    fixed, _ = fix_handoff(handoff)
    assert fix_handoff(fixed) == (fixed, ())


DOCUMENT = "Status: Done\n\n- src/a.py, L4-L9, Updated\n- src/a.py, L4-L9\n"


def patch(*fixes: Fix) -> Patched:
    first = DOCUMENT.index("src")
    spans = {"outcome": Span(8, 12), "files_modified[0]": Span(first, DOCUMENT.index("\n", first))}
    return patch_source(DOCUMENT, spans, fixes)


def fix(field: str, before: str, after: str) -> Fix:
    return Fix(code="H002", field=field, before=before, after=after)


def test_a_problem_of_a_whole_list_stands_at_its_first_item() -> None:
    blocked = record(outcome="blocked", blockers=["No credentials", "No time"])
    spans = {"outcome": Span(0, 7), "blockers[0]": Span(20, 34), "blockers[1]": Span(37, 44)}
    [problem] = check_handoff(blocked, spans)
    assert (problem.code, problem.span) == ("H012", Span(20, 34))


def test_fixes_may_come_in_any_order_and_the_first_of_two_on_one_place_counts() -> None:
    lines, status = fix("files_modified[0].lines", "L4-L9", "4-9"), fix("outcome", "Done", "completed")
    again = fix("files_modified[0].lines", "py, L4", "py, 4")
    patched = patch(lines, status, again)
    assert patched.text == "Status: completed\n\n- src/a.py, 4-9, Updated\n- src/a.py, L4-L9\n"
    assert patched.applied == (status, lines)
    assert patched.open == (again,)


def test_fixes_change_only_the_words_in_question() -> None:
    patched = patch(fix("outcome", "Done", "completed"), fix("files_modified[0].lines", "L4-L9", "4-9"))
    assert patched.text == "Status: completed\n\n- src/a.py, 4-9, Updated\n- src/a.py, L4-L9\n"
    assert len(patched.applied) == 2
    assert patched.open == ()


@pytest.mark.parametrize(
    "unsure",
    [
        fix("goal", "Done", "x"),
        fix("outcome", "Finished", "completed"),
        fix("files_modified[0].path", "a", "b"),
        fix("files_modified[0]", "src/a.py", ""),
    ],
    ids=["unknown-place", "other-words", "words-twice", "repetition"],
)
def test_a_fix_whose_words_are_not_there_for_sure_is_left_to_a_person(unsure: Fix) -> None:
    patched = patch(unsure)
    assert (patched.text, patched.applied, patched.open) == (DOCUMENT, (), (unsure,))


SOURCE = "# Report\n\noutcome: blocked\nblockers:\n  - x: 100%\n"


def checked() -> list[CheckedFile]:
    span = Span(SOURCE.index("blockers"), SOURCE.index("blockers") + 8)
    problem = Problem(
        code="H012", field="blockers", message="blocked, but no tasks: 100%", hint="list\nthem", span=span
    )
    elsewhere = Problem(code="H030", field="goal", message="empty", hint="fill", severity=Severity.WARNING)
    return [CheckedFile(path="a b,c.md", source=SOURCE, problems=[problem, elsewhere])]


def test_text_output_is_path_line_column_code_message() -> None:
    assert format_problems(checked()).splitlines() == [
        "a b,c.md:4:1: H012 blocked, but no tasks: 100% [blockers]",
        "a b,c.md:1:1: H030 empty [goal]",
    ]


def test_github_output_escapes_what_would_end_a_command() -> None:
    first, second = format_problems(checked(), "github").splitlines()
    assert first == (
        "::error file=a b%2Cc.md,line=4,col=1,title=H012::blocked, but no tasks: 100%25; list%0Athem"
        " (blockers)"
    )
    assert second.startswith("::warning file=")


def test_json_output_holds_everything_a_program_needs() -> None:
    [row, _] = json.loads(format_problems(checked(), "json"))
    assert (row["path"], row["line"], row["column"], row["end_column"]) == ("a b,c.md", 4, 1, 9)
    assert (row["code"], row["severity"], row["field"], row["hint"]) == (
        "H012",
        "error",
        "blockers",
        "list\nthem",
    )


def test_sarif_output_names_rules_levels_and_regions() -> None:
    log = json.loads(format_problems(checked(), "sarif"))
    assert log["version"] == "2.1.0"
    [run] = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    error, warning = run["results"]
    assert rules[error["ruleIndex"]]["id"] == error["ruleId"] == "H012"
    assert (error["level"], warning["level"]) == ("error", "warning")
    location = error["locations"][0]["physicalLocation"]
    assert location["artifactLocation"]["uri"] == "a%20b,c.md"
    assert location["region"] == {"startLine": 4, "startColumn": 1, "endLine": 4, "endColumn": 9}


def test_no_problems_are_no_text() -> None:
    assert format_problems([CheckedFile(path="a.md", source="", problems=[])]) == ""


def test_places_are_counted_from_one() -> None:
    assert locate("ab\ncd", 0) == CharacterPosition(1, 1)
    assert locate("ab\ncd", 4) == CharacterPosition(2, 2)
