"""The definitions of a Python file, by its syntax tree: functions, classes, tests, constants, types."""

from __future__ import annotations

import ast
import threading
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from segue.domain.evidence.languages import LARGEST_SOURCE, Definition, Language
from segue.domain.evidence.model import DefinitionKind, LineRange

_UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)
_parsing = threading.Lock()
_BLOCKS = ("body", "orelse", "handlers", "finalbody", "cases")
_Function = ast.FunctionDef | ast.AsyncFunctionDef


def read_python(text: str) -> tuple[Definition, ...] | None:
    """The definitions of a Python file, in their order; none if it is not valid Python."""
    if len(text) > LARGEST_SOURCE:
        return None
    try:
        module = _parse(text)
        # As the parser counts lines: a form feed or a Unicode separator ends none.
        lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        return tuple(_PythonReader(lines).within(module, _DefinitionScope()))
    except _UNREADABLE:
        return None


def python_code(definition: Definition) -> str:
    """What a definition does: its tree without documentation; its text if that cannot be read alone."""
    try:
        tree = _parse("if 1:\n" + definition.text if definition.text[:1] in " \t" else definition.text)
        for node in ast.walk(tree):
            if isinstance(node, _Function | ast.ClassDef) and _has_documentation(node):
                node.body = node.body[1:]
        return ast.dump(tree)
    except _UNREADABLE:
        return definition.text


def do_the_same(one: Definition, other: Definition) -> bool:
    """Whether two trees are the same but for documentation; stops at the first difference."""
    waiting: list[tuple[Any, Any]] = [(one.tree, other.tree)]
    while waiting:
        first, second = waiting.pop()
        if type(first) is not type(second):
            return False
        if isinstance(first, list):
            if len(first) != len(second):
                return False
            waiting += zip(first, second, strict=True)
        elif isinstance(first, ast.AST):
            waiting += ((_field(first, name), _field(second, name)) for name in first._fields)
        elif first != second:
            return False
    return True


def _field(node: ast.AST, name: str) -> Any:
    value = getattr(node, name, None)
    if name == "body" and isinstance(node, _Function | ast.ClassDef) and _has_documentation(node):
        return value[1:]  # type: ignore[index]  # the body of a function is a list
    return value


PYTHON = Language(read=read_python, code=python_code, is_same=do_the_same)


@dataclass(frozen=True, kw_only=True, slots=True)
class _DefinitionScope:
    """What a statement is in."""

    names: tuple[str, ...] = ()
    in_class: bool = False
    in_function: bool = False
    in_test_class: bool = False

    def qualify(self, name: str) -> str:
        return ".".join((*self.names, name))


@dataclass(frozen=True, slots=True)
class _PythonReader:
    lines: list[str]

    def within(self, node: ast.AST, scope: _DefinitionScope) -> Iterator[Definition]:
        """The definitions below a node; statements such as `if` and `try` are looked through."""
        for child in _statements(node):
            match child:
                case ast.FunctionDef() | ast.AsyncFunctionDef():
                    yield self._function(child, scope)
                    names = (*scope.names, child.name)
                    yield from self.within(child, _DefinitionScope(names=names, in_function=True))
                case ast.ClassDef():
                    yield self._named(child, DefinitionKind.CLASS, child.name, scope)
                    names, is_test = (*scope.names, child.name), _is_test_class(child)
                    yield from self.within(
                        child, _DefinitionScope(names=names, in_class=True, in_test_class=is_test)
                    )
                case ast.Assign() | ast.AnnAssign() if not scope.in_function:
                    for name in _targets(child):
                        yield self._named(child, DefinitionKind.CONSTANT, name, scope)
                case _ if type(child).__name__ == "TypeAlias":  # Python 3.12 and newer
                    yield self._named(child, DefinitionKind.TYPE, child.name.id, scope)  # type: ignore[attr-defined]
                case _:
                    yield from self.within(child, scope)

    def _function(self, node: _Function, scope: _DefinitionScope) -> Definition:
        arguments = node.args
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        every += [each for each in (arguments.vararg, arguments.kwarg) if each is not None]
        kind = DefinitionKind.METHOD if scope.in_class else DefinitionKind.FUNCTION
        if _is_test(node.name, scope):
            kind = DefinitionKind.TEST
        return self._named(node, kind, node.name, scope, tuple(each.arg for each in every))

    def _named(
        self,
        node: ast.AST,
        kind: DefinitionKind,
        name: str,
        scope: _DefinitionScope,
        parameters: tuple[str, ...] = (),
    ) -> Definition:
        first = min((each.lineno for each in getattr(node, "decorator_list", ())), default=node.lineno)  # type: ignore[attr-defined]
        last = node.end_lineno  # type: ignore[attr-defined]
        return Definition(
            kind=kind,
            name=name,
            qualified=scope.qualify(name),
            lines=LineRange(first, last),
            text="\n".join(self.lines[first - 1 : last]),
            parameters=parameters,
            tree=node,
        )


def parse_python(text: str) -> ast.Module | None:
    """The syntax tree of a Python file; none if it is not valid Python, or too long."""
    if len(text) > LARGEST_SOURCE:
        return None
    try:
        return _parse(text)
    except _UNREADABLE:
        return None


def _parse(text: str) -> ast.Module:
    # An odd escape in a string is a warning, which a program may turn into an error; filters are global.
    with _parsing, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text)


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """The statements right below a node; no definition is in an expression."""
    for name in _BLOCKS:
        yield from getattr(node, name, ())


def _is_test(name: str, scope: _DefinitionScope) -> bool:
    if scope.in_function or not name.startswith("test"):
        return False
    if scope.in_class:
        return scope.in_test_class
    return name.startswith("test_")


def _is_test_class(node: ast.ClassDef) -> bool:
    """`class TestCart`, or one of unittest's or Django's `TestCase`."""
    bases = [base.attr if isinstance(base, ast.Attribute) else getattr(base, "id", "") for base in node.bases]
    return node.name.startswith("Test") or any(str(base).endswith(("TestCase", "Test")) for base in bases)


def _targets(node: ast.Assign | ast.AnnAssign) -> list[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    flat: list[ast.expr] = []
    for target in targets:
        flat += target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
    return [target.id for target in flat if isinstance(target, ast.Name)]


def _has_documentation(node: _Function | ast.ClassDef) -> bool:
    first = node.body[0]
    return (
        isinstance(first, ast.Expr)
        and isinstance(first.value, ast.Constant)
        and isinstance(first.value.value, str)
    )
