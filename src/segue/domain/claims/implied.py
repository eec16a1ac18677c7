"""Clauses without a verb: what a heading, an arrow, a status or a value says."""

from __future__ import annotations

from segue.domain.claims.check_definitions import NAMES
from segue.domain.claims.ledger import Statement
from segue.domain.claims.lexicon import COUNT_NOUNS, GRAMMAR
from segue.domain.claims.relations import Clause, Item, Role
from segue.domain.claims.tokens import Kind, Token
from segue.domain.claims.verbs import Relation
from segue.domain.handoff.reading.words import word_set

_LETTERS = {
    "a": Relation.CREATED,
    "m": Relation.CHANGED,
    "d": Relation.REMOVED,
    "??": Relation.CREATED,
    "+": Relation.CREATED,
}
_ARROWS = ("->", "\u2192", "=>", "\u21d2")
_FORMERLY = frozenset({"formerly", "previously", "was", "n\u00e9e", "ex"})
_THERE_IS_NO = word_set("there is are no any more anymore longer")
_TURNS = word_set("was were from instead before previously formerly not old than")
_VALUE_WORDS = word_set(
    "went goes is now at from to version of asks for defaults equals the in lists has value new default used "
    "set it instead was"
)


def implied_clauses(statement: Statement, tokens: list[Token], clauses: list[Clause]) -> list[Clause]:
    """What a statement says without a verb of its own."""
    return (
        _gone(tokens, clauses)
        or _called(tokens, clauses)
        or _arrow_clause(tokens, clauses)
        or _formerly(tokens, clauses)
        or _value(tokens, clauses)
        or _signed(tokens, clauses)
        or _lead(statement, tokens, clauses)
    )


def _gone(tokens: list[Token], clauses: list[Clause]) -> list[Clause]:
    """`there is no a.py any more`."""
    lows = [t.low for t in tokens]
    paths = [n for n, t in enumerate(tokens) if t.kind is Kind.PATH]
    ends = {"anymore", "longer", "more"} & set(lows)
    if clauses or not paths or "no" not in lows or not ends or "there" not in lows:
        return []
    verb = tuple(
        n
        for n, low in enumerate(lows)
        if low in ("there", "is", "are", "no", "any", "more", "anymore", "longer")
    )
    return [
        _made(
            Relation.REMOVED, tuple(Item(n, Role.OBJECT) for n in paths), verb, len(tokens) - 1, lemma="gone"
        )
    ]


_NAMING = word_set(
    "name names named called became become becomes turned turns former formerly known goes title"
)
_BACKWARDS = word_set("former formerly was were used previously replaces replaced took instead for of")


def _called(tokens: list[Token], clauses: list[Clause]) -> list[Clause]:
    """`a is called b now`, `b is the new name of a`, `b, formerly a`."""
    things = [n for n, t in enumerate(tokens) if t.kind in (Kind.NAME, Kind.PATH)]
    cues = [n for n, t in enumerate(tokens) if t.kind is Kind.WORD and t.low in _NAMING]
    deeds = [
        c
        for c in clauses
        if c.relation not in (Relation.HAS, Relation.CHANGED, Relation.CREATED) or c.negated
    ]
    if len(things) != 2 or not cues or deeds or tokens[things[0]].kind is not tokens[things[1]].kind:
        return []
    between = [tokens[n].low for n in range(things[0] + 1, things[1])]
    is_forward = "to" in between or not any(low in _BACKWARDS for low in between)
    first, second = things if is_forward else reversed(things)
    verb = (*cues, *(v for c in clauses for v in c.verb))
    items = (Item(first, Role.OBJECT), Item(second, Role.TARGET))
    return [_made(Relation.RENAMED, items, verb, len(tokens) - 1, lemma="called")]


