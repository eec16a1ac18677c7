"""Definitions of JavaScript, TypeScript, Go, Rust and Java, by their grammars."""

from __future__ import annotations

import subprocess
import sys

import pytest

from segue.adapters.languages import languages_for
from segue.domain.evidence.measure import LANGUAGES, Measured, measure
from segue.domain.evidence.model import Change, ChangeKind


def defined(path: str, text: str) -> list[str]:
    read = languages_for([path])["." + path.rpartition(".")[2]].read
    found = read(text)
    assert found is not None, "the grammar reads it"
    return [f"{each.kind} {each.qualified}({', '.join(each.parameters)})" for each in found]


def compared(path: str, before: str, after: str) -> Measured:
    changes = {path: Change(kind=ChangeKind.MODIFIED)}
    return measure(changes, {path: before}, {path: after}, languages=languages_for([path]))


def told(found: Measured) -> list[str]:
    return [f"{each.fate} {each.kind} {each.qualified}" for each in found.definitions]


def test_javascript() -> None:
    text = """
const LIMIT = 3;
export default function total(xs, { deep }, ...rest) { const local = 1; return xs; }
export const median = (xs, by = 1) => xs[0];
const [a, b] = pair();
class Cart extends Base {
  #size = 0;
  onAdd = () => {};
  add(item) { return () => item; }
  static get total() { return 1; }
}
exports.helper = function (x) { return x; };
const api = { get: (url) => url, post(url) { return url; } };
describe("Cart", () => {
  it("adds an item", async () => {});
  it.each([1, 2])('doubles %i', (n) => {});
  test.skip(`removes`, () => {});
  it(dynamic(), () => {});
});
"""
    assert defined("a.js", text) == [
        "constant LIMIT()",
        "function total(xs, deep, rest)",
        "function median(xs, by)",
        "class Cart()",
        "constant Cart.#size()",
        "method Cart.onAdd()",
        "method Cart.add(item)",
        "method Cart.total()",
        "function helper(x)",
        "constant api()",
        "method api.get(url)",
        "method api.post(url)",
        "test Cart > adds an item()",
        "test Cart > doubles %i()",
        "test Cart.removes()",
    ]


def test_typescript_and_tsx() -> None:
    text = """
export interface Shape { area(): number }
type Id = string | number;
enum Colour { Red }
export abstract class Base<T> { abstract run(x: T): void; private n: number = 1; go(a?: string): void {} }
export function pick<T>(xs: T[], at: number = 0): T { return xs[at]; }
namespace Inner { export function deep(): void {} }
"""
    assert defined("a.ts", text) == [
        "type Shape()",
        "type Id()",
        "type Colour()",
        "class Base()",
        "method Base.run(x)",
        "constant Base.n()",
        "method Base.go(a)",
        "function pick(xs, at)",
        "function Inner.deep()",
    ]
    assert defined("a.tsx", "export const App = (props: P) => <div>{props.x}</div>;\n") == [
        "function App(props)"
    ]


def test_go() -> None:
    text = """package cart
const Limit = 3
var a, b = 1, 2
type Cart struct { n int }
type Shape interface { Area() float64 }
func Total(xs []int, deep bool) int { const local = 1; return 0 }
func (c *Cart) Add(item string) { c.n++ }
func (c Pair[K, V]) First() K { return c.k }
func TestTotal(t *testing.T) {}
func BenchmarkTotal(b *testing.B) {}
func TestServer() {}
"""
    assert defined("cart.go", text) == [
        "constant Limit()",
        "constant a()",
        "constant b()",
        "type Cart()",
        "type Shape()",
        "function Total(xs, deep)",
        "method Cart.Add(item)",
        "method Pair.First()",
        "test TestTotal(t)",
        "test BenchmarkTotal(b)",
        "function TestServer()",
    ]


def test_rust() -> None:
    text = """
pub const LIMIT: usize = 3;
pub struct Cart { n: usize }
pub enum Colour { Red }
pub trait Shape { fn area(&self) -> f64; }
impl<T> Shape for Cart { fn area(&self) -> f64 { 1.0 } }
pub async fn total(xs: &[i32], deep: bool) -> i32 { let x = 1; 0 }
macro_rules! twice { ($x:expr) => { $x } }
mod tests {
    use super::*;
    #[test]
    fn adds() { assert!(true); }
    #[tokio::test]
    // why
    async fn loads() {}
    fn helper() {}
}
"""
    assert defined("lib.rs", text) == [
        "constant LIMIT()",
        "type Cart()",
        "type Colour()",
        "type Shape()",
        "method Shape.area(self)",
        "method Cart.area(self)",
        "function total(xs, deep)",
        "function twice()",
        "test tests.adds()",
        "test tests.loads()",
        "function tests.helper()",
    ]


