"""What an edit of a test amounts to: an accusation, an edit that the task asks for, or a mere edit."""

from __future__ import annotations

import pytest

from segue.domain.evidence.model import (
    Change,
    ChangeKind,
    Standing,
    TestComparison,
    TestOutcome,
    TestRun,
    WeakenedTest,
)
from segue.domain.evidence.sources import TextSources
from segue.domain.evidence.weakened import find_weakened

PASSED, FAILED, SKIPPED = TestOutcome.PASSED, TestOutcome.FAILED, TestOutcome.SKIPPED
WEAKENED, DISCLOSED, EDITED = Standing.WEAKENED, Standing.DISCLOSED, Standing.EDITED
PYTHON = "import pytest\nfrom cart import total\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n"
SCRIPT = (
    "import test from 'node:test';\nimport assert from 'node:assert';\n\n"
    "test('total', () => {\n  assert.equal(total([1, 2]), 3);\n});\n"
)


def find(
    before: dict[str, str],
    after: dict[str, str],
    *comparisons: TestComparison,
    task: str | None = None,
    others: tuple[str, ...] = (),
) -> tuple[WeakenedTest, ...]:
    """What is found in an edit of some files."""
    changes = {}
    for path in before.keys() | after.keys():
        kind = ChangeKind.MODIFIED
        if path not in before or path not in after:
            kind = ChangeKind.DELETED if path in before else ChangeKind.ADDED
        if before.get(path) != after.get(path):
            changes[path] = Change(kind=kind)
    sources = TextSources(before=before, after=after)
    return find_weakened(changes, sources, comparisons, task, paths={*after, *others})


def run(outcome: TestOutcome | None, name: str = "test_cart.py::test_total") -> TestRun:
    """A run of one test; of none, if it was not collected."""
    outcomes = {} if outcome is None else {name: outcome}
    other = {"test_other.py::test_other": PASSED}
    reason = {name: "assert 2 == 3"} if outcome is FAILED else {}
    code = int(outcome is FAILED)
    return TestRun(
        command="pytest",
        runner="pytest",
        exit_code=code,
        outcomes={**outcomes, **other},
        failures=reason,
        is_from_report=True,
        passed=1,
    )


def compared(
    before: TestOutcome | None, after: TestOutcome | None, old: TestOutcome | None
) -> TestComparison:
    return TestComparison(before=run(before), after=run(after), old_tests=run(old))


def one(found: tuple[WeakenedTest, ...]) -> tuple[str, Standing]:
    assert len(found) == 1, found
    return found[0].way, found[0].standing


PLAIN = {
    "skipped": "@pytest.mark.skip\ndef test_total():\n    assert total([1, 2]) == 3\n",
    "skipped ": "def test_total():\n    pytest.skip('later')\n    assert total([1, 2]) == 3\n",
    "skipped  ": "@pytest.mark.xfail(strict=False)\ndef test_total():\n    assert total([1, 2]) == 3\n",
    "skipped   ": "@pytest.mark.skipif(True, reason='x')\ndef test_total():\n    assert total([1, 2]) == 3\n",
    "emptied": "def test_total():\n    pass\n",
    "emptied ": "def test_total():\n    assert True\n",
    "emptied  ": "def test_total():\n    assert total([1, 2]) == total([1, 2])\n",
    "early return": "def test_total():\n    return\n    assert total([1, 2]) == 3\n",
    "failure swallowed": (
        "def test_total():\n    try:\n        assert total([1, 2]) == 3\n    except:\n        pass\n"
    ),
    "renamed away": "def check_total():\n    assert total([1, 2]) == 3\n",
}


@pytest.mark.parametrize("way", PLAIN)
def test_what_proves_less_however_the_code_behaves_needs_no_run(way: str) -> None:
    head = PYTHON[: PYTHON.index("def test_total")]
    found = find({"test_cart.py": PYTHON}, {"test_cart.py": head + PLAIN[way]})
    assert one(found) == (way.strip(), WEAKENED)
    assert found[0].test == "test_total"
    assert found[0].line


NEEDS_A_RUN = {
    "expectation changed": "assert total([1, 2]) == 2",
    "assertion weakened": "assert total([1, 2]) is not None",
    "assertion weakened ": "assert total([1, 2]) in (2, 3)",
    "assertion removed": "print(total([1, 2]) == 3)",
    "tolerance raised": "assert total([1, 2]) == pytest.approx(3, abs=5)",
}


