"""Reads what test runners print at their end: how many tests passed, failed and were left out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_PYTEST = re.compile(
    r"^=*[ ]?(?P<all>(?:\d+ [a-z]+(?:, )?){1,9}) in [\d.,:]+ ?s(?:econds)?\b[^\n]*$"
    r"|^=*[ ]?(?P<none>no tests ran) in",
    re.MULTILINE,
)
_PYTEST_PART = re.compile(
    r"(\d+) (passed|failed|errors?|skipped|xfailed|xpassed|deselected|warnings?|rerun|subtests)"
)
_UNITTEST = re.compile(
    r"^Ran (\d+) tests? in [\d.]+s\s+(OK|FAILED|NO TESTS RAN)(?:[ ]\(([^)\n]*)\))?", re.MULTILINE
)
_UNITTEST_PART = re.compile(r"(failures|errors|skipped|expected failures|unexpected successes)=(\d+)")
_JEST = re.compile(r"^[ \t]*Tests:?[ \t]+([^\n]*\d+ (?:passed|failed|skipped|todo)[^\n]*)$", re.MULTILINE)
_COUNTED = re.compile(r"(\d+) (passed|failed|skipped|todo|pending)")
_CARGO = re.compile(r"^test result: (?:ok|FAILED)\. (\d+) passed; (\d+) failed; (\d+) ignored;", re.MULTILINE)
_GO = re.compile(r"^--- (PASS|FAIL|SKIP): ", re.MULTILINE)
_MOCHA = re.compile(r"^[ \t]*(\d+) passing(?:[ ]\([^)\n]*\))?[ \t]*$", re.MULTILINE)
_MOCHA_FAILING = re.compile(r"^[ \t]*(\d+) failing[ \t]*$", re.MULTILINE)
_TAP = re.compile(r"^(?:#|\u2139) pass (\d+)$", re.MULTILINE)
_TAP_FAIL = re.compile(r"^(?:#|\u2139) fail (\d+)$", re.MULTILINE)


@dataclass(frozen=True, kw_only=True, slots=True)
class TestSummary:
    """What one test run counted."""

    __test__ = False
    passed: int
    """Tests that passed."""
    failed: int = 0
    """Tests that failed or could not run."""
    left_out: int = 0
    """Tests that were skipped or expected to fail."""

    def may_be(self, count: int) -> bool:
        """True if somebody may well say of this run that `count` tests pass."""
        return count in (self.passed, self.passed + self.left_out)


def summaries_in(output: str, *, is_cut: bool = False) -> tuple[TestSummary, ...]:
    """The summary of every test run in an output; of a cut one, only those that stand on one line."""
    text = _COLOUR.sub("", output.replace("\r\n", "\n"))
    found = [*_pytest(text), *_unittest(text), *_jest(text), *_others(text)]
    if not is_cut:
        found += [*_cargo(text), *_go(text)]
    return tuple(found)


def _pytest(text: str) -> Iterator[TestSummary]:
    for line in _PYTEST.finditer(text):
        parts = {} if line["none"] else {word: int(n) for n, word in _PYTEST_PART.findall(line["all"])}
        if not parts and not line["none"]:
            continue
        yield TestSummary(
            passed=parts.get("passed", 0) + parts.get("xpassed", 0),
            failed=parts.get("failed", 0) + parts.get("error", 0) + parts.get("errors", 0),
            left_out=parts.get("skipped", 0) + parts.get("xfailed", 0),
        )


def _unittest(text: str) -> Iterator[TestSummary]:
    for ran in _UNITTEST.finditer(text):
        parts = {word: int(n) for word, n in _UNITTEST_PART.findall(ran[3] or "")}
        failed = sum(parts.get(word, 0) for word in ("failures", "errors", "unexpected successes"))
        left_out = parts.get("skipped", 0) + parts.get("expected failures", 0)
        # Subtests that fail count as failures of one test: never less than none passed.
        yield TestSummary(passed=max(0, int(ran[1]) - failed - left_out), failed=failed, left_out=left_out)


def _jest(text: str) -> Iterator[TestSummary]:
    for line in _JEST.finditer(text):
        parts = {word: int(n) for n, word in _COUNTED.findall(line[1])}
        left_out = parts.get("skipped", 0) + parts.get("todo", 0) + parts.get("pending", 0)
        yield TestSummary(passed=parts.get("passed", 0), failed=parts.get("failed", 0), left_out=left_out)


def _others(text: str) -> Iterator[TestSummary]:
    for passing, failing in ((_MOCHA, _MOCHA_FAILING), (_TAP, _TAP_FAIL)):
        if passed := passing.search(text):
            failed = failing.search(text)
            yield TestSummary(passed=int(passed[1]), failed=int(failed[1]) if failed else 0)


def _cargo(text: str) -> Iterator[TestSummary]:
    """Cargo prints a line for every crate and file; all of them are one run."""
    lines = [[int(n) for n in line] for line in _CARGO.findall(text)]
    if lines:
        passed, failed, ignored = (sum(column) for column in zip(*lines, strict=True))
        yield TestSummary(passed=passed, failed=failed, left_out=ignored)


def _go(text: str) -> Iterator[TestSummary]:
    """Go counts nothing; with -v it names every test."""
    said = _GO.findall(text)
    if said:
        yield TestSummary(passed=said.count("PASS"), failed=said.count("FAIL"), left_out=said.count("SKIP"))
