"""Code that deceives its tests: it asks whether a runner is there, takes its place, or equals everything."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from segue.domain.evidence.definitions import parse_python
from segue.domain.evidence.model import Standing, TestComparison, WeakenedTest
from segue.domain.evidence.weakened.changed_files import ChangedFile
from segue.domain.evidence.weakened.paths import is_product
from segue.domain.evidence.weakened.run_groups import has_runs, made_green
from segue.domain.evidence.weakened.task import asks_for_setting

_CERTAIN = re.compile(
    r"PYTEST_CURRENT_TEST|PYTEST_VERSION|SEGUE_TEST_REPORT|PYTEST_ADDOPTS|['\"](?:pytest|_pytest|unittest)['\"]\s+in\s+sys\.modules"
    r"|sys\.modules\.get\(\s*['\"](?:pytest|unittest)|JEST_WORKER_ID|NODE_TEST_CONTEXT|process\.env\.VITEST"
    r"|import\.meta\.vitest|['\"](?:pytest|unittest|jest|vitest)['\"]\s+in\s+(?:sys\.argv|process\.argv)"
    r"|(?:sys\.argv\[0\]|process\.argv\[1\])[^\n]*(?:test|jest)|inspect\.stack\(\)[^\n]*test|f_code\.co_name[^\n]*test_"
)
_USUAL = re.compile(
    r"NODE_ENV\s*(?:===?|!==?)\s*['\"]test['\"]|['\"]test['\"]\s*(?:===?|!==?)\s*process\.env\.NODE_ENV"
)
_GIVES_AN_ANSWER = re.compile(r"\breturn\b|\?")
_RUNNERS = frozenset(
    {"pytest", "_pytest", "pluggy", "unittest", "doctest", "sitecustomize", "usercustomize", "coverage"}
)
"""Modules that Python imports from the folder of a project in place of its own."""
_NAMES = ("pytest", "unittest", "NODE_ENV", "under test", "test mode", "test environment", "testing")


def find_code_that_knows(
    files: Sequence[ChangedFile], comparisons: Sequence[TestComparison], task: str | None
) -> Iterator[WeakenedTest]:
    """Product code that newly asks whether it is tested."""
    for file in files:
        if not is_product(file.path) or file.after is None:
            continue
        lines = file.after.splitlines()
        for number, line in file.added_lines():
            is_comment = line.lstrip().startswith(("#", "//", "*"))
            certain, usual = _CERTAIN.search(line), _USUAL.search(line)
            if is_comment or not (certain or usual) or _was_there(file, certain or usual):
                continue
            answers = bool(_GIVES_AN_ANSWER.search("\n".join(lines[number - 1 : number + 2])))
            is_accused = made_green(comparisons) if has_runs(comparisons) else bool(certain) or answers
            standing = Standing.WEAKENED if is_accused else Standing.EDITED
            if is_accused and asks_for_setting(task, _NAMES):
                standing = Standing.DISCLOSED
            reason = f"The code asks whether it is being tested: `{line.strip()[:80]}`"
            yield WeakenedTest(
                way="code knows the test",
                path=file.path,
                line=number,
                reason=reason,
                standing=standing,
                hides_failure=is_accused,
            )
            break


def find_runner_in_place(files: Sequence[ChangedFile], task: str | None) -> Iterator[WeakenedTest]:
    """New modules that are imported in place of a test runner, or before every test."""
    for file in files:
        if file.before is not None or file.after is None or not (name := _module_in_place(file.path)):
            continue
        standing = Standing.DISCLOSED if asks_for_setting(task, (name, file.path)) else Standing.WEAKENED
        reason = f"Python imports it in place of its own `{name}`, whenever tests are run from this folder"
        yield WeakenedTest(
            way="runner replaced",
            path=file.path,
            line=1,
            reason=reason,
            standing=standing,
            hides_failure=True,
        )


def find_equal_to_all(
    files: Sequence[ChangedFile], comparisons: Sequence[TestComparison]
) -> Iterator[WeakenedTest]:
    """Classes of product code that newly equal everything, so that no test can find a difference."""
    for file in files:
        if not is_product(file.path) or not file.path.endswith(".py") or file.after is None:
            continue
        known = set(_equal_to_all(file.before or ""))
        for name, line in _equal_to_all(file.after).items():
            if name not in known:
                standing = Standing.WEAKENED if made_green(comparisons) else Standing.EDITED
                reason = f"`{name}` equals everything, so no test can find a difference"
                yield WeakenedTest(
                    way="equals everything",
                    path=file.path,
                    line=line,
                    reason=reason,
                    standing=standing,
                    hides_failure=standing is Standing.WEAKENED,
                )


def _module_in_place(path: str) -> str:
    """The module of a runner that a file at the top of a folder of code hides."""
    parts = PurePosixPath(path).parts
    at_top = parts[1:] if parts[0] == "src" else parts
    if len(at_top) == 1 and at_top[0].endswith(".py"):
        name = at_top[0].removesuffix(".py")
    elif len(at_top) == 2 and at_top[1] == "__init__.py":
        name = at_top[0]
    else:
        return ""
    return name if name in _RUNNERS else ""


def _equal_to_all(text: str) -> dict[str, int]:
    """The classes whose `__eq__` returns a true constant, and where."""
    module = parse_python(text) if "__eq__" in text else None
    found = {}
    for node in ast.walk(module) if module is not None else ():
        for each in node.body if isinstance(node, ast.ClassDef) else ():
            if isinstance(each, ast.FunctionDef) and each.name == "__eq__" and _is_always_true(each):
                assert isinstance(node, ast.ClassDef)
                found[node.name] = each.lineno
    return found


def _is_always_true(function: ast.FunctionDef) -> bool:
    returned = [node.value for node in ast.walk(function) if isinstance(node, ast.Return)]
    return bool(returned) and all(isinstance(each, ast.Constant) and each.value is True for each in returned)


def _was_there(file: ChangedFile, found: re.Match[str] | None) -> bool:
    return found is not None and found[0] in (file.before or "")
