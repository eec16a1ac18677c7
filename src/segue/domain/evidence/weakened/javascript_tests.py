"""The tests of a JavaScript or TypeScript file, by its tokens: node:test, Jest, Vitest, Mocha, Jasmine."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from segue.domain.evidence.weakened.javascript_assertions import assertions_at
from segue.domain.evidence.weakened.javascript_tokens import (
    JavaScriptToken,
    arguments,
    closing,
    is_value,
    joined,
    read_tokens,
    string_value,
    without_names,
)
from segue.domain.evidence.weakened.shapes import Assertion, SkipMark, TestShape

_TESTS = frozenset({"test", "it", "specify", "xit", "xtest", "fit", "ftest"})
_GROUPS = frozenset({"describe", "suite", "context", "xdescribe", "fdescribe", "xcontext"})
_SKIPPING = frozenset({"skip", "todo", "failing", "fails", "fixme"})
_MODIFIERS = _SKIPPING | {
    "only",
    "each",
    "for",
    "concurrent",
    "sequential",
    "serial",
    "skipIf",
    "runIf",
    "extend",
}
"""What may follow `test`; behind any other name it is something else with that name."""
_MOCKS = frozenset({"mock", "spyOn", "stub", "replace", "method", "mockImplementation", "doMock"})
_LIMITS = frozenset({"timeout", "retry", "retries", "retryTimes", "setTimeout"})


def read_javascript_tests(path: str, text: str) -> tuple[TestShape, ...] | None:
    """The tests of a file; none if it cannot be read."""
    tokens = read_tokens(text)
    if tokens is None:
        return None
    found: dict[tuple[str, ...], TestShape] = {}
    for shape in _JavaScriptScope(path=path).within(_filled(tokens)):
        found[shape.names] = shape
    return tuple(found.values())


def _filled(tokens: list[JavaScriptToken]) -> list[JavaScriptToken]:
    """With the values of names that are constants: `expected` is what it was set to."""
    values: dict[str, JavaScriptToken] = {}
    for index in range(len(tokens) - 3):
        word, name, sign, value = tokens[index : index + 4]
        follows = tokens[index + 4] if index + 4 < len(tokens) else None
        ends = follows is None or follows.text == ";" or follows.line > value.line
        if word.text == "const" and sign.text == "=" and is_value(value) and ends and name.text not in values:
            values[name.text] = value
    return [
        values[token.text]._replace(line=token.line)
        if token.text in values and token.kind == "word" and not _is_member(tokens, index)
        else token
        for index, token in enumerate(tokens)
    ]


def _is_member(tokens: Sequence[JavaScriptToken], index: int) -> bool:
    """True of a name behind a dot, of a key, and of what is being declared."""
    before = tokens[index - 1].text if index else ""
    after = tokens[index + 1].text if index + 1 < len(tokens) else ""
    return before in (".", "?.", "const", "let", "var") or after == ":"


@dataclass(frozen=True, kw_only=True, slots=True)
class _Call:
    """A call of `test`, `it`, `describe` or their like."""

    name: str
    modifiers: tuple[str, ...]
    title: str
    line: int
    at: int
    end: int
    parts: tuple[Sequence[JavaScriptToken], ...] = ()
    cases: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class _JavaScriptScope:
    path: str
    names: tuple[str, ...] = ()
    skip: SkipMark | None = None
    is_focused: bool = False

    def within(self, tokens: Sequence[JavaScriptToken]) -> Iterator[TestShape]:
        index = 0
        while index < len(tokens):
            call = _call_at(tokens, index)
            if call is None:
                index += 1
                continue
            inner = tokens[call.at + 1 : call.end]
            mark = self.skip or _skip_of(call)
            focused = self.is_focused or "only" in call.modifiers or call.name.startswith("f")
            if call.name in _GROUPS:
                scope = replace(self, names=(*self.names, call.title), skip=mark, is_focused=focused)
                yield from scope.within(inner)
            else:
                shape = self._test(call, mark, focused)
                yield shape
                yield from replace(self, names=shape.names, skip=mark).within(_body(call))
            index = call.end + 1

    def _test(self, call: _Call, mark: SkipMark | None, focused: bool) -> TestShape:
        body = _body(call)
        reading = _JavaScriptBody()
        reading.read(body)
        last = max((each.line for each in reading.assertions), default=0)
        return TestShape(
            path=self.path,
            names=(*self.names, call.title),
            line=call.line,
            skip=mark or _skip_in(body),
            is_focused=focused,
            assertions=tuple(reading.assertions),
            swallowed=reading.swallowed,
            returns_early=_early_return(body, last),
            is_empty=not body,
            cases=call.cases,
            values=tuple(reading.values),
            steps=tuple(reading.steps),
            used=frozenset(token.text for token in body if token.kind == "word"),
            mocks=_mocks(body),
            limits=_limits(call),
            code=joined(body),
        )


@dataclass(slots=True)
class _JavaScriptBody:
    """What a body consists of, while it is read."""

    assertions: list[Assertion] = field(default_factory=list)
    swallowed: int = 0
    values: list[str] = field(default_factory=list)
    steps: list[str] = field(default_factory=list)

    def read(self, tokens: Sequence[JavaScriptToken], *, is_forgiven: bool = False) -> None:
        index, rest = 0, list[JavaScriptToken]()
        while index < len(tokens):
            if tokens[index].text == "try" and index + 1 < len(tokens) and tokens[index + 1].text == "{":
                end = closing(tokens, index + 1)
                self.read(tokens[index + 2 : end], is_forgiven=is_forgiven or _is_forgotten(tokens, end))
                index = end + 1
                continue
            found = assertions_at(tokens, index)
            if found is not None:
                assertion, end = found
                self.assertions.append(assertion)
                self.swallowed += is_forgiven
                index = end + 1
                continue
            rest.append(tokens[index])
            index += 1
        self.values += [token.text for token in rest if is_value(token)]
        self.steps.append(without_names(rest))


def _call_at(tokens: Sequence[JavaScriptToken], index: int) -> _Call | None:
    token = tokens[index]
    if token.kind != "word" or token.text not in _TESTS | _GROUPS:
        return None
    if index and tokens[index - 1].text in (".", "?.", "function", "import", "const", "let", "{"):
        is_context = index > 1 and tokens[index - 1].text == "." and tokens[index - 2].text in ("t", "test")
        if tokens[index - 1].text != "{" and not is_context:
            return None
    at, modifiers, cases = index + 1, list[str](), tuple[str, ...]()
    while at + 1 < len(tokens) and tokens[at].text == "." and tokens[at + 1].kind == "word":
        modifiers.append(tokens[at + 1].text)
        at += 2
        if (
            at < len(tokens)
            and tokens[at].text == "("
            and modifiers[-1] in ("each", "skipIf", "runIf", "for")
        ):
            cases = (
                tuple(joined(part) for part in _elements(tokens, at))
                if modifiers[-1] in ("each", "for")
                else cases
            )
            at = closing(tokens, at) + 1
        elif at < len(tokens) and tokens[at].kind == "template" and modifiers[-1] == "each":
            cases = tuple(
                line.strip() for line in tokens[at].text.strip("`").splitlines()[1:] if line.strip()
            )
            at += 1
    if at >= len(tokens) or tokens[at].text != "(" or not set(modifiers) <= _MODIFIERS:
        return None
    parts = tuple(arguments(tokens, at))
    if not parts or len(parts[0]) != 1 or parts[0][0].kind not in ("string", "template"):
        return None
    return _Call(
        name=token.text,
        modifiers=tuple(modifiers),
        title=string_value(parts[0][0]),
        line=token.line,
        at=at,
        end=closing(tokens, at),
        parts=parts,
        cases=cases,
    )


def _elements(tokens: Sequence[JavaScriptToken], at: int) -> list[Sequence[JavaScriptToken]]:
    if at + 1 < len(tokens) and tokens[at + 1].text == "[":
        return arguments(tokens, at + 1)
    return arguments(tokens, at)


def _body(call: _Call) -> Sequence[JavaScriptToken]:
    """The body of the function that a test is; of an arrow without braces, its expression."""
    for part in call.parts[1:]:
        for index, token in enumerate(part):
            if token.text == "=>":
                rest = part[index + 1 :]
                return rest[1 : closing(rest, 0)] if rest and rest[0].text == "{" else rest
            if token.text == "function":
                opening = next((i for i in range(index, len(part)) if part[i].text == ")"), index)
                start = next((i for i in range(opening, len(part)) if part[i].text == "{"), None)
                return part[start + 1 : closing(part, start)] if start is not None else ()
            if token.text == "{":
                break  # options
    return ()


def _skip_of(call: _Call) -> SkipMark | None:
    name = next((each for each in call.modifiers if each in _SKIPPING), "")
    if name or call.name.startswith("x"):
        text = f"{call.name}.{name}" if name else call.name
        return SkipMark(text=text, line=call.line, is_certain=True)
    if found := next((each for each in call.modifiers if each in ("skipIf", "runIf")), ""):
        return SkipMark(text=f"{call.name}.{found}", line=call.line, is_certain=False)
    for part in call.parts[1:]:
        if not part or part[0].text != "{":
            continue
        for option in arguments(part, 0):
            if len(option) >= 3 and option[0].text in ("skip", "todo") and option[1].text == ":":
                if option[2].text in ("false", "undefined"):
                    continue
                is_certain = len(option) == 3 and is_value(option[2])
                return SkipMark(text=f"{{ {joined(option)} }}", line=option[0].line, is_certain=is_certain)
    if not call.parts[1:] and call.name in _TESTS:
        return SkipMark(text=f"{call.name} without a body", line=call.line, is_certain=True)
    return None


def _skip_in(body: Sequence[JavaScriptToken]) -> SkipMark | None:
    """`t.skip()` or `this.skip()`; inside of braces it may have a condition."""
    depth = 0
    for index, token in enumerate(body):
        depth += (token.text == "{") - (token.text == "}")
        following = [each.text for each in body[index + 1 : index + 4]]
        is_skip = following in ([".", "skip", "("], [".", "todo", "("])
        if is_skip and token.text in ("t", "this", "ctx", "context"):
            has_if = any(each.text == "if" for each in body[max(0, index - 12) : index])
            is_certain = depth == 0 and not has_if
            return SkipMark(text=f"{token.text}.skip()", line=token.line, is_certain=is_certain)
    return None


def _early_return(body: Sequence[JavaScriptToken], last: int) -> int | None:
    depth = 0
    for index, token in enumerate(body):
        depth += (token.text in "({[") - (token.text in ")}]") if token.kind == "sign" else 0
        if depth or token.text != "return":
            continue
        follows = body[index + 1] if index + 1 < len(body) else None
        has_condition = index > 0 and body[index - 1].text in (")", "else")
        ends = follows is None or follows.text == ";" or follows.line > token.line
        if ends and not has_condition and token.line < last:
            return token.line
    return None


def _is_forgotten(tokens: Sequence[JavaScriptToken], end: int) -> bool:
    """True if the `catch` behind a `try` neither throws, nor fails, nor looks at what it caught."""
    if end + 1 >= len(tokens) or tokens[end + 1].text != "catch":
        return False
    start = next((i for i in range(end + 2, len(tokens)) if tokens[i].text == "{"), None)
    if start is None:
        return False
    inside = [token.text for token in tokens[start + 1 : closing(tokens, start)]]
    return not {"throw", "fail", "assert", "expect", "reject", "done"} & set(inside)


def _mocks(body: Sequence[JavaScriptToken]) -> frozenset[str]:
    found: set[str] = set()
    for index, token in enumerate(body):
        if token.text in _MOCKS and index + 1 < len(body) and body[index + 1].text == "(":
            found |= {
                string_value(part[0]).rpartition("/")[2]
                for part in arguments(body, index + 1)
                if len(part) == 1
            }
    return frozenset(found)


def _limits(call: _Call) -> dict[str, float]:
    found: dict[str, float] = {}
    for part in call.parts[1:]:
        for index, token in enumerate(part[:-2]):
            if token.text in _LIMITS and part[index + 1].text in (":", "("):
                number = re.sub("[_n]", "", part[index + 2].text)
                if re.fullmatch(r"\d+(\.\d+)?", number):
                    found[token.text] = float(number)
    if len(call.parts) > 2 and len(call.parts[-1]) == 1 and call.parts[-1][0].kind == "number":
        found["timeout"] = float(re.sub("[_n]", "", call.parts[-1][0].text))
    return found
