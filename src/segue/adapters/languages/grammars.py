"""Reads definitions with tree-sitter: a query finds the nodes, their ranges tell what is in what."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module

from tree_sitter import Language as Grammar
from tree_sitter import Node, Parser, Query, QueryCursor, Tree

from segue.adapters.languages.rules import RULES, DefinedName, Rules, receiver_of, text_of
from segue.domain.evidence.languages import LARGEST_SOURCE, Definition, Language
from segue.domain.evidence.model import DefinitionKind, LineRange

_PACKAGES = {
    "typescript": ("tree_sitter_typescript", "language_typescript"),
    "tsx": ("tree_sitter_typescript", "language_tsx"),
}
_DEEPEST_TREE = 2_000
_DEEPEST = 100
"""So many functions and classes may be in each other."""
_TOKEN = re.compile(r"""[\w$]+|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`|\s+|.""", re.DOTALL)


def load_grammar(name: str) -> Language | None:
    """How files of a language are read; none if its grammar is not installed, or too old."""
    package, function = _PACKAGES.get(name, (f"tree_sitter_{name}", "language"))
    try:
        grammar = Grammar(getattr(import_module(package), function)())
        reader = _GrammarReader(grammar, RULES[name])
    except (ImportError, AttributeError, ValueError):
        return None
    return Language(read=reader.read, code=code_of)


def code_of(definition: Definition) -> str:
    """The text without comments and layout."""
    text = definition.text if definition.bare is None else definition.bare
    return " ".join(token for token in _TOKEN.findall(text) if not token.isspace())


def _is_shallow(tree: Tree) -> bool:
    """False for a tree so deep that a query in it takes minutes."""
    cursor, depth = tree.walk(), 0
    while depth <= _DEEPEST_TREE:
        if cursor.goto_first_child():
            depth += 1
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return True
            depth -= 1
    return False


class _TooDeep(Exception):
    """Nobody writes this: the work would grow with the square of the depth."""


class _GrammarReader:
    def __init__(self, grammar: Grammar, rules: Rules) -> None:
        self._grammar = grammar
        self._rules = rules
        types = {*rules.nodes, *rules.scopes, *rules.functions, *rules.attributes, *rules.comments}
        known = [each for each in sorted(types) if grammar.id_for_node_kind(each, True) is not None]
        self._query = Query(grammar, "\n".join(f"({each}) @_" for each in known))

    def read(self, text: str) -> tuple[Definition, ...] | None:
        """The definitions of a file; none if the grammar does not understand all of it."""
        if len(text) > LARGEST_SOURCE:
            return None
        source = text.encode("utf-8", "replace")
        tree = Parser(self._grammar).parse(source)
        root = tree.root_node
        if root.has_error or not _is_shallow(tree):
            return None
        nodes = QueryCursor(self._query).captures(root).get("_", [])
        unique = {(node.start_byte, -node.end_byte, node.type): node for node in nodes}
        ordered = [unique[key] for key in sorted(unique)]
        comments = [node for node in ordered if node.type in self._rules.comments]
        cutter = _Cutter(source, [(node.start_byte, node.end_byte) for node in comments])
        try:
            return tuple(self._definitions(ordered, cutter))
        except _TooDeep:
            return None

    def _definitions(self, nodes: list[Node], cutter: _Cutter) -> Iterator[Definition]:
        outer: list[tuple[Node, str | None]] = []
        front: Node | None = None
        for node in nodes:
            while outer and outer[-1][0].end_byte <= node.start_byte:
                outer.pop()
            if node.type in self._rules.attributes:
                front = front or node
                continue
            if node.type in self._rules.comments:
                continue
            names = [name for _, name in outer if name]
            is_local = any(each.type in self._rules.functions for each, _ in outer)
            for said in self._said(node):
                if said.kind is DefinitionKind.CONSTANT and is_local:
                    continue
                yield cutter.cut(node, front, said.kind, said.name, [*names, *self._receiver(node)])
            front = None
            scope = self._rules.scopes.get(node.type)
            if scope is not None or node.type in self._rules.functions:
                if len(outer) >= _DEEPEST:
                    raise _TooDeep
                outer.append((node, scope(node) if scope is not None else None))

    def _said(self, node: Node) -> Iterator[DefinedName]:
        read = self._rules.nodes.get(node.type)
        return iter(()) if read is None else read(node)

    def _receiver(self, node: Node) -> list[str]:
        receiver = receiver_of(node)
        return [receiver] if receiver else []


@dataclass(frozen=True, slots=True)
class _Cutter:
    source: bytes
    comments: list[tuple[int, int]]

    def cut(
        self, node: Node, front: Node | None, kind: DefinitionKind, name: str, names: list[str]
    ) -> Definition:
        """A definition with its text, and what is in front of it."""
        first = front or node
        # A declaration is the whole statement: `export const a = 1`.
        while (
            node.parent is not None and node.parent.type in _STATEMENTS and node.parent.named_child_count == 1
        ):
            node = node.parent
        if front is None:
            first = node
        start, end = first.start_byte, node.end_byte
        mark = " > " if kind is DefinitionKind.TEST and " " in name else "."
        parameters = tuple(_parameters(node))
        return Definition(
            kind=kind,
            name=name,
            qualified=mark.join([*names, name]),
            # Reading a point of a node (`start_point.row`) crashes tree-sitter 0.26.0 after a while.
            lines=LineRange(self._line(start), self._line(end)),
            text=self._text(start, end),
            parameters=parameters,
            bare=self._bare(start, end),
        )

    def _line(self, at: int) -> int:
        return self.source.count(b"\n", 0, at) + 1

    def _text(self, start: int, end: int) -> str:
        return self.source[start:end].decode("utf-8", "replace")

    def _bare(self, start: int, end: int) -> str:
        parts, at = [], start
        for index in range(bisect_left(self.comments, (start, 0)), len(self.comments)):
            first, last = self.comments[index]
            if first >= end:
                break
            parts.append(self._text(at, first))
            at = max(at, last)
        return " ".join([*parts, self._text(at, end)])


_STATEMENTS = {"lexical_declaration", "variable_declaration", "export_statement", "expression_statement"}
_HOLDERS = ("parameters", "parameter")
_NAMES = ("name", "pattern", "left")


def _parameters(node: Node) -> Iterator[str]:
    """The names of a function's parameters; of a pattern, its first name."""
    holder = _holder(node)
    for child in holder.named_children if holder is not None else ():
        names = [each for field in _NAMES for each in child.children_by_field_name(field)]
        if not names:
            names = child.named_children[-1:] or [child]  # `...rest`, `int... rest`, `&self`
        for each in names:
            if found := re.search(r"[\w$]+", text_of(each)[:200]):
                yield found[0]


def _holder(node: Node, depth: int = 4) -> Node | None:
    """The list of parameters of a definition, or of the function that it names."""
    for field in _HOLDERS:
        if (found := node.child_by_field_name(field)) is not None:
            return found if field == "parameters" else node
    value = node.child_by_field_name("value") or node.child_by_field_name("right")
    inner = value or (node.named_child(0) if node.type in _STATEMENTS and node.named_child_count else None)
    return _holder(inner, depth - 1) if inner is not None and depth else None
