"""A check whose runner was replaced, or whose report was edited, proves nothing."""

from __future__ import annotations

from segue.domain.evidence.model import TestComparison
from tests.git.test_test_runs import CODE, PYTEST, NewProject, _test, project

__all__ = ["project"]

WRONG = {"double.py": CODE.replace("x + x", "x"), "test_double.py": _test("double")}
EDITS_THE_REPORT = """
import atexit, glob, os, re


def edit():
    for name in glob.glob(os.environ.get("SEGUE_TEST_REPORT", "nowhere") + "/pytest*.xml"):
        with open(name) as file:
            text = file.read()
        with open(name, "w") as file:
            file.write(re.sub(r"<failure.*?</failure>", "", text, flags=re.DOTALL))
    os._exit(0)


atexit.register(edit)
"""


def counts(comparison: TestComparison) -> tuple[int, int, int | None]:
    assert comparison.before is not None, comparison.no_baseline
    return comparison.before.collected, comparison.after.collected, comparison.after.exit_code


def test_what_is_only_printed_counts_for_nothing_where_a_runner_reported(project: NewProject) -> None:
    made = project(WRONG)
    made.write({"pytest.py": 'print("1 passed in 0.01s")\n'})
    assert counts(made.compare()) == (1, 0, 0)


def test_a_report_without_the_failures_that_were_printed_is_not_believed(project: NewProject) -> None:
    made = project(WRONG)
    made.write({"double.py": WRONG["double.py"] + EDITS_THE_REPORT})
    assert counts(made.compare(PYTEST)) == (1, 0, 0)


def test_a_failing_run_is_believed_without_a_report(project: NewProject) -> None:
    made = project()
    made.write({"pytest.py": 'print("1 failed in 0.01s")\nraise SystemExit(1)\n'})
    comparison = made.compare()
    assert (comparison.after.failed, comparison.after.exit_code) == (1, 1)
