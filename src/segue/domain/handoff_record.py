"""A handoff as it is saved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from segue.domain.asking import HandoffReading
from segue.domain.handoff.model import Handoff
from segue.domain.session import HandoffReason


@dataclass(frozen=True, kw_only=True, slots=True)
class HandoffRecord:
    """A handoff as it is saved."""

    id: int = 0
    session_id: int
    step_id: int | None
    message_id: int | None = None
    """The message whose reply it is; none for one that Segue wrote."""
    reason: HandoffReason
    content_md: str
    handoff: Handoff | None
    """The record that was taken from it; none if it could not be read."""
    file_path: str | None = None
    """The document, for people."""
    injection_prompt: str | None = None
    """The exact words to the session that continues from it, if one does."""
    ledger: Mapping[str, Any] | None = None
    """Its claims, each with its verdict; none if there was nothing to compare it with."""
    evidence: Mapping[str, Any] | None = None
    """What it was compared with, as `evidence_as_dict` gives it."""
    reading: HandoffReading | None = None
    """How much of the reply became the record, and what its writer was asked for."""
    is_synthetic: bool = False
    stalled: int = 0
    """How many handoffs in a row, up to this one, brought nothing new."""
    created_at: datetime
