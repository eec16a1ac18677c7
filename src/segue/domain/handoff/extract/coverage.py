"""Measures how much of a text became typed items."""

from __future__ import annotations

from segue.domain.handoff.extract.ownership import Owner, Share
from segue.domain.handoff.extract.units import Outline


def measure_coverage(outline: Outline, owners: dict[int, Owner]) -> float:
    """The share of the letters and digits that stand in items of a field, or in the headings above them.

    Where a part of the text is in the canonical schema, only that part is measured.
    """
    exact = any(unit.where.exact for unit in outline.units)
    typed = total = 0
    for unit in outline.units:
        if exact and not unit.where.exact:
            continue
        size = sum(map(str.isalnum, outline.source[unit.span.start : unit.span.end]))
        total += size
        if owners[unit.id].share in (Share.ITEM, Share.PLACE):
            typed += size
    return typed / total if total else 0.0
