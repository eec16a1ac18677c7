"""What the assertions of a Python test require, and how strictly."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

from segue.domain.evidence.weakened.shapes import EXACT, MEDIUM, TRIVIAL, WEAK, Assertion

_EXACT_METHODS = re.compile(
    r"assert(_equal|_array_equal|Equals?|(Count|Dict|List|Tuple|Set|Sequence|MultiLine|JSON|HTML|XML)Equal|Is|IsNone"
    r"|_called_once_with|_called_with|_has_calls|_frame_equal|_series_equal|QuerySetEqual)$"
)
_CLOSE = re.compile(r"assert(AlmostEquals?|_allclose|_almost_equal|_array_almost_equal|_approx_equal)$")
_WEAK_METHODS = re.compile(r"assert(IsNotNone|IsInstance|_called|IsNot)$")
_RAISES = re.compile(
    r"^(raises|warns|assertRaises|assertRaisesRegex|assertWarns|assertWarnsRegex|deprecated_call)$"
)
_HELPER = re.compile(r"^_?(assert|check|verify|expect|ensure|should|must)(_|[A-Z])")
_BROAD = ("Exception", "BaseException")
_EQUAL = "=="


def assertions_in(node: ast.stmt, constants: Mapping[str, ast.expr]) -> Iterator[Assertion]:
    """The assertions that a statement itself makes; not those of statements inside it."""
    if isinstance(node, ast.Assert):
        kind, strength, tolerance = _judge(_filled(node.test, constants))
        yield _assertion(node, _filled(node.test, constants), kind, strength, tolerance)
        return
    if isinstance(node, ast.With | ast.AsyncWith):
        for item in node.items:
            if isinstance(item.context_expr, ast.Call) and _RAISES.match(called(item.context_expr)):
                yield _raising(item.context_expr)
        return
    call = node.value if isinstance(node, ast.Expr | ast.Return) else None
    call = call.value if isinstance(call, ast.Await) else call
    if isinstance(call, ast.Call):
        name = called(call)
        if _RAISES.match(name):
            yield _raising(call)
        elif name.startswith("assert"):
            yield _method(call, name, constants)
        elif _HELPER.match(name):
            yield _assertion(call, _filled(call, constants), name, MEDIUM)


def called(call: ast.Call) -> str:
    """The last name of what is called."""
    match call.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def skeleton(node: ast.AST) -> str:
    """The code without names: what stays when something is renamed."""
    copy = ast.parse(ast.unparse(node))
    for each in ast.walk(copy):
        if isinstance(each, ast.Name):
            each.id = "_"
        elif isinstance(each, ast.Attribute):
            each.attr = "_"
        elif (isinstance(each, ast.keyword) and each.arg) or isinstance(each, ast.arg):
            each.arg = "_"
    return ast.unparse(copy)


def constant_truth(node: ast.expr) -> bool | None:  # noqa: PLR0911 - a return for each form
    """Whether an expression of constants is true; none if it is not one."""
    if (
        isinstance(node, ast.Compare)
        and len(node.ops) == 1
        and ast.dump(node.left) == ast.dump(node.comparators[0])
    ):
        return isinstance(node.ops[0], ast.Eq | ast.Is | ast.LtE | ast.GtE)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        inner = constant_truth(node.operand)
        return None if inner is None else not inner
    if isinstance(node, ast.BoolOp):
        parts = [constant_truth(value) for value in node.values]
        wins = isinstance(node.op, ast.Or)
        if wins in parts:
            return wins
        return None if None in parts else not wins
    if isinstance(node, ast.Tuple):  # `assert (x, "message")` is always true
        return bool(node.elts)
    try:
        return bool(ast.literal_eval(node))
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return None


def _judge(node: ast.expr) -> tuple[str, int, float | None]:  # noqa: PLR0911 - a return for each form
    """The kind of a condition, how strict it is, and how far off a number may be."""
    if constant_truth(node):
        return "constant", TRIVIAL, None
    match node:
        case ast.Compare(ops=[op], comparators=[right]):
            return _comparison(node, op, right)
        case ast.BoolOp(op=ast.And()):
            return "and", max(_judge(value)[1] for value in node.values), None
        case ast.BoolOp():
            return "or", min(MEDIUM, *(_judge(value)[1] for value in node.values)), None
        case ast.UnaryOp(op=ast.Not()):
            return "not", WEAK, None
        case ast.Call() if called(node) in ("allclose", "isclose"):
            return "close", EXACT, _tolerance(node)
        case ast.Call() if called(node) in (
            "all",
            "any",
            "startswith",
            "endswith",
            "search",
            "match",
            "issubset",
        ):
            return called(node), MEDIUM, None
    return "true", WEAK, None


def _comparison(  # noqa: PLR0911 - a return for each sign
    node: ast.Compare, op: ast.cmpop, right: ast.expr
) -> tuple[str, int, float | None]:
    nothing = isinstance(right, ast.Constant) and right.value is None
    match op:
        case ast.Eq():
            for side in (node.left, right):
                if isinstance(side, ast.Call) and called(side) == "approx":
                    return "close", EXACT, _tolerance(side)
            return _EQUAL, EXACT, None
        case ast.Is():
            return "is", EXACT, None
        case ast.IsNot() | ast.NotEq():
            return ("is not None", WEAK, None) if nothing else ("!=", MEDIUM, None)
        case ast.In():
            return "in", MEDIUM, None
        case ast.NotIn():
            return "not in", MEDIUM, None
    if isinstance(right, ast.Constant) and right.value == 0 and isinstance(op, ast.GtE | ast.Gt):
        return "order", WEAK, None
    return "order", MEDIUM, None


def _method(call: ast.Call, name: str, constants: Mapping[str, ast.expr]) -> Assertion:
    arguments = [_filled(each, constants) for each in call.args]
    filled = ast.Call(func=call.func, args=arguments, keywords=call.keywords)
    if name in ("assertTrue", "assertFalse", "assert_", "assert_true") and arguments:
        kind, strength, tolerance = _judge(arguments[0])
        if name == "assertFalse":
            kind, strength = "not", TRIVIAL if constant_truth(arguments[0]) is False else WEAK
        return _assertion(call, filled, kind, strength, tolerance)
    if _CLOSE.match(name):
        return _assertion(call, filled, "close", EXACT, _tolerance(call))
    if (
        len(arguments) >= 2
        and ast.dump(arguments[0]) == ast.dump(arguments[1])
        and _EXACT_METHODS.match(name)
    ):
        return _assertion(call, filled, "constant", TRIVIAL)
    if _EXACT_METHODS.match(name):
        return _assertion(call, filled, _EQUAL if "qual" in name else name, EXACT)
    return _assertion(call, filled, name, WEAK if _WEAK_METHODS.match(name) else MEDIUM)


def _raising(call: ast.Call) -> Assertion:
    is_broad = not call.args or (isinstance(call.args[0], ast.Name) and call.args[0].id in _BROAD)
    has_words = any(each.arg == "match" for each in call.keywords) or "Regex" in called(call)
    strength = (MEDIUM if is_broad else EXACT) if has_words or not is_broad else WEAK
    text = ast.unparse(call)
    return Assertion(kind="raises", strength=strength, text=text, skeleton=text, line=call.lineno)


def _tolerance(call: ast.Call) -> float | None:
    """How far off a number may be; none if that is the usual."""
    for each in call.keywords:
        try:
            value = ast.literal_eval(each.value)
        except (ValueError, TypeError, SyntaxError):
            continue
        if isinstance(value, int | float):
            if each.arg in ("abs", "rel", "atol", "rtol", "delta", "abs_tol", "rel_tol"):
                return float(value)
            if each.arg in ("places", "decimal"):
                return 10.0**-value
    return None


def _assertion(
    node: ast.AST, filled: ast.AST, kind: str, strength: int, tolerance: float | None = None
) -> Assertion:
    return Assertion(
        kind=kind,
        strength=strength,
        text=ast.unparse(filled),
        skeleton=skeleton(filled),
        line=getattr(node, "lineno", 0),
        tolerance=tolerance,
    )


class _Filler(ast.NodeTransformer):
    def __init__(self, constants: Mapping[str, ast.expr]) -> None:
        self._constants = constants

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.expr:
        return node  # not every value can be written inside of an f-string

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._constants.get(node.id, node)


def _filled(node: ast.expr, constants: Mapping[str, ast.expr]) -> ast.expr:
    """With the values of names that are constants: `expected` is what it was set to."""
    if not constants:
        return node
    copy = ast.parse(ast.unparse(node), mode="eval").body
    filled: ast.expr = _Filler(constants).visit(copy)
    return ast.copy_location(filled, node)