def _formerly(tokens: list[Token], clauses: list[Clause]) -> list[Clause]:
    """`b.py (formerly a.py)`."""
    at = next((n for n, t in enumerate(tokens) if t.low in _FORMERLY and t.kind is Kind.WORD), None)
    if at is None or clauses or at == 0 or "(" not in tokens[at - 1].text:
        return []
    new = [n for n in range(at) if tokens[n].kind in {*NAMES, Kind.PATH}]
    old = [n for n in range(at, len(tokens)) if tokens[n].kind in {*NAMES, Kind.PATH}]
    if not new or not old or tokens[new[-1]].kind is not tokens[old[0]].kind:
        return []
    items = (Item(old[0], Role.OBJECT), Item(new[-1], Role.TARGET))
    return [_made(Relation.RENAMED, items, (at,), len(tokens) - 1, lemma="rename")]


def _value(tokens: list[Token], clauses: list[Clause]) -> list[Clause]:
    """`` `LIMIT`: 10 -> 20``, `LIMIT = 20 in a.py`, `` `ruff` is now at 0.2``."""
    names = [n for n, t in enumerate(tokens) if t.kind is Kind.NAME]
    values = [n for n, t in enumerate(tokens) if t.kind in (Kind.NUMBER, Kind.VERSION)]
    if len(values) > 1:
        values = [n for n in values if names and n > names[0]]
    if len(names) != 1 or not 1 <= len(values) <= 2 or any(c.relation is not Relation.HAS for c in clauses):
        return []
    others = [
        t
        for n, t in enumerate(tokens)
        if t.kind is Kind.WORD and t.low not in _VALUE_WORDS and t.low not in GRAMMAR
    ]
    counted = any(tokens[n + 1].low in COUNT_NOUNS for n in values if n + 1 < len(tokens))
    if others or counted or any(tokens[n].kind is Kind.NUMBER and tokens[n].text[:1] in "+-" for n in values):
        return []
    verb = tuple(n for n, t in enumerate(tokens) if t.low in _VALUE_WORDS and t.kind is Kind.WORD)
    places = tuple(Item(n, Role.PLACE) for n, t in enumerate(tokens) if t.kind is Kind.PATH)
    if len(values) == 2 and any(tokens[n].low in _TURNS for n in range(values[0], values[1])):
        values.reverse()  # `20, up from 10`
    old = (Item(values[0], Role.SOURCE),) if len(values) == 2 else ()
    items = (Item(names[0], Role.OBJECT), *old, Item(values[-1], Role.TARGET), *places)
    return [_made(Relation.VALUE, items, verb, len(tokens) - 1, lemma="is now")]


def _signed(tokens: list[Token], clauses: list[Clause]) -> list[Clause]:
    """`a.py: +3 -1`."""
    paths = [n for n, t in enumerate(tokens) if t.kind is Kind.PATH]
    signed = [n for n, t in enumerate(tokens) if t.kind is Kind.NUMBER and t.text[:1] in "+-\u2212"]
    if clauses or len(paths) != 1 or not signed:
        return []
    return [_made(Relation.CHANGED, (Item(paths[0], Role.OBJECT),), (), len(tokens) - 1)]


def _lead(statement: Statement, tokens: list[Token], clauses: list[Clause]) -> list[Clause]:
    """`a.py: better messages`, among the things that were done."""
    if clauses or not statement.field.startswith("what_was_done") or statement.relation or len(tokens) < 3:
        return []
    first, second = tokens[0], tokens[1]
    if (
        first.kind is not Kind.PATH
        or second.kind is not Kind.SIGN
        or second.text not in (":", "-", "\u2014", "\u2013")
    ):
        return []
    return [_made(Relation.CHANGED, (Item(0, Role.OBJECT),), (), 0)]


