"""Checks that something is used nowhere any more."""

from __future__ import annotations

import re
from collections.abc import Iterable

from segue.domain.claims.atoms import Atom, AtomStatus, Case, contradicts, holds, in_tree, unknown
from segue.domain.claims.check_definitions import NAMES, DefinitionPlace
from segue.domain.claims.decide import needs_cover
from segue.domain.claims.lexicon import BE, EXCEPT, NEGATIONS, USES
from segue.domain.claims.linking import core_of, is_doc_path
from segue.domain.claims.relations import APPOSITIONS, Clause, ClauseItem, Role
from segue.domain.claims.tokens import ENTITIES, WordKind, where
from segue.domain.claims.verbs import Relation
from segue.domain.text.words import word_set

_USED = USES | word_set(
    "used referenced imported called mentioned appear appears appeared occur occurs occurred named found"
)
_NO_MORE = word_set(
    "any anything anyone anybody anymore longer more anywhere left remain remains remaining everywhere "
    "nowhere still nothing none no file files module code does do not there of exist exists"
)
_JOINING = frozenset({"and", "or", "nor", "&"})
_EVERYWHERE = frozenset({"everywhere", "throughout"})


def check_not_used(case: Case) -> list[Atom]:
    """`nothing uses X any more`, `there are no uses of X left`, `removed X everywhere`."""
    names = [n for n, t in enumerate(case.tokens) if t.kind is WordKind.NAME]
    lows = [t.low if t.kind is WordKind.WORD else "" for t in case.tokens]
    lows = ["" if _is_adjective(lows, n) else low for n, low in enumerate(lows)]
    used, denied, everywhere = where(lows, _USED), where(lows, NEGATIONS), where(lows, _EVERYWHERE)
    clauses = case.reading.clauses
    gone = [c for c in clauses if c.relation is Relation.REMOVED and not c.negated]
    is_said = (used and denied and not gone) or (gone and everywhere)
    is_other = any(c.relation in (Relation.CREATED, Relation.ADDED, Relation.REPLACED) for c in clauses)
    if not is_said or is_other or len(names) != 1 or any(low in EXCEPT for low in lows):
        return []
    placed = [i for c in clauses for i in c.of(Role.PLACE, Role.SOURCE) if case.kind(i.at) is WordKind.PATH]
    paths = [ClauseItem(n, Role.PLACE) for n, t in enumerate(case.tokens) if t.kind is WordKind.PATH]
    if paths and any(lows[n] not in _JOINING for n in range(paths[0].at + 1, paths[-1].at) if lows[n]):
        return []  # "`x` is used by a.py now and not by b.py"
    words = [*where(lows, _NO_MORE), *(v for c in gone for v in c.verb)]
    covers = (names[0], *used, *denied, *everywhere, *words)
    atom = _uses_left(case, names[0], DefinitionPlace(case, placed or paths), covers)
    span = (names[0], *used, *denied, *everywhere)
    between = range(min(span), max(span) + 1)
    known = {*covers, *case.at(APPOSITIONS)}
    is_plain = all(n in known or case.kind(n) in ENTITIES or not needs_cover(case.tokens[n]) for n in between)
    return [atom if is_plain or atom.status is not AtomStatus.CONTRADICTS else unknown(atom.reason)]


def _is_adjective(lows: list[str], n: int) -> bool:
    """True for the `found` of "skip not found files"."""
    return lows[n] == "found" and lows[max(0, n - 1) : n] == ["not"] and not BE & set(lows[max(0, n - 2) : n])


def check_unused(case: Case, clause: Clause) -> list[Atom]:
    """`removed all uses of X`, `X is no longer used`."""
    span = range(clause.first, clause.last + 1)
    uses = [n for n in case.at(USES, span) if case.kind(n) is WordKind.WORD]
    every = case.at(_EVERY, span)
    is_all = clause.relation is Relation.REMOVED and uses and every
    if clause.relation is not Relation.UNUSED and not is_all:
        return []
    place = DefinitionPlace(case, clause.of(Role.PLACE, Role.SOURCE))
    names = [i.at for i in clause.of(Role.OBJECT, Role.TOPIC, Role.TARGET) if case.kind(i.at) in NAMES]
    return [_uses_left(case, at, place, (at, *uses, *every, *clause.verb)) for at in names]


def _has_name(line: str, name: str) -> bool:
    """True if a line has a name as it is: `isTotal` and `total_of` are other names than `total`."""
    return re.search(rf"(?<![\w$]){re.escape(name)}(?![\w$])", line) is not None


_EVERY = word_set("all every any remaining last no each")


def _uses_left(case: Case, at: int, place: DefinitionPlace, covers: Iterable[int]) -> Atom:
    token = case.tokens[at]
    name = token.text
    world = case.world
    left = [p for p in world.places(name) if not place.paths or p.path in place.paths]
    in_code = [p for p in left if not is_doc_path(p.path)]
    if any(token.low.startswith("import") for token in case.tokens):
        in_code = [p for p in in_code if "import" in world.line(p)]
    if case.at(("use", "uses", "usage", "usages", "caller", "callers", "unused")):
        defined = world.definition_places(name) or ()
        in_code = [p for p in in_code if p not in defined]  # what is defined need not be used
    in_code = [p for p in in_code if _has_name(world.line(p), core_of(name))]
    if in_code and token.certain and len(core_of(name)) > 2:
        told = f"`{name}` is still in {in_code[0].path}, line {in_code[0].line}"
        return contradicts(told, in_tree(in_code[0].path))
    if left or not world.knows_absence():
        return unknown(f"nothing shows that `{name}` is used nowhere")
    if not world.is_in_lines(name, added=False):
        return unknown(f"no removed line has `{name}`")
    return holds(f"`{name}` is in no file any more", (*covers, *place.at), in_tree())
