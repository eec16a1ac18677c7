"""Joins tokens that are one thing: a phrase, a command, `12 of 14`."""

from __future__ import annotations

from segue.domain.claims.lexicon import GRAMMAR, LONGEST_PHRASE, PHRASES, PREFIXES, PREPOSITIONS
from segue.domain.claims.tokens import StatementToken, WordKind
from segue.domain.text.command_lines import programs_of
from segue.domain.text.commands import is_command


def joined(tokens: list[StatementToken]) -> list[StatementToken]:
    """The tokens, with one for several that are one thing."""
    return _merged(_phrased(tokens))


def _phrased(tokens: list[StatementToken]) -> list[StatementToken]:
    """Puts one word for several that say the same; leaves out what a commit message begins with."""
    first = _after_prefix(tokens)
    found: list[StatementToken] = []
    at = first
    while at < len(tokens):
        lows = [t.low if t.kind is WordKind.WORD else "" for t in tokens[at : at + LONGEST_PHRASE]]
        length = next((n for n in range(len(lows), 1, -1) if tuple(lows[:n]) in PHRASES), 0)
        if length:
            word, last = PHRASES[tuple(lows[:length])], tokens[at + length - 1]
            found.append(StatementToken(WordKind.WORD, word, tokens[at].start, last.end))
        else:
            found.append(tokens[at])
        at += max(1, length)
    return found


def _after_prefix(tokens: list[StatementToken]) -> int:
    """Where a message begins, behind its `fix(parser):`."""
    if not tokens or tokens[0].low.partition("(")[0] not in PREFIXES or not tokens[0].text[0].islower():
        return 0
    colon = next((n for n in range(1, min(5, len(tokens))) if ":" in tokens[n].text), 0)
    is_scope = all(t.kind in (WordKind.WORD, WordKind.SIGN, WordKind.NAME) for t in tokens[1:colon])
    is_bare = colon == 1 or (colon > 1 and "(" in tokens[0].text + tokens[1].text)
    return colon + 1 if is_scope and is_bare and colon + 1 < len(tokens) else 0


def _merged(tokens: list[StatementToken]) -> list[StatementToken]:
    """Joins what is one command: `npm test`, `pytest -q tests/a.py`; and `12 of 14`."""
    found: list[StatementToken] = []
    at = 0
    while at < len(tokens):
        token = tokens[at]
        if token.kind is WordKind.WORD and _is_named(tokens, at):
            found.append(token._replace(kind=WordKind.NAME))
            at += 1
            continue
        if (
            token.kind in (WordKind.WORD, WordKind.COMMAND)
            and not token.is_code
            and (length := _command(tokens, at))
        ):
            text = " ".join(each.text for each in tokens[at : at + length])
            last = tokens[at + length - 1]
            found.append(StatementToken(WordKind.COMMAND, text, token.start, last.end))
            at += length
        elif token.value is not None and token.total is None and (skip := _part_of(tokens, at)):
            whole = tokens[at + skip]
            found.append(token._replace(kind=WordKind.NUMBER, total=whole.value, end=whole.end))
            at += skip + 1
        else:
            found.append(token)
            at += 1
    return found


_NAMED_KINDS = frozenset({"function", "method", "class", "helper", "constant", "fixture"})


def _is_named(tokens: list[StatementToken], at: int) -> bool:
    """True for the `add` of "the function add in calc.py"."""
    if at == 0 or tokens[at - 1].low not in _NAMED_KINDS or not tokens[at].text.isidentifier():
        return False
    after = tokens[at + 1] if at + 1 < len(tokens) else None
    is_last = (
        after is None
        or after.kind is WordKind.SIGN
        or after.low in ("to", "from", "in", "into", "and", "was", "is", "has")
    )
    return (
        is_last
        and tokens[at].low not in GRAMMAR
        and tokens[at].low not in PREPOSITIONS
        and tokens[at].value is None
    )


_SUBCOMMANDS = frozenset(
    {"test", "tests", "build", "lint", "run", "check", "vet", "clippy", "typecheck", "install"}
)


def _command(tokens: list[StatementToken], at: int) -> int:
    """How many tokens from here are a command that is written without code marks."""
    first = tokens[at]
    if not is_command(first.text) or first.text[0].isupper():
        return 0
    length = 1
    while at + length < len(tokens):
        each = tokens[at + length]
        is_flag = each.text.startswith("-") and len(each.text) > 1 and each.kind is not WordKind.SIGN
        if (
            is_flag
            or (length == 1 and each.low in _SUBCOMMANDS and each.text[0].islower())
            or (length == 1 and at + 2 < len(tokens) and tokens[at + 2].text.startswith("--"))
            or (length > 1 and each.kind is WordKind.PATH and not each.is_code)
        ):
            length += 1
        else:
            break
    text = " ".join(each.text for each in tokens[at : at + length])
    if length == 1:
        return 1 if first.text in ("pytest", "jest", "vitest", "tox", "mypy", "pyright", "tsc") else 0
    return length if programs_of(text) else 0


def _part_of(tokens: list[StatementToken], at: int) -> int:
    """How far behind the 12 of `12 of 14` or `12 out of 14` the 14 is."""
    words = [each.low for each in tokens[at + 1 : at + 4]]
    for skip, between in (
        (2, ["/"]),
        (2, ["of"]),
        (3, ["of", "the"]),
        (3, ["out", "of"]),
        (4, ["out", "of", "the"]),
        (2, ["from"]),
        (3, ["of", "in-all"]),
        (4, ["out", "of", "in-all"]),
    ):
        is_so = words[: len(between)] == between and at + skip < len(tokens)
        if is_so and tokens[at + skip].kind is WordKind.NUMBER:
            return skip
    return 0