def test_java() -> None:
    text = """package a;
public class Cart<T> extends Base {
    private static final int LIMIT = 3, MORE = 4;
    public Cart(int n) {}
    @Override public int total(List<Integer> xs, int... rest) { int local = 1; return 0; }
    @Test void adds() {}
    @org.junit.jupiter.api.ParameterizedTest @ValueSource(ints = {1}) void doubles(int n) {}
    interface Shape { double area(); }
    enum Colour { RED, BLUE }
    record Point(int x, int y) {}
}
"""
    assert defined("Cart.java", text) == [
        "class Cart()",
        "constant Cart.LIMIT()",
        "constant Cart.MORE()",
        "method Cart.Cart(n)",
        "method Cart.total(xs, rest)",
        "test Cart.adds()",
        "test Cart.doubles(n)",
        "type Cart.Shape()",
        "method Cart.Shape.area()",
        "type Cart.Colour()",
        "constant Cart.Colour.RED()",
        "constant Cart.Colour.BLUE()",
        "class Cart.Point(x, y)",
    ]


def test_changes_are_told_as_in_python_and_not_by_words() -> None:
    before = "function a(x) {\n  return x;\n}\nfunction b() { return 1; }\nfunction old() { return [3]; }\n"
    changed = "// new\nfunction a( x ) { // why\n  return x; }\nfunction b() { return 2; }\n"
    after = changed + "function fresh() { return [3]; }\n"
    found = compared("a.js", before, after)
    assert told(found) == ["changed function a", "changed function b", "renamed function fresh"]
    assert [each.body_changed for each in found.definitions] == [False, True, False]
    assert not any(each.by_words for each in found.definitions)
    assert not found.unparsed


@pytest.mark.parametrize("change", ['"a  b"', '"a//b"', "/[/]{2}/"])
def test_a_changed_string_or_pattern_is_no_comment_and_no_layout(change: str) -> None:
    found = compared("a.js", 'const f = () => "a b";\n', f"const f = () => {change};\n")
    assert [each.body_changed for each in found.definitions] == [True]


def test_a_new_attribute_in_front_changes_a_test() -> None:
    before = "#[test]\nfn adds() {}\n"
    assert told(compared("a.rs", before, "#[test]\n#[ignore]\nfn adds() {}\n")) == ["changed test adds"]


def test_what_the_grammar_does_not_understand_is_looked_at_by_words() -> None:
    found = compared("a.ts", "function f() {}\n", "function f() {{{\nfunction g() {}\n")
    assert found.unparsed == {"a.ts"}
    assert [(each.name, each.by_words) for each in found.definitions] == [("f", True), ("g", True)]


@pytest.mark.parametrize(
    "text", ["(" * 200_000, "[{(" * 60_000, "a=>" * 100_000 + "1", "`${" * 50_000, "\ud800"]
)
def test_deep_nesting_is_no_error(text: str) -> None:
    compared("a.js", "let a = 1\n", text)


def test_deep_functions_in_functions_are_no_error() -> None:
    deep = "function f(){" * 2_000 + "}" * 2_000
    compared("a.js", "", deep)


def test_without_the_grammars_words_are_all_there_is() -> None:
    """In a process of its own, where tree-sitter cannot be imported."""
    script = """
import sys
sys.modules["tree_sitter"] = None
from segue.adapters.languages import languages_for
assert ".js" not in languages_for(["a.js", "a.py"])
assert ".py" in languages_for(["a.js"])
"""
    subprocess.run([sys.executable, "-c", script], check=True)


def test_no_grammar_is_loaded_for_other_files() -> None:
    script = """
import sys
from segue.adapters.languages import languages_for
languages_for(["a.py", "b.md"])
assert not any(name.startswith("tree_sitter") for name in sys.modules)
languages_for(["a.go"])
assert "tree_sitter_go" in sys.modules and "tree_sitter_java" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", script], check=True)


def test_python_needs_no_grammar() -> None:
    assert set(LANGUAGES) == {".py", ".pyi", ".pyw"}
