"""Statements of which one reading is false: only what is false under every reading is refuted."""

from __future__ import annotations

import pytest

from tests.claims.steps import Step, step
from tests.claims.test_judging import ran

_TESTS = "def test_a():\n    assert 1\n\n\ndef test_b():\n    assert 2\n"
_MORE = "\n\ndef test_d():\n    assert 4\n\n\ndef test_e():\n    assert 5\n\n\ndef test_f():\n    assert 6\n"
_PACKAGE = '{\n  "dependencies": {\n    "alpha": "^1.0.1",\n    "beta": "^2.0.0"%s\n  }\n}\n'
STEP = step(
    {
        "core/a.py": "A = 1\nB = 2\nC = 3\n",
        "core/use.py": "from sums import sub_total\nfrom sums import total\n\nX = sub_total\n",
        "core/names.py": "N = 1\n",
        "types/Names.py": "N = 1\n",
        "types/same.py": "S = 1\n",
        "core/same.py": "S = 1\n",
        "main.py": "import execute\n\nM = 1\n",
        "execute.py": "E = 1\nF = 2\n",
        "page.html": "<p>1</p>\n<p>2</p>\n<p>3</p>\n",
        "test_a.py": _TESTS + "\n\ndef test_c():\n    assert 3\n",
        "package.json": _PACKAGE % ',\n    "gamma": "1.0.0"',
    },
    {
        "core/a.py": "A = 2\nB = 3\nC = 4\n",
        "core/use.py": "from sums import sub_total\n\nX = sub_total\n",
        "core/names.py": "N = 1\n",
        "types/Names.py": "N = 2\n",
        "types/same.py": "S = 2\n",
        "core/same.py": "S = 1\n",
        "main.py": "M = 1\n",
        "static/page.txt": "<p>1</p>\n<p>2</p>\n",
        "test_a.py": _TESTS + _MORE,
        "package.json": _PACKAGE % "",
    },
    renamed={"page.html": "static/page.txt"},
    commands=(ran("ruff check", 0),),
    is_log_whole=True,
)
TRUE = """
`page.html` is gone; its script lives in `static/page.txt` now.
Nine files were changed, two of them in `core/`.
`core/use.py` no longer imports `total`, but still imports `sub_total`.
`dependencies` holds `alpha` and `beta`, and no longer `gamma`.
`execute.py` is gone, and nothing in `static/` besides `page.txt` was touched.
Everything works as before; two tests are new.
`test_c` is gone from `test_a.py`, which keeps its other two tests.
`ruff check` is fine; I ran no tests.
Raised `beta` to 2.0.4.
`alpha` is now at `^1.0.1`.
No file changed in more lines than `test_a.py`.
`execute.py` is gone and `main.py` no longer declares it.
| dependency | before | after |\\n|---|---|---|\\n| `alpha` | ^1.0.1 | ^1.0.1 |
""".strip().splitlines()
FALSE = """
Six files were changed, two of them in `core/`.
`core/use.py` no longer imports `sub_total`.
Four tests are new.
`test_a.py` is gone, which `main.py` names.
Nothing in `core/` was touched.
Raised `alpha` from `^1.0.0` to `^1.0.1`.
`beta` went up to `^2.1.0`.
Changed in `core/`: `names.py` and `a.py`.
Changed in `core/`: `same.py` and `a.py`.
| dependency | before | after |\\n|---|---|---|\\n| `alpha` | ^1.0.2 | ^1.0.2 |
""".strip().splitlines()


def _verdicts(at: Step, statement: str) -> set[str]:
    return {str(entry.verdict) for entry in at.entries(statement.replace("\\n", "\n"))}


@pytest.mark.parametrize("statement", TRUE)
def test_what_is_true_in_one_reading_is_not_refuted(statement: str) -> None:
    assert "refuted" not in _verdicts(STEP, statement)


@pytest.mark.parametrize("statement", FALSE)
def test_what_is_false_in_every_reading_is_refuted(statement: str) -> None:
    assert "refuted" in _verdicts(STEP, statement)


@pytest.mark.parametrize(
    ("statement", "verdict"),
    [
        ("I ran no tests.", "refuted"),
        ("I ran no slow tests.", "unverifiable"),
        ("I did not run the tests of the parser.", "unverifiable"),
    ],
)
def test_a_denied_run_is_false_only_where_all_tests_are_meant(statement: str, verdict: str) -> None:
    at = STEP.having(commands=(ran("pytest -q", 0, "5 passed in 0.1s\n"),))
    assert _verdicts(at, statement) == {verdict}
