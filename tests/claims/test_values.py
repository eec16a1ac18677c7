"""Values that a file sets are read from its syntax, and held against what is said of them."""

from __future__ import annotations

import pytest

from segue.domain.evidence.values import values_of
from tests.claims.steps import step

PYTHON = (
    "LIMIT = {limit}  # not {other}\nNAME: str = 'a'\n\n\n"
    "class Queue:\n    def __init__(self, size={limit}):\n        self.size = size\n"
)
STEP = step(
    {
        "queue.py": PYTHON.format(limit=3, other=5),
        "settings.toml": "[queue]\nretries = 3\nlimit = 100\n",
        "ci.yml": "env:\n  DEPTH: 1\n",
    },
    {
        "queue.py": PYTHON.format(limit=5, other=7),
        "settings.toml": "[queue]\nretries = 3\nlimit = 250\n",
        "ci.yml": "env:\n  DEPTH: 2\n",
    },
)


@pytest.mark.parametrize(
    ("path", "text", "found"),
    [
        ("a.py", PYTHON.format(limit=5, other=7), {"LIMIT": "5", "NAME": "a", "Queue.__init__.size": "5"}),
        ("a.toml", "[a.b]\nc = true\n", {"a.b.c": "true"}),
        ("a.json", '{"a": {"b": 1}, "c": [1]}', {"a.b": "1"}),
        ("a.yaml", "a:\n  b: x\n", {"a.b": "x"}),
        ("a.cfg", "[a]\nb = 1\n", {"a.b": "1"}),
        ("a.json", "{broken", {}),
        ("a.py", "def broken(:", {}),
        ("a.rs", "const A: usize = 1;", {}),
    ],
)
def test_what_a_file_sets(path: str, text: str, found: dict[str, str]) -> None:
    assert values_of(path, text) == found


@pytest.mark.parametrize(
    ("statement", "verdict"),
    [
        ("Set `LIMIT` to 5 in queue.py.", "confirmed"),
        ("Raised `LIMIT` from 3 to 5.", "confirmed"),
        ("Raised `queue.limit` from 100 to 250 in settings.toml.", "confirmed"),
        ("Set `DEPTH` to 2 in ci.yml.", "confirmed"),
        ("Set `LIMIT` to 7 in queue.py.", "refuted"),
        ("Lowered `LIMIT` to 5 in queue.py.", "refuted"),
        ("Raised `LIMIT` from 4 to 5.", "refuted"),
        ("Raised `queue.retries` from 3 to 5 in settings.toml.", "refuted"),
        ("Set `DEPTH` to 1 in ci.yml.", "refuted"),
    ],
)
def test_a_value_that_is_said_is_compared_with_the_one_that_is_set(statement: str, verdict: str) -> None:
    [entry] = STEP.entries(statement)
    assert str(entry.verdict) == verdict, entry.reason
