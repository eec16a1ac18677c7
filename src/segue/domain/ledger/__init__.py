"""The claim ledger: what a handoff says was done, held against what really happened."""

from segue.domain.ledger.claims import find_claims
from segue.domain.ledger.evidence import Change, ChangeKind, CommandRun, Evidence, LineRange, RunBy
from segue.domain.ledger.rendering import corrections_of, ledger_as_dict, render_ledger
from segue.domain.ledger.values import Claim, ClaimKind, Entry, Ledger, Verdict
from segue.domain.ledger.verify import verify_claims

__all__ = [
    "Change",
    "ChangeKind",
    "Claim",
    "ClaimKind",
    "CommandRun",
    "Entry",
    "Evidence",
    "Ledger",
    "LineRange",
    "RunBy",
    "Verdict",
    "corrections_of",
    "find_claims",
    "ledger_as_dict",
    "render_ledger",
    "verify_claims",
]
