"""Checks what is said of commits."""

from __future__ import annotations

from segue.domain.claims.atoms import Atom, Case, contradicts, holds, in_tree, unknown
from segue.domain.claims.tokens import WordKind, where
from segue.domain.text.words import word_set

_WORDS = word_set("commit commits committed hash sha revision see landed")


def check_commits(case: Case) -> list[Atom]:
    """`committed as abc1234`: there is such a commit."""
    lows = [t.low for t in case.tokens]
    if not any(low in _WORDS for low in lows):
        return []
    found: list[Atom] = []
    evidence = case.world.evidence
    words = where(lows, _WORDS)
    for at, token in enumerate(case.tokens):
        if token.kind is not WordKind.COMMIT:
            continue
        name = token.text.lower()
        verbs = [
            v for c in case.reading.clauses for v in c.verb if c.lemma in ("commit", "create", "make", "land")
        ]
        if any(commit.startswith(name) for commit in evidence.commits):
            found.append(holds(f"{name} is a commit of this step", (at, *words, *verbs), in_tree()))
            continue
        is_known = case.world.sources.has_commit(name) if case.world.sources is not None else None
        if is_known:
            told = f"{name} is a commit, but not one of this step"
            is_deed = bool(verbs) and not _is_aside(case, at) and evidence.are_commits_whole
            found.append(contradicts(told, in_tree()) if is_deed else unknown(told))
        elif is_known is False and not _is_aside(case, at):
            found.append(contradicts(f"there is no commit {name}", in_tree()))
        else:
            found.append(unknown(f"whether there is a commit {name} is not known"))
    return found


def _is_aside(case: Case, at: int) -> bool:
    """True within parentheses that say more: "the race (commit abc1234)" tells of an older commit."""
    signs = "".join(case.text(n) for n in range(at) if case.kind(n) is WordKind.SIGN)
    return signs.count("(") > signs.count(")") and case.low(at - 1).isalpha()
