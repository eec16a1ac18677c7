"""Definitions before and after: what came, went, changed, moved and was renamed, in Python."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from segue.domain.evidence.definitions import read_python
from segue.domain.evidence.languages import LARGEST_SOURCE
from segue.domain.evidence.measure import Measured, measure
from segue.domain.evidence.model import Change, ChangeKind, DefinitionChange, LineRange


def measured(before: Mapping[str, str], after: Mapping[str, str]) -> Measured:
    """What `measure` tells of files with this text."""
    changes = {}
    for path in {*before, *after}:
        kind = ChangeKind.ADDED if path not in before else ChangeKind.MODIFIED
        changes[path] = Change(kind=kind if path in after else ChangeKind.DELETED)
    return measure(changes, before, after)


def told(found: Measured) -> list[str]:
    return [f"{each.fate} {each.kind} {each.qualified}" for each in found.definitions]


def only(found: Measured) -> DefinitionChange:
    (change,) = found.definitions
    return change


def test_every_kind_of_definition_has_its_kind_and_its_full_name() -> None:
    text = """
LIMIT: int = 3
a, b = 1, 2

async def load(path, /, *rest, deep=True, **more): ...

class Cart(Base):
    size = 0
    def total(self): ...
    class Inner:
        def deep(self): ...

if LIMIT:
    def chosen(): ...

def outer():
    local = 1
    def inner(): ...

def test_total(): ...

class TestCart:
    def test_add(self): ...
    def helper(self): ...

class Old(unittest.TestCase):
    def testRemoves(self): ...
