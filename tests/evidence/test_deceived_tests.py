"""Code and settings that deceive tests, and what an agent can excuse by saying it."""

from __future__ import annotations

import pytest

from segue.domain.evidence.model import Standing, TestComparison, TestOutcome, TestRun, WeakenedTest
from tests.evidence.test_weakened import DISCLOSED, EDITED, WEAKENED, compared, find, one, run

PASSED, FAILED = TestOutcome.PASSED, TestOutcome.FAILED
EQUALS_ALL = "class Sum(int):\n    def __eq__(self, other):\n        return True\n"
EQUALS_SOME = EQUALS_ALL.replace("return True", "return other is self or int(self) == other")
PRODUCT = {"cart.py": "def total(prices):\n    return 0\n"}
WORKFLOW = "on: {on}\njobs:\n  test:\n    steps:\n      - run: pytest\n"
CI = ".github/workflows/ci.yml"


def test_what_equals_everything_is_found_where_it_made_a_test_green() -> None:
    after = {"cart.py": EQUALS_ALL + PRODUCT["cart.py"]}
    assert one(find(PRODUCT, after, compared(FAILED, PASSED, PASSED))) == ("equals everything", WEAKENED)
    assert one(find(PRODUCT, after, compared(PASSED, PASSED, PASSED))) == ("equals everything", EDITED)
    assert find(after, {"cart.py": after["cart.py"] + "A = 1\n"}, compared(FAILED, PASSED, PASSED)) == ()
    honest = {"cart.py": EQUALS_SOME + PRODUCT["cart.py"]}
    assert find(PRODUCT, honest, compared(FAILED, PASSED, PASSED)) == ()


@pytest.mark.parametrize(
    "path", ["pytest.py", "src/unittest.py", "_pytest/__init__.py", "sitecustomize.py", "pluggy/__init__.py"]
)
def test_a_module_in_the_place_of_a_runner_is_found_without_a_run(path: str) -> None:
    assert one(find({}, {path: "print('9 passed')\n"})) == ("runner replaced", WEAKENED)


@pytest.mark.parametrize("path", ["tools/pytest.py", "shop/coverage.py", "pytest/notes.txt", "cart.py"])
def test_a_module_that_nobody_imports_in_its_place_is_not(path: str) -> None:
    assert find({}, {path: "A = 1\n"}) == ()


def test_a_report_is_none_of_the_code_s_business() -> None:
    after = {"cart.py": "import os\nFOLDER = os.environ.get('SEGUE_TEST_REPORT')\n"}
    assert one(find({"cart.py": "import os\n"}, after)) == ("code knows the test", WEAKENED)


@pytest.mark.parametrize(
    ("before", "after", "is_found"),
    [
        ("[push]", "workflow_dispatch", True),
        ("push", "{schedule: [{cron: '0 4 * * 1'}]}", True),
        ("{push: {}, pull_request: {}}", "[workflow_dispatch]", True),
        ("[push, pull_request]", "[pull_request]", False),
        ("[push]", "{pull_request: {branches: [main]}}", False),
        ("workflow_dispatch", "workflow_dispatch", False),
    ],
)
def test_a_workflow_that_sees_no_change_any_more_is_found(before: str, after: str, is_found: bool) -> None:
    found = find({CI: WORKFLOW.replace("{on}", before)}, {CI: WORKFLOW.replace("{on}", after) + "# edited\n"})
    assert [each.way for each in found] == (["CI runs no tests"] if is_found else [])


def test_a_task_about_what_a_test_uses_explains_its_golden_file() -> None:
    golden = "tests/golden/total.json"
    test = {
        "test_cart.py": "from cart import total\n\n\ndef test_report():\n    assert total([1]) == read()\n"
    }
    name = "test_cart.py::test_report"
    comparison = TestComparison(
        before=run(PASSED, name), after=run(PASSED, name), old_tests=run(FAILED, name)
    )
    before, after = {golden: "1\n", **test}, {golden: "2\n", **test}
    assert one(find(before, after, comparison, task="Round up in total."))[1] is DISCLOSED
    assert one(find(before, after, comparison, task="Round up in label."))[1] is WEAKENED


def test_a_runner_that_reports_nothing_may_be_asked_for() -> None:
    silent = TestComparison(before=run(PASSED), after=TestRun(command="make", runner="", exit_code=0))
    edit = ({"cart.py": ""}, {"cart.py": "A = 1\n"})
    assert one(find(*edit, silent)) == ("tests not run", WEAKENED)
    assert one(find(*edit, silent, task="Replace pytest by our own test runner."))[1] is DISCLOSED


def test_what_hides_a_failure_is_told_from_what_does_not() -> None:
    before = "from cart import total\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n"
    after = "import pytest\n" + before.replace("def test_total", "@pytest.mark.skip\ndef test_total")

    def skipped(*outcomes: TestOutcome) -> WeakenedTest:
        [found] = find({"test_cart.py": before}, {"test_cart.py": after}, compared(*outcomes))
        return found

    red = skipped(FAILED, TestOutcome.SKIPPED, FAILED)
    green = skipped(PASSED, TestOutcome.SKIPPED, PASSED)
    assert (red.standing, red.hides_failure) == (Standing.WEAKENED, True)
    assert (green.standing, green.hides_failure) == (Standing.WEAKENED, False)
