"""Statements in the words of engineers and agents, true and false, against one small step."""

from __future__ import annotations

from dataclasses import replace

import pytest

from segue.domain.evidence.model import (
    CommandRun,
    RunBy,
    Standing,
    TestComparison,
    TestRun,
    WeakenedTest,
)
from segue.domain.evidence.sources import TextSources
from tests.claims.steps import Step, step

BEFORE = {
    "calc.py": (
        "TIMEOUT = 10\n\n\ndef add(a, b):\n    return a + b\n\n\ndef old_sum(xs):\n    return sum(xs)\n\n\n"
        "def mean(xs):\n    return sum(xs) / 2\n"
    ),
    "test_calc.py": "from calc import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n",
    "README.md": "# Calc\n\nhello\n",
    "util.py": "def helper():\n    return 1\n",
    "legacy.py": "LEGACY = 1\n",
    "src/core.py": "def run():\n    return 0\n",
    "pyproject.toml": '[project]\nname = "calc"\ndependencies = ["requests==2.31.0", "click>=8.0"]\n',
    "old_name.py": "VALUE = 1\nOTHER = 2\n",
    "docs/guide.md": "guide\n",
    "Procfile": "web: python calc.py\n",
    "bin/run": "#!/bin/sh\n",
    "go.mod": "module calc\n",
}
AFTER = {
    **{path: text for path, text in BEFORE.items() if path not in ("legacy.py", "old_name.py")},
    "calc.py": (
        "TIMEOUT = 30\n\n\ndef add(a, b):\n    return a + b\n\n\ndef double(a):\n    return add(a, a)\n\n\n"
        "def mean(xs):\n    return sum(xs) / len(xs)\n"
    ),
    "test_calc.py": (
        "from calc import add, double\n\n\ndef test_add():\n    assert add(1, 2) == 3\n\n\n"
        "def test_double():\n    assert double(2) == 4\n"
    ),
    "README.md": "# Calc\n\nhello world\nmore\n",
    "docs/my notes/a b.txt": "x\n",
    "pyproject.toml": '[project]\nname = "calc"\ndependencies = ["requests==2.32.0", "click>=8.0", "rich"]\n',
    "new_name.py": "VALUE = 1\nOTHER = 2\n",
    "Procfile": "web: python calc.py --fast\n",
}
COMMIT = "abc1234" + "0" * 33


def ran(command: str, code: int | None, output: str = "", by: RunBy = RunBy.AGENT) -> CommandRun:
    return CommandRun(command=command, exit_code=code, output=output, by=by)


STEP = step(
    BEFORE,
    AFTER,
    renamed={"old_name.py": "new_name.py"},
    commands=(ran("python -m pytest -q", 0, "2 passed in 0.1s\n"), ran("ruff check .", 1)),
    is_log_whole=True,
    commits=(COMMIT,),
    known_commits=[COMMIT],
)

TRUE = """
Added function `double` to calc.py
Added a test for `double` in test_calc.py
Removed `old_sum` from calc.py.
Got rid of the `old_sum` helper.
Ripped `old_sum` out of calc.py
Updated README.md.
Deleted legacy.py
`legacy.py` has been deleted.
Renamed old_name.py to new_name.py
old_name.py -> new_name.py
new_name.py (formerly old_name.py)
Bumped requests from 2.31.0 to 2.32.0
requests is now pinned to 2.32.0
Set `TIMEOUT` to 30
Raised `TIMEOUT` from 10 to 30 in calc.py.
`TIMEOUT` went from 10 to 30
Added `rich` to pyproject.toml
I introduced a new helper `double()` in calc.py and dropped `old_sum`.
`double` was added to calc.py and `old_sum` was removed.
calc.py now has a `double` function.
`old_sum` is gone.
`old_sum` no longer exists in calc.py
Removed all uses of `old_sum`.
Nothing uses `old_sum` any more.
calc.py: added `double`
calc.py: `double` added, `old_sum` removed
Did not touch util.py
Left util.py alone.
src/core.py is unchanged.
No changes to docs/guide.md.
Made no changes to util.py.
Neither util.py nor src/core.py was modified.
Existing tests were not modified.
No tests were removed.
All tests pass.
All tests pass (2 passed).
2 tests pass.
2/2 tests pass
No tests were skipped
Tests: 2 passed, 0 failed, 0 skipped
Ran the tests with `python -m pytest -q`: 2 passed.
`python -m pytest -q` exits 0.
Added 1 test.
New test: `test_double`
Changed 8 files.
Created docs/my notes/a b.txt
Updated Procfile
Committed as abc1234
""".strip().splitlines()

