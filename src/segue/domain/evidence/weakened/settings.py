"""Settings of runners that leave tests out, and gates of coverage that were lowered."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from segue.domain.evidence.model import Standing, TestComparison, WeakenedTest
from segue.domain.evidence.weakened.changed_files import ChangedFile
from segue.domain.evidence.weakened.paths import (
    is_ci_file,
    is_mixed_file,
    is_runner_file,
    is_script,
    is_test_file,
)
from segue.domain.evidence.weakened.run_groups import has_runs, hidden_groups
from segue.domain.evidence.weakened.task import asks_for_setting

_LEAVING_OUT = re.compile(
    r"(?P<option>--ignore(?:-glob)?|--deselect|--collect-only|--co\b|(?<![\w-])-k\b|--testPathIgnorePatterns"
    r"|--testNamePattern|--test-name-pattern|--test-skip-pattern|--exclude)"
    r"[= '\"]+(?P<value>\"[^\"]*\"|'[^']*'|[^\s'\",\]]+)?"
)
_SETTINGS = re.compile(
    r"^\W*(testpaths|norecursedirs|python_files|python_classes|python_functions|testPathIgnorePatterns|testMatch"
    r"|testRegex|testNamePattern|modulePathIgnorePatterns|exclude|include|ignore|spec|grep|testIgnore|roots"
    r"|collect_ignore|passWithNoTests|xfail_strict)\b['\"]?\s*[:=]"
)
_GATES = (
    re.compile(r"(?P<name>fail_under)\s*[=:]\s*['\"]?(?P<value>[\d.]+)"),
    re.compile(r"--(?P<name>cov-fail-under|fail-under)[= ](?P<value>[\d.]+)"),
    re.compile(r"['\"]?\b(?P<name>branches|functions|lines|statements)['\"]?\s*[:=]\s*(?P<value>[\d.]+)"),
    re.compile(
        r"--(?P<name>(?:check-coverage\s+--)?(?:lines|branches|functions|statements))[= ](?P<value>[\d.]+)"
    ),
    re.compile(r"^\s*(?P<name>target)\s*:\s*(?P<value>[\d.]+)%", re.MULTILINE),
)
_GATE_NAMES = ("coverage", "fail_under", "cov-fail-under", "coverageThreshold", "threshold")


def find_in_settings(
    files: Sequence[ChangedFile],
    comparisons: Sequence[TestComparison],
    task: str | None,
    paths: Collection[str],
) -> Iterator[WeakenedTest]:
    """Settings that were changed so that tests are left out, or that less coverage is enough."""
    yield from _lowered_gates(files, task)
    for file in files:
        if (
            is_runner_file(file.path)
            or is_mixed_file(file.path)
            or is_ci_file(file.path)
            or is_script(file.path)
        ):
            yield from _leaving_out(file, comparisons, task, paths)


def _leaving_out(
    file: ChangedFile,
    comparisons: Sequence[TestComparison],
    task: str | None,
    paths: Collection[str],
) -> Iterator[WeakenedTest]:
    hidden = [group for group in hidden_groups(comparisons) if group.after is None]
    for number, line in file.added_lines():
        if line.lstrip().startswith(("#", "//", ";")):
            continue
        option, setting = _new_option(file, line), _SETTINGS.match(line)
        if not option and not (setting and (is_runner_file(file.path) or is_mixed_file(file.path))):
            continue
        name = option or (setting[1] if setting else "")
        if has_runs(comparisons) and not is_ci_file(file.path):
            is_accused = bool(hidden)
        else:
            is_accused = bool(option) and _means_tests(line, paths)
        if not option and not is_accused:
            continue
        standing = Standing.WEAKENED if is_accused else Standing.EDITED
        words = {*re.findall(r"[\w./-]{4,}", line), name, file.path.rpartition("/")[2]}
        if is_accused and asks_for_setting(task, words):
            standing = Standing.DISCLOSED
        which = f"; not run now: {hidden[0].name}" if hidden and is_accused else ""
        yield WeakenedTest(
            way="tests left out",
            path=file.path,
            line=number,
            reason=f"`{line.strip()[:80]}` leaves tests out{which}",
            standing=standing,
        )


def _new_option(file: ChangedFile, line: str) -> str:
    """An option that leaves tests out, and was not in the file before."""
    for found in _LEAVING_OUT.finditer(line):
        is_of_other = found["option"] == "-k" and not re.search("pytest|addopts", line)
        if found[0].strip() not in (file.before or "") and not is_of_other:
            return found["option"]
    return ""


def _means_tests(line: str, paths: Collection[str]) -> bool:
    """True if an option names tests that there are, and not folders without any."""
    for found in _LEAVING_OUT.finditer(line):
        value = (found["value"] or "").strip("'\"")
        if found["option"] in ("--collect-only", "--co", "-k", "--deselect") or "ame" in found["option"]:
            return True
        place = value.strip("/").removeprefix("./")
        if place and any(path.startswith(place) and is_test_file(path) for path in paths):
            return True
    return False


def _lowered_gates(files: Sequence[ChangedFile], task: str | None) -> Iterator[WeakenedTest]:
    """A gate that moved to another file is as good as before."""
    before, after = dict[str, float](), dict[str, float]()
    for file in files:
        for name, value, _ in _gates(file.path, file.before or ""):
            before[name] = max(value, before.get(name, 0))
        for name, value, _ in _gates(file.path, file.after or ""):
            after[name] = max(value, after.get(name, 0))
    lowered = {name for name, value in before.items() if after.get(name, 0) < value and value > 0}
    for file in files:
        places = {name: line for name, _, line in _gates(file.path, file.after or "")}
        for name in {name for name, value, _ in _gates(file.path, file.before or "") if value} & lowered:
            is_asked = asks_for_setting(task, (*_GATE_NAMES, name))
            now = (
                f"from {before[name]:g} to {after[name]:g}"
                if name in after
                else f"of {before[name]:g} was removed"
            )
            yield WeakenedTest(
                way="gate lowered",
                path=file.path,
                line=places.get(name),
                reason=f"The coverage gate `{name}` was lowered {now}"
                if name in after
                else f"The coverage gate `{name}` {now}",
                standing=Standing.DISCLOSED if is_asked else Standing.WEAKENED,
            )


def _gates(path: str, text: str) -> list[tuple[str, float, int]]:
    """The gates of a file: name, value, line. Numbers that mean something else are not taken for gates."""
    if not (is_runner_file(path) or is_mixed_file(path) or is_ci_file(path) or is_script(path)):
        return []
    has_thresholds = re.search(r"threshold|check-coverage|nycrc|c8rc", text + path) is not None
    found = []
    for index, pattern in enumerate(_GATES):
        if (index in (2, 3) and not has_thresholds) or (index == 4 and "codecov" not in path):
            continue
        for each in pattern.finditer(text):
            try:
                value = float(each["value"])
            except ValueError:
                continue
            name = "coverage" if "under" in each["name"] else each["name"].rpartition("--")[2]
            found.append((name, value, text.count("\n", 0, each.start()) + 1))
    return found
