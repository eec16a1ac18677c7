"""What the assertions of a JavaScript test require, and how strictly."""

from __future__ import annotations

import re
from collections.abc import Sequence

from segue.domain.evidence.weakened.javascript_tokens import (
    JavaScriptToken,
    arguments,
    closing,
    is_value,
    joined,
    without_names,
)
from segue.domain.evidence.weakened.shapes import EXACT, MEDIUM, TRIVIAL, WEAK, Assertion

_EXACT = re.compile(
    r"^(equal|strictEqual|deepEqual|deepStrictEqual|toBe|toEqual|toStrictEqual|eql|eq|equals|toMatchSnapshot|throws"
    r"|rejects|toMatchInlineSnapshot|toHaveBeenCalledWith|toHaveBeenCalledTimes|toHaveLength|snapshot|toBeNull"
    r"|toBeUndefined|toBeTrue|toBeFalse|lengthOf|isNull|isTrue|isFalse|deep)$"
)
_WEAK = re.compile(
    r"^(ok|toBeDefined|toBeTruthy|toBeFalsy|exist|exists|isOk|isDefined|toHaveBeenCalled|toBeInstanceOf|isNotNull"
    r"|doesNotThrow|doesNotReject|ifError|instanceOf|a|an|assert)$"
)
_MOST = 60


def assertions_at(tokens: Sequence[JavaScriptToken], index: int) -> tuple[Assertion, int] | None:
    """The assertion that begins at a token, and where it ends; none if there is none."""
    token = tokens[index]
    if token.kind != "word" or (index and tokens[index - 1].text in (".", "?.")):
        return None
    if token.text in ("assert", "t", "chai") or token.text == "expect":
        return _chain(tokens, index)
    return None


def _chain(tokens: Sequence[JavaScriptToken], index: int) -> tuple[Assertion, int] | None:
    """`expect(x).not.toBe(1)`, `assert.equal(x, 1)`, `t.assert.equal(x, 1)`."""
    names, groups, at = [tokens[index].text], list[int](), index + 1
    while at < len(tokens) and len(names) < _MOST:
        if tokens[at].text == "(":
            groups.append(at)
            at = closing(tokens, at) + 1
        elif tokens[at].text in (".", "?.") and at + 1 < len(tokens) and tokens[at + 1].kind == "word":
            names.append(tokens[at + 1].text)
            at += 2
        else:
            break
    is_assertion = (
        names[0] in ("assert", "expect") or "assert" in names or (names[0] == "t" and _is_tap(names))
    )
    if not groups or not is_assertion or (names[0] == "expect" and len(names) == 1):
        return None
    written = tokens[index:at]
    kind = names[-1]
    strength = _strength(tokens, names, groups)
    assertion = Assertion(
        kind=("not " if "not" in names[:-1] else "") + kind,
        strength=strength,
        text=joined(written),
        skeleton=f"{kind} {_skeleton(written)}",
        line=tokens[index].line,
        tolerance=_tolerance(tokens, kind, groups),
    )
    return assertion, at - 1


def _is_tap(names: Sequence[str]) -> bool:
    return len(names) == 2 and bool(
        _EXACT.match(names[1]) or names[1] in ("is", "deepEqual", "true", "truthy", "same")
    )


def _skeleton(written: Sequence[JavaScriptToken]) -> str:
    return without_names(written)


def _strength(tokens: Sequence[JavaScriptToken], names: Sequence[str], groups: Sequence[int]) -> int:
    kind, parts = names[-1], arguments(tokens, groups[0])
    last = arguments(tokens, groups[-1])
    if _is_constant(kind, parts, last, is_expect=names[0] == "expect"):
        return TRIVIAL
    if names[0] == "assert" and len(names) == 1 and parts:
        has_equality = any(token.text in ("===", "==") for token in parts[0])
        return EXACT if has_equality else WEAK
    if "not" in names[:-1] or kind.startswith("not"):
        is_presence = kind in ("toBeNull", "toBeUndefined", "undefined", "null", "toThrow")
        return WEAK if is_presence or _is_nothing(last) else MEDIUM
    if kind == "ok" and parts and any(token.text in ("===", "==") for token in parts[0]):
        return EXACT
    if _EXACT.match(kind):
        return EXACT
    return WEAK if _WEAK.match(kind) else MEDIUM


def _is_constant(
    kind: str,
    parts: Sequence[Sequence[JavaScriptToken]],
    last: Sequence[Sequence[JavaScriptToken]],
    *,
    is_expect: bool,
) -> bool:
    """True of what holds whatever the code does: `assert.ok(true)`, `expect(1).toBe(1)`."""
    if is_expect:
        return (
            bool(parts)
            and all(is_value(token) for token in parts[0])
            and (not last or joined(last[0]) == joined(parts[0]) or kind.startswith("toBe"))
        )
    if kind in ("ok", "assert") and parts:
        return all(is_value(token) for token in parts[0])
    return len(parts) >= 2 and joined(parts[0]) == joined(parts[1])


def _is_nothing(parts: Sequence[Sequence[JavaScriptToken]]) -> bool:
    return bool(parts) and joined(parts[0]) in ("null", "undefined")


def _tolerance(tokens: Sequence[JavaScriptToken], kind: str, groups: Sequence[int]) -> float | None:
    if kind not in ("toBeCloseTo", "closeTo", "approximately"):
        return None
    last = arguments(tokens, groups[-1])
    if len(last) < 2 or len(last[-1]) != 1 or last[-1][0].kind != "number":
        return None
    number = float(last[-1][0].text.replace("_", ""))
    return 10.0**-number if kind == "toBeCloseTo" else number
