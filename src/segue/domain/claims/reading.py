"""Reads a statement: its tokens, its clauses, and what it inherits from around it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from segue.domain.claims.atoms import StatementReading
from segue.domain.claims.clauses import clauses_of
from segue.domain.claims.implied import implied_clauses, inherited_clauses
from segue.domain.claims.ledger import Statement
from segue.domain.claims.lexicon import FINE
from segue.domain.claims.lexing import MOST_TOKENS, tokens_of
from segue.domain.claims.linking import World
from segue.domain.claims.relations import Clause, ClauseItem, Role
from segue.domain.claims.tokens import StatementToken, WordKind
from segue.domain.claims.verbs import VERBS, Form, Relation
from segue.domain.text.words import word_set


def read(statement: Statement, world: World) -> StatementReading:
    """The tokens and clauses of a statement, with those that it inherits."""
    if statement.path is not None or statement.is_outcome or statement.not_claim:
        return StatementReading(statement=statement, tokens=[])
    tokens = _row_tokens(statement, world) if statement.header else tokens_of(statement.text, world)
    if len(tokens) > MOST_TOKENS:
        return StatementReading(statement=statement, tokens=[])
    tokens = _with_dependencies(tokens, world)
    clauses = clauses_of(tokens)
    if implied := implied_clauses(statement, tokens, clauses):
        clauses = implied
        if statement.relation in (Relation.CREATED, Relation.ADDED) and implied[0].relation is Relation.VALUE:
            clauses += inherited_clauses(statement, tokens, [])
    else:
        clauses += inherited_clauses(statement, tokens, clauses)
    clauses = [_as_place(tokens, clause) for clause in clauses]
    return StatementReading(
        statement=statement, tokens=tokens, clauses=_below(statement, tokens, clauses, world)
    )


_YES, _NO = word_set("yes y x \u2713 \u2714 \u2705 true"), word_set("no n - \u2717 \u274c false")


def _row_tokens(statement: Statement, world: World) -> list[StatementToken]:
    """The tokens of a row, with the name of a column before a number, and in place of a `yes`."""
    cells: list[list[StatementToken]] = []
    at = 0
    for column, cell in zip(statement.header, statement.text.split("|"), strict=False):
        found: list[StatementToken] = []
        begin = at + len(cell) - len(cell.lstrip())
        inner = [t._replace(start=t.start + at, end=t.end + at) for t in tokens_of(cell, world)]
        name = [t._replace(start=begin, end=begin) for t in tokens_of(column, world)]
        bare = cell.strip().lower().strip("`*")
        if bare in _YES:
            found += [t for t in name if t.kind is not WordKind.SIGN]
        elif len(inner) == 1 and inner[0].kind is WordKind.NUMBER:
            found += [*name, StatementToken(WordKind.SIGN, ":", begin, begin), *inner]
        elif bare not in _NO:
            found += [_as_past(inner[0])] if len(inner) == 1 else inner
        at += len(cell) + 1
        cells.append([*found, StatementToken(WordKind.SIGN, "|", at - 1, at - 1)])
    cells.sort(key=lambda cell: cell[0].kind is not WordKind.PATH)  # what is said of a file comes behind it
    return [token for cell in cells for token in cell][:-1]


def _as_past(token: StatementToken) -> StatementToken:
    """The `delete` of a column of actions, as `deleted`."""
    base = [v for v in VERBS.get(token.low, ()) if v.form is Form.BASE and v.sense.strong and not v.particles]
    if token.kind is not WordKind.WORD or not base:
        return token
    past = (
        word
        for word, verbs in VERBS.items()
        for v in verbs
        if v.form is Form.PAST and v.sense == base[0].sense
    )
    return token._replace(text=next(past, token.text))


def _with_dependencies(tokens: list[StatementToken], world: World) -> list[StatementToken]:
    """A linter or a path that is a dependency is meant as one, where nothing ran."""
    if any(t.kind is WordKind.VERSION for t in tokens):
        tokens = [
            t._replace(kind=WordKind.NAME) if t.kind is WordKind.WORD and world.is_dependency(t.text) else t
            for t in tokens
        ]
    if any(t.low in FINE or t.low in ("ran", "run", "exit", "exits", "exited") for t in tokens):
        return tokens
    return [
        t._replace(kind=WordKind.NAME)
        if t.kind in (WordKind.COMMAND, WordKind.PATH) and " " not in t.text and world.is_dependency(t.text)
        else t
        for t in tokens
    ]


def _below(
    statement: Statement, tokens: list[StatementToken], clauses: list[Clause], world: World
) -> list[Clause]:
    """Clauses that name no place take that of the item above them."""
    own = any(t.kind is WordKind.PATH for t in tokens)
    if not statement.places or own:
        return clauses
    above = [
        t
        for words in statement.places
        for t in tokens_of(words[:300], world)
        if t.kind is WordKind.PATH and t.certain
    ][-1:]
    end = len(statement.text)
    first = len(tokens)
    tokens.extend(t._replace(start=end, end=end) for t in above)
    extra = tuple(ClauseItem(first + n, Role.PLACE) for n in range(len(above)))
    return [replace(c, items=(*c.items, *extra)) for c in clauses]


def _as_place(tokens: Sequence[StatementToken], clause: Clause) -> Clause:
    """A file that only describes another thing is its place: "README.md section"."""
    if not any(item.modifies and tokens[item.at].kind is WordKind.PATH for item in clause.items):
        return clause
    items = tuple(
        item._replace(role=Role.PLACE, modifies=False)
        if item.modifies and tokens[item.at].kind is WordKind.PATH and item.role is Role.OBJECT
        else item
        for item in clause.items
    )
    return replace(clause, items=items)
