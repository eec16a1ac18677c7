"""Tests, and settings of tests, that prove less than before."""

from segue.domain.evidence.weakened.find import find_weakened

__all__ = ["find_weakened"]
