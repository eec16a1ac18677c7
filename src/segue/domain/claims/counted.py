"""Finds the numbers of a statement, each with what it counts."""

from __future__ import annotations

from dataclasses import dataclass

from segue.domain.claims.lexicon import ABOUT, COUNT_NOUNS, PREPOSITIONS
from segue.domain.claims.tokens import ENTITIES, StatementToken, WordKind
from segue.domain.text.words import word_set

_OTHER_NUMBERS = word_set("not from than instead")
"""Before a number: it is not the one that is claimed."""
_NOT_COUNTED = word_set("every each any not no this that the which last another a")
"""Before `one`: it counts nothing."""
_DEEDS = word_set("added removed deleted changed modified")
UNIT_WORDS = frozenset(
    {"unit", "integration", "regression", "new", "test", "helper", "public", "source", "production", "python"}
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Counted:
    """A number with what it counts."""

    at: int
    noun: int
    what: str
    value: int
    is_rough: bool = False
    is_total: bool = False
    """True for the 14 of "of 14 tests 12 passed"."""
    between: tuple[int, ...] = ()
    exact: tuple[int, ...] = ()
    """The `exactly` before it: no generous way to count proves that."""
    start: int | None = None
    """The 3 of "from 3 to 5 tests"."""


def counted_in(tokens: list[StatementToken], first: int = 0, last: int | None = None) -> list[Counted]:
    """Every number of a statement that has a noun."""
    stop = len(tokens) - 1 if last is None else last
    found: list[Counted] = []
    for at in range(first, stop + 1):
        token = tokens[at]
        if token.value is None or token.kind is WordKind.RANGE or token.text.endswith("%"):
            continue
        before = tokens[at - 1].low if at > first else ""
        after = [each.low for each in tokens[at + 1 : min(at + 3, stop + 1)]]
        is_turn = before == "to" and at - first > 2 and tokens[at - 3].low == "from"
        is_other = before in _OTHER_NUMBERS or (token.low in ("one", "single") and before in _NOT_COUNTED)
        if is_other or after[:1] in (["fewer"], ["less"]) or after[1:] == ["than"]:
            continue
        noun = _noun_of(tokens, at, stop)
        if noun is None and found and after and after[0] in _DEEDS:
            noun = found[-1].noun
        if noun is not None:
            counted = Counted(
                at=at,
                noun=noun,
                what=COUNT_NOUNS.get(tokens[noun].low, "lines"),
                value=abs(token.value),
                is_rough=token.text.startswith("~") or (at > 0 and tokens[at - 1].low in ABOUT),
                is_total=_is_total(tokens, at),
                between=tuple(n for n in range(at + 1, noun) if tokens[n].low in UNIT_WORDS),
                exact=(at - 1,) if before in ("exactly", "precisely") else (),
                start=tokens[at - 2].value if is_turn else None,
            )
            found.append(counted)
    return found


def _is_total(tokens: list[StatementToken], at: int) -> bool:
    """True for the 14 of "of the 14 tests 12 passed"."""
    before = at - 2 if at > 1 and tokens[at - 1].low == "the" else at - 1
    return before >= 0 and tokens[before].low == "of"


def _noun_of(tokens: list[StatementToken], at: int, stop: int) -> int | None:
    for n in range(at + 1, min(at + 5, stop + 1)):
        token = tokens[n]
        if token.kind in ENTITIES and token.kind is not WordKind.NAME:
            break
        if token.low in COUNT_NOUNS and token.kind is WordKind.WORD:
            after = tokens[n + 1] if n + 1 <= stop else None
            is_first = token.low in ("test", "function", "file", "class", "total")
            return n + 1 if is_first and after is not None and after.low in COUNT_NOUNS else n
        if (token.low in PREPOSITIONS and token.low != "of") or token.kind in (
            WordKind.SIGN,
            WordKind.NUMBER,
        ):
            break
    has_unit = at < stop and tokens[at + 1].kind is WordKind.WORD and tokens[at + 1].low not in PREPOSITIONS
    if has_unit:
        return None
    if _is_signed(tokens[at]) and any(
        t.kind is WordKind.PATH or (_is_signed(t) and t is not tokens[at]) for t in tokens
    ):
        return at
    noun = _label_of(tokens, at)
    if noun is None and at >= 2 and tokens[at - 1].text in _POINTS:
        near = (n for n in (at - 2, at - 3) if n >= 0 and _is_count_noun(tokens[n]))
        return next(near, None)
    return noun


def _is_signed(token: StatementToken) -> bool:
    return token.text[:1] in "+\u2212" or (token.text[:1] == "-" and token.kind is WordKind.NUMBER)


_POINTS = (":", "=", "\u2192", "->")


def _is_count_noun(token: StatementToken) -> bool:
    return token.kind is WordKind.WORD and token.low in COUNT_NOUNS


_LABELS = word_set("number count total amount insertions deletions")
COUNT_TITLES = _LABELS | word_set("summary diffstat scope result size extent")


def _label_of(tokens: list[StatementToken], at: int) -> int | None:
    """The `files` of "Number of changed files: 2" and of "the number of tests in a.py went up by 2"."""
    if not any(token.low in _LABELS for token in tokens[:at]):
        return None
    if tokens[at - 1].low not in (*_POINTS, "is", "by", "to", "at"):
        return None
    nouns = [n for n in range(at) if _is_count_noun(tokens[n])]
    return next((n for n in nouns if tokens[n].low not in _LABELS), nouns[0] if nouns else None)
