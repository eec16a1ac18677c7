"""Claims, verdicts and the ledger that joins them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import StrEnum

from segue.domain.handoff.reading.draft import Span
from segue.domain.ledger.evidence import LineRange


class ClaimKind(StrEnum):
    """What a statement says."""

    CREATED = "created"
    MODIFIED = "modified"
    DELETED = "deleted"
    RENAMED = "renamed"
    EXISTS = "exists"
    RAN = "ran"
    TESTS = "tests"
    CLEAN = "clean"
    COMMITTED = "committed"
    COMPLETED = "completed"


@dataclass(frozen=True, kw_only=True, slots=True)
class Claim:
    """A statement of a handoff that can be checked."""

    kind: ClaimKind
    """What it says."""
    subject: str
    """Of what: a path, a command, a commit, `tests`, `lint`, `types`, `format`, `build`, `outcome`."""
    text: str
    """The agent's own words."""
    field: str
    """Where they stand in the handoff: `what_was_done[2]`."""
    span: Span | None = None
    """Where they stand in the source, if that is known."""
    old_path: str | None = None
    """The name before, of a rename."""
    lines: tuple[LineRange, ...] = ()
    """The lines that are said to have changed."""
    exit_code: int | None = None
    """The exit code that a command is said to have had."""
    count: int | None = None
    """How many tests are said to pass."""
    is_partial: bool = False
    """Whether it speaks of a part only (`the new tests`, `lint in src/a.py`): the whole may differ."""


class Verdict(StrEnum):
    """What the evidence says about a claim."""

    CONFIRMED = "confirmed"
    REFUTED = "refuted"
    UNVERIFIABLE = "unverifiable"


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """A verdict with its reason."""

    verdict: Verdict
    """What the evidence says."""
    because: str
    """One sentence that names the evidence."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """A claim with its verdict."""

    claim: Claim
    """What was said."""
    verdict: Verdict
    """What the evidence says."""
    because: str
    """One sentence that names the evidence."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Ledger:
    """What a handoff claims, and what of it holds."""

    entries: tuple[Entry, ...] = ()
    """In the order of the record."""
    unmentioned: tuple[str, ...] = ()
    """Changed paths that stand nowhere in the handoff."""

    def of(self, verdict: Verdict) -> tuple[Entry, ...]:
        """The entries with this verdict."""
        return tuple(entry for entry in self.entries if entry.verdict is verdict)

    @property
    def refuted(self) -> tuple[Entry, ...]:
        """What is not true."""
        return self.of(Verdict.REFUTED)

    @property
    def counts(self) -> dict[str, int]:
        """Claims, confirmed, refuted, unverifiable, unmentioned: how many."""
        by_verdict = Counter(entry.verdict for entry in self.entries)
        return {
            "claims": len(self.entries),
            **{str(verdict): by_verdict[verdict] for verdict in Verdict},
            "unmentioned": len(self.unmentioned),
        }

    @property
    def share(self) -> float | None:
        """The share of the claims that hold, among those that could be checked; none if none could."""
        counts = self.counts
        checked = counts["confirmed"] + counts["refuted"]
        return counts["confirmed"] / checked if checked else None
