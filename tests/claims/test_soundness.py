"""Statements that look checked and are not, and true ones that look false: no tick, no refutation."""

from __future__ import annotations

import pytest

from tests.claims.steps import step
from tests.claims.test_judging import STEP, ran

NO_TICK = """
Exactly these files changed: calc.py and README.md
`requests` is what `double` is called now.
The path new_name.py was changed to old_name.py.
Set `TIMEOUT` to 30 in calc.py and README.md.
`python -m pytest -q` shows 2 passed; I am pleased with that.
Green from the first `python -m pytest -q`.
Rewrote calc.py entirely.
Updated old_name.py.
Updated docs/my notes/a b.txt.
`TIMEOUT` doubled to 30.
`TIMEOUT` was lowered to 30.
`TIMEOUT` was doubled.
`TIMEOUT` was lowered.
""".strip().splitlines()

NOT_REFUTED = """
`util.py` has no changes in this diff.
I made no modification whatsoever to `util.py`.
I touched neither util.py nor src/core.py.
The implementation of `mean` in calc.py has changed.
`test_double` in test_calc.py (new)
one test in test_calc.py did not exist before.
2 tests passed, which covers everything that matters.
Score: 2 / 2 tests green
git diff --stat -> 8 files changed
old_name.py lives at new_name.py from now on.
`README.md`: insertions(+) = 2
old_name.py is new_name.py now; the text is the same.
Switched `mean` from `2` to `len`.
`helper` in util.py copes with empty lists now.
Tweaked README.md to keep the linter happy.
`mean` used to divide by 2, it no longer does.
docs/guide.md does not mention `double` yet.
`VALUE` and `OTHER` moved to new_name.py.
`double` is not used outside calc.py and its test.
I did not find a use of `helper`.
calc.py had a function `old_sum` before.
README.md: one line changed, one added.
`mean` in calc.py has one line that is different.
Apart from Procfile, only Python, Markdown, text and TOML files changed.
pyproject.toml: requests 2.31.0 -> 2.32.0, rich added, click as before
test_calc.py has two test functions, up from one.
test_calc.py holds two tests now, one more than before.
calc.py has 13 lines.
README.md has 2 insertions.
README.md has 2 lines added.
`double` is imported by test_calc.py and no longer by util.py.
""".strip().splitlines()


@pytest.mark.parametrize("statement", NO_TICK)
def test_what_was_not_checked_is_not_ticked(statement: str) -> None:
    assert "confirmed" not in {str(entry.verdict) for entry in STEP.entries(statement)}


@pytest.mark.parametrize("statement", NOT_REFUTED)
def test_what_may_be_true_is_not_refuted(statement: str) -> None:
    assert "refuted" not in {str(entry.verdict) for entry in STEP.entries(statement)}


LIMITS = step(
    {"src/a.py": "LIMIT = 4_096\n", "src/b.py": "B = 1\n", "top.py": "T = 1\n", "notes.txt": "n\n"},
    {"src/a.py": "LIMIT = 65_535\n", "src/b.py": "B = 1\n", "top.py": "T = 2\n", "notes.txt": "n\n"},
    commands=(
        ran("pytest -q", 1, "1 failed, 3 passed in 0.1s\n"),
        ran("pytest -q", 0, "3 passed, 1 skipped in 0.1s\n"),
    ),
    is_log_whole=True,
)
TRUE_OF_LIMITS = """
`LIMIT`: 4096 → 65,535
Set `LIMIT` to 65535 in src/a.py.
notes.txt is the only file outside src/ that stayed as it was.
Nothing under src/ was touched apart from a.py.
Apart from a.py, nothing in src/ changed.
Last `pytest -q`: 3 passed, 1 skipped; the run before that had one failure (`test_late`).
Ran the tests: exit code 0, one of them skipped.
The tests ended with 0, one was skipped.
""".strip().splitlines()
FALSE_OF_LIMITS = """
`LIMIT` was halved.
`LIMIT`: 4096 → 65,536
src/a.py has 3 lines.
Ran the tests: exit code 0, two of them skipped.
Ran the tests, 0 skipped.
All changes are below src/.
""".strip().splitlines()


