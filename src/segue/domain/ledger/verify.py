"""Holds the claims of a handoff against the evidence."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from segue.domain.handoff.model import Handoff
from segue.domain.handoff.reading.extraction import Extraction
from segue.domain.ledger.claims import find_claims
from segue.domain.ledger.evidence import Evidence
from segue.domain.ledger.mentions import unmentioned_paths
from segue.domain.ledger.values import Claim, ClaimKind, Entry, Finding, Ledger
from segue.domain.ledger.verdicts_files import FileVerdicts
from segue.domain.ledger.verdicts_runs import (
    judge_clean,
    judge_command,
    judge_commit,
    judge_outcome,
    judge_tests,
)


def verify_claims(
    record: Extraction | Handoff | Sequence[Claim] | None,
    evidence: Evidence,
    *,
    source: str = "",
    passed_over: Collection[str] = (),
) -> Ledger:
    """Every claim with its verdict, and the changed paths that nobody mentioned.

    `source` is the text that the handoff was read from: with it, claims have their places. Changes of paths
    in `passed_over` need no mention, such as that of the file which holds the handoff.
    """
    handoff = record.handoff if isinstance(record, Extraction) else record
    if isinstance(record, Extraction | Handoff) or record is None:
        claims: Sequence[Claim] = find_claims(record, source)
    else:
        claims, handoff = record, None
        source = "\n".join(
            (source, *(f"{claim.text} {claim.subject} {claim.old_path or ''}" for claim in claims))
        )
    assert handoff is None or isinstance(handoff, Handoff)
    files = FileVerdicts(evidence)
    entries = []
    for claim in claims:
        finding = _judge(claim, evidence, files)
        entries.append(Entry(claim=claim, verdict=finding.verdict, because=finding.because))
    return Ledger(
        entries=tuple(entries), unmentioned=unmentioned_paths(handoff, source, evidence, claims, passed_over)
    )


def _judge(claim: Claim, evidence: Evidence, files: FileVerdicts) -> Finding:
    match claim.kind:
        case ClaimKind.RAN:
            return judge_command(claim, evidence)
        case ClaimKind.TESTS:
            return judge_tests(claim, evidence)
        case ClaimKind.CLEAN:
            return judge_clean(claim, evidence)
        case ClaimKind.COMMITTED:
            return judge_commit(claim, evidence)
        case ClaimKind.COMPLETED:
            return judge_outcome(evidence)
        case _:
            return files.judge(claim)
