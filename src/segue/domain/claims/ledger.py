"""Statements, verdicts and the ledger that joins them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import StrEnum

from segue.domain.claims.verbs import Relation
from segue.domain.evidence.model import LineRange, Standing, WeakenedTest
from segue.domain.text.span import Span


@dataclass(frozen=True, kw_only=True, slots=True)
class Statement:
    """A sentence, an item, a row or a typed entry of what an agent wrote, with what it inherits."""

    text: str
    """The agent's own words."""
    field: str = ""
    """Where they are in the handoff: `what_was_done[2]`; empty if no field took them up."""
    span: Span | None = None
    """Where they are in the source, if that is known."""
    heading: str = ""
    """The heading above it, of a section of the record."""
    relation: Relation | None = None
    """What its heading, lead-in or field says of the things in it."""
    is_list: bool = False
    """True if it is an entry of a list of files."""
    header: tuple[str, ...] = ()
    """The names of the columns, for a row of a table."""
    places: tuple[str, ...] = ()
    """The files that the item above it is about."""
    follows: bool = False
    """True if a sentence before it in the same item may say what it is about."""
    path: str | None = None
    """The path, of a typed entry."""
    old_path: str | None = None
    """The name before, of a typed rename."""
    lines: tuple[LineRange, ...] = ()
    """The lines that a typed entry names."""
    command: str | None = None
    """The command that it is about."""
    exit_code: int | None = None
    """The exit code that a typed entry gives for it."""
    is_outcome: bool = False
    """True for the outcome `completed`."""
    not_claim: str | None = None
    """Why it claims nothing, if its place already tells."""


class Verdict(StrEnum):
    """What the evidence says about a claim."""

    CONFIRMED = "confirmed"
    REFUTED = "refuted"
    PARTLY = "partly"
    """A part of it was checked and holds; the rest could not be checked, and is named."""
    UNVERIFIABLE = "unverifiable"


class PointerKind(StrEnum):
    """What kind of evidence it is."""

    DIFF = "diff"
    LOG = "log"
    CHECK = "check"
    TREE = "tree"


@dataclass(frozen=True, kw_only=True, slots=True)
class Pointer:
    """Where a person can look at the evidence."""

    kind: PointerKind
    """The changed lines, the log of the agent, a command that Segue ran, or the files after the step."""
    path: str | None = None
    """The file."""
    hunk: int | None = None
    """Which of its hunks, 0 for the first."""
    activity_id: int | None = None
    """The entry of the agent's log."""
    check: str | None = None
    """The command that Segue ran."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LedgerEntry:
    """A statement with its verdict."""

    statement: Statement
    """What was said."""
    verdict: Verdict | None
    """What the evidence says; none if the statement claims nothing."""
    reason: str
    """One sentence that names what was measured, or why it is not a claim."""
    rest: tuple[str, ...] = ()
    """The words of the claim that nothing checked."""
    evidence: tuple[Pointer, ...] = ()
    """Where the evidence is."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Ledger:
    """What a handoff claims, and what of it holds."""

    entries: tuple[LedgerEntry, ...] = ()
    """The claims, in the order of the text."""
    unmentioned: tuple[str, ...] = ()
    """Changed paths that the handoff names nowhere."""
    removed: tuple[str, ...] = ()
    """Removed definitions that the handoff names nowhere: `total in cart.py`."""
    weakened: tuple[WeakenedTest, ...] = ()
    """Tests that prove less than before; those that the task or the handoff names are marked as disclosed."""
    not_claims: int = 0
    """How many statements claim nothing."""
    others: tuple[LedgerEntry, ...] = ()
    """Statements that claim nothing, each with the reason: plans, questions, conditions."""

    def of(self, verdict: Verdict) -> tuple[LedgerEntry, ...]:
        """The entries with this verdict."""
        return tuple(entry for entry in self.entries if entry.verdict is verdict)

    @property
    def refuted(self) -> tuple[LedgerEntry, ...]:
        """What is not true."""
        return self.of(Verdict.REFUTED)

    @property
    def counts(self) -> dict[str, int]:
        """How many claims, verdicts, statements that are not claims, unmentioned paths, weakened tests."""
        by_verdict = Counter(entry.verdict for entry in self.entries)
        return {
            "claims": len(self.entries),
            **{str(verdict): by_verdict[verdict] for verdict in Verdict},
            "not_claims": self.not_claims,
            "unmentioned": len(self.unmentioned),
            "weakened": sum(each.standing is Standing.WEAKENED for each in self.weakened),
        }
