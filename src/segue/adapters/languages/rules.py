"""What the nodes of each grammar define: their kind, their name, and what is inside them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from tree_sitter import Node

from segue.domain.evidence.model import DefinitionKind


class DefinedName(NamedTuple):
    """What a node defines."""

    kind: DefinitionKind
    name: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Rules:
    """How the nodes of a grammar are read."""

    nodes: Mapping[str, Callable[[Node], Iterator[DefinedName]]]
    """Type of a node -> what it defines."""
    scopes: Mapping[str, Callable[[Node], str | None]]
    """Type of a node -> the name that what is inside gets in front; none for no name."""
    functions: frozenset[str]
    """Types of nodes whose inside is local: no constant is defined there."""
    comments: frozenset[str] = frozenset({"comment"})
    """Types of comments."""
    attributes: frozenset[str] = frozenset()
    """Types of nodes in front of a definition that belong to it."""


_FUNCTION, _METHOD, _CLASS = DefinitionKind.FUNCTION, DefinitionKind.METHOD, DefinitionKind.CLASS
_TYPE, _CONSTANT, _TEST = DefinitionKind.TYPE, DefinitionKind.CONSTANT, DefinitionKind.TEST
_MAKERS = {"arrow_function", "function_expression", "generator_function", "function"}
_TEST_CALL = re.compile(r"^(?:it|test|specify)(?:\.\w+)*$")
_GROUP_CALL = re.compile(r"^(?:describe|context|suite)(?:\.\w+)*$")
_GO_TEST = re.compile(r"^(?:Test|Benchmark|Fuzz)(?:[^a-z]|$)")
_RUST_TEST = re.compile(r"#\[\s*(?:[\w:]+::)?(?:test|rstest|test_case|quickcheck|bench)\b")
_JAVA_TEST = re.compile(r"@(?:\w+\.)*(?:Test|ParameterizedTest|RepeatedTest|TestFactory|Property)\b")


def text_of(node: Node | None) -> str:
    """The text of a node, empty for none."""
    return (node.text or b"").decode("utf-8", "replace") if node is not None else ""


def name_of(node: Node, field: str = "name") -> str:
    """The text of a node's name."""
    return text_of(node.child_by_field_name(field))


def _named(kind: DefinitionKind) -> Callable[[Node], Iterator[DefinedName]]:
    def read(node: Node) -> Iterator[DefinedName]:
        if name := name_of(node):
            yield DefinedName(kind, name)

    return read


def _parent(node: Node) -> str:
    return node.parent.type if node.parent is not None else ""


def _variable(node: Node) -> Iterator[DefinedName]:
    """`const total = (xs) => ...` is a function, `const LIMIT = 3` a constant."""
    name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
    if name is None or name.type not in ("identifier", "property_identifier", "private_property_identifier"):
        return
    kind = _CONSTANT
    if value is not None and value.type in _MAKERS:
        kind = _METHOD if "field" in node.type else _FUNCTION
    elif value is not None and value.type == "class":
        kind = _CLASS
    yield DefinedName(kind, text_of(name))


def _field(node: Node) -> Iterator[DefinedName]:
    name = node.child_by_field_name("name") or node.child_by_field_name("property")
    value = node.child_by_field_name("value")
    if name is not None:
        yield DefinedName(
            _METHOD if value is not None and value.type in _MAKERS else _CONSTANT, text_of(name)
        )


def _pair(node: Node) -> Iterator[DefinedName]:
    """A function in an object: `{ get: () => ... }`."""
    value = node.child_by_field_name("value")
    if value is not None and value.type in _MAKERS:
        yield DefinedName(_METHOD, name_of(node, "key").strip("\"'"))


def _assignment(node: Node) -> Iterator[DefinedName]:
    """`exports.total = function ...`."""
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if left is not None and right is not None and right.type in _MAKERS and left.type == "member_expression":
        yield DefinedName(_FUNCTION, name_of(left, "property"))


def _title(node: Node, pattern: re.Pattern[str]) -> str | None:
    """The title of `it("adds", ...)`, also of `it.each(table)("adds", ...)`."""
    called = node.child_by_field_name("function")
    if called is not None and called.type == "call_expression":
        called = called.child_by_field_name("function")
    if called is None or not pattern.match(text_of(called)[:100]):
        return None
    arguments = node.child_by_field_name("arguments")
    first = arguments.named_child(0) if arguments is not None and arguments.named_child_count else None
    if first is None or first.type not in ("string", "template_string"):
        return None
    return text_of(first)[1:-1]


def _call(node: Node) -> Iterator[DefinedName]:
    if title := _title(node, _TEST_CALL):
        yield DefinedName(_TEST, title)


