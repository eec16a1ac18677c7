"""Makes the evidence of a step out of the texts before and after it, through the code that measures a run."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

from segue import Evidence, Ledger, extract_handoff, verify_claims
from segue.domain.claims import LedgerEntry
from segue.domain.evidence.measure import measure
from segue.domain.evidence.model import Change, ChangeKind, Hunk, LineRange
from segue.domain.evidence.sources import TextSources


@dataclass(frozen=True, kw_only=True)
class Step:
    """What happened, with the text of both trees."""

    evidence: Evidence
    sources: TextSources

    def having(self, **more: Any) -> Step:
        """The same step with more evidence: commands, checks, tests."""
        return replace(self, evidence=replace(self.evidence, **more))

    def ledger(self, text: str, **more: Any) -> Ledger:
        """What the ledger says of a text."""
        return verify_claims(extract_handoff(text), self.evidence, source=text, sources=self.sources, **more)

    def entries(self, text: str, **more: Any) -> tuple[LedgerEntry, ...]:
        """Claims and other statements, in the order of the text."""
        ledger = self.ledger(text, **more)
        return tuple(
            sorted((*ledger.entries, *ledger.others), key=lambda entry: entry.statement.span or (0, 0))
        )


def step(
    before: Mapping[str, str],
    after: Mapping[str, str],
    renamed: Mapping[str, str] | None = None,
    known_commits: Collection[str] = (),
    **more: Any,
) -> Step:
    """The step from one tree to another; `renamed` gives the new name of a file for its old one."""
    changes: dict[str, Change] = {}
    moved = dict(renamed or {})
    for path in sorted({*before, *after}):
        if path in moved or before.get(path) == after.get(path):
            continue
        old = next((name for name, new in moved.items() if new == path), None)
        changes[path] = _change(before.get(old or path), after.get(path), old)
    measured = measure(changes, before, after)
    evidence = Evidence(
        changes=changes,
        before=frozenset(before),
        after=frozenset(after),
        definitions=measured.definitions,
        unparsed=measured.unparsed,
        dependencies=measured.dependencies,
        are_commits_whole=True,
    )
    sources = TextSources(before=before, after=after, commits=known_commits)
    return Step(evidence=replace(evidence, **more), sources=sources)


def _change(before: str | None, after: str | None, old: str | None) -> Change:
    kind = ChangeKind.MODIFIED
    if old is not None:
        kind = ChangeKind.RENAMED
    elif before is None or after is None:
        kind = ChangeKind.ADDED if before is None else ChangeKind.DELETED
    left, right = (before or "").splitlines(), (after or "").splitlines()
    hunks = []
    for tag, a, b, c, d in difflib.SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        if tag != "equal":
            hunks.append(
                Hunk(
                    old=LineRange(a + 1, b) if b > a else None,
                    new=LineRange(c + 1, d) if d > c else None,
                    removed=tuple(left[a:b]),
                    added=tuple(right[c:d]),
                )
            )
    return Change(
        kind=kind,
        old_path=old,
        additions=sum(len(hunk.added) for hunk in hunks),
        deletions=sum(len(hunk.removed) for hunk in hunks),
        new_lines=tuple(hunk.new for hunk in hunks if hunk.new),
        old_lines=tuple(hunk.old for hunk in hunks if hunk.old),
        line_count=len(right) if after is not None else None,
        hunks=tuple(hunks),
    )
