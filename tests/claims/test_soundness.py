"""Statements that look checked and are not, and true ones that look false: no tick, no refutation."""

from __future__ import annotations

import pytest

from tests.claims.test_judging import STEP

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
""".strip().splitlines()


@pytest.mark.parametrize("statement", NO_TICK)
def test_what_was_not_checked_is_not_ticked(statement: str) -> None:
    assert "confirmed" not in {str(entry.verdict) for entry in STEP.entries(statement)}


@pytest.mark.parametrize("statement", NOT_REFUTED)
def test_what_may_be_true_is_not_refuted(statement: str) -> None:
    assert "refuted" not in {str(entry.verdict) for entry in STEP.entries(statement)}
