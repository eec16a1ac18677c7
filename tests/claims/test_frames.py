"""Statements that are told by their frame rather than by a verb: true, false, and true in part."""

from __future__ import annotations

import pytest

from tests.claims.test_judging import STEP, ran, verdicts

TRUE = """
You will not find legacy.py in the tree any more.
There is no `old_sum` left in calc.py.
`double` did not exist before; it is in calc.py now.
There's a `double` in calc.py now.
`double` is a new function in calc.py
legacy.py had to go.
README.md differs from before.
util.py is the same as before.
Not one line of util.py differs.
Adjustments were made to README.md.
README.md ✏️ edited
Extended calc.py with `double`.
What was old_name.py is new_name.py now.
new_name.py, previously old_name.py
Gave old_name.py a new name: new_name.py
D legacy.py
M README.md
git mv old_name.py new_name.py
Number of changed files: 8
8 files in the diff
Gave `python -m pytest -q` a go.
Everything's green.
`python -m pytest -q` came back with 0.
`cargo test` was never run.
TIMEOUT is 30 now (was 10).
""".strip().splitlines()

FALSE = """
You will not find util.py in the tree any more.
There is no `double` left in calc.py.
`mean` did not exist before; it is in calc.py now.
There's a `triple` in calc.py now.
util.py had to go.
util.py differs from before.
README.md is the same as before.
Not one line of README.md differs.
Adjustments were made to util.py.
util.py ✏️ edited
Extended calc.py with `triple`.
What was calc.py is new_name.py now.
old_name.py, previously new_name.py
D util.py
M util.py
git mv util.py helpers.py
Number of changed files: 3
3 files in the diff
Gave `npm run e2e` a go.
`python -m pytest -q` came back with 1.
`ruff check .` was never run.
TIMEOUT is 60 now (was 10).
The scope is README.md and only that.
README.md alone was edited.
README.md, calc.py and nothing else.
Squashed a bug in util.py.
fix: division in util.py
src/nowhere.py was streamlined.
`triple` in calc.py copes with empty lists now.
Kept `old_sum` in calc.py.
Deleted nowhere.py
""".strip().splitlines()

IN_PART = """
Squashed a bug in calc.py.
calc.py copes with empty lists now.
fix: division in calc.py
Resolved the rounding (calc.py).
""".strip().splitlines()

OPEN = """
Reproduced the crash in util.py.
Read util.py first.
Compared `helper` in util.py with the version of last year.
util.py works better now because of that.
""".strip().splitlines()


@pytest.mark.parametrize(
    ("statement", "verdict"),
    [
        *((each, "confirmed") for each in TRUE),
        *((each, "refuted") for each in FALSE),
        *((each, "partly") for each in IN_PART),
        *((each, "unverifiable") for each in OPEN),
    ],
)
def test_the_frame_of_a_statement_tells_what_it_says(statement: str, verdict: str) -> None:
    assert verdicts(statement, STEP) == [verdict]


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("| action | path |\n|---|---|\n| delete | legacy.py |", "confirmed"),
        ("| action | path |\n|---|---|\n| delete | util.py |", "refuted"),
        ("## Thrown out\n\n- legacy.py", "confirmed"),
        ("## Thrown out\n\n- util.py", "refuted"),
        ("Files with edits:\n\n- README.md", "confirmed"),
        ("Files with edits:\n\n- util.py", "refuted"),
        ("<details><summary>Deleted files</summary>\n\n- util.py\n\n</details>", "refuted"),
        ("Added to calc.py:\n\n- `triple`", "refuted"),
    ],
)
def test_headings_labels_and_columns_tell_what_was_done_to_the_things_below(text: str, verdict: str) -> None:
    assert verdict in [str(entry.verdict) for entry in STEP.ledger(f"## What Was Done\n\n{text}\n").entries]


@pytest.mark.parametrize(
    ("log", "verdict"),
    [("pytest -q", "refuted"), ("make check", "unverifiable"), ("pytest tests", "refuted")],
)
def test_a_command_with_a_word_that_no_line_of_a_complete_log_has_was_not_run(log: str, verdict: str) -> None:
    assert verdicts("Ran `pytest --slowest`.", STEP.having(commands=(ran(log, 0),))) == [verdict]
