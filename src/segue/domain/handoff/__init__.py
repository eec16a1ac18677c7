"""The handoff: the canonical record, how it is read from a reply, checked, and written for the next agent."""

from segue.domain.handoff.draft import Span
from segue.domain.handoff.extraction import Extraction, Notation, extract_handoff
from segue.domain.handoff.lint import Problem, check_handoff
from segue.domain.handoff.lint_fix import Fix, fix_handoff
from segue.domain.handoff.model import Handoff
from segue.domain.handoff.rendering import OutputNotation, render_context_header, render_handoff
from segue.domain.handoff.secrets import redact
from segue.domain.handoff.taskfile import rewrite_task_file

__all__ = [
    "Extraction",
    "Fix",
    "Handoff",
    "Notation",
    "OutputNotation",
    "Problem",
    "Span",
    "check_handoff",
    "extract_handoff",
    "fix_handoff",
    "redact",
    "render_context_header",
    "render_handoff",
    "rewrite_task_file",
]