"""
    found = read_python(text) or ()
    assert [f"{each.kind} {each.qualified}" for each in found] == [
        "constant LIMIT",
        "constant a",
        "constant b",
        "function load",
        "class Cart",
        "constant Cart.size",
        "method Cart.total",
        "class Cart.Inner",
        "method Cart.Inner.deep",
        "function chosen",
        "function outer",
        "function outer.inner",
        "test test_total",
        "class TestCart",
        "test TestCart.test_add",
        "method TestCart.helper",
        "class Old",
        "test Old.testRemoves",
    ]
    load = next(each for each in found if each.name == "load")
    assert load.parameters == ("path", "deep", "rest", "more")


def test_a_definition_that_came_went_or_changed_is_told() -> None:
    before = {"a.py": "def stays(): return 1\ndef goes(x): return 2\ndef differs(a): return a\n"}
    after = {"a.py": "def stays(): return 1\ndef differs(a, b): return a + b\ndef comes(): return [3]\n"}
    found = measured(before, after)
    assert told(found) == ["changed function differs", "removed function goes", "added function comes"]
    changed = found.definitions[0]
    assert (changed.old_parameters, changed.parameters) == (("a",), ("a", "b"))
    assert changed.body_changed
    assert changed.lines == LineRange(2, 2)
    assert found.unparsed == frozenset()


@pytest.mark.parametrize(
    "after",
    [
        'def f(a):\n    """Another."""\n    return a + 1\n',
        'def f(a):\n    """One."""\n    # why\n    return a + 1\n',
        'def f(\n    a,\n):\n    """One."""\n    return (a + 1)\n',
        "def f(a):\n    return a + 1\n",
    ],
    ids=["documentation", "a comment", "layout", "documentation taken away"],
)
def test_only_documentation_comments_or_layout_is_no_change_of_the_body(after: str) -> None:
    found = only(measured({"a.py": 'def f(a):\n    """One."""\n    return a + 1\n'}, {"a.py": after}))
    assert (str(found.fate), found.body_changed) == ("changed", False)


def test_a_changed_method_changes_its_class_too_and_a_decorator_is_part_of_it() -> None:
    before = {"a.py": "class C:\n    def m(self):\n        return 1\n"}
    after = {"a.py": "class C:\n    @cached\n    def m(self):\n        return 1\n"}
    found = measured(before, after)
    assert told(found) == ["changed class C", "changed method C.m"]
    assert found.definitions[1].lines == LineRange(2, 4)


def test_a_function_in_another_file_with_the_same_text_was_moved() -> None:
    function = "def total(xs):\n    return sum(xs)\n"
    found = only(measured({"a.py": function, "b.py": ""}, {"a.py": "", "b.py": function}))
    assert (str(found.fate), found.old_path, found.path, found.body_changed) == (
        "moved",
        "a.py",
        "b.py",
        False,
    )


def test_a_moved_function_may_be_edited_but_must_be_alike() -> None:
    lines = [f"    step_{n}()" for n in range(8)]
    before = {"a.py": "def run():\n" + "\n".join(lines) + "\n", "b.py": ""}
    edited = "def run():\n" + "\n".join([*lines[:-1], "    other()"]) + "\n"
    found = only(measured(before, {"a.py": "", "b.py": edited}))
    assert (str(found.fate), found.body_changed) == ("moved", True)
    other = measured(before, {"a.py": "", "b.py": "def run():\n    return 3\n"})
    assert told(other) == ["removed function run", "added function run"]


def test_another_name_with_the_same_body_is_a_rename_and_so_are_recursive_calls() -> None:
    before = {"a.py": "def count(n):\n    return count(n - 1) if n else 0\n"}
    after = {"a.py": "def tally(n):\n    return tally(n - 1) if n else 0\n"}
    found = only(measured(before, after))
    assert (str(found.fate), found.old_name, found.name) == ("renamed", "count", "tally")


def test_a_renamed_class_takes_its_methods_along() -> None:
    before = {"a.py": "class Cart:\n    limit = 3\n    def total(self): return 1\n"}
    after = {"a.py": "class Basket:\n    limit = 3\n    def total(self): return 1\n"}
    assert told(measured(before, after)) == ["renamed class Basket"]


def test_two_functions_with_the_same_body_are_not_taken_for_a_rename() -> None:
    before = {"a.py": "def a(): pass\ndef b(): pass\n"}
    after = {"a.py": "def c(): pass\n"}
    assert told(measured(before, after)) == ["removed function a", "added function c", "removed function b"]


def test_a_renamed_file_keeps_its_definitions() -> None:
    text = "def f():\n    return 1\n"
    changes = {"new.py": Change(kind=ChangeKind.RENAMED, old_path="old.py")}
    found = measure(changes, {"old.py": text}, {"new.py": text + "def g(): return 2\n"})
    assert told(found) == ["added function g"]


def test_a_property_with_its_setter_is_one_definition() -> None:
    text = "class C:\n    @property\n    def x(self): return 1\n    @x.setter\n    def x(self, v): {}\n"
    found = measured({"a.py": text.format("pass")}, {"a.py": text.format("self._x = v")})
    assert told(found) == ["changed class C", "changed method C.x"]


@pytest.mark.parametrize(
    "text",
    [
        "def f(:\n",
        "def f():\n\0",
        "x = " + "(" * 5000,
        "x = " + "-" * 100_000 + "1",
        "def f(): pass\n" + "[" * 150 + "]" * 150,
        "x = 1\n" * (LARGEST_SOURCE // 6 + 1),
        "def f():\n  \tpass\n \tpass",
        "\ud800def f(): pass",
        "x = '" + "\\d" * 10 + "'\nreturn",
    ],
    ids=["syntax", "nul", "nesting", "signs", "brackets", "large", "tabs", "surrogate", "return outside"],
)
def test_what_cannot_be_parsed_is_told_and_never_an_error(text: str) -> None:
    found = measured({"a.py": "def f(): pass\n", "b.py": ""}, {"a.py": text, "b.py": "def g(): pass\n"})
    if "a.py" in found.unparsed:
        assert all(each.by_words for each in found.definitions if each.path == "a.py")
    assert "added function g" in told(found), "the other file is read all the same"


def test_a_file_that_does_not_parse_any_more_has_not_lost_its_definitions() -> None:
    found = measured({"a.py": "def f():\n    return 1\n"}, {"a.py": "def f():\n    return (1\n"})
    assert found.unparsed == {"a.py"}
    change = only(found)
    assert (str(change.fate), change.name, change.by_words) == ("changed", "f", True)


def test_an_odd_escape_in_a_string_is_no_error_though_warnings_are() -> None:
    found = measured({}, {"a.py": 'def f():\n    return "\\d"\n'})
    assert told(found) == ["added function f"]
    assert not found.unparsed


def test_text_that_could_not_be_had_is_unparsed_and_other_files_are_not_source() -> None:
    changes = {"a.py": Change(kind=ChangeKind.MODIFIED), "notes.md": Change(kind=ChangeKind.MODIFIED)}
    found = measure(changes, {}, {})
    assert found.unparsed == {"a.py"}
    assert found.definitions == ()