@pytest.mark.parametrize("way", NEEDS_A_RUN)
def test_an_edit_is_an_accusation_only_with_a_run_behind_it(way: str) -> None:
    after = {"test_cart.py": PYTHON.replace("assert total([1, 2]) == 3", NEEDS_A_RUN[way])}
    before = {"test_cart.py": PYTHON}
    for comparison, standing in (
        (None, EDITED),
        (compared(FAILED, PASSED, FAILED), WEAKENED),
        (compared(PASSED, PASSED, FAILED), WEAKENED),
        (compared(PASSED, PASSED, PASSED), EDITED),
        (compared(FAILED, FAILED, FAILED), EDITED),
        (TestComparison(after=run(PASSED), no_baseline="it cannot run"), EDITED),
    ):
        runs = () if comparison is None else (comparison,)
        assert one(find(before, after, *runs)) == (way.strip(), standing)


def test_the_reason_names_the_run() -> None:
    after = {"test_cart.py": PYTHON.replace("== 3", "== 2")}
    found = find({"test_cart.py": PYTHON}, after, compared(FAILED, PASSED, FAILED))
    assert found[0].reason == (
        "The old version of this test fails on the new code. `total([1, 2]) == 3` became `total([1, 2]) == 2`"
    )
    skipped = {"test_cart.py": PYTHON.replace("def test_total", "@pytest.mark.skip\ndef test_total")}
    found = find({"test_cart.py": PYTHON}, skipped, compared(PASSED, SKIPPED, PASSED))
    assert found[0].reason == "Skipped now; it passed before"


def test_a_skip_under_a_condition_counts_where_the_test_is_skipped() -> None:
    mark = "@pytest.mark.skipif(sys.platform == 'win32', reason='x')\ndef test_total"
    before, after = {"test_cart.py": PYTHON}, {"test_cart.py": PYTHON.replace("def test_total", mark)}
    assert one(find(before, after)) == ("skipped", EDITED)
    assert one(find(before, after, compared(PASSED, PASSED, PASSED))) == ("skipped", EDITED)
    assert one(find(before, after, compared(FAILED, SKIPPED, FAILED))) == ("skipped", WEAKENED)


@pytest.mark.parametrize(
    ("comparison", "standing"),
    [
        (None, EDITED),
        (compared(FAILED, None, FAILED), WEAKENED),
        (compared(PASSED, None, FAILED), WEAKENED),
        (compared(PASSED, None, PASSED), EDITED),
        (compared(SKIPPED, None, SKIPPED), EDITED),
    ],
)
def test_a_deleted_test_is_judged_by_what_it_would_say_now(
    comparison: TestComparison | None, standing: Standing
) -> None:
    other = "def test_other():\n    assert 1 + 1 == 2\n"
    before, after = {"test_cart.py": PYTHON + other}, {"test_cart.py": other}
    runs = () if comparison is None else (comparison,)
    assert one(find(before, after, *runs)) == ("deleted", standing)


def test_a_test_that_goes_with_its_code_is_no_accusation() -> None:
    before = {"cart.py": "def total(xs):\n    return sum(xs)\n", "test_cart.py": PYTHON}
    after = {"cart.py": "", "test_cart.py": "import pytest\n"}
    assert one(find(before, after, compared(PASSED, None, None))) == ("deleted", EDITED)
    assert one(find(before, after, compared(FAILED, None, FAILED))) == ("deleted", WEAKENED)


HONEST = {
    "comment": PYTHON.replace("    assert", "    # the sum\n    assert"),
    "layout": PYTHON.replace("[1, 2]", "[\n        1,\n        2,\n    ]"),
    "message": PYTHON.replace("== 3", '== 3, "wrong"'),
    "name of the function": PYTHON.replace("total", "sum_of"),
    "constant taken out": PYTHON.replace("== 3", "== SUM").replace("def test", "SUM = 3\n\n\ndef test"),
    "moved into a class": PYTHON.replace(
        "def test_total():\n    assert", "class TestCart:\n    def test_total(self):\n        assert"
    ),
    "renamed": PYTHON.replace("test_total", "test_sum"),
    "a test more": PYTHON + "\n\ndef test_empty():\n    assert total([]) == 0\n",
    "an assertion more": PYTHON + "    assert total([]) == 0\n",
    "merged": PYTHON.replace(
        "def test_total():\n    assert total([1, 2]) == 3",
        '@pytest.mark.parametrize(("xs", "n"), [([1, 2], 3), ([], 0)])\n'
        "def test_sums(xs, n):\n    assert total(xs) == n",
    ),
}


