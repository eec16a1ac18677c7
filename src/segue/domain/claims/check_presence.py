"""Checks what is said to be somewhere: `calc.py now has X`, `X lives in calc.py`."""

from __future__ import annotations

from collections.abc import Sequence

from segue.domain.claims.atoms import Atom, Case, contradicts, holds, in_diff, in_tree, nowhere, unknown
from segue.domain.claims.check_definitions import NAMES, DefinitionPlace, kind_words, shown_fate
from segue.domain.claims.check_dependencies import dependency_atom
from segue.domain.claims.lexicon import NEGATIONS
from segue.domain.claims.relations import Clause, ClauseItem, Role
from segue.domain.claims.tokens import WordKind
from segue.domain.evidence.model import DefinitionChange, DefinitionFate

_F = DefinitionFate
_PAST = frozenset({"had", "held", "contained", "carried", "listed"})
"""What was there before may be gone."""


def check_has(case: Case, clause: Clause) -> list[Atom]:
    """`calc.py now has X`, `X lives in calc.py`."""
    place = DefinitionPlace(case, clause.of(Role.PLACE))
    found: list[Atom] = []
    if any(case.low(n) in _PAST for n in clause.verb):
        return found
    for item in clause.of(Role.OBJECT):
        token = case.tokens[item.at]
        denied = any(case.low(n) in NEGATIONS for n in range(clause.first, clause.last + 1))
        if token.kind not in NAMES or item.modifies or denied:
            continue
        if case.world.is_dependency(token.text) and (dependency := dependency_atom(case, item, clause)):
            found.append(dependency)
            continue
        known = [d for d in case.world.definitions(token.text) if d.fate is not _F.REMOVED]
        known = [d for d in known if not place or place.holds(d)]
        sure = [d for d in known if not d.by_words and (d.fate is not _F.CHANGED or not clause.is_new)]
        if sure:
            covers = (item.at, *clause.verb, *place.at, *kind_words(case, item.at, sure[0].kind))
            found.append(holds(shown_fate(sure[0]), covers, in_diff(sure[0].path)))
        else:
            found.append(_has_by_words(case, clause, item, place, known))
    return found


def _has_by_words(
    case: Case, clause: Clause, item: ClauseItem, place: DefinitionPlace, known: Sequence[DefinitionChange]
) -> Atom:
    world, token = case.world, case.tokens[item.at]
    is_known = bool(known) and not any(d.by_words for d in known) and token.kind is WordKind.NAME
    if is_known and clause.is_new and clause.strong:
        told = f"`{token.text}` was there before; {shown_fate(known[0])}"
        return contradicts(told, in_diff(known[0].path))
    if token.certain and token.kind is WordKind.NAME:
        if world.is_nowhere(token.text):
            return nowhere(f"`{token.text}` is in no file after the step", in_tree())
        if place.paths and all(world.is_in_file(token.text, path) is False for path in place.paths):
            return contradicts(f"`{token.text}` is not in {place.shown()}", in_tree(min(place.paths)))
        found = world.definition_places(token.text) or ()
        defined = [p.path for p in found if not place.paths or p.path in place.paths]
        if defined and not clause.is_new:
            told = f"{defined[0]} defines `{token.text}`"
            return holds(told, (item.at, *clause.verb, *place.at), in_tree(defined[0]))
    return unknown(f"nothing shows that `{token.text}` is new there")
