"""Runs a check so that a known test runner also writes a report, outside of the folder that it runs in.

The command is never parsed: runners are asked by variables that they read themselves (`PYTEST_ADDOPTS`,
`NODE_OPTIONS`, a `sitecustomize` on `PYTHONPATH`). Where a runner does not take that, the command is run as
it is, and what it prints is read.
"""

from __future__ import annotations

import json
import os
import shutil
import threading
import time
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from segue.adapters.checks.running import SECONDS, run_check
from segue.application.ports.checks import ReportedRun
from segue.domain.environment import is_passed
from segue.domain.evidence.model import CommandRun, TestRun
from segue.domain.evidence.reports import (
    Locate,
    TestRecord,
    printed_run,
    read_jest,
    read_junit,
    read_records,
    reported_run,
)

_HOOKS = Path(__file__).parent / "hooks"
_LARGEST_REPORT = 64_000_000
_REFUSED = ("--test-reporter", "junitxml", "junit_family", "--outputFile", "--require")
"""Options of ours; a program that names one of them when it fails did not take it."""
_READERS = {"jest": read_jest, "vitest": read_jest, "node": read_records, "unittest": read_records}


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckRunner:
    """Runs checks with the variables that they may have."""

    pass_env: Collection[str] = ()
    """Names of variables that are handed on."""

    def __call__(  # noqa: PLR0913 - each is a limit or a part of the environment
        self,
        command: str,
        folder: Path,
        top: Path,
        *,
        seconds: float = SECONDS,
        has_bytecode: bool = False,
        first_on_path: Collection[Path] = (),
        given_up: threading.Event | None = None,
    ) -> ReportedRun:
        """Run a command in a folder of a tree; `first_on_path` are folders that Python imports from first.

        Bytecode of the tree counts for nothing: where some was left in it, Python compiles all files anew,
        and else it imports none that has no source.
        """
        deadline = time.monotonic() + seconds
        with TemporaryDirectory(prefix="segue-report-") as name:
            private = Path(os.path.realpath(name))
            anew = {"PYTHONPYCACHEPREFIX": str(private / "bytecode")} if has_bytecode else {}
            variables = self._variables(private, folder, first_on_path) | anew
            if not has_bytecode:
                variables["SEGUE_TEST_TREE"] = os.path.realpath(top)
            run = run_check(
                command,
                folder,
                seconds=seconds,
                pass_env=self.pass_env,
                environment=variables,
                given_up=given_up,
            )
            tests = _believed(_read_report(private / "report", run, _locator(folder, top)), run)
            imported = tuple(_imported(private / "report"))
            left = deadline - time.monotonic()
            if tests is None and run.exit_code and any(each in run.output for each in _REFUSED) and left > 0:
                run = run_check(
                    command,
                    folder,
                    seconds=left,
                    pass_env=self.pass_env,
                    environment=anew,
                    given_up=given_up,
                )
        return ReportedRun(run=run, tests=tests or printed_run(run), imported=imported)

    def _variables(self, private: Path, folder: Path, first_on_path: Collection[Path]) -> dict[str, str]:
        report, hooks = private / "report", private / "hooks"
        report.mkdir(mode=0o700)
        shutil.copytree(_HOOKS, hooks, ignore=shutil.ignore_patterns("__pycache__"))
        python = private / "python"
        python.mkdir()
        (hooks / "sitecustomize.py").rename(python / "sitecustomize.py")
        paths = [str(python), *map(str, first_on_path), self._given("PYTHONPATH")]
        found = {
            "SEGUE_TEST_REPORT": str(report),
            "PYTHONPATH": os.pathsep.join(each for each in paths if each),
        }
        if any(each.isspace() for each in str(private)):
            return found  # a path with a blank would be two words of options
        junit = f"--junitxml={report / 'pytest.xml'} -o junit_family=xunit1"
        found["PYTEST_ADDOPTS"] = f"{self._given('PYTEST_ADDOPTS')} {junit}".strip()
        if _has_javascript(folder):
            options = (
                "--test-reporter=spec --test-reporter-destination=stdout "
                f"--test-reporter={hooks / 'reporter.mjs'} --test-reporter-destination={private / 'unused'} "
                f"--require={hooks / 'options.cjs'}"
            )
            found["NODE_OPTIONS"] = f"{self._given('NODE_OPTIONS')} {options}".strip()
        return found

    def _given(self, name: str) -> str:
        return os.environ.get(name, "") if is_passed(name, self.pass_env) else ""


def _has_javascript(folder: Path) -> bool:
    """An old node refuses options that it does not know, so only a project of JavaScript gets them."""
    if any((folder / name).exists() for name in ("package.json", "node_modules")):
        return True
    return any(
        next(folder.glob(f"{below}*.{ending}"), None) is not None
        for below in ("", "*/")
        for ending in ("js", "mjs", "cjs", "ts")
    )


def _locator(folder: Path, top: Path) -> Locate:
    """Runners name files from where they run, from the top, or in full."""
    real, cache = os.path.realpath(top), dict[str, str]()

    def locate(file: str) -> str:
        if file not in cache:
            places = [os.path.realpath(os.path.join(base, file)) for base in (folder, top)]  # noqa: PTH118
            place = next((each for each in places if os.path.exists(each)), places[0])  # noqa: PTH110
            cache[file] = os.path.relpath(place, real).replace(os.sep, "/")
        return cache[file]

    return locate


def _read_report(report: Path, run: CommandRun, locate: Locate) -> TestRun | None:
    found: dict[str, list[TestRecord]] = {}
    for file in sorted(report.iterdir()):
        text = _text(file)
        runner = file.stem.partition("-")[0]
        if runner == "pytest":
            found.setdefault(runner, []).extend(read_junit(text, locate))
        elif runner in _READERS:
            found.setdefault(runner, []).extend(_READERS[runner](text, locate))
    if not found:
        return None
    names = sorted(found, key=lambda runner: -len(found[runner]))
    return reported_run(run, names[0], [record for name in names for record in found[name]])


def _believed(tests: TestRun | None, run: CommandRun) -> TestRun | None:
    """A report; none if the runner printed failures and it tells of none: then somebody has edited it."""
    if tests is None or tests.failed or run.exit_code != 0:
        return tests
    printed = printed_run(run)
    return None if printed is not None and printed.failed else tests


def _imported(report: Path) -> Iterator[str]:
    for file in sorted(report.glob("imports-*.jsonl")):
        for line in _text(file).splitlines():
            try:
                files = json.loads(line)
            except ValueError:
                continue
            yield from (os.path.realpath(each) for each in files if isinstance(each, str))


def _text(file: Path) -> str:
    try:
        if file.is_symlink() or not file.is_file() or file.stat().st_size > _LARGEST_REPORT:
            return ""
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