@pytest.mark.parametrize("name", HONEST)
def test_an_edit_that_requires_as_much_is_not_even_listed(name: str) -> None:
    assert find({"test_cart.py": PYTHON}, {"test_cart.py": HONEST[name]}) == ()


def test_a_moved_test_is_found_again_in_another_file() -> None:
    before = {"test_cart.py": PYTHON, "test_other.py": "X = 1\n"}
    assert find(before, {"test_cart.py": "import pytest\n", "test_other.py": PYTHON}) == ()


def test_a_helper_that_tests_call_is_not_renamed_away() -> None:
    after = "def check_total():\n    assert total([1, 2]) == 3\n\n\ndef test_both():\n    check_total()\n"
    found = find({"test_cart.py": PYTHON}, {"test_cart.py": after})
    assert all(each.standing is EDITED for each in found)


def test_a_fixture_is_not_a_test() -> None:
    fixture = "@pytest.fixture\ndef test_client():\n    return Client()\n"
    text = PYTHON + "\n\n" + fixture
    assert find({"test_cart.py": text}, {"test_cart.py": text.replace("test_client", "client")}) == ()


def test_the_task_can_ask_for_it() -> None:
    before, after = {"test_cart.py": PYTHON}, {"test_cart.py": PYTHON.replace("== 3", "== 4")}
    broke, was_red = compared(PASSED, PASSED, FAILED), compared(FAILED, PASSED, FAILED)
    assert one(find(before, after, broke, task="total must add one for shipping."))[1] is DISCLOSED
    assert one(find(before, after, broke, task="Refactor total."))[1] is WEAKENED
    # What was red needs more than a task about the same function.
    assert one(find(before, after, was_red, task="total must be right."))[1] is WEAKENED
    assert one(find(before, after, was_red, task="The expectation in test_total is wrong."))[1] is DISCLOSED


JAVASCRIPT = {
    "skipped": SCRIPT.replace("test('total'", "test.skip('total'"),
    "skipped ": SCRIPT.replace("'total', ()", "'total', { skip: true }, ()"),
    "skipped  ": SCRIPT.replace("test('total'", "test.todo('total'"),
    "focused": SCRIPT.replace("test('total'", "test.only('total'"),
    "emptied": SCRIPT.replace("assert.equal(total([1, 2]), 3)", "assert.ok(true)"),
    "early return": SCRIPT.replace("  assert.equal", "  return;\n  assert.equal"),
}


@pytest.mark.parametrize("way", JAVASCRIPT)
def test_javascript_is_read_without_a_parser(way: str) -> None:
    found = find({"cart.test.js": SCRIPT}, {"cart.test.js": JAVASCRIPT[way]})
    assert one(found) == (way.strip(), WEAKENED)


@pytest.mark.parametrize(
    ("old", "new", "way"),
    [
        ("expect(f()).toEqual({ a: 1 })", "expect(f()).toBeDefined()", "assertion weakened"),
        ("expect(f()).toBe(1)", "expect(f()).not.toBeNull()", "assertion weakened"),
        ("expect(f()).toBe(1)", "expect(f()).toBe(2)", "expectation changed"),
        ("expect(f()).toBe('a // b')", "expect(f()).toBe('a // c')", "expectation changed"),
        ("expect(f()).toBe(`a ${b({})} c`)", "expect(f()).toBe(`a ${b({})} d`)", "expectation changed"),
        ("assert.match(f(), /a\\/[/]b/)", "assert.match(f(), /a/)", "expectation changed"),
    ],
)
def test_assertions_of_javascript_are_compared(old: str, new: str, way: str) -> None:
    text = "describe('a', () => {{ it('b', async function () {{ {} }}); }});\n"
    found = find({"a.spec.ts": text.format(old)}, {"a.spec.ts": text.format(new)})
    assert one(found) == (way, EDITED)
    assert found[0].test == "a::b"


