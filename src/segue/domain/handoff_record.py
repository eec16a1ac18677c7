"""A handoff as it is saved."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

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
    metadata_json: str | None
    file_path: str | None = None
    """The document, for people."""
    injection_prompt: str | None = None
    """The exact words to the session that continues from it, if one does."""
    ledger_json: str | None = None
    evidence_json: str | None = None
    reading_json: str | None = None
    """How much of the reply became the record, and what its writer was asked for."""
    is_synthetic: bool = False
    stalled: int = 0
    """How many handoffs in a row, up to this one, brought nothing new."""
    created_at: datetime
