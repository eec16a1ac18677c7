"""Segue runs chains of AI coding agents durably, and makes the handoff between them a checked thing."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from segue.domain.briefing import Briefing, Predecessor, brief
from segue.domain.errors import SegueError
from segue.domain.handoff import (
    Extraction,
    Handoff,
    OutputNotation,
    Problem,
    check_handoff,
    extract_handoff,
    fix_handoff,
    redact,
    render_context_header,
    render_handoff,
    rewrite_task_file,
)

if TYPE_CHECKING:
    from segue.domain.ledger import Evidence, Ledger, verify_claims

__version__ = "0.1.0"

__all__ = [
    "Briefing",
    "Evidence",
    "Extraction",
    "Handoff",
    "Ledger",
    "OutputNotation",
    "Predecessor",
    "Problem",
    "SegueError",
    "__version__",
    "brief",
    "check_handoff",
    "extract_handoff",
    "fix_handoff",
    "redact",
    "render_context_header",
    "render_handoff",
    "rewrite_task_file",
    "verify_claims",
]


def __getattr__(name: str) -> Any:
    """The claim ledger, loaded when it is asked for: most commands do without it."""
    if name in {"Evidence", "Ledger", "verify_claims"}:
        return getattr(import_module("segue.domain.ledger"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
