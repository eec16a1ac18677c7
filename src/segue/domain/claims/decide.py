"""The two places that matter most: what restrains a refutation, and what grants a tick."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from segue.domain.claims.atoms import Atom, AtomStatus, StatementReading, unknown
from segue.domain.claims.ledger import LedgerEntry, Pointer, Statement, Verdict
from segue.domain.claims.lexicon import COUNT_NOUNS, GRAMMAR, NEGATIONS, PREPOSITIONS
from segue.domain.claims.linking import core_of
from segue.domain.claims.relations import Clause, Role
from segue.domain.claims.tokens import ENTITIES, StatementToken, WordKind
from segue.domain.claims.verbs import Relation
from segue.domain.text.words import word_set

_FEW = 3
_QUANTIFIERS = word_set("all only every both each none any whole entire full solely exactly precisely")


def soften(
    clause: Clause,
    atom: Atom,
    tokens: Sequence[StatementToken],
    taken_back: Collection[str],
    went: Collection[int],
) -> Atom:
    """Lifts a refutation: a word denies it, or what came is said to have gone again later in the text."""
    if atom.status is not AtomStatus.CONTRADICTS:
        return atom
    if clause.relation is Relation.REMOVED and not clause.strong and not atom.is_absence:
        return unknown(atom.reason)
    is_deed = clause.relation in _DEEDS and not (atom.is_absence and clause.relation is not Relation.HAS)
    if is_deed and not clause.negated and _is_denied(clause, tokens):
        return unknown(f"{atom.reason}, and the statement may deny that it did")
    if clause.relation not in _COMES:
        return atom
    if clause.items and all(item.at in went for item in clause.items):
        return unknown(f"{atom.reason}, and the statement says that it went")
    named = {core_of(tokens[item.at].text) for item in clause.of(Role.OBJECT)}
    is_taken_back = clause.relation is not Relation.CHANGED and bool(named & set(taken_back))
    return unknown(f"{atom.reason}, but the text says that it went again") if is_taken_back else atom


_COMES = (Relation.CREATED, Relation.ADDED, Relation.EXTRACTED, Relation.CHANGED)
_DEEDS = (*_COMES, Relation.REMOVED, Relation.RENAMED, Relation.REPLACED, Relation.HAS)


def _is_denied(clause: Clause, tokens: Sequence[StatementToken]) -> bool:
    """True if a word denies the deed that is not part of its verb: "a.py has no changes in it"."""
    last = max((*clause.verb, *(item.at for item in clause.items)), default=clause.first) + 1
    return any(
        tokens[n].low in NEGATIONS
        and n not in clause.verb
        and not any(token.low in COUNT_NOUNS for token in tokens[n + 1 : n + 3])
        for n in range(clause.first, min(last, clause.last, len(tokens) - 2) + 1)
    )


def decide(reading: StatementReading, atoms: Sequence[Atom]) -> LedgerEntry:
    """The verdict on a statement. A tick needs every word of it covered by an atom that holds."""
    statement = reading.statement
    if wrong := [atom for atom in atoms if atom.status is AtomStatus.CONTRADICTS]:
        return LedgerEntry(
            statement=statement, verdict=Verdict.REFUTED, reason=wrong[0].reason, evidence=_pointers(wrong)
        )
    right = [atom for atom in atoms if atom.status is AtomStatus.HOLDS]
    partial = [atom for atom in atoms if atom.status is AtomStatus.BY_WORDS]
    covered = {at for atom in right for at in atom.covers}
    if sum(reading.tokens[at].kind in ENTITIES for at in covered if at < len(reading.tokens)) > 1:
        covered |= {at for at, token in enumerate(reading.tokens) if token.low == "both"}
    rest = rest_of(reading, covered)
    if right and not rest and not partial:
        return LedgerEntry(
            statement=statement, verdict=Verdict.CONFIRMED, reason=_joined(right), evidence=_pointers(right)
        )
    if right or partial:
        found = [*right, *partial]
        return LedgerEntry(
            statement=statement, verdict=Verdict.PARTLY, reason=_joined(found), rest=rest or _whole(reading),
            evidence=_pointers(found),
        )  # fmt: skip
    reason = next((atom.reason for atom in atoms), "nothing that was measured tells of it")
    return LedgerEntry(statement=statement, verdict=Verdict.UNVERIFIABLE, reason=reason)


def rest_of(reading: StatementReading, covered: Collection[int]) -> tuple[str, ...]:
    """The words that nothing covers, neighbours together."""
    found: list[tuple[int, int]] = []
    last = -2
    text = reading.statement.text
    for at, token in enumerate(reading.tokens):
        is_count = (
            token.value is not None
            and at + 1 < len(reading.tokens)
            and reading.tokens[at + 1].low in COUNT_NOUNS
        )
        if (
            token.start >= len(text)
            or token.start == token.end
            or at in covered
            or not (is_count or needs_cover(token))
        ):
            continue
        if found and last == at - 1:
            found[-1] = (found[-1][0], token.end)
        else:
            found.append((token.start, token.end))
        last = at
    return tuple(text[start:end] for start, end in found)


def needs_cover(token: StatementToken) -> bool:
    """True for every word, entity, number and quantifier; false for signs and words of grammar."""
    if token.kind is WordKind.SIGN:
        return False
    if token.kind in ENTITIES or token.kind in (WordKind.NUMBER, WordKind.RANGE):
        return True
    if (
        token.low in NEGATIONS
        or token.low in _QUANTIFIERS
        or (token.value is not None and token.low not in ("one", "single"))
    ):
        return True
    return token.low not in GRAMMAR and token.low not in PREPOSITIONS


def _whole(reading: StatementReading) -> tuple[str, ...]:
    return (reading.statement.text,)


def _joined(atoms: Sequence[Atom]) -> str:
    reasons = list(dict.fromkeys(atom.reason for atom in atoms))
    more = len(reasons) - _FEW
    return "; ".join(reasons[:_FEW]) + (f"; and {more} more" if more > 0 else "")


def _pointers(atoms: Sequence[Atom]) -> tuple[Pointer, ...]:
    return tuple(dict.fromkeys(pointer for atom in atoms for pointer in atom.evidence))


def no_claim(statement: Statement, reason: str) -> LedgerEntry:
    """A statement that claims nothing."""
    return LedgerEntry(statement=statement, verdict=None, reason=reason)
