"""The handoff: the canonical record, how it is read from a reply, how it is written for the next agent."""

from segue.domain.handoff.draft import Span
from segue.domain.handoff.extraction import Extraction, Notation, extract_handoff
from segue.domain.handoff.model import Handoff
from segue.domain.handoff.rendering import render_context_header

__all__ = ["Extraction", "Handoff", "Notation", "Span", "extract_handoff", "render_context_header"]