FALSE = """
Added function `triple` to calc.py
Added `double` to calc.py and util.py
Added `double`, `triple` and `quad` to calc.py
Added `double` and `mean` to calc.py.
Added a test for `triple` in test_calc.py
Removed the function add from calc.py
Removed `add` from calc.py.
Removed `old_sum` from calc.py and README.md.
Updated util.py.
Updated README.md and docs/guide.md.
Both calc.py and util.py were updated.
Deleted util.py
Deleted legacy.py and util.py
Created test_calc.py
Created docs/my notes/b c.txt
Updated go.mod
Changed bin/run
Renamed calc.py to compute.py
Bumped requests from 2.31.0 to 2.33.0
Downgraded requests to 2.30.0
Set `TIMEOUT` to 60
Raised `TIMEOUT` from 20 to 30 in calc.py.
Added `httpx` to pyproject.toml
Swapped out `requests` for `httpx`
Did not touch README.md
I haven't touched README.md
Left README.md alone.
No changes to calc.py.
Made no changes to calc.py.
Without changing README.md, I updated calc.py.
Neither README.md nor calc.py was modified.
Tests were not changed.
No tests were added.
Did not add any tests.
Added no new dependencies.
Nothing was changed.
No other files were changed.
Only calc.py was changed.
Only tests were changed.
The change is limited to calc.py and README.md.
All files under docs/ were updated.
Removed all uses of `add`.
calc.py no longer uses `add`.
3 tests pass.
All 5 tests pass
12 of 14 tests pass
1 test failed.
Ran pytest: 2 passed, 1 skipped
`python -m pytest -q` exits 1.
Ran `cargo test`.
`ruff check .` passes
Lint passes
Added 2 tests.
Wrote 14 tests for `double`.
Added two functions to calc.py
Added 120 lines to calc.py
Changed 3 files.
Fixed the crash in src/core.py
Updated `helper` in util.py
Extracted `mean` into util.py
Moved `double` from util.py to calc.py
Replaced `old_sum` with `triple` in calc.py
calc.py now has a `quadruple` function.
The `triple` helper now lives in util.py.
`mean` is unchanged.
Introduced new test `test_mean`
Deleted the test `test_add`
Refactored `add`
Rewrote `add` in calc.py for speed
Committed as deadbee1
""".strip().splitlines()

PARTLY = {
    "Added a test for negative numbers.": "negative numbers",
    "Fixed `mean` in calc.py": "Fixed",
    "Rewrote `mean` to divide by the length.": "divide",
    "Updated README.md for clarity.": "clarity",
    "Renamed `old_sum` to `double`.": "`double`",
    "Added a class `double`": "class",
    "Added `double`, which handles negative numbers.": "negative numbers",
    "test_calc.py: added tests for the edge cases": "edge cases",
}
UNKNOWN = [
    "Pushed the branch and opened a pull request.",
    "Deployed to staging.",
    "The bug is fixed.",
    "The behaviour is the same for callers.",
    "Coverage is 95 %.",
    "Upgraded Next.js and Node.js.",
    "Files are written by one function.",
    "Added documentation for src/core.py.",
    "Added util.py to the allow list.",
    "Removed util.py from the bundle.",
    "`add` adds two numbers.",
]
NO_CLAIMS = [
    "Should add src/a.py.",
    "We will add src/a.py.",
    "Need to remove b.py",
    "Next: add src/a.py",
    "If all tests pass, merge.",
    "Do all tests pass?",
    "Make sure all tests pass.",
    "Tests should pass.",
    "Tests passed before the change.",
    "The planner added src/a.py and removed b.py.",
    "The previous agent deleted src/a.py.",
    "src/a.py was added by the previous agent.",
    "src/a.py was already deleted.",
    "Once src/a.py was created, the watcher starts.",
    "Tried it: added src/a.py, reverted.",
    "Do not delete util.py!",
    "Decided to create src/a.py later.",
    "~~Added src/a.py.~~",
]


