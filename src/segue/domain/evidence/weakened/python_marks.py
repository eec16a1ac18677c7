"""Marks of Python tests: what skips them, what replaces the code under test, how long they may take."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping

from segue.domain.evidence.weakened.python_assertions import called, constant_truth
from segue.domain.evidence.weakened.shapes import SkipMark

_ALWAYS = frozenset({"skip", "expectedFailure", "xfail"})
_IF = frozenset({"skipif", "skipIf", "xfail"})
_UNLESS = frozenset({"skipUnless"})
_CALLS = frozenset({"skip", "skipTest", "xfail", "exit"})
_LIMITS = frozenset({"timeout", "flaky", "repeat", "retry", "rerun"})
_LONGEST = 80


def mark_of(node: ast.expr, aliases: Mapping[str, ast.expr]) -> SkipMark | None:
    """The skip that a decorator, or a mark in a list, is; none if it is another one."""
    if isinstance(node, ast.Name) and node.id in aliases:
        node = ast.copy_location(aliases[node.id], node)
    call = node if isinstance(node, ast.Call) else None
    name = called(call) if call is not None else _last(node)
    if name not in _ALWAYS | _IF | _UNLESS:
        return None
    conditions = _conditions(call) if call is not None else []
    is_certain = name in _ALWAYS
    if conditions and name in _IF:
        is_certain = bool(constant_truth(conditions[0]))
    elif name in _UNLESS:
        is_certain = bool(conditions) and constant_truth(conditions[0]) is False
    if not is_certain and conditions and constant_truth(conditions[0]) is not None:
        return None
    return SkipMark(text=_short(node), line=node.lineno, is_certain=is_certain)


def skip_call(node: ast.stmt) -> SkipMark | None:
    """The skip that a statement is: `pytest.skip()`, `self.skipTest()`, `raise SkipTest`."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        call = node.value
        is_skip = called(call) in _CALLS and isinstance(call.func, ast.Attribute)
        owner = _last(call.func.value) if isinstance(call.func, ast.Attribute) else ""
        if is_skip and owner in ("pytest", "self", "unittest"):
            return SkipMark(text=_short(call), line=node.lineno, is_certain=True)
    if isinstance(node, ast.Raise) and node.exc is not None:
        kind = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
        if _last(kind) in ("SkipTest", "Skipped", "Exit"):
            return SkipMark(text=_short(node), line=node.lineno, is_certain=True)
    return None


def mocks_in(nodes: Iterable[ast.AST]) -> frozenset[str]:
    """The last names of what is replaced: by `patch`, `monkeypatch.setattr`, or by setting an attribute."""
    found: set[str] = set()
    for node in nodes:
        for each in ast.walk(node):
            if isinstance(each, ast.Call):
                found |= _replaced(each)
            elif isinstance(each, ast.Assign):
                found |= {
                    target.attr
                    for target in each.targets
                    if isinstance(target, ast.Attribute)
                    and isinstance(target.value, ast.Name)
                    and target.value.id != "self"
                    and isinstance(each.value, ast.Lambda | ast.Call)
                }
    return frozenset(found)


def limits_of(decorators: Iterable[ast.expr]) -> dict[str, float]:
    """Time limits and numbers of retries, by the name of their mark."""
    found = {}
    for node in decorators:
        call = node if isinstance(node, ast.Call) else None
        name = called(call) if call is not None else _last(node)
        if name in _LIMITS:
            values = [*call.args, *(each.value for each in call.keywords)] if call is not None else []
            numbers = [each.value for each in values if isinstance(each, ast.Constant)]
            found[name] = max((float(n) for n in numbers if isinstance(n, int | float)), default=1.0)
    return found


def _replaced(call: ast.Call) -> set[str]:
    name, arguments = called(call), call.args
    if name in ("patch", "setattr") and arguments:
        texts = [each.value for each in arguments[:2] if isinstance(each, ast.Constant)]
        return {str(text).rpartition(".")[2] for text in texts if isinstance(text, str)}
    is_object = (
        name == "object" and isinstance(call.func, ast.Attribute) and _last(call.func.value) == "patch"
    )
    if is_object and len(arguments) > 1 and isinstance(arguments[1], ast.Constant):
        return {str(arguments[1].value)}
    return set()


def _conditions(call: ast.Call) -> list[ast.expr]:
    named = [each.value for each in call.keywords if each.arg == "condition"]
    name = called(call)
    if name == "skip":
        return []
    given = [
        each for each in call.args if not (isinstance(each, ast.Constant) and isinstance(each.value, str))
    ]
    return named or given[:1]


def _last(node: ast.AST) -> str:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case ast.Call():
            return called(node)
    return ""


def _short(node: ast.AST) -> str:
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."
