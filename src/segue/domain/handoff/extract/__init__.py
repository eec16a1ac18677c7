"""Reads a handoff out of whatever an agent wrote: from `extraction.py` down to words and paths."""

from __future__ import annotations

from typing import TYPE_CHECKING

from segue.domain.on_demand import on_demand

if TYPE_CHECKING:
    from segue.domain.handoff.extract.extraction import extract_handoff, extract_reply
else:
    extract_handoff = on_demand("segue.domain.handoff.extract.extraction", "extract_handoff")
    extract_reply = on_demand("segue.domain.handoff.extract.extraction", "extract_reply")

__all__ = ["extract_handoff", "extract_reply"]
