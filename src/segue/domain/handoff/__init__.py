"""The handoff: the canonical record, how it is read from a reply, checked, and written for the next agent."""

from segue.domain.handoff.checking.fixing import Fix, fix_handoff
from segue.domain.handoff.checking.lint import Problem, check_handoff
from segue.domain.handoff.checking.secrets import redact
from segue.domain.handoff.extract import extract_handoff
from segue.domain.handoff.extract.result import Extraction, Likeness, Notation, Origin, SourcePlace
from segue.domain.handoff.model import Handoff
from segue.domain.handoff.writing.rendering import OutputNotation, render_context_header, render_handoff
from segue.domain.handoff.writing.taskfile import rewrite_task_file
from segue.domain.text.span import Span

__all__ = [
    "Extraction",
    "Fix",
    "Handoff",
    "Likeness",
    "Notation",
    "Origin",
    "OutputNotation",
    "Problem",
    "SourcePlace",
    "Span",
    "check_handoff",
    "extract_handoff",
    "fix_handoff",
    "redact",
    "render_context_header",
    "render_handoff",
    "rewrite_task_file",
]