def _arrow_clause(tokens: list[Token], clauses: list[Clause]) -> list[Clause]:
    """`a.py -> b.py`, with or without a word such as (renamed)."""
    at = _arrow(tokens)
    old = [n for n in range(at) if tokens[n].kind in {*NAMES, Kind.PATH}]
    new = [n for n in range(at + 1, len(tokens)) if tokens[n].kind in {*NAMES, Kind.PATH}]
    others = [c for c in clauses if c.relation is not Relation.RENAMED]
    if not at or not old or not new or others or any(c.of(Role.TARGET) for c in clauses):
        return []
    if tokens[old[-1]].kind is not tokens[new[0]].kind:
        return []
    verb = tuple(v for c in clauses for v in c.verb)
    is_name = tokens[old[0]].kind is Kind.NAME and tokens[old[-1]].kind is Kind.PATH
    moved = (
        [Item(old[0], Role.OBJECT), Item(old[-1], Role.SOURCE)] if is_name else [Item(old[-1], Role.OBJECT)]
    )
    return [
        _made(Relation.RENAMED, (*moved, Item(new[0], Role.TARGET)), verb, len(tokens) - 1, lemma="rename")
    ]


def inherited_clauses(statement: Statement, tokens: list[Token], clauses: list[Clause]) -> list[Clause]:
    """What a heading, a lead-in, a letter or an arrow says of the things in an item."""
    things = [n for n, t in enumerate(tokens) if t.kind in {*NAMES, Kind.PATH}]
    if not things or not statement.relation:
        return []
    lead = things[0]
    if (
        any(t.kind is Kind.WORD and t.low not in GRAMMAR and t.low not in _LETTERS for t in tokens[:lead])
        and statement.is_list
    ):
        return []
    relation = statement.relation
    verb: tuple[int, ...] = ()
    letters = [n for n, t in enumerate(tokens) if t.low in _LETTERS and t.text == t.text.upper()]
    if len(letters) == 1:
        relation, verb = _LETTERS[tokens[letters[0]].low], (letters[0],)
    if relation is Relation.CHANGED and any(item.at == lead for c in clauses for item in c.items):
        return []  # its own clause says more
    if statement.is_list and tokens[lead].kind is Kind.PATH:
        if any(
            c.relation in (Relation.CREATED, Relation.REMOVED, Relation.RENAMED) and _is_object(c, lead)
            for c in clauses
        ):
            return []
        together = [n for n in things if tokens[n].kind is Kind.PATH and _is_listed(tokens, lead, n)]
        return [_made(relation, tuple(Item(n, Role.OBJECT) for n in together), verb, lead)]
    return [] if clauses or statement.is_list else [_of_heading(relation, tokens, things)]


def _of_heading(relation: Relation, tokens: list[Token], things: list[int]) -> Clause:
    """An item below a heading such as `Added`."""
    words = tuple(n for n, t in enumerate(tokens) if t.kind is Kind.WORD)
    items: list[Item] = []
    role = Role.OBJECT
    for n, token in enumerate(tokens):
        if token.low in ("in", "to", "into", "from", "under"):
            role = Role.PLACE
        elif token.low in ("for", "because", "so", "which", "that", "with", "\u2014", "-", ":") and items:
            role = Role.TOPIC
        elif n in things:
            items.append(Item(n, role))
    return _made(relation, tuple(items), (), len(tokens) - 1, words=words)


def _is_object(clause: Clause, at: int) -> bool:
    return any(item.at == at and item.role is Role.OBJECT for item in clause.items)


def _is_listed(tokens: list[Token], lead: int, at: int) -> bool:
    """True if only commas and `and` are between two files of one item."""
    return all(
        t.kind is Kind.PATH or t.low in ("and", "&") or (t.kind is Kind.SIGN and set(t.text) <= set(",` "))
        for t in tokens[lead:at]
    )


def _arrow(tokens: list[Token]) -> int:
    return next((n for n, t in enumerate(tokens) if t.text in _ARROWS), 0)


def _made(
    relation: Relation,
    items: tuple[Item, ...],
    verb: tuple[int, ...],
    last: int,
    *,
    lemma: str = "listed",
    words: tuple[int, ...] = (),
) -> Clause:
    return Clause(
        relation=relation, strong=True, lemma=lemma, verb=verb, items=items, words=words, first=0, last=last
    )