def verdicts(text: str, at: Step = STEP) -> list[str]:
    return [str(entry.verdict) for entry in at.entries(text)]


@pytest.mark.parametrize("statement", TRUE)
def test_what_is_true_and_checked_whole_is_confirmed(statement: str) -> None:
    [entry] = STEP.entries(statement)
    assert (str(entry.verdict), entry.rest) == ("confirmed", ()), entry.reason


@pytest.mark.parametrize("statement", FALSE)
def test_what_is_false_is_refuted(statement: str) -> None:
    [entry] = STEP.entries(statement)
    assert str(entry.verdict) == "refuted", (entry.reason, entry.rest)


@pytest.mark.parametrize("statement", PARTLY)
def test_what_was_not_checked_is_named(statement: str) -> None:
    [entry] = STEP.entries(statement)
    assert str(entry.verdict) == "partly", entry.reason
    assert PARTLY[statement] in " ".join(entry.rest)


@pytest.mark.parametrize("statement", UNKNOWN)
def test_what_nothing_measured_tells_of_is_unverifiable(statement: str) -> None:
    assert verdicts(statement) == ["unverifiable"], STEP.entries(statement)


@pytest.mark.parametrize("statement", NO_CLAIMS)
def test_plans_questions_and_other_peoples_deeds_are_not_claims(statement: str) -> None:
    for text in (statement, f"## What Was Done\n- {statement}\n"):
        ledger = STEP.ledger(text)
        assert ledger.entries == (), [(entry.verdict, entry.reason) for entry in ledger.entries]
        assert ledger.counts["not_claims"] == ledger.not_claims >= 1
        assert all(entry.reason for entry in ledger.others)


@pytest.mark.parametrize("statement", [*TRUE, *FALSE])
def test_without_the_text_of_the_files_nothing_true_is_refuted(statement: str) -> None:
    unknown = replace(step({}, {}), sources=TextSources())
    bare = unknown.having(before=None, after=None, are_commits_whole=False)
    assert "refuted" not in verdicts(statement, bare)
    cut = STEP.having(is_diff_whole=False, is_log_whole=False)
    if statement in TRUE:
        assert "refuted" not in verdicts(statement, cut)


@pytest.mark.parametrize(
    "text",
    [
        "## Files Changed\n- calc.py\n- Procfile\n- docs/my notes/a b.txt\n",
        "Files changed:\n\n1. `calc.py`\n2. README.md\n",
        "| File | Change |\n|---|---|\n| calc.py | modified |\n| legacy.py | deleted |\n",
        "- [x] Create test `test_double`\n",
        "- `calc.py`\n  - added `double`\n  - removed `old_sum`\n",
        "## Added\n- `double` in calc.py\n",
        "## Erledigt\n\n### Ge\u00e4nderte Dateien\n- calc.py\n",
        "## New files\n- docs/my notes/a b.txt\n",
    ],
)
def test_lists_tables_and_check_boxes_are_statements(text: str) -> None:
    found = verdicts(text)
    assert found
    assert set(found) - {"None"} == {"confirmed"}, [
        (e.statement.text, e.verdict, e.reason) for e in STEP.entries(text)
    ]