def test_something_else_that_is_called_test_is_not_a_test() -> None:
    text = "it('posts', function () {\n  var test = request(app).post('/');\n  test.write('{}');\n});\n"
    assert find({"a.test.js": text.replace("{}", "[]")}, {"a.test.js": text})[0].way == "set-up changed"


def test_a_file_that_cannot_be_read_accuses_nobody() -> None:
    for text in ("def broken(:\n", "\0", "(" * 5000, "x" * 2_000_000):
        assert find({"test_cart.py": PYTHON}, {"test_cart.py": text}) == ()
        find({"a.test.js": SCRIPT}, {"a.test.js": text})


def test_odd_but_valid_python_is_read() -> None:
    odd = 'A = "a\\nb"\n\n\ndef test_total():\n    assert total(f"{A} {1}") == f"{A}"\n'
    deep = "def test_deep():\n    assert " + "-" * 3000 + "1\n"
    for text in (odd, deep):
        find({"test_cart.py": text}, {"test_cart.py": text + "    assert True\n"})
        find({"conftest.py": text}, {"conftest.py": text + "    assert True\n"})


CONFTEST = "import pytest\n"
HIDING = {
    "report": "def pytest_runtest_makereport(item, call):\n    call.excinfo = None\n",
    "exit code": "def pytest_sessionfinish(session):\n    session.exitstatus = 0\n",
    "selection": "def pytest_collection_modifyitems(items):\n    items[:] = items[:1]\n",
    "ignored": "collect_ignore = ['test_cart.py']\n",
    "method": "import unittest\nunittest.TestCase.assertEqual = lambda *a: None\n",
}


@pytest.mark.parametrize("name", HIDING)
def test_a_conftest_that_hides_needs_no_run(name: str) -> None:
    found = find({"conftest.py": CONFTEST}, {"conftest.py": CONFTEST + HIDING[name]})
    assert one(found) == ("conftest hides", WEAKENED)


def test_hooks_of_honest_projects_are_left_alone() -> None:
    slow = (
        "def pytest_collection_modifyitems(config, items):\n"
        "    if config.getoption('--slow'):\n        return\n"
        "    for item in items:\n        item.add_marker(pytest.mark.skip)\n"
    )
    assert one(find({"conftest.py": CONFTEST}, {"conftest.py": CONFTEST + slow})) == (
        "conftest hides",
        EDITED,
    )
    for hook in (
        (
            "def pytest_sessionfinish(session, exitstatus):\n"
            "    if exitstatus == 5:\n        session.exitstatus = 0\n"
        ),
        "def pytest_runtest_makereport(item, call):\n    if call.excinfo:\n        log(item)\n",
        "def pytest_configure(config):\n    config.addinivalue_line('markers', 'slow')\n",
    ):
        assert find({"conftest.py": CONFTEST}, {"conftest.py": CONFTEST + hook}) == ()


