"""What is so after a step, what ran earlier, and what tells of a part of the change only."""

from __future__ import annotations

import pytest

from segue.domain.claims import CommandRun, RunBy
from tests.claims.steps import step

GET = "\n\ndef get():\n    return 2\n"
BEFORE = {
    "app/cache.py": "LIMIT = 500\nTTL_MS = 60_000\n\n\ndef reset():\n    return 1\n" + GET,
    "app/store.py": "import threading\n\nversion = 1\nlock = threading.Lock()\n\n\ndef load():\n    pass\n",
    "config/base.toml": "a = 1\n",
    "config/live.toml": "a = 1\n",
    "requirements.txt": "uvicorn==0.29.0\nrich==13.0.0\n",
    "tests/test_cache.py": "def test_a():\n    assert 1\n\n\ndef test_b():\n    assert 2\n",
    "Makefile": "test:\n\tpytest\n",
}
AFTER = {
    **BEFORE,
    "app/cache.py": "LIMIT = 1000\nTTL_MS = 60_000\n\n\ndef delete():\n    items = {}\n    return items\n"
    + GET,
    "config/live.toml": "a = 2\n",
    "requirements.txt": "uvicorn==0.29.0\nrich==13.1.0\n",
    "tests/test_cache.py": BEFORE["tests/test_cache.py"] + "\n\ndef test_c():\n    assert 3\n",
    "tests/test_ttl.py": "def test_d():\n    assert 4\n\n\ndef test_e():\n    assert 5\n",
    "Makefile": "test:\n\tpytest\n\nlint:\n\truff check\n",
}
RUNS = [
    CommandRun(command="pytest -q", exit_code=1, output="1 failed, 4 passed in 0.1s", by=RunBy.AGENT),
    CommandRun(command="pytest -q", exit_code=0, output="5 passed in 0.1s", by=RunBy.AGENT),
    CommandRun(command="golangci-lint run", exit_code=1, output="version is unused", by=RunBy.AGENT),
]
STEP = step(BEFORE, AFTER, commands=tuple(RUNS), is_log_whole=True)

REFUTED = """
`LIMIT` stays at 500.
`TTL_MS` is 30_000.
Bumped uvicorn from 0.29.0 to 0.30.6.
`uvicorn` stays at 0.30.6.
`golangci-lint run` → exit 0
`golangci-lint run` passes.
tests/test_cache.py went from 2 to 5 tests.
New test file: `tests/test_ttl.py` (3 tests).
app/cache.py: new functions `delete` and `clear`, `reset` removed
Makefile: new targets `lint` and `clean`.
""".strip().splitlines()

CONFIRMED = """
`TTL_MS` is 60_000.
`TTL_MS` stays at 60_000.
`uvicorn` stays at 0.29.0.
`golangci-lint run` exits 1.
app/cache.py: new function `delete`, `reset` removed
""".strip().splitlines()

NOT_REFUTED = """
There was one failure in the first run (`test_b`); now the whole suite passes, 5 of 5.
Both write functions, `delete` and `get`, depend on `load`.
`app/store.py` holds a `threading.Lock`.
New test file: `tests/test_ttl.py` (2 tests).
tests/test_cache.py went from 2 to 3 tests.
`golangci-lint run` fails (exit code 1, 1 issue: var `version` is unused).
Of the two files in `config/`, only `live.toml` changed.
`LIMIT` is 1000.
""".strip().splitlines()


def verdicts(statement: str) -> set[str]:
    return {str(entry.verdict) for entry in STEP.entries(statement)}


@pytest.mark.parametrize("statement", REFUTED)
def test_what_is_false_after_the_step_is_refuted(statement: str) -> None:
    assert "refuted" in verdicts(statement)


@pytest.mark.parametrize("statement", CONFIRMED)
def test_what_is_so_after_the_step_is_confirmed(statement: str) -> None:
    assert verdicts(statement) == {"confirmed"}


@pytest.mark.parametrize("statement", NOT_REFUTED)
def test_what_tells_of_a_part_or_of_an_earlier_run_is_not_refuted(statement: str) -> None:
    assert "refuted" not in verdicts(statement)


@pytest.mark.parametrize("numbers", ["from 7 to 8", "from 1 to 2"])
def test_a_number_before_the_step_that_nobody_counted_is_not_ticked(numbers: str) -> None:
    assert "confirmed" not in verdicts(f"tests/test_cache.py went {numbers} tests.")