@pytest.mark.parametrize(
    "text",
    [
        "## Files Changed\n- util.py\n",
        "Files changed:\n\n1. `src/core.py`\n",
        "| File | Change |\n|---|---|\n| util.py | modified |\n",
        "- [x] Create test `test_triple`\n",
        "- `calc.py`\n  - added `triple`\n",
        "## New files\n- README.md\n",
        "```yaml\noutcome: partial\nfiles_created:\n  - path: src/none.py\nblockers: [x]\n```\n",
        "## Ge\u00e4nderte Dateien\n- util.py\n",
    ],
)
def test_false_lists_tables_and_check_boxes_are_refuted(text: str) -> None:
    assert "refuted" in verdicts(text), [(e.statement.text, e.verdict, e.reason) for e in STEP.entries(text)]


@pytest.mark.parametrize(
    "text",
    [
        "## Next Steps\n- Added src/a.py\n- All 42 tests pass",
        "- [ ] Added src/a.py",
        "## Failed approaches\n- Created src/a.py, no use",
        "## Acceptance criteria\n\nAll 42 tests pass.",
        "## Summary\n\n```\nAll 42 tests pass.\nAdded src/a.py.\n```",
        "## Summary\n\n> All 42 tests pass.",
        "Next:\n- All 42 tests pass.\n",
    ],
)
def test_plans_quotes_and_code_claim_nothing(text: str) -> None:
    assert STEP.ledger(text).entries == ()


def counted(passed: int, failed: int = 0, skipped: int = 0, code: int = 0) -> tuple[TestComparison, ...]:
    run = TestRun(
        command="pytest -q", runner="pytest", exit_code=code, passed=passed, failed=failed, skipped=skipped,
        is_from_report=True,
    )  # fmt: skip
    return (TestComparison(after=run),)


@pytest.mark.parametrize(
    ("statement", "tests", "verdict"),
    [
        ("All 2 tests pass.", counted(1, skipped=1), "refuted"),
        ("All tests pass.", counted(1, skipped=1), "partly"),
        ("1 test passes, 1 is skipped.", counted(1, skipped=1), "confirmed"),
        ("12 of 14 tests pass.", counted(12, failed=2, code=1), "confirmed"),
        ("12 of 14 tests pass.", counted(14), "refuted"),
        ("All tests pass.", counted(13, failed=1, code=1), "refuted"),
        ("The suite is green.", counted(14), "confirmed"),
        ("Nothing was skipped.", counted(13, skipped=1), "refuted"),
        ("The 3 auth tests pass.", counted(14), "unverifiable"),
        ("The 30 auth tests pass.", counted(14), "refuted"),
    ],
)
def test_passed_skipped_and_collected_are_different_numbers(
    statement: str, tests: tuple[TestComparison, ...], verdict: str
) -> None:
    assert verdicts(statement, STEP.having(commands=(), tests=tests)) == [verdict]


def test_segues_own_run_outranks_the_log() -> None:
    at = STEP.having(checks=(ran("pytest", 1, "1 failed, 1 passed in 1s\n", RunBy.SEGUE),))
    assert verdicts("All tests pass.", at) == ["refuted"]
    assert verdicts("`pytest` exits 0.", at) == ["refuted"]


