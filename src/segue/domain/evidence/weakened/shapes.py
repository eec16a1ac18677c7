"""A test as it is written, in any language: its marks, its assertions, its cases, what it sets up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

TRIVIAL, WEAK, MEDIUM, EXACT = range(4)
"""How much an assertion proves: nothing, that something is there, that it is near, what it is."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Assertion:
    """What a test requires."""

    kind: str
    """`==`, `in`, `true`, `raises`, ..."""
    strength: int
    """From TRIVIAL to EXACT."""
    text: str
    """As it is written, without layout."""
    skeleton: str
    """The same without names: what stays when something is renamed."""
    line: int
    """Where it is."""
    tolerance: float | None = None
    """How far off a number may be."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SkipMark:
    """What keeps a test from counting."""

    text: str
    """As it is written."""
    line: int
    """Where it is."""
    is_certain: bool
    """True if no condition can let the test run."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TestShape:
    """One test of one version of a file."""

    __test__ = False
    path: str
    """The file."""
    names: tuple[str, ...]
    """The groups that it is in, and its own name."""
    line: int
    """Where it begins."""
    is_collected: bool = True
    """False if its name keeps runners from finding it."""
    skip: SkipMark | None = None
    """What keeps it from counting."""
    is_focused: bool = False
    """True if it keeps others from running: `.only`."""
    assertions: tuple[Assertion, ...] = ()
    """What it requires, in its order."""
    swallowed: int = 0
    """How many of them are in a `try` that forgets their failure."""
    returns_early: int | None = None
    """The line of a `return` without a condition, before its last assertion."""
    is_empty: bool = False
    """True if it does nothing."""
    cases: tuple[str, ...] = ()
    """What it is run with, of a test with parameters."""
    values: tuple[str, ...] = ()
    """The literals outside of its assertions, in their order."""
    steps: tuple[str, ...] = ()
    """Its statements that are no assertions, without names."""
    used: frozenset[str] = frozenset()
    """The names that it uses."""
    mocks: frozenset[str] = frozenset()
    """The names of what it replaces."""
    limits: Mapping[str, float] = field(default_factory=dict)
    """Time limits and numbers of retries."""
    code: str = ""
    """Its body without layout and comments."""

    @property
    def key(self) -> str:
        """Its id, as reports have it: `tests/test_cart.py::TestCart::test_total`."""
        return "::".join((self.path, *self.names))

    @property
    def name(self) -> str:
        """Its own name."""
        return self.names[-1]

    @property
    def strongest(self) -> int:
        """What its best assertion proves."""
        return max((each.strength for each in self.assertions), default=TRIVIAL)
