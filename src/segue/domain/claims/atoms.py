"""The smallest things that are checked: one relation, one thing, what the evidence says of it."""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import dataclass, field, replace
from enum import StrEnum

from segue.domain.claims.ledger import Pointer, PointerKind, Statement
from segue.domain.claims.linking import World
from segue.domain.claims.relations import Clause
from segue.domain.claims.tokens import StatementToken, WordKind


class AtomStatus(StrEnum):
    """What the evidence says of an atom."""

    HOLDS = "holds"
    BY_WORDS = "by words"
    """The words are there; that proves only a part."""
    CONTRADICTS = "contradicts"
    UNKNOWN = "unknown"


@dataclass(frozen=True, kw_only=True, slots=True)
class Atom:
    """One thing that was checked."""

    status: AtomStatus
    """What came of it."""
    reason: str
    """One sentence that names what was measured."""
    covers: frozenset[int] = frozenset()
    """The tokens that it stands for."""
    evidence: tuple[Pointer, ...] = ()
    """Where to look."""
    is_absence: bool = False
    """True if it is false because the thing itself is nowhere, whatever is said of it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StatementReading:
    """A statement, cut into tokens and clauses."""

    statement: Statement
    tokens: list[StatementToken]
    clauses: list[Clause] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """A statement before the evidence: all that a check is given."""

    reading: StatementReading
    world: World
    said: frozenset[str]
    """The changed paths that the whole text names."""
    is_rival: bool = False
    """True if the text has several numbers of tests that pass: they may belong to different runs."""
    weakened: str | None = None
    """How a test was weakened of which nobody spoke."""

    @property
    def tokens(self) -> list[StatementToken]:
        """The tokens of the statement."""
        return self.reading.tokens

    def low(self, at: int) -> str:
        """The text of a token in lower case; empty beyond the ends."""
        return self.tokens[at].low if 0 <= at < len(self.tokens) else ""

    def text(self, at: int) -> str:
        """The text of a token."""
        return self.tokens[at].text

    def kind(self, at: int) -> WordKind:
        """The kind of a token."""
        return self.tokens[at].kind

    def at(self, words: Container[str], span: Iterable[int] | None = None) -> list[int]:
        """Where one of these words is, in the whole statement or a part of it."""
        return [n for n in (range(len(self.tokens)) if span is None else span) if self.low(n) in words]


def holds(reason: str, covers: Iterable[int], *evidence: Pointer) -> Atom:
    """It is so."""
    return Atom(status=AtomStatus.HOLDS, reason=reason, covers=frozenset(covers), evidence=evidence)


def by_words(reason: str, covers: Iterable[int] = (), *evidence: Pointer) -> Atom:
    """Words that fit are there."""
    return Atom(status=AtomStatus.BY_WORDS, reason=reason, covers=frozenset(covers), evidence=evidence)


def contradicts(reason: str, *evidence: Pointer) -> Atom:
    """It is false."""
    return Atom(status=AtomStatus.CONTRADICTS, reason=reason, evidence=evidence)


def nowhere(reason: str, *evidence: Pointer) -> Atom:
    """It is false, as the thing of which it speaks exists nowhere."""
    return replace(contradicts(reason, *evidence), is_absence=True)


def unknown(reason: str) -> Atom:
    """Nobody can tell."""
    return Atom(status=AtomStatus.UNKNOWN, reason=reason)


def in_diff(path: str | None = None, hunk: int | None = None) -> Pointer:
    """The changed lines of a file, or of all."""
    return Pointer(kind=PointerKind.DIFF, path=path, hunk=hunk)


IN_LOG = Pointer(kind=PointerKind.LOG)
"""The whole log of the agent, where it is complete and lacks something."""


def in_tree(path: str | None = None) -> Pointer:
    """The files after the step."""
    return Pointer(kind=PointerKind.TREE, path=path)
