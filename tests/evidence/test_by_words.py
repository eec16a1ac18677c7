"""Definitions by their words, for languages without a parser."""

from __future__ import annotations

import pytest

from segue.domain.evidence.by_words import read_words
from segue.domain.evidence.measure import measure
from segue.domain.evidence.model import Change, ChangeKind


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("function total(xs) {", "function total"),
        ("export default async function load() {", "function load"),
        ("export const median = (xs) => xs[0]", "function median"),
        ("const LIMIT = 3", "constant LIMIT"),
        ("func (c *Cart) Total() int {", "function Total"),
        ("func TestTotal(t *testing.T) {", "test TestTotal"),
        ("pub(crate) async fn parse(text: &str) {", "function parse"),
        ("    def area; end", "function area"),
        ("public abstract class Cart {", "class Cart"),
        ("export interface Shape {", "type Shape"),
        ("pub enum Colour {", "type Colour"),
        ("  it('adds two numbers', () => {", "test adds two numbers"),
        ('test.skip("subtracts", async () => {', "test subtracts"),
    ],
)
def test_a_line_that_defines_is_read(line: str, expected: str) -> None:
    (found,) = read_words(line + "\n") or ()
    assert f"{found.kind} {found.name}" == expected


@pytest.mark.parametrize(
    "line",
    ["  const local = 3", "// function old()", "xs.filter(x => x)", "the class of 1999", "return fn x"],
)
def test_a_line_that_only_uses_is_not(line: str) -> None:
    assert read_words(line + "\n") == ()


def test_what_words_show_is_marked_and_its_file_unparsed() -> None:
    before = {"a.kt": "fun total() {\n  return 1\n}\nfun same() {\n}\n"}
    after = {"a.kt": "fun total() {\n  return 2\n}\nfun same() {\n}\nclass New {\n}\n"}
    found = measure({"a.kt": Change(kind=ChangeKind.MODIFIED)}, before, after)
    told = [(str(each.fate), each.name, each.by_words) for each in found.definitions]
    assert told == [("changed", "total", True), ("added", "New", True)]
    assert found.unparsed == {"a.kt"}


def test_a_very_long_line_takes_no_long_time() -> None:
    text = "export " * 200_000 + "\n" + "it(" + "(" * 100_000
    assert read_words(text[:900_000]) == ()
