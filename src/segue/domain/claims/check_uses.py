"""Checks that something is used nowhere any more."""

from __future__ import annotations

from collections.abc import Iterable

from segue.domain.claims.atoms import Atom, Case, contradicts, holds, in_tree, unknown
from segue.domain.claims.check_definitions import NAMES, Place
from segue.domain.claims.lexicon import EXCEPT, NEGATIONS, USES
from segue.domain.claims.linking import core_of, is_doc_path
from segue.domain.claims.relations import Clause, Item, Role
from segue.domain.claims.tokens import Kind
from segue.domain.claims.verbs import Relation
from segue.domain.handoff.reading.words import word_set

_USED = USES | word_set(
    "used referenced imported called mentioned appear appears appeared occur occurs occurred named found"
)
_NO_MORE = word_set(
    "any anymore more anywhere left remain remains remaining longer everywhere nowhere still nothing "
    "none no file files module code does do not there of exist exists"
)
_EVERYWHERE = frozenset({"everywhere", "throughout"})


def check_not_used(case: Case) -> list[Atom]:
    """`nothing uses X any more`, `there are no uses of X left`, `removed X everywhere`."""
    names = [n for n, t in enumerate(case.tokens) if t.kind is Kind.NAME]
    lows = [t.low if t.kind is Kind.WORD else "" for t in case.tokens]
    used = [n for n, low in enumerate(lows) if low in _USED]
    denied = [n for n, low in enumerate(lows) if low in NEGATIONS]
    gone = [c for c in case.reading.clauses if c.relation is Relation.REMOVED and not c.negated]
    everywhere = [n for n, low in enumerate(lows) if low in _EVERYWHERE]
    if (
        any(low in EXCEPT for low in lows)
        or len(names) != 1
        or not ((used and denied and not gone) or (gone and everywhere))
    ):
        return []
    if any(c.relation in (Relation.CREATED, Relation.ADDED, Relation.REPLACED) for c in case.reading.clauses):
        return []
    paths = [Item(n, Role.PLACE) for n, t in enumerate(case.tokens) if t.kind is Kind.PATH]
    placed = [i for c in case.reading.clauses for i in c.of(Role.PLACE, Role.SOURCE)]
    place = Place(case, [i for i in placed if case.tokens[i.at].kind is Kind.PATH] or paths)
    verbs = [v for c in gone for v in c.verb]
    words = [n for n, low in enumerate(lows) if low in _NO_MORE]
    token = case.tokens[names[0]]
    return [
        _uses_left(
            case,
            token.text,
            place,
            (names[0], *used, *denied, *everywhere, *verbs, *words, *place.at),
            token.certain,
        )
    ]


def check_unused(case: Case, clause: Clause) -> list[Atom]:
    """`removed all uses of X`, `X is no longer used`."""
    span = range(clause.first, clause.last + 1)
    uses = [n for n in span if case.tokens[n].low in USES and case.tokens[n].kind is Kind.WORD]
    every = [
        n for n in span if case.tokens[n].low in ("all", "every", "any", "remaining", "last", "no", "each")
    ]
    if clause.relation is not Relation.UNUSED and not (
        uses and every and clause.relation is Relation.REMOVED
    ):
        return []
    found: list[Atom] = []
    place = Place(case, clause.of(Role.PLACE, Role.SOURCE))
    for item in clause.of(Role.OBJECT, Role.TOPIC, Role.TARGET):
        token = case.tokens[item.at]
        if token.kind in NAMES:
            found.append(
                _uses_left(
                    case, token.text, place, (item.at, *uses, *every, *clause.verb, *place.at), token.certain
                )
            )
    return found


def _uses_left(case: Case, name: str, place: Place, covers: Iterable[int], certain: bool) -> Atom:
    world = case.world
    left = [p for p in world.places(name) if not place.paths or p.path in place.paths]
    in_code = [p for p in left if not is_doc_path(p.path)]
    if any(token.low.startswith("import") for token in case.tokens):
        in_code = [p for p in in_code if "import" in world.line(p)]
    if any(token.low in ("use", "uses", "usage", "usages", "caller", "callers") for token in case.tokens):
        defined = world.definition_places(name) or ()
        in_code = [p for p in in_code if p not in defined]  # what is defined need not be used
    if in_code and certain and len(core_of(name)) > 2:
        return contradicts(
            f"`{name}` is still in {in_code[0].path}, line {in_code[0].line}", (), in_tree(in_code[0].path)
        )
    if left or not world.knows_absence():
        return unknown(f"nothing shows that `{name}` is used nowhere")
    if not world.is_in_lines(name, added=False):
        return unknown(f"no removed line has `{name}`")
    return holds(f"`{name}` is in no file any more", covers, in_tree())