@pytest.mark.parametrize(
    ("path", "before", "after", "way"),
    [
        (
            "pyproject.toml",
            "[tool.coverage.report]\nfail_under = 90\n",
            "[tool.coverage.report]\nfail_under = 80\n",
            "gate lowered",
        ),
        (".coveragerc", "[report]\nfail_under = 90\n", "[report]\n", "gate lowered"),
        (
            "pytest.ini",
            "[pytest]\naddopts = -q\n",
            "[pytest]\naddopts = -q -k 'not total'\n",
            "tests left out",
        ),
        (
            "package.json",
            '{"scripts": {"test": "jest"}}',
            '{"scripts": {"test": "jest || true"}}',
            "failures ignored",
        ),
        ("package.json", '{"scripts": {"test": "jest"}}', '{"scripts": {"test": "exit 0"}}', "tests not run"),
        ("Makefile", "test:\n\tpytest\n", "test:\n\tpytest || true\n", "failures ignored"),
        ("Makefile", "test:\n\tpytest\n", "test:\n\t-pytest\n", "failures ignored"),
        ("run.sh", "set -e\npytest\n", "set +e\npytest\n", "failures ignored"),
        (
            ".gitlab-ci.yml",
            "t:\n  script: [pytest]\n",
            "t:\n  allow_failure: true\n  script: [pytest]\n",
            "CI ignores failures",
        ),
    ],
)
def test_settings_and_scripts_that_hide_failures_are_found(
    path: str, before: str, after: str, way: str
) -> None:
    assert one(find({path: before}, {path: after})) == (way, WEAKENED)
    assert not [each for each in find({path: after}, {path: before}) if each.standing is WEAKENED]


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("Makefile", "test:\n\tpytest\n", "test:\n\trm -rf build || true\n\tpytest\n"),
        ("Makefile", "test:\n\tpytest\n", "test:\n\tmake -k lint\n\tpytest -q\n"),
        ("package.json", '{"scripts": {"test": "jest"}}', '{"scripts": {"test": "vitest run"}}'),
        ("package.json", '{"scripts": {"test": "jest"}}', '{"version": "2", "scripts": {"test": "jest"}}'),
        ("run.sh", "pytest\n", "set +e\npytest\ncode=$?\nexit $code\n"),
        (
            ".github/workflows/ci.yml",
            "jobs: {a: {steps: [{run: pytest}]}}",
            "jobs: {b: {steps: [{run: uv run pytest}]}}",
        ),
        ("setup.cfg", "[flake8]\nignore = E1\n", "[flake8]\nignore = E1, E2\n"),
    ],
)
def test_honest_edits_of_settings_and_scripts_are_not_accused(path: str, before: str, after: str) -> None:
    assert not [each for each in find({path: before}, {path: after}) if each.standing is WEAKENED]


def test_a_gate_may_move_to_another_file() -> None:
    before = {"setup.cfg": "[coverage:report]\nfail_under = 90\n", ".coveragerc": "[report]\n"}
    after = {"setup.cfg": "", ".coveragerc": "[report]\nfail_under = 90\n"}
    assert find(before, after) == ()


def test_ci_that_another_file_runs_is_not_missed() -> None:
    travis, github = "script: pytest\n", "jobs: {a: {steps: [{run: pytest}]}}\n"
    both = {".travis.yml": travis, ".github/workflows/ci.yml": github}
    assert find(both, {".github/workflows/ci.yml": github}) == ()
    assert one(find({".travis.yml": travis}, {})) == ("CI runs no tests", WEAKENED)


def test_code_that_knows_the_test_is_found_in_the_product_alone() -> None:
    line = "import os\nFAST = 'PYTEST_CURRENT_TEST' in os.environ\n"
    assert one(find({"cart.py": "import os\n"}, {"cart.py": line})) == ("code knows the test", WEAKENED)
    assert find({"tests/helpers.py": "import os\n"}, {"tests/helpers.py": line}) == ()
    listen = "export function start() {\n  if (process.env.NODE_ENV !== 'test') {\n    listen();\n  }\n}\n"
    assert one(find({"app.js": ""}, {"app.js": listen}))[1] is EDITED


def test_a_test_that_nobody_edited_is_found_by_the_runs() -> None:
    data = {"tests/golden/total.json": "3\n"}
    comparison = compared(FAILED, PASSED, FAILED)
    found = find(data, {"tests/golden/total.json": "2\n"}, comparison)
    assert one(found) == ("snapshot rewritten", WEAKENED)
    assert find(data, {"tests/golden/total.json": "2\n"}, compared(FAILED, PASSED, PASSED)) == ()
    assert find({"cart.py": "a = 1\n"}, {"cart.py": "a = 2\n"}, compared(FAILED, PASSED, FAILED)) == ()


def test_a_check_that_runs_nothing_now_is_told() -> None:
    empty = TestRun(command="make test", runner="", exit_code=0)
    found = find({"cart.py": ""}, {"cart.py": "a = 1\n"}, TestComparison(before=run(PASSED), after=empty))
    assert one(found) == ("tests not run", WEAKENED)


def test_one_test_is_listed_once_and_the_gravest_comes_first() -> None:
    after = PYTHON.replace("def test_total():\n", "@pytest.mark.skip\ndef test_total():\n    return\n")
    before = {"test_cart.py": PYTHON, "test_b.py": PYTHON}
    found = find(before, {"test_cart.py": after, "test_b.py": PYTHON.replace("== 3", "== 4")})
    assert [each.standing for each in found] == [WEAKENED, EDITED]
