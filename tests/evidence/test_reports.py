"""Reports of test runners are read, and nothing in them is trusted."""

from __future__ import annotations

import json

from segue.domain.evidence.model import CommandRun, TestOutcome
from segue.domain.evidence.reports import (
    printed_run,
    read_jest,
    read_junit,
    read_records,
    reported_run,
    without_tests,
)

RUN = CommandRun(command="pytest", exit_code=1)
JUNIT = """<?xml version="1.0"?><testsuites><testsuite>
<testcase classname="tests.test_a.TestA" name="test_one[1-x]" file="tests/test_a.py" line="3" />
<testcase classname="tests.test_a" name="test_two" file="tests/test_a.py">
  <failure message="assert 1 == 2&#10;and more">text</failure></testcase>
<testcase classname="tests.test_a" name="test_three" file="tests/test_a.py">
  <skipped type="pytest.xfail" /></testcase>
<testcase classname="" name="tests.test_b" file="tests/test_b.py">
  <error message="collection failure">E</error></testcase>
</testsuite></testsuites>"""


def same(path: str) -> str:
    return path


def test_a_junit_report_gives_each_test_its_id_and_the_reason_of_a_failure() -> None:
    run = reported_run(RUN, "pytest", list(read_junit(JUNIT, same)))
    assert run.outcomes == {
        "tests/test_a.py::TestA::test_one[1-x]": TestOutcome.PASSED,
        "tests/test_a.py::test_two": TestOutcome.FAILED,
        "tests/test_a.py::test_three": TestOutcome.SKIPPED,
        "tests/test_b.py": TestOutcome.FAILED,
    }
    assert run.failures["tests/test_a.py::test_two"] == "assert 1 == 2"
    assert (run.passed, run.failed, run.skipped, run.collected) == (1, 2, 1, 4)
    assert run.is_from_report


def test_what_is_not_a_report_is_left_out() -> None:
    bomb = '<!DOCTYPE a [<!ENTITY b "c">]><testsuite><testcase name="&b;" file="x.py"/></testsuite>'
    for text in ("", "<testsuite>", bomb, "not xml"):
        assert list(read_junit(text, same)) == []
    for text in ("", "nonsense", "[]", '{"names": 3}', '{"names": ["a"], "outcome": "great"}', "[" * 9999):
        assert list(read_records(text, same)) == []
        assert list(read_jest(text, same)) == []


def test_a_test_that_is_told_twice_counts_as_it_ended_worst() -> None:
    line = '{{"file": "t.py", "names": ["A", "test_x"], "outcome": "{}", "reason": "ValueError: x"}}'
    text = "\n".join(line.format(outcome) for outcome in ("passed", "failed", "passed"))
    run = reported_run(RUN, "unittest", list(read_records(text, same)))
    assert run.outcomes == {"t.py::A::test_x": TestOutcome.FAILED}
    assert run.failures == {"t.py::A::test_x": "ValueError: x"}


def test_a_report_of_jest_names_groups_and_files_that_could_not_be_loaded() -> None:
    cases = [
        {"ancestorTitles": ["cart"], "title": "adds", "status": "passed"},
        {"ancestorTitles": [], "title": "sums", "status": "failed", "failureMessages": ["Error: expect(1)"]},
        {"ancestorTitles": [], "title": "later", "status": "pending"},
    ]
    results = [
        {"name": "/w/a.test.js", "assertionResults": cases},
        {"name": "/w/b.test.js", "assertionResults": [], "status": "failed", "message": "cannot import"},
    ]
    text = json.dumps({"testResults": results})
    run = reported_run(RUN, "jest", list(read_jest(text, lambda path: path.removeprefix("/w/"))))
    assert run.outcomes == {
        "a.test.js::cart::adds": TestOutcome.PASSED,
        "a.test.js::sums": TestOutcome.FAILED,
        "a.test.js::later": TestOutcome.SKIPPED,
        "b.test.js": TestOutcome.FAILED,
    }


def test_without_a_report_only_counts_are_known() -> None:
    run = printed_run(CommandRun(command="pytest", exit_code=0, output="3 passed, 1 skipped in 0.1s\n"))
    assert run is not None
    assert (run.passed, run.skipped, run.outcomes, run.is_from_report) == (3, 1, {}, False)
    assert printed_run(CommandRun(command="ruff check", exit_code=0, output="All good\n")) is None


def test_tests_can_be_left_out_of_a_run() -> None:
    run = reported_run(RUN, "pytest", list(read_junit(JUNIT, same)))
    rest = without_tests(run, {"tests/test_a.py::test_two", "unknown"})
    assert (rest.passed, rest.failed, rest.skipped) == (1, 1, 1)
    assert "tests/test_a.py::test_two" not in rest.outcomes