@pytest.mark.parametrize("statement", TRUE_OF_LIMITS)
def test_parts_earlier_runs_and_written_numbers_refute_nothing(statement: str) -> None:
    assert "refuted" not in {str(entry.verdict) for entry in LIMITS.entries(statement)}


@pytest.mark.parametrize("statement", FALSE_OF_LIMITS)
def test_what_is_false_of_values_lines_and_folders_is_refuted(statement: str) -> None:
    assert "refuted" in {str(entry.verdict) for entry in LIMITS.entries(statement)}


SCRIPTS = step({"a.js": "x\n"}, {"a.js": "y\n"}, commands=(ran("npm run build", 0),), is_log_whole=True)


@pytest.mark.parametrize(
    ("statement", "verdict"),
    [
        ("Ran `make release`.", "refuted"),
        ("Ran `tox -e py312`.", "refuted"),
        ("Ran `eslint --strict src`.", "unverifiable"),  # a silent script may have done so
        ("Ran `npm run build`.", "confirmed"),
    ],
)
def test_a_script_may_run_a_program_unseen_but_not_another_script(statement: str, verdict: str) -> None:
    assert [str(entry.verdict) for entry in SCRIPTS.entries(statement)] == [verdict]


SERVER = step(
    {
        "cmd/server.py": (
            'CONFIG = "server.yaml"\nLIMIT = 5\n\n\ndef start():\n    return open(CONFIG)\n\n\n'
            "def stop():\n    return 1\n"
        ),
        "cmd/store.py": "def stop():\n    return 1\n\n\ndef close():\n    return stop()\n",
        "tests/test_store.py": "CASES = [1]\n\n\ndef test_all():\n    assert CASES\n",
        "old_unix.py": "A = 1\nB = 2\n",
        "docs/notes.md": "notes\n",
        "tests/test_docs.py": "def test_docs():\n    assert 1\n",
    },
    {
        "cmd/server.py": (
            'CONFIG = "server.yaml"\nLIMIT = 5\n\n\ndef start():\n    return open(CONFIG, "rb")\n'
        ),
        "cmd/store.py": "def stop():\n    return 1\n\n\ndef close():\n    return stop() + 1\n",
        "tests/test_store.py": "CASES = [\n    1,\n    2,\n    3,\n]\n\n\ndef test_all():\n    assert CASES",
        "docs/notes.md": "notes\n",
        "tests/test_docs.py": "def test_docs():\n    assert 1\n",
    },
    are_commits_whole=True,
)
TRUE_OF_SERVER = """
Write the limit to server.yaml at the start.
Fix the reading of server.yaml in a fresh folder.
server.yaml: settings of the whole project
`start`: add handling of binary files so that `open` can be removed
start: create a new dev version after the creation of a release
`close` and `stop` wrote to the same socket before.
cmd/store.py: allow a restart without a pause
Wire the existing `stop` into `close` (was defined but never called)
Removed the duplicate `stop` and its callers.
Remove the unused `stop` import.
Skip not found files in `start` with a warning.
Use `close` for everything, fixing a start that is not working.
With the lock (commit 543e1943) only one start is possible.
Leave the semantics alone and check them with the docs tests.
Dropping the cache crashed the container, causing 18 tests to fail.
Document this and provide two methods to turn it off.
Two more regression tests in tests/test_store.py
Delete old_unix.py (2 lines) and `stop` (3 lines).
9 lines removed across 4 files.
Support .md/.txt files in `start`.
""".strip().splitlines()


@pytest.mark.parametrize("statement", TRUE_OF_SERVER)
def test_what_engineers_write_of_a_program_refutes_nothing_by_a_guess(statement: str) -> None:
    assert "refuted" not in {str(entry.verdict) for entry in SERVER.entries(f"- {statement}")}


@pytest.mark.parametrize(
    "statement",
    [
        "Created server.yaml.",
        "Removed `start` from cmd/server.py.",
        "Removed `close`.",
        "Committed as 543e1943.",
        "Delete old_unix.py (40 lines).",
        "Added 2 tests to tests/test_docs.py.",
        "cmd/server.py: removed `start`",
        "Did not change any tests.",
    ],
)
def test_the_same_words_still_refute_where_only_one_reading_is_left(statement: str) -> None:
    assert "refuted" in {str(entry.verdict) for entry in SERVER.entries(f"- {statement}")}
