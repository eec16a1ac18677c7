"""Cuts a statement into segments: parts that speak for themselves, each with what it is said of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from segue.domain.claims.lexicon import PREPOSITIONS
from segue.domain.claims.tokens import ENTITIES, StatementToken, WordKind
from segue.domain.claims.verbs import VERBS, Form

_ENDS = frozenset({"but", "however", "whereas", "although", "though", "yet"})
ARROWS = ("->", "\u2192", "=>", "\u21d2")


def segments_of(tokens: Sequence[StatementToken]) -> Iterator[tuple[list[int], tuple[int, ...]]]:
    """Parts of a statement that speak for themselves, each with the things that it is said of."""
    outer: list[int] = []
    inner: list[list[int]] = []
    about: list[tuple[int, ...]] = []
    depth = 0
    for at, token in enumerate(tokens):
        if token.kind is WordKind.SIGN:
            if "(" in token.text:
                depth += 1
                inner.append([])
                about.append(_described(tokens, outer))
                continue
            elif depth and ")" in token.text:
                depth -= 1
                if rest := token.text.partition(")")[2]:
                    outer.append(at) if not depth and rest else None
                continue
        (inner[-1] if depth else outer).append(at)
    for part, prefix in ((outer, ()), *zip(inner, about, strict=True)):
        yield from _cut(tokens, part, prefix)


def _described(tokens: Sequence[StatementToken], outer: Sequence[int]) -> tuple[int, ...]:
    """What a parenthesis is said of: of "`total` in a.py (new)", the name and where it is."""
    names, paths = _names(tokens, outer)[-1:], _paths(tokens, outer)[-1:]
    if names and paths and not _has_verb(tokens, outer):
        return (*names, *paths)
    return paths or names or _commands(tokens, outer)


def _paths(tokens: Sequence[StatementToken], segment: Sequence[int]) -> tuple[int, ...]:
    return tuple(at for at in segment if tokens[at].kind is WordKind.PATH)


def _names(tokens: Sequence[StatementToken], segment: Sequence[int]) -> tuple[int, ...]:
    return tuple(at for at in segment if tokens[at].kind is WordKind.NAME)


def _commands(tokens: Sequence[StatementToken], segment: Sequence[int]) -> tuple[int, ...]:
    return tuple(at for at in segment if tokens[at].kind is WordKind.COMMAND)


def _cut(
    tokens: Sequence[StatementToken], part: list[int], prefix: tuple[int, ...]
) -> Iterator[tuple[list[int], tuple[int, ...]]]:
    segment: list[int] = []
    for at in part:
        token = tokens[at]
        is_stop = token.low in _ENDS or (
            token.kind is WordKind.SIGN
            and (";" in token.text or token.text in ("\u2014", "\u2013", "-", "|", "--"))
        )
        is_colon = token.kind is WordKind.SIGN and (":" in token.text or _is_pointer(tokens, at))
        if (
            is_colon
            and any(tokens[each].kind in ENTITIES for each in segment)
            and not _has_verb(tokens, segment)
        ):
            prefix = tuple(each for each in segment if tokens[each].kind in ENTITIES)
            is_stop = True
        elif is_stop and segment and not _has_verb(tokens, segment):
            prefix = (*prefix, *_names(tokens, segment)[-1:], *_paths(tokens, segment))
        elif is_colon and (tail := _last_things(tokens, segment)):
            yield segment[: -len(tail)], prefix
            prefix, segment = tuple(tail), []
            continue
        if is_stop:
            if segment:
                yield segment, prefix if is_colon is False else ()
            segment = []
        else:
            segment.append(at)
    if segment:
        yield segment, prefix


def _is_pointer(tokens: Sequence[StatementToken], at: int) -> bool:
    """True for the arrow of "a.py -> deleted": what follows is said of what comes before."""
    if tokens[at].text not in ARROWS or not 0 < at < len(tokens) - 1:
        return False
    before, after = tokens[at - 1], tokens[at + 1]
    is_value = (
        after.kind in (WordKind.NUMBER, WordKind.VERSION, WordKind.COMMIT) and after.kind is before.kind
    )
    return before.kind in ENTITIES and after.kind is not before.kind and not is_value


def _last_things(tokens: Sequence[StatementToken], segment: Sequence[int]) -> list[int]:
    """The `b.py` of "a.py: edited, b.py: deleted"."""
    tail: list[int] = []
    for at in reversed(segment):
        if tokens[at].kind is WordKind.SIGN and "," in tokens[at].text:
            return list(reversed(tail))
        if tokens[at].kind is not WordKind.PATH:
            return []
        tail.append(at)
    return []


def _has_verb(tokens: Sequence[StatementToken], segment: Sequence[int]) -> bool:
    for n, at in enumerate(segment):
        verbs = VERBS.get(tokens[at].low, ()) if tokens[at].kind is WordKind.WORD else ()
        if any(verb.form is not Form.BASE for verb in verbs):
            return True
        begins = n == 0 or tokens[segment[n - 1]].kind is WordKind.SIGN
        leads = n + 1 < len(segment) and tokens[segment[n + 1]].low not in PREPOSITIONS
        if begins and leads and any(not verb.particles for verb in verbs):
            return True
    return False
