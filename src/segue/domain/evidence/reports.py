"""Reads the reports of test runners: JUnit's XML, the JSON of Jest and Vitest, records of Segue's own.

A report is written while code of an agent runs, so nothing in it is trusted: what is malformed is left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any
from xml.etree import ElementTree as ET

from segue.domain.evidence.model import CommandRun, TestOutcome, TestRun
from segue.domain.evidence.runners import summaries_in

Locate = Callable[[str], str]
"""A file as a report names it -> its path from the top of the repository."""
_LONGEST_REASON = 300
_SEVERITY = (TestOutcome.PASSED, TestOutcome.SKIPPED, TestOutcome.FAILED)
_JEST = {"passed": TestOutcome.PASSED, "failed": TestOutcome.FAILED}


@dataclass(frozen=True, kw_only=True, slots=True)
class TestRecord:
    """How one test ended, as a report has it."""

    __test__ = False
    id: str
    """`tests/test_cart.py::TestCart::test_total[0]`."""
    outcome: TestOutcome
    """How it ended."""
    reason: str = ""
    """The first line of why it failed."""


def test_id(path: str, names: Iterable[str]) -> str:
    """The id of a test: its file, the groups that it is in, and its own name."""
    return "::".join((path, *names) if path else tuple(names))


test_id.__test__ = False  # type: ignore[attr-defined]  # pytest takes it for a test where it is imported


def read_junit(text: str, locate: Locate) -> Iterator[TestRecord]:
    """The tests of a JUnit report as pytest writes it, in the older form, which names files."""
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        return
    try:
        root = ET.fromstring(text)  # noqa: S314 - entities are refused above
    except ET.ParseError:
        return
    for case in root.iter("testcase"):
        file, name = case.get("file") or "", case.get("name") or ""
        reasons = [*case.findall("failure"), *case.findall("error")]
        outcome = TestOutcome.PASSED
        if reasons:
            outcome = TestOutcome.FAILED
        elif case.find("skipped") is not None:
            outcome = TestOutcome.SKIPPED
        reason = _first_line(reasons[0].get("message") or reasons[0].text or "") if reasons else ""
        if reasons and reasons[0].get("message") == "collection failure":
            # Not a test, but a file that could not be loaded.
            yield TestRecord(id=locate(file) if file else name, outcome=outcome, reason=reason)
        elif file:
            names = (*_classes(case.get("classname") or "", file), name)
            yield TestRecord(id=test_id(locate(file), names), outcome=outcome, reason=reason)
        else:
            yield TestRecord(id=name, outcome=outcome, reason=reason)


def read_records(text: str, locate: Locate) -> Iterator[TestRecord]:
    """The tests that Segue's own listeners wrote down, a line each."""
    for line in text.splitlines():
        value = _json(line)
        if not isinstance(value, dict) or not isinstance(value.get("names"), list):
            continue
        try:
            outcome = TestOutcome(str(value.get("outcome")))
        except ValueError:
            continue
        file = str(value.get("file") or "")
        names = [str(name) for name in value["names"]]
        reason = _first_line(str(value.get("reason") or ""))
        yield TestRecord(id=test_id(locate(file) if file else "", names), outcome=outcome, reason=reason)


def read_jest(text: str, locate: Locate) -> Iterator[TestRecord]:
    """The tests of a report of Jest or Vitest."""
    report = _json(text)
    for suite in _list(report, "testResults"):
        path = locate(str(suite.get("name") or ""))
        cases = _list(suite, "assertionResults")
        for case in cases:
            names = [*map(str, case.get("ancestorTitles") or []), str(case.get("title") or "")]
            outcome = _JEST.get(str(case.get("status")), TestOutcome.SKIPPED)
            why = [str(each) for each in case.get("failureMessages") or []]
            reason = _first_line(why[0]) if why else ""
            yield TestRecord(id=test_id(path, [n for n in names if n]), outcome=outcome, reason=reason)
        if not cases and suite.get("status") == "failed":
            message = _first_line(str(suite.get("message") or ""))
            yield TestRecord(id=path, outcome=TestOutcome.FAILED, reason=message)


def reported_run(command: CommandRun, runner: str, records: Sequence[TestRecord]) -> TestRun:
    """What a run counted, from its report; a test that is told twice counts as it ended worst."""
    outcomes: dict[str, TestOutcome] = {}
    failures: dict[str, str] = {}
    for record in records:
        worst = max(record.outcome, outcomes.get(record.id, TestOutcome.PASSED), key=_SEVERITY.index)
        outcomes[record.id] = worst
        if record.outcome is TestOutcome.FAILED and record.reason:
            failures.setdefault(record.id, record.reason)
    ended = list(outcomes.values())
    return TestRun(
        command=command.command,
        runner=runner,
        exit_code=command.exit_code,
        passed=ended.count(TestOutcome.PASSED),
        failed=ended.count(TestOutcome.FAILED),
        skipped=ended.count(TestOutcome.SKIPPED),
        outcomes=outcomes,
        failures=failures,
        is_from_report=True,
        by=command.by,
    )


def without_tests(run: TestRun, ids: Collection[str]) -> TestRun:
    """The same run as if it had no tests with these ids."""
    outcomes = {each: outcome for each, outcome in run.outcomes.items() if each not in ids}
    lost = [run.outcomes[each] for each in ids if each in run.outcomes]
    return replace(
        run,
        outcomes=outcomes,
        passed=run.passed - lost.count(TestOutcome.PASSED),
        failed=run.failed - lost.count(TestOutcome.FAILED),
        skipped=run.skipped - lost.count(TestOutcome.SKIPPED),
    )


def printed_run(command: CommandRun) -> TestRun | None:
    """What a run counted, from what it printed; none if it printed no summary of tests."""
    found = summaries_in(command.output, is_cut=command.is_cut)
    if not found:
        return None
    return TestRun(
        command=command.command,
        runner="",
        exit_code=command.exit_code,
        passed=sum(each.passed for each in found),
        failed=sum(each.failed for each in found),
        skipped=sum(each.left_out for each in found),
        by=command.by,
    )


def _classes(classname: str, file: str) -> list[str]:
    """The classes that a test is in: what pytest puts behind the name of the module."""
    module = re.sub(r"\.py$", "", file.replace("\\", "/")).replace("/", ".")
    if classname == module or not classname.startswith(module + "."):
        return []
    return classname.removeprefix(module + ".").split(".")


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "")[:_LONGEST_REASON]


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _list(value: Any, key: str) -> list[dict[str, Any]]:
    found = value.get(key) if isinstance(value, dict) else None
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []
