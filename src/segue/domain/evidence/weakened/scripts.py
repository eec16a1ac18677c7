"""What runs the tests (CI files, Makefiles, scripts, `package.json`), edited so that failures are ignored."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Sequence
from typing import Any

import yaml

from segue.domain.evidence.model import Standing, WeakenedTest
from segue.domain.evidence.sources import Sources
from segue.domain.evidence.weakened.changed_files import ChangedFile
from segue.domain.evidence.weakened.paths import is_ci_file, is_mixed_file, is_script
from segue.domain.evidence.weakened.task import asks_for_setting

_RUNS_TESTS = re.compile(
    r"\b(pytest|py\.test|unittest|tox|nox|jest|vitest|mocha|ava|karma|cypress|playwright|rspec|phpunit|ctest)\b"
    r"|\b(npm|pnpm|yarn|bun|deno|cargo|go|mvn|gradle|dotnet|mix|swift|make|just|rake|composer|bazel|gradlew|do)"
    r"\s+(?:run\s+|-\S+\s+)*(?:test|check|ci|verify)"
    r"|\bnode\s+(?:\S+\s+)*--test\b|\btest[\w-]*\.(sh|py|js)\b|manage\.py test",
)
_IGNORING = re.compile(
    r"\|\|\s*(?:true|:|exit\s+0|echo\b|/bin/true|printf\b|\(.*(?:true|exit 0))"
    r"|;\s*(?:true|:|exit\s+0)\s*(?:$|['\"])|&&\s*false\s*\|\|"
    r"|--exit-zero|--passWithNoTests|--suppress-no-test-exit-code"
)
_QUIET = r"(?:(?:echo|printf)\b[^&|;]*|true|:|exit\s+0)"
_NOTHING = re.compile(rf"^\s*(?:{_QUIET}|cd\s+\S+)?\s*(?:(?:&&|;)\s*{_QUIET})*\s*$")
_NAMES = (
    "ci",
    "workflow",
    "pipeline",
    "continue-on-error",
    "allow_failure",
    "non-blocking",
    "optional",
    "makefile",
    "npm test",
)
_ON_CHANGES = frozenset({"push", "pull_request", "pull_request_target", "merge_group", "workflow_call"})
_MOST_STEPS = 2_000


def find_in_automation(
    files: Sequence[ChangedFile], task: str | None, sources: Sources, paths: Collection[str]
) -> Iterator[WeakenedTest]:
    """Edits by which a failing test does not fail what runs it."""
    others = [path for path in paths if is_ci_file(path)]
    runs_tests = any(_runs_tests(sources.text(path)) for path in others)
    for file in files:
        if file.after is None and not is_ci_file(file.path):
            continue
        if is_ci_file(file.path):
            yield from _in_ci(file, task, runs_elsewhere=runs_tests)
        elif is_script(file.path):
            yield from _in_script(file, task)
        elif is_mixed_file(file.path):
            yield from _in_package(file, task)


def _finding(file: ChangedFile, way: str, line: int | None, reason: str, task: str | None) -> WeakenedTest:
    is_asked = asks_for_setting(task, (*_NAMES, file.path, file.path.rpartition("/")[2]))
    standing = Standing.DISCLOSED if is_asked else Standing.WEAKENED
    return WeakenedTest(way=way, path=file.path, line=line, reason=reason, standing=standing)


def _in_script(file: ChangedFile, task: str | None) -> Iterator[WeakenedTest]:
    before = file.before or ""
    ran_tests = _RUNS_TESTS.search(before)
    for number, line in file.added_lines():
        text = line.strip()
        if text.startswith("#"):
            continue
        old = _counterpart(text, before)
        if (_RUNS_TESTS.search(text) and old and _ignores(text) and not _ignores(old)) or (
            old
            and re.match(r"-\s*\S", text)
            and _RUNS_TESTS.search(text)
            and "akefile" in file.path
            and not old.startswith("-")
        ):
            yield _finding(file, "failures ignored", number, f"`{text[:80]}` hides that tests fail", task)
        elif ran_tests and _gives_up(text, line, file.after or ""):
            yield _finding(file, "failures ignored", number, f"`{text}` hides that tests fail", task)
    if ran_tests and file.after is not None and not _RUNS_TESTS.search(file.after) and _only_talks(file):
        yield _finding(file, "tests not run", None, "It ran tests before, and runs none now", task)


def _gives_up(text: str, line: str, after: str) -> bool:
    """True of what makes a script succeed whatever happened, unless it looks at the exit code itself."""
    if text in ("set +e", "set +o pipefail"):
        return "$?" not in after and "PIPESTATUS" not in after
    return line == "exit 0" and after.rstrip().endswith("exit 0")


def _only_talks(file: ChangedFile) -> bool:
    added = [line.strip().lstrip("@") for _, line in file.added_lines()]
    return bool(added) and all(_NOTHING.match(line) for line in added)


def _counterpart(line: str, before: str) -> str:
    """The line that this one was made of: the one that runs the same command."""
    command = _RUNS_TESTS.search(line)
    if command is None:
        return ""
    lines = [each.strip() for each in before.splitlines() if command[0] in each]
    return lines[0] if lines else ""


def _ignores(text: str) -> bool:
    return bool(_IGNORING.search(text))


def _in_package(file: ChangedFile, task: str | None) -> Iterator[WeakenedTest]:
    if not file.path.endswith("package.json"):
        return
    old, new = _scripts(file.before), _scripts(file.after)
    for name, command in new.items():
        was = old.get(name, "")
        if was == command or not (_RUNS_TESTS.search(was) or name in ("test", "check", "ci")) or not was:
            continue
        line = next((n for n, text in file.added_lines() if f'"{name}"' in text), None)
        if _ignores(command) and not _ignores(was):
            yield _finding(
                file,
                "failures ignored",
                line,
                f"The script `{name}` hides that tests fail: `{command[:80]}`",
                task,
            )
        elif _NOTHING.match(command) and not _NOTHING.match(was):
            yield _finding(
                file, "tests not run", line, f"The script `{name}` runs no tests now: `{command[:80]}`", task
            )


def _scripts(text: str | None) -> dict[str, str]:
    try:
        found = json.loads(text or "")
    except (ValueError, RecursionError):
        return {}
    scripts = found.get("scripts") if isinstance(found, dict) else None
    return {str(k): str(v) for k, v in scripts.items()} if isinstance(scripts, dict) else {}


def _in_ci(file: ChangedFile, task: str | None, *, runs_elsewhere: bool) -> Iterator[WeakenedTest]:
    old, new = _steps(file.before), _steps(file.after)
    tests = [step for step in new if _RUNS_TESTS.search(step["run"])]
    were = [step for step in old if _RUNS_TESTS.search(step["run"])]
    for step in tests:
        match = _RUNS_TESTS.search(step["run"])
        same = [each for each in were if match and match[0] in each["run"]]
        if not same:
            continue
        for mark in ("continue-on-error", "disabled"):
            if step[mark] and not any(each[mark] for each in same):
                what = "may fail" if mark == "continue-on-error" else "is not run"
                yield _finding(
                    file,
                    "CI ignores failures",
                    _line(file, mark),
                    f"The step `{step['run'].strip()[:60]}` {what} in CI",
                    task,
                )
        ignoring = next(
            (line for line in step["run"].splitlines() if _RUNS_TESTS.search(line) and _ignores(line)), ""
        )
        if ignoring and not any(_ignores(each["run"]) for each in same):
            yield _finding(
                file,
                "CI ignores failures",
                _line(file, ignoring.strip()),
                f"`{ignoring.strip()[:80]}` hides that tests fail",
                task,
            )
    lost = _triggers(file.before) - _triggers(file.after) if were and tests else set()
    if lost and not _triggers(file.after):
        yield _finding(
            file,
            "CI runs no tests",
            _line(file, "on:"),
            f"The tests of this workflow ran on {' and '.join(sorted(lost))} before, and on no change now",
            task,
        )
    if were and not tests and not runs_elsewhere and not _runs_something_new(file):
        yield _finding(
            file,
            "CI runs no tests",
            None,
            f"CI ran `{were[0]['run'].strip()[:60]}` before, and runs no tests now",
            task,
        )


def _triggers(text: str | None) -> set[str]:
    """The events of GitHub by which a workflow sees every change; YAML reads the word `on` as true."""
    found = _loaded(text)
    events = found.get("on", found.get(True)) if isinstance(found, dict) else None
    names = {events} if isinstance(events, str) else set(events) if isinstance(events, list | dict) else set()
    return {str(name) for name in names if name in _ON_CHANGES}


def _runs_tests(text: str | None) -> bool:
    return any(_RUNS_TESTS.search(step["run"]) for step in _steps(text))


def _runs_something_new(file: ChangedFile) -> bool:
    """True if a step was added: it may run the tests in another way."""
    return any(re.match(r"\s*-?\s*(run|uses|script|command)\s*:", line) for _, line in file.added_lines())


def _line(file: ChangedFile, text: str) -> int | None:
    words = {"disabled": "if:"}.get(text, text)
    return next((number for number, line in file.added_lines() if words in line), None)


def _steps(text: str | None) -> list[dict[str, Any]]:
    """The steps of a CI file: what each runs, whether it may fail, whether it is off."""
    steps: list[dict[str, Any]] = []
    _collect(_loaded(text), {"continue-on-error": False, "disabled": False}, steps)
    return steps


def _loaded(text: str | None) -> Any:
    try:
        return yaml.load(text or "", Loader=yaml.CSafeLoader)
    except (yaml.YAMLError, RecursionError, ValueError):
        return None


def _collect(node: Any, above: dict[str, bool], steps: list[dict[str, Any]]) -> None:
    if len(steps) >= _MOST_STEPS:
        return
    if isinstance(node, list):
        for each in node:
            _collect(each, above, steps)
    elif isinstance(node, dict):
        may_fail = node.get("continue-on-error") in (True, "true") or node.get("allow_failure") is True
        is_off = node.get("if") in (False, "false", "${{ false }}") or node.get("when") in ("never", "manual")
        marks = {
            "continue-on-error": above["continue-on-error"] or may_fail,
            "disabled": above["disabled"] or is_off,
        }
        for key in ("run", "script", "command"):
            value = node.get(key)
            if isinstance(value, str | list):
                text = value if isinstance(value, str) else "\n".join(map(str, value))
                steps.append({"run": text, **marks})
        for key, value in node.items():
            if isinstance(value, dict | list) and key != "script":
                _collect(value, marks, steps)