@pytest.mark.parametrize(
    ("statement", "commands", "verdict"),
    [
        ("`pytest tests/test_bad.py` exits 0.", (ran("pytest tests/test_bad.py", 1),), "refuted"),
        ("`pytest` exits 0.", (ran("pytest", 1), ran("pytest -q", 0)), "confirmed"),
        ("`pytest` exits 1.", (ran("pytest", 1), ran("pytest -q", 0)), "partly"),
        ("`pytest` exits 0.", (ran("pytest | tail -3", 0),), "unverifiable"),
        ("`pytest` exits 0.", (ran("cd x && pytest", 0),), "confirmed"),
        ("Ran `cargo test`.", (ran("make check", 0),), "unverifiable"),
        ("Ran `cargo test`.", (ran("./ci.sh", 0),), "unverifiable"),
        ("Ran `cargo test`.", (ran("ls", 0),), "refuted"),
        ("All tests pass.", (ran("pytest", 1, "1 failed, 3 passed in 1s\n"),), "refuted"),
        ("All tests pass.", (ran("pytest tests/test_a.py", 0, "3 passed in 1s\n"),), "partly"),
        ("All tests pass.", (), "unverifiable"),
        ("Ran the tests.", (), "refuted"),
    ],
)
def test_the_last_run_of_a_command_in_a_complete_log_counts(
    statement: str, commands: tuple[CommandRun, ...], verdict: str
) -> None:
    assert verdicts(statement, STEP.having(commands=commands)) == [verdict]


WEAK = WeakenedTest(
    way="skipped", path="test_calc.py", test="test_add", reason="test_add has a new skip mark", line=4
)


def test_a_weakened_test_is_disclosed_by_a_statement() -> None:
    at = STEP.having(weakened=(WEAK,))
    assert at.ledger("All tests pass.").weakened[0].standing is Standing.WEAKENED
    assert at.ledger("Skipped test_add because it is slow.").weakened[0].standing is Standing.DISCLOSED
    assert at.ledger("All tests pass.").counts["weakened"] == 1
    assert at.ledger("Skipped test_add because it is slow.").counts["weakened"] == 0


def test_no_statement_excuses_what_hides_a_failure() -> None:
    at = STEP.having(weakened=(replace(WEAK, hides_failure=True),))
    assert at.ledger("Skipped test_add because it is slow.").weakened[0].standing is Standing.WEAKENED


def test_that_a_file_changed_excuses_nothing() -> None:
    at = STEP.having(weakened=(replace(WEAK, test=None, path="conftest.py", way="conftest hides"),))
    assert at.ledger("- Changed conftest.py").weakened[0].standing is Standing.WEAKENED


def test_passing_tests_prove_less_where_one_was_weakened_in_silence() -> None:
    at = STEP.having(weakened=(WEAK,))
    [entry] = at.entries("All tests pass.")
    assert str(entry.verdict) == "partly"
    assert "new skip mark" in entry.reason
    assert verdicts("All tests pass.", STEP) == ["confirmed"]


def test_an_addition_that_the_text_takes_back_is_not_refuted() -> None:
    text = "- Added `compute` to calc.py\n- Renamed `compute` to `double`\n"
    assert verdicts(text)[0] != "refuted"


def test_all_other_files_are_those_that_the_text_names() -> None:
    named = (
        "Touched calc.py, test_calc.py, README.md, pyproject.toml, Procfile, legacy.py, a b.txt, new_name.py."
    )
    assert verdicts(f"{named} No other files were changed.")[-1] == "confirmed"
    assert verdicts("Updated calc.py. No other files were changed.")[-1] == "refuted"


def test_each_entry_points_to_its_evidence() -> None:
    [entry] = STEP.entries("Added function `triple` to calc.py, and updated README.md.")
    assert [str(pointer.kind) for pointer in entry.evidence] == ["tree"]
    [entry] = STEP.entries("Updated README.md.")
    assert [(str(pointer.kind), pointer.path) for pointer in entry.evidence] == [("diff", "README.md")]


def test_removed_definitions_that_nobody_mentions_are_listed() -> None:
    assert STEP.ledger("Updated calc.py").removed == ("`old_sum` in calc.py",)
    assert STEP.ledger("Removed `old_sum`").removed == ()


def test_a_list_of_changed_files_may_name_one_that_was_deleted() -> None:
    assert verdicts("Changed files:\n- calc.py\n- legacy.py\n") == ["confirmed", "unverifiable"]
    assert verdicts("Updated legacy.py.") == ["refuted"]
