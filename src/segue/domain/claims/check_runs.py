"""Everything that a statement says of runs."""

from __future__ import annotations

from segue.domain.claims.atoms import Atom, AtomStatus, Case
from segue.domain.claims.check_commands import TESTS, clean_tools, exit_codes, ran, went_well
from segue.domain.claims.check_results import all_tests, check_results, none_of
from segue.domain.claims.lexicon import FINE

_WHOLE = frozenset({"all", "every", "full", "entire", "whole", "everything"})


def check_runs(case: Case) -> list[Atom]:
    """What it says of exit codes, counts of tests, linters, and that something was run."""
    atoms = [*exit_codes(case), *went_well(case), *(none_of(case) or check_results(case))]
    covered = {at for atom in atoms for at in atom.covers}
    lows = [token.low for token in case.tokens]
    whole = [
        n
        for n, low in enumerate(lows)
        if low in _WHOLE and n not in covered and (TESTS | FINE) & set(lows[n + 1 : n + 4])
    ]
    if not atoms or (whole and all(atom.status is AtomStatus.HOLDS for atom in atoms)):
        atoms += all_tests(case)
    atoms += clean_tools(case)
    return atoms + [atom for atom in ran(case) if not _is_told(atoms, atom)]


def _is_told(atoms: list[Atom], atom: Atom) -> bool:
    is_same = any(atom.covers & each.covers for each in atoms if each.covers)
    return is_same and atom.status is not AtomStatus.CONTRADICTS
