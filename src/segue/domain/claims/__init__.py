"""The claim ledger: what an agent says was done, compared with what really happened."""

from __future__ import annotations

from typing import TYPE_CHECKING

from segue.domain.claims.ledger import Ledger, LedgerEntry, Pointer, PointerKind, Statement, Verdict
from segue.domain.claims.rendering import corrections_of, ledger_as_dict, render_ledger
from segue.domain.evidence.model import Change, ChangeKind, CommandRun, Evidence, LineRange, RunBy
from segue.domain.on_demand import on_demand

if TYPE_CHECKING:
    from segue.domain.claims.verify import verify_claims
else:
    verify_claims = on_demand("segue.domain.claims.verify", "verify_claims")

__all__ = [
    "Change",
    "ChangeKind",
    "CommandRun",
    "Evidence",
    "Ledger",
    "LedgerEntry",
    "LineRange",
    "Pointer",
    "PointerKind",
    "RunBy",
    "Statement",
    "Verdict",
    "corrections_of",
    "ledger_as_dict",
    "render_ledger",
    "verify_claims",
]
