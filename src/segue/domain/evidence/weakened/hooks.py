"""Hooks of pytest that skip, deselect or pass tests: what a `conftest.py` can do to all of them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from segue.domain.evidence.definitions import parse_python
from segue.domain.evidence.model import Standing, TestComparison, WeakenedTest
from segue.domain.evidence.weakened.changed_files import ChangedFile
from segue.domain.evidence.weakened.run_groups import has_runs, hidden_groups
from segue.domain.evidence.weakened.task import asks_for_edit

_FORCED = re.compile(
    r"\.outcome\s*=\s*['\"](passed|skipped)|exitstatus\s*=(?!=)\s*(0|.*OK)|_exit\(0\)|exit\(0\)|force_result\("
    r"|\.wasxfail\s*="
    r"|\.(failed|passed)\s*=(?!=)|\.excinfo\s*=\s*None|testsfailed\s*=\s*0"
)
_LEAVING_OUT = re.compile(
    r"items\.(clear|remove|pop)\(|items\[:\]\s*=|del items|add_marker\([^)]*(skip|xfail)|collect_ignore"
    r"|deselected|return True|pytest\.(skip|xfail)\("
)
_LEAVING_OUT_HOOKS = (
    "pytest_collection_modifyitems",
    "pytest_ignore_collect",
    "pytest_runtest_setup",
    "pytest_itemcollected",
    "pytest_pycollect_makeitem",
    "pytest_collect_file",
)
_FORCING_HOOKS = (
    "pytest_runtest_makereport",
    "pytest_sessionfinish",
    "pytest_runtest_call",
    "pytest_pyfunc_call",
    "pytest_runtest_protocol",
    "pytest_runtest_logreport",
    "pytest_report_teststatus",
    "pytest_unconfigure",
    "pytest_exception_interact",
)
_ON_REQUEST = re.compile(r"getoption|get_closest_marker|keywords|environ|getini|platform|option\.")
_ASSERT_METHOD = re.compile(r"\bTestCase\.(assert\w+|fail|run)\s*=|setattr\(\s*(unittest\.)?TestCase\s*,")


def find_hooks(
    files: Sequence[ChangedFile], comparisons: Sequence[TestComparison], task: str | None
) -> Iterator[WeakenedTest]:
    """New or changed hooks that keep tests from failing."""
    hides = bool(hidden_groups(comparisons))
    for file in files:
        if not file.path.endswith(".py") or file.after is None:
            continue
        old, new = _hooks(file.before or ""), _hooks(file.after)
        for name, (code, line) in new.items():
            if name in old and old[name][0] == code:
                continue
            if not (kind := _kind(name, code)):
                continue
            is_forced = kind == "forced"
            on_request = bool(_ON_REQUEST.search(code))
            is_accused = is_forced or (hides if has_runs(comparisons) else not on_request)
            standing = Standing.WEAKENED if is_accused else Standing.EDITED
            if is_accused and asks_for_edit(task, {"conftest", "conftest.py", name, "skip", "slow"}):
                standing = Standing.DISCLOSED
            does = "decides how tests end" if is_forced else "can leave tests out"
            reason = f"`{name}` {does}" + ("" if is_accused else "; no test is hidden by it")
            yield WeakenedTest(
                way="conftest hides",
                path=file.path,
                line=line,
                reason=reason,
                standing=standing,
                hides_failure=is_forced or hides,
            )


def _hooks(text: str) -> dict[str, tuple[str, int]]:
    """The hooks of a file with their code, and settings that work like hooks."""
    module = parse_python(text)
    try:
        return _hooks_in(module) if module is not None else {}
    except (ValueError, RecursionError):  # what is valid can still be too deep to be written as text again
        return {}


def _hooks_in(module: ast.Module) -> dict[str, tuple[str, int]]:
    found = {}
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("pytest_"):
            found[node.name] = (ast.unparse(node), node.lineno)
        elif isinstance(node, ast.Assign):
            code = ast.unparse(node)
            if re.match(r"collect_ignore(_glob)?\b", code):
                found["collect_ignore"] = (code, node.lineno)
            elif _ASSERT_METHOD.search(code):
                found["TestCase"] = (code, node.lineno)
        elif isinstance(node, ast.Call) and _ASSERT_METHOD.search(ast.unparse(node)):
            found["TestCase"] = (ast.unparse(node), node.lineno)
    return found


def _kind(name: str, code: str) -> str:
    if name == "TestCase":
        return "forced"
    if name == "collect_ignore" or (name in _LEAVING_OUT_HOOKS and _LEAVING_OUT.search(code)):
        return "leaving out"
    if name == "pytest_sessionfinish" and re.search(r"==\s*5|NO_TESTS_COLLECTED", code):
        return ""  # no tests at all are not a failure: that hides none
    is_forcing = name in _FORCING_HOOKS and (
        _FORCED.search(code) or (name.endswith(("call", "protocol")) and "return True" in code)
    )
    return "forced" if is_forcing else ""
