"""Which statements of a handoff are claims, and which are none."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from segue import Handoff, extract_handoff, render_handoff
from segue.domain.ledger import Claim, LineRange, find_claims
from tests.handoff.strategies import handoffs

SENTENCES: dict[str, list[tuple[Any, ...]]] = {
    "All 42 tests pass.": [("tests", "tests", 42)],
    "The tests are green.": [("tests", "tests", None)],
    "42 passed, 0 failed": [("tests", "tests", 42)],
    "42/42 tests pass.": [("tests", "tests", 42)],
    "The full test suite passes: 1,234 passed.": [("tests", "tests", 1234)],
    "The test suite passes (17 tests).": [("tests", "tests", 17)],
    "Verified that all 12 tests pass.": [("tests", "tests", 12)],
    "`pytest -q`: 42 passed.": [("tests", "pytest -q", 42)],
    "`pytest tests/a.py` \u2014 4 tests passed.": [("tests", "pytest tests/a.py", 4)],
    "There are no failing tests.": [("tests", "tests", None)],
    "Added src/a.py.": [("created", "src/a.py")],
    "Removed the file b.py.": [("deleted", "b.py")],
    "I created `src/a.py`, src/b.py and lib/c.ts.": [
        ("created", "src/a.py"),
        ("created", "src/b.py"),
        ("created", "lib/c.ts"),
    ],
    "Created src/a.py (the parser) and updated src/b.py to use it.": [
        ("created", "src/a.py"),
        ("modified", "src/b.py"),
    ],
    "src/a.py was deleted.": [("deleted", "src/a.py")],
    "a.py and b.py were removed.": [("deleted", "a.py"), ("deleted", "b.py")],
    "Created src/x/ with the parser.": [("created", "src/x/")],
    "Added tests to tests/test_a.py.": [("modified", "tests/test_a.py")],
    "Removed the dead branch from src/a.py.": [("modified", "src/a.py")],
    "Renamed src/a.py to src/b.py.": [("renamed", "src/b.py")],
    "`make build` succeeded.": [("ran", "make build", 0)],
    "`pytest -q` exits 0": [("ran", "pytest -q", 0)],
    "`npm test` → exit code 2": [("ran", "npm test", 2)],
    "Lint is clean.": [("clean", "lint")],
    "No type errors.": [("clean", "types")],
    "The type checker passes.": [("clean", "types")],
    "mypy is clean": [("clean", "mypy")],
    "The build succeeds.": [("clean", "build")],
    "Committed as abc1234.": [("committed", "abc1234")],
    "All tests pass, but I could not send mails.": [("tests", "tests", None)],
}


def short(claim: Claim) -> tuple[Any, ...]:
    if claim.kind == "tests":
        return str(claim.kind), claim.subject, claim.count
    if claim.kind == "ran":
        return str(claim.kind), claim.subject, claim.exit_code
    return str(claim.kind), claim.subject


def claims_of(source: str) -> list[Claim]:
    return list(find_claims(extract_handoff(source), source))


@pytest.mark.parametrize("sentence", SENTENCES)
def test_a_sentence_claims(sentence: str) -> None:
    assert [short(claim) for claim in claims_of(sentence)] == SENTENCES[sentence], "in prose"
    listed = f"## What Was Done\n- {sentence}\n"
    found = claims_of(listed)
    assert [short(claim) for claim in found] == SENTENCES[sentence], "in a section"
    for claim in found:
        assert claim.span is not None
        assert listed[claim.span.start : claim.span.end] == claim.text == sentence
    record = Handoff(what_was_done=(sentence,))
    for notation in ("yaml", "json", "four"):
        written = render_handoff(record, notation)
        assert [short(claim) for claim in claims_of(written)] == SENTENCES[sentence], notation


NO_CLAIMS = [
    "Tests do not pass yet.",
    "The tests aren't green.",
    "Not all tests pass.",
    "Should add src/a.py.",
    "We will add src/a.py.",
    "Need to remove b.py",
    "Next: add src/a.py",
    "TODO: created src/a.py",
    "If all tests pass, merge.",
    "Do all tests pass?",
    "Was src/a.py created?",
    "Tests failed, fixed by src/a.py.",
    "40 of 42 tests pass.",
    "41 passed, 1 failed",
    "All tests pass except two.",
    "All tests pass, but 2 are flaky.",
    "All but 3 tests pass.",
    "Make sure all tests pass.",
    "Tests should pass.",
    "Tests passed before the change.",
    "The planner added src/a.py and removed b.py.",
    "The previous agent deleted src/a.py.",
    "src/a.py was added by the previous agent.",
    "src/a.py was already deleted.",
    "Added README.md section on setup.",
    "Added src/a.py to the allow list.",
    "Removed old.js from the bundle.",
    "src/a.py is created at start-up.",
    "Once src/a.py was created, the watcher starts.",
    "Fixed the crash in src/a.py.",
    "Added documentation for src/a.py.",
    "Tried it: added src/a.py, reverted.",
    "Deleted src/a.py and then restored it? No.",
    "Lint is not clean.",
    "mypy fails",
    "No type errors should remain.",
    "`pytest` exits 1 if run twice",
    "`make deploy` must exit 0.",
    "Added src/a.py's helper to the docs.",
    "Did not delete b.py.",
    "Decided to create src/a.py later.",
    "Upgraded Next.js and Node.js.",
    "Added `user.name` and `process.env` checks.",
    "Will be committed as abc1234.",
    "`lean --version` returns 4.22.0",
    "Maintain 2468 passing tests throughout",
    "Pre-merge checks: 3/3 passed",
    "Upstream commit: abc1234",
    "~~Added src/a.py.~~",
]


@pytest.mark.parametrize("sentence", NO_CLAIMS)
def test_a_sentence_claims_nothing(sentence: str) -> None:
    for source in (sentence, f"## What Was Done\n- {sentence}\n", f"## Notes\n\n{sentence}\n"):
        assert [short(claim) for claim in claims_of(source)] == [], source


@pytest.mark.parametrize(
    "source",
    [
        "## Next Steps\n- Added src/a.py\n- All 42 tests pass",
        "## What Was Done\n- [ ] Added src/a.py",
        "## Failed approaches\n- Created src/a.py, no use",
        "## Acceptance criteria\n\nAll 42 tests pass.",
        "## Summary\n\n```\nAll 42 tests pass.\nAdded src/a.py.\n```",
        "## Summary\n\n> All 42 tests pass.",
        "Next:\n- All 42 tests pass.\n",
    ],
)
def test_plans_quotes_and_code_claim_nothing(source: str) -> None:
    assert [short(claim) for claim in claims_of(source)] == []


def test_a_path_may_begin_a_sentence() -> None:
    source = "`make x` exited with 0. src/a.py was created. We use tools, e.g. mypy is clean."
    assert [short(claim) for claim in claims_of(source)] == [("ran", "make x", 0), ("created", "src/a.py")]


def test_words_that_limit_a_claim_make_it_partial() -> None:
    for sentence in (
        "All 3 new tests pass.",
        "The auth tests pass.",
        "12 tests in tests/test_a.py pass.",
        "totp.test.js: 47 tests PASS",
        "47/47 passing, sessions 27/27 passing",
        "GREEN focused suite: 6 files, 27 tests passed.",
    ):
        [claim] = claims_of(sentence)
        assert claim.is_partial, sentence
    for sentence in (
        "All 3 tests pass.",
        "Everything is in and all 3 tests pass.",
        "Tests: 3/3 passing",
        "3 passed",
    ):
        assert not claims_of(sentence)[0].is_partial, sentence


def test_a_number_behind_another_sentence_may_be_that_of_a_part() -> None:
    [claim] = claims_of("## What Was Done\n- Covered the parser. 3 tests pass.\n")
    assert claim.is_partial
    [claim] = claims_of("## What Was Done\n- Covered the parser. All 3 tests pass.\n")
    assert not claim.is_partial


def test_several_numbers_of_tests_are_those_of_parts() -> None:
    found = claims_of("## What Was Done\n- Step one, all 46 tests pass.\n- All 67 tests pass.\n")
    assert [(claim.count, claim.is_partial) for claim in found] == [(46, True), (67, True)]


def test_the_fields_of_a_record_claim() -> None:
    record = Handoff.model_validate(
        {
            "outcome": "done",
            "files_created": [{"path": "a.py", "lines": "1-20"}],
            "files_modified": [
                {"path": "b.py", "lines": "3-4, 10-12"},
                {"path": "c.py", "change_type": "deleted"},
                {"path": "old.py -> new.py"},
            ],
            "commands_run": [{"command": "pytest -q", "exit_code": 0, "observation": "42 passed"}],
            "dependencies_for_next": [
                {"file": "d.py"},
                {"file": "the design"},
                {"file": "e.py", "reason": "to be written"},
            ],
            "patterns_discovered": [{"pattern": "ports", "location": "src/ports.py:12"}],
        }
    )
    found = find_claims(record)
    assert [short(claim) for claim in found] == [
        ("completed", "outcome"),
        ("created", "a.py"),
        ("modified", "b.py"),
        ("deleted", "c.py"),
        ("renamed", "new.py"),
        ("ran", "pytest -q", 0),
        ("exists", "d.py"),
        ("exists", "src/ports.py:12"),
        ("tests", "pytest -q", 42),
    ]
    assert found[1].lines == (LineRange(1, 20),)
    assert found[2].lines == (LineRange(3, 4), LineRange(10, 12))


def test_a_list_of_changed_files_does_not_say_which_are_new() -> None:
    source = (
        "## Files Changed\n- src/a.py: new helper function\n- src/b.py (new)\n- src/c.py (lines 3-9): fixed\n"
    )
    assert [short(claim) for claim in claims_of(source)] == [
        ("modified", "src/a.py"),
        ("created", "src/b.py"),
        ("modified", "src/c.py"),
    ]
    assert claims_of(source)[2].lines == (LineRange(3, 9),)


def test_the_same_claim_counts_once() -> None:
    source = (
        "## Files Created\n- src/a.py\n\n## What Was Done\n- Created src/a.py\n- Created `src/a.py` for X.\n"
    )
    assert [short(claim) for claim in claims_of(source)] == [("created", "src/a.py")]


@pytest.mark.parametrize(
    "source",
    [
        "Alle Tests laufen noch nicht.",
        "## Erledigt\n- src/a.py erstellt",
        "添加了 src/a.py。测试通过。",
        "",
        "\0",
        "🙂" * 50,
    ],
)
def test_other_languages_break_nothing(source: str) -> None:
    for claim in claims_of(source):
        assert claim.text


@pytest.mark.thorough
@given(handoffs())
def test_every_record_can_be_read(record: Handoff) -> None:
    for claim in find_claims(record):
        assert claim.subject
        assert claim.field


@given(st.text(alphabet=st.sampled_from("ab`. \n-:;,()/#*|tests pass 42 added a.py not"), max_size=400))
def test_every_claim_stands_where_it_says(source: str) -> None:
    for claim in claims_of(source):
        assert claim.span is None or 0 <= claim.span.start <= claim.span.end <= len(source)


@pytest.mark.parametrize(
    "source",
    [
        "Added " + "a.py, " * 50_000,
        "`make`" + " " * 300_000 + "exits 0",
        "tests " * 60_000 + "pass",
        "a-b_c " * 60_000 + "tests",
        "Added " + "(" * 200_000,
        "- All 42 tests pass.\n" * 10_000,
        "```\n" * 100_000,
        "Added tests to " * 30_000,
    ],
    ids=range(8),
)
def test_a_long_text_takes_no_long_time(source: str) -> None:
    began = time.process_time()
    find_claims(extract_handoff(source), source)
    assert time.process_time() - began < 20
