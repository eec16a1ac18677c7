"""Segue runs chains of AI coding agents durably, and makes the handoff between them a checked thing."""

from segue.domain.errors import SegueError
from segue.domain.handoff import Extraction, Handoff, extract_handoff, render_context_header

__version__ = "0.1.0"

__all__ = ["Extraction", "Handoff", "SegueError", "__version__", "extract_handoff", "render_context_header"]
