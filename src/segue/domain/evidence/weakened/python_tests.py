"""The tests of a Python file, by its syntax tree: pytest's functions and classes, unittest's methods."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from segue.domain.evidence.definitions import parse_python
from segue.domain.evidence.weakened.python_assertions import (
    assertions_in,
    called,
    constant_truth,
    skeleton,
)
from segue.domain.evidence.weakened.python_marks import limits_of, mark_of, mocks_in, skip_call
from segue.domain.evidence.weakened.shapes import Assertion, SkipMark, TestShape

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_SET_UP = ("setUp", "setUpClass", "setup_method", "setup_class", "setup_module", "setUpModule", "asyncSetUp")
_UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)
"""What the syntax tree of a valid file can still lead to, when it is written as text again."""
_FORGIVING = (None, "Exception", "BaseException", "AssertionError")


def read_python_tests(path: str, text: str) -> tuple[TestShape, ...] | None:
    """The tests of a file, and its other functions as tests that are not collected; none if not readable."""
    module = parse_python(text)
    try:
        return _tests_in(path, module) if module is not None else None
    except _UNREADABLE:
        return None


def _tests_in(path: str, module: ast.Module) -> tuple[TestShape, ...]:
    aliases = {
        target.id: each.value
        for each in module.body
        if isinstance(each, ast.Assign)
        for target in each.targets
        if isinstance(target, ast.Name)
    }
    scope = _PythonTestScope(path=path, aliases=aliases, constants=_constants(module.body))
    scope = replace(scope, skip=_skip_of_module(module, scope))
    # Of two functions with one name, Python keeps the last.
    found = {shape.names: shape for shape in scope.within(module.body)}
    return tuple(found.values())


def literals_of(text: str) -> list[str]:
    """The values that are written in a Python file, in their order."""
    module = parse_python(text)
    if module is None:
        return [text]
    return [repr(each.value) for each in ast.walk(module) if isinstance(each, ast.Constant)]


@dataclass(frozen=True, kw_only=True, slots=True)
class _PythonTestScope:
    """What holds for every test in a module or class."""

    path: str
    names: tuple[str, ...] = ()
    is_collected: bool = True
    skip: SkipMark | None = None
    aliases: Mapping[str, ast.expr] = field(default_factory=dict)
    constants: Mapping[str, ast.expr] = field(default_factory=dict)
    mocks: frozenset[str] = frozenset()

    def within(self, body: Iterable[ast.stmt]) -> Iterator[TestShape]:
        for node in body:
            if isinstance(node, _Function):
                yield self._test(node)
            elif isinstance(node, ast.ClassDef):
                yield from self._class(node).within(node.body)
            elif isinstance(node, ast.If | ast.Try):
                yield from self.within(node.body)

    def _class(self, node: ast.ClassDef) -> _PythonTestScope:
        skips = [mark_of(each, self.aliases) for each in node.decorator_list]
        for each in node.body:
            if isinstance(each, ast.Assign) and _targets(each) & {"pytestmark"}:
                skips += [mark_of(mark, self.aliases) for mark in _listed(each.value)]
            elif isinstance(each, _Function) and each.name in _SET_UP:
                skips.append(_skip_in(each.body))
        bases = [ast.unparse(base) for base in node.bases]
        is_collected = node.name.startswith("Test") or any(base.rpartition(".")[2] for base in bases)
        return replace(
            self,
            names=(*self.names, node.name),
            is_collected=self.is_collected and is_collected,
            skip=self.skip or _first(skips),
            constants={**self.constants, **_constants(node.body)},
            mocks=self.mocks | mocks_in(node.decorator_list),
        )

    def _test(self, node: _Function) -> TestShape:
        body = node.body[1:] if _is_documentation(node.body[0]) else node.body
        constants = {**self.constants, **_constants(body)}
        reading = _PythonBody(constants=constants)
        reading.read(body, is_forgiven=False)
        marks = [mark_of(each, self.aliases) for each in node.decorator_list]
        last = max((each.line for each in reading.assertions), default=0)
        everything = [*body, *node.decorator_list]
        return TestShape(
            path=self.path,
            names=(*self.names, node.name),
            line=node.lineno,
            is_collected=self.is_collected and node.name.startswith("test") and not _is_fixture(node),
            skip=self.skip or _first([*marks, _skip_in(body)]),
            assertions=tuple(reading.assertions),
            swallowed=reading.swallowed,
            returns_early=_early_return(body, last),
            is_empty=all(_does_nothing(each) for each in body),
            cases=_cases(node.decorator_list, constants),
            values=tuple(reading.values),
            steps=tuple(reading.steps),
            used=_used(everything) | {each.arg for each in node.args.args},
            mocks=self.mocks | mocks_in(everything),
            limits=limits_of(node.decorator_list),
            code="\n".join(ast.unparse(each) for each in body),
        )


@dataclass(slots=True)
class _PythonBody:
    """What a body consists of, while it is read."""

    constants: Mapping[str, ast.expr]
    assertions: list[Assertion] = field(default_factory=list)
    swallowed: int = 0
    values: list[str] = field(default_factory=list)
    steps: list[str] = field(default_factory=list)

    def read(self, body: Iterable[ast.stmt], *, is_forgiven: bool) -> None:
        for node in body:
            found = list(assertions_in(node, self.constants))
            self.assertions += found
            self.swallowed += len(found) if is_forgiven else 0
            inner = [value for name in ("body", "orelse", "finalbody") for value in getattr(node, name, [])]
            if isinstance(node, ast.Try):
                forgives = any(_forgives(handler) for handler in node.handlers)
                self.read(node.body, is_forgiven=is_forgiven or forgives)
                rest = [each for handler in node.handlers for each in handler.body]
                self.read([*rest, *node.orelse, *node.finalbody], is_forgiven=is_forgiven)
            elif inner and isinstance(node, ast.stmt):
                forgives = isinstance(node, ast.With) and any(_suppresses(item) for item in node.items)
                self._note(_head(node))
                self.read(inner, is_forgiven=is_forgiven or forgives)
            elif not found and not isinstance(node, ast.Import | ast.ImportFrom | ast.Pass):
                self._note(node)

    def _note(self, node: ast.AST) -> None:
        self.steps.append(skeleton(node))
        self.values += [
            repr(each.value)
            for each in ast.walk(node)
            if isinstance(each, ast.Constant) and each.value is not None
        ]


def _head(node: ast.stmt) -> ast.AST:
    """A compound statement without what is in it."""
    match node:
        case ast.For() | ast.AsyncFor():
            return ast.Tuple(elts=[node.target, node.iter], ctx=ast.Load())
        case ast.While() | ast.If():
            return node.test
        case ast.With() | ast.AsyncWith():
            return ast.Tuple(elts=[item.context_expr for item in node.items], ctx=ast.Load())
    return ast.Constant(value=None)


def _skip_of_module(module: ast.Module, scope: _PythonTestScope) -> SkipMark | None:
    marks = [
        mark_of(mark, scope.aliases)
        for each in module.body
        if isinstance(each, ast.Assign) and _targets(each) & {"pytestmark"}
        for mark in _listed(each.value)
    ]
    set_up = [each for each in module.body if isinstance(each, _Function) and each.name in _SET_UP]
    return _first([*marks, _skip_in(module.body), *(_skip_in(each.body) for each in set_up)])


def _skip_in(body: Iterable[ast.stmt]) -> SkipMark | None:
    """A call that skips; one under a condition may let the test run."""
    for node in body:
        if isinstance(node, _Function | ast.ClassDef):
            continue
        if (found := skip_call(node)) is not None:
            return found
        inner = [value for name in ("body", "orelse", "finalbody") for value in getattr(node, name, [])]
        inner += [each for handler in getattr(node, "handlers", []) for each in handler.body]
        if inner and (found := _skip_in(inner)) is not None:
            is_certain = found.is_certain and (
                isinstance(node, ast.With) or (isinstance(node, ast.If) and bool(constant_truth(node.test)))
            )
            return replace(found, is_certain=is_certain)
    return None


def _early_return(body: Iterable[ast.stmt], last: int) -> int | None:
    for node in body:
        is_certain = isinstance(node, ast.If) and constant_truth(node.test)
        ends = node.body[0] if is_certain and isinstance(node, ast.If) else node
        if isinstance(ends, ast.Return) and node.lineno < last:
            return node.lineno
    return None


def _cases(decorators: Iterable[ast.expr], constants: Mapping[str, ast.expr]) -> tuple[str, ...]:
    found: list[str] = []
    for each in decorators:
        if isinstance(each, ast.Call) and called(each) in ("parametrize", "expand", "data") and each.args:
            values = each.args[1] if len(each.args) > 1 else each.args[0]
            values = constants.get(values.id, values) if isinstance(values, ast.Name) else values
            if isinstance(values, ast.List | ast.Tuple | ast.Set):
                found += [ast.unparse(value) for value in values.elts]
    return tuple(found)


def _constants(body: Iterable[ast.stmt]) -> dict[str, ast.expr]:
    """Names that are set once, to a value that is written out."""
    counted: Counter[str] = Counter()
    found: dict[str, ast.expr] = {}
    for node in body:
        for name in _targets(node):
            counted[name] += 1
            value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
            if value is not None and _is_literal(value):
                found[name] = value
    return {name: value for name, value in found.items() if counted[name] == 1}


def _is_literal(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return False
    return True


def _targets(node: ast.stmt) -> set[str]:
    if isinstance(node, ast.Assign):
        return {target.id for target in node.targets if isinstance(target, ast.Name)}
    if isinstance(node, ast.AnnAssign | ast.AugAssign) and isinstance(node.target, ast.Name):
        return {node.target.id}
    return set()


def _listed(node: ast.expr) -> list[ast.expr]:
    return list(node.elts) if isinstance(node, ast.List | ast.Tuple) else [node]


def _first(marks: Iterable[SkipMark | None]) -> SkipMark | None:
    found = [mark for mark in marks if mark is not None]
    return next((mark for mark in found if mark.is_certain), found[0] if found else None)


def _forgives(handler: ast.ExceptHandler) -> bool:
    """True if a failed assertion is caught and forgotten."""
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    names = [getattr(kind, "id", "") if kind is not None else None for kind in kinds]
    speaks = any(isinstance(each, ast.Raise | ast.Assert) for part in handler.body for each in ast.walk(part))
    fails = any(
        isinstance(each, ast.Call) and called(each) in ("fail", "xfail", "skip", "skipTest")
        for part in handler.body
        for each in ast.walk(part)
    )
    return any(name in _FORGIVING for name in names) and not speaks and not fails


def _suppresses(item: ast.withitem) -> bool:
    call = item.context_expr
    if not isinstance(call, ast.Call) or called(call) != "suppress":
        return False
    return any(getattr(kind, "id", "") in _FORGIVING for kind in call.args)


def _is_fixture(node: _Function) -> bool:
    return any("fixture" in ast.unparse(each) for each in node.decorator_list)


def _is_documentation(node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def _does_nothing(node: ast.stmt) -> bool:
    is_constant = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    is_return = isinstance(node, ast.Return) and (node.value is None or isinstance(node.value, ast.Constant))
    return is_constant or is_return or isinstance(node, ast.Pass)


def _used(nodes: Iterable[ast.AST]) -> frozenset[str]:
    found: set[str] = set()
    for node in nodes:
        for each in ast.walk(node):
            match each:
                case ast.Name(id=name) | ast.Attribute(attr=name) | ast.alias(name=name):
                    found.add(name)
    return frozenset(found)
