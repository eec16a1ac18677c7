"""Tests, and settings of tests, that prove less than before."""

from __future__ import annotations

from typing import TYPE_CHECKING

from segue.domain.on_demand import on_demand

if TYPE_CHECKING:
    from segue.domain.evidence.weakened.find import find_weakened
else:
    find_weakened = on_demand("segue.domain.evidence.weakened.find", "find_weakened")

__all__ = ["find_weakened"]