_JAVASCRIPT = Rules(
    nodes={
        "function_declaration": _named(_FUNCTION),
        "generator_function_declaration": _named(_FUNCTION),
        "function_signature": _named(_FUNCTION),
        "class_declaration": _named(_CLASS),
        "abstract_class_declaration": _named(_CLASS),
        "method_definition": _named(_METHOD),
        "abstract_method_signature": _named(_METHOD),
        "field_definition": _field,
        "public_field_definition": _field,
        "variable_declarator": _variable,
        "pair": _pair,
        "assignment_expression": _assignment,
        "call_expression": _call,
        "interface_declaration": _named(_TYPE),
        "type_alias_declaration": _named(_TYPE),
        "enum_declaration": _named(_TYPE),
    },
    scopes={
        "class_declaration": name_of,
        "abstract_class_declaration": name_of,
        "function_declaration": name_of,
        "method_definition": name_of,
        "variable_declarator": name_of,
        "internal_module": name_of,
        "call_expression": lambda node: _title(node, _GROUP_CALL),
    },
    functions=frozenset(
        {*_MAKERS, "function_declaration", "generator_function_declaration", "method_definition"}
    ),
)


def _go_function(node: Node) -> Iterator[DefinedName]:
    name = name_of(node)
    takes = name_of(node, "parameters")
    is_test = (_GO_TEST.match(name) and "testing." in takes) or (name.startswith("Example") and takes == "()")
    yield DefinedName(_TEST if is_test else _FUNCTION, name)


def _go_names(node: Node) -> Iterator[DefinedName]:
    for each in node.children_by_field_name("name"):
        yield DefinedName(_CONSTANT, text_of(each))


def _go_receiver(node: Node) -> str | None:
    """`Cart` of `func (c *Cart) Total()`."""
    words = re.findall(r"\w+", name_of(node, "receiver").partition("[")[0])
    return words[-1] if words else None


_GO = Rules(
    nodes={
        "function_declaration": _go_function,
        "method_declaration": _named(_METHOD),
        "type_spec": _named(_TYPE),
        "type_alias": _named(_TYPE),
        "const_spec": _go_names,
        "var_spec": _go_names,
    },
    scopes={},
    functions=frozenset({"function_declaration", "method_declaration", "func_literal"}),
)


def _rust_function(node: Node) -> Iterator[DefinedName]:
    before = node.prev_named_sibling
    while before is not None and before.type in ("attribute_item", "line_comment", "block_comment"):
        if _RUST_TEST.match(text_of(before)):
            yield DefinedName(_TEST, name_of(node))
            return
        before = before.prev_named_sibling
    outer = node.parent.parent if node.parent is not None else None
    is_method = outer is not None and outer.type in ("impl_item", "trait_item")
    yield DefinedName(_METHOD if is_method else _FUNCTION, name_of(node))


_RUST = Rules(
    nodes={
        "function_item": _rust_function,
        "function_signature_item": _rust_function,
        "macro_definition": _named(_FUNCTION),
        **dict.fromkeys(("struct_item", "enum_item", "union_item", "trait_item", "type_item"), _named(_TYPE)),
        **dict.fromkeys(("const_item", "static_item"), _named(_CONSTANT)),
    },
    scopes={
        "impl_item": lambda node: name_of(node, "type").partition("<")[0],
        "trait_item": name_of,
        "mod_item": name_of,
    },
    functions=frozenset({"function_item", "closure_expression"}),
    comments=frozenset({"line_comment", "block_comment"}),
    attributes=frozenset({"attribute_item"}),
)


def _java_method(node: Node) -> Iterator[DefinedName]:
    first = node.named_child(0)
    marks = text_of(first) if first is not None and first.type == "modifiers" else ""
    yield DefinedName(_TEST if _JAVA_TEST.search(marks) else _METHOD, name_of(node))


def _java_fields(node: Node) -> Iterator[DefinedName]:
    for each in node.children_by_field_name("declarator"):
        yield DefinedName(_CONSTANT, name_of(each))


_JAVA_TYPES = ("interface_declaration", "enum_declaration", "annotation_type_declaration")
_JAVA = Rules(
    nodes={
        "class_declaration": _named(_CLASS),
        "record_declaration": _named(_CLASS),
        **dict.fromkeys(_JAVA_TYPES, _named(_TYPE)),
        "method_declaration": _java_method,
        "constructor_declaration": _named(_METHOD),
        "field_declaration": _java_fields,
        "enum_constant": _named(_CONSTANT),
    },
    scopes=dict.fromkeys(("class_declaration", "record_declaration", *_JAVA_TYPES), name_of),
    functions=frozenset({"method_declaration", "constructor_declaration", "lambda_expression"}),
    comments=frozenset({"line_comment", "block_comment"}),
)

RULES: Mapping[str, Rules] = {
    "javascript": _JAVASCRIPT,
    "typescript": _JAVASCRIPT,
    "tsx": _JAVASCRIPT,
    "go": _GO,
    "rust": _RUST,
    "java": _JAVA,
}


def receiver_of(node: Node) -> str | None:
    """The type that a method of Go belongs to; none of other nodes."""
    return (
        _go_receiver(node)
        if node.type == "method_declaration" and node.child_by_field_name("receiver")
        else None
    )
