"""What test runners print, and which command lines are the same."""

from __future__ import annotations

import pytest

from segue.domain.evidence.runners import TestSummary, summaries_in
from segue.domain.text.command_lines import is_same, is_within, purposes_of, read_line

OUTPUTS: dict[str, tuple[int, int, int]] = {
    "....\n42 passed in 0.12s\n": (42, 0, 0),
    "=== 1 failed, 41 passed, 2 skipped, 3 warnings in 1.20s (0:00:01) ===\n": (41, 1, 2),
    "\x1b[32m===== \x1b[1m7 passed\x1b[0m, 1 xfailed in 3.00s =====\x1b[0m\n".replace("\x1b[1m", ""): (
        7,
        0,
        1,
    ),
    "no tests ran in 0.01s\n": (0, 0, 0),
    "1 error in 0.20s\n": (0, 1, 0),
    "----\nRan 12 tests in 0.003s\n\nOK\n": (12, 0, 0),
    "Ran 12 tests in 0.003s\n\nFAILED (failures=2, errors=1, skipped=3)\n": (6, 3, 3),
    "Ran 1 test in 0.000s\n\nOK (skipped=1)\n": (0, 0, 1),
    "Test Suites: 3 passed, 3 total\nTests:       1 failed, 2 skipped, 41 passed, 44 total\n": (41, 1, 2),
    " Test Files  2 passed (2)\n      Tests  5 failed | 37 passed (42)\n": (37, 5, 0),
    "test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured\n" * 2: (6, 0, 2),
    "test result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured\n": (3, 2, 0),
    "--- PASS: TestA (0.00s)\n    --- PASS: TestA/one (0.00s)\n--- FAIL: TestB (0.00s)\n--- SKIP: TestC\n": (
        1,
        1,
        1,
    ),
    "  12 passing (34ms)\n  2 failing\n": (12, 2, 0),
    "# tests 4\n# pass 4\n# fail 0\n": (4, 0, 0),
}


@pytest.mark.parametrize("output", OUTPUTS)
def test_a_summary_is_read(output: str) -> None:
    passed, failed, left_out = OUTPUTS[output]
    assert summaries_in(output) == (TestSummary(passed=passed, failed=failed, left_out=left_out),)


@pytest.mark.parametrize(
    "output", ["", "ok  example.org/a 0.01s\n", "I passed 3 exams in 2 years\n", "5 passed\n"]
)
def test_what_is_no_summary_is_none(output: str) -> None:
    assert summaries_in(output) == ()


def test_sums_over_a_cut_output_are_not_made() -> None:
    assert summaries_in("test result: ok. 3 passed; 0 failed; 1 ignored;\n", is_cut=True) == ()


@pytest.mark.parametrize(
    ("claimed", "ran"),
    [
        ("pytest -q", "python -m pytest"),
        ("pytest tests/a.py", "cd web && FOO=1 .venv/bin/python3.11 -m pytest -q tests/a.py 2>&1"),
        ("pytest", "timeout -k 5 300 uv run pytest -v"),
        ("npm test", "npm run test"),
        ("npx jest", "jest --colors"),
        ("echo 'a b'", 'echo "a b"'),
        ("make  build", "/usr/bin/make build > log.txt"),
        ("$ cargo test", "env RUST_LOG=1 cargo test"),
        ("echo 'unclosed", "echo  'unclosed"),
    ],
)
def test_the_same_command_in_other_words(claimed: str, ran: str) -> None:
    assert is_same(claimed, ran)


@pytest.mark.parametrize(
    ("claimed", "ran"),
    [
        ("pytest", "pytest tests/a.py"),
        ("make", "make test"),
        ("pytest && ruff check", "pytest"),
        ("pytest", "echo pytest"),
    ],
)
def test_another_command(claimed: str, ran: str) -> None:
    assert not is_same(claimed, ran)


def test_a_pipe_hides_an_exit_code() -> None:
    for text, is_chain in (("a && b", True), ("a | tail", False), ("a || true", False), ("a; b", False)):
        line = read_line(text)
        assert line is not None
        assert line.is_chain is is_chain
    assert is_within("pytest -q", "pytest && ruff check")


@pytest.mark.parametrize(
    ("command", "purpose"),
    [
        ("python3 -m unittest -q", "tests"),
        ("go test ./...", "tests"),
        ("pnpm run test:unit", "tests"),
        ("ruff check .", "lint"),
        ("ruff format --check", "format"),
        ("npm run lint", "lint"),
        ("uv run mypy --strict", "types"),
        ("cargo build", "build"),
    ],
)
def test_what_a_command_is_for(command: str, purpose: str) -> None:
    assert purposes_of(command) == {purpose}
