"""JavaScript and TypeScript as tokens: names, literals and signs, without comments and layout."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

_SPACE = re.compile(r"\s+|//[^\n]*|/\*.*?\*/", re.DOTALL)
_WORD = re.compile(r"[A-Za-z_$\u0080-\uffff][\w$\u0080-\uffff]*")
_NUMBER = re.compile(
    r"(?:0[xXbBoO][\da-fA-F_]+|\d[\d_]*\.?[\d_]*(?:[eE][+-]?\d+)?|\.\d[\d_]*(?:[eE][+-]?\d+)?)n?"
)
_STRING = re.compile(r"'(?:\\.|[^'\\\n])*'|\"(?:\\.|[^\"\\\n])*\"", re.DOTALL)
_REGEX = re.compile(r"/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\[\n])+/[a-z]*")
_SIGN = re.compile(r"=>|\.\.\.|[=!]==|[=!<>]=|&&|\|\||\?\?|\?\.|\*\*|\+\+|--|[-+*/%]=|.", re.DOTALL)
_BEFORE_A_VALUE = frozenset(
    [
        "(",
        ",",
        "=",
        ":",
        "[",
        "!",
        "&",
        "|",
        "?",
        "{",
        "}",
        ";",
        "+",
        "-",
        "*",
        "%",
        "<",
        ">",
        "~",
        "^",
        "=>",
        "&&",
        "||",
        "??",
        "==",
        "===",
        "!=",
        "!==",
        "+=",
        "-=",
    ]
)
_BEFORE_A_REGEX = frozenset(
    {"return", "typeof", "case", "in", "of", "delete", "void", "throw", "new", "await"}
)
_CLOSING = {"(": ")", "[": "]", "{": "}"}
MOST_TOKENS = 400_000
"""Files with more are not read."""


class JavaScriptToken(NamedTuple):
    """A word, a literal or a sign."""

    kind: str
    """`word`, `number`, `string`, `template`, `regex`, `sign`."""
    text: str
    line: int


def read_tokens(text: str) -> list[JavaScriptToken] | None:
    """The tokens of a file; none if it cannot be read, or is too long."""
    found: list[JavaScriptToken] = []
    at, line = 0, 1
    while at < len(text):
        if space := _SPACE.match(text, at):
            end = space.end()
        else:
            kind, end = _next(text, at, found)
            if end <= at or len(found) >= MOST_TOKENS:
                return None
            found.append(JavaScriptToken(kind, text[at:end], line))
        line += text.count("\n", at, end)
        at = end
    return found


def _next(text: str, at: int, before: Sequence[JavaScriptToken]) -> tuple[str, int]:
    first = text[at]
    if found := _WORD.match(text, at):
        return "word", found.end()
    if (
        found := _NUMBER.match(text, at)
        if first.isdigit() or (text[at : at + 2][1:].isdigit() and first == ".")
        else None
    ):
        return "number", found.end()
    if first in "'\"":
        found = _STRING.match(text, at)
        return ("string", found.end()) if found else ("sign", at + 1)
    if first == "`":
        return "template", _template_end(text, at + 1)
    if first == "/" and _may_be_regex(before) and (found := _REGEX.match(text, at)):
        return "regex", found.end()
    sign = _SIGN.match(text, at)
    return "sign", sign.end() if sign else at


def _template_end(text: str, at: int) -> int:
    """Where a template string ends; expressions in it may hold further ones."""
    depth = 0
    while at < len(text):
        if text[at] == "\\":
            at += 1
        elif text[at] == "`" and depth == 0:
            return at + 1
        elif text.startswith("${", at) or (depth and text[at] == "{"):
            depth += 1
            at += text.startswith("${", at)
        elif text[at] == "}" and depth:
            depth -= 1
        elif text[at] == "`":
            at = _template_end(text, at + 1) - 1
        at += 1
    return len(text)


def _may_be_regex(before: Sequence[JavaScriptToken]) -> bool:
    if not before:
        return True
    last = before[-1]
    return (
        last.text in _BEFORE_A_REGEX
        if last.kind == "word"
        else last.kind == "sign" and last.text in _BEFORE_A_VALUE
    )


def closing(tokens: Sequence[JavaScriptToken], at: int) -> int:
    """Where the bracket that opens at `at` is closed; the end of the tokens if nowhere."""
    stack: list[str] = []
    for index in range(at, len(tokens)):
        token = tokens[index]
        if token.kind != "sign":
            continue
        if token.text in _CLOSING:
            stack.append(_CLOSING[token.text])
        elif stack and token.text == stack[-1]:
            stack.pop()
            if not stack:
                return index
    return len(tokens) - 1


def arguments(tokens: Sequence[JavaScriptToken], at: int) -> list[Sequence[JavaScriptToken]]:
    """What is between the commas of the brackets that open at `at`."""
    end = closing(tokens, at)
    found: list[Sequence[JavaScriptToken]] = []
    start = index = at + 1
    while index < end:
        if tokens[index].kind == "sign":
            if tokens[index].text in _CLOSING:
                index = closing(tokens, index)
            elif tokens[index].text == ",":
                found.append(tokens[start:index])
                start = index + 1
        index += 1
    if start < end:
        found.append(tokens[start:end])
    return found


def joined(tokens: Sequence[JavaScriptToken]) -> str:
    """Tokens as text without layout."""
    return _TIGHT.sub("", " ".join(token.text for token in tokens))


def without_names(tokens: Sequence[JavaScriptToken]) -> str:
    """The same without names: what stays when something is renamed."""
    return " ".join(
        "_" if token.kind == "word" and token.text not in _VALUES else token.text for token in tokens
    )


_TIGHT = re.compile(r"(?<=[.(!\[]) | (?=[.()\],;])")
_VALUES = frozenset({"true", "false", "null", "undefined", "NaN", "Infinity"})


def is_value(token: JavaScriptToken) -> bool:
    """True of a literal."""
    return token.kind in ("number", "string", "template", "regex") or token.text in _VALUES


def string_value(token: JavaScriptToken) -> str:
    """What a string literal says."""
    return re.sub(r"\\(.)", r"\1", token.text[1:-1]) if token.kind in ("string", "template") else token.text
