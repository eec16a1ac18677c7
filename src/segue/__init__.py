"""Segue runs chains of AI coding agents durably, and makes the handoff between them a checked thing."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from segue.domain.briefing import Briefing, Predecessor, brief
    from segue.domain.claims import Evidence, Ledger, verify_claims
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
    from segue.running import (
        AgentAsked,
        AgentBackend,
        AgentSaid,
        AgentUsedTool,
        Capabilities,
        CheckFunction,
        CheckOutcome,
        Claim,
        ClaimsVerified,
        CustomNotation,
        Message,
        NotTrusted,
        OpenSegue,
        PipelineTemplate,
        Reply,
        Result,
        Run,
        RunEnded,
        RunEvent,
        SessionRequest,
        StepEnded,
        StepResult,
        StepStarted,
        TemplateStep,
        open_segue,
        run_pipeline,
    )

__version__ = "0.1.0"

__all__ = [
    "AgentAsked",
    "AgentBackend",
    "AgentSaid",
    "AgentUsedTool",
    "Briefing",
    "Capabilities",
    "CheckFunction",
    "CheckOutcome",
    "Claim",
    "ClaimsVerified",
    "CustomNotation",
    "Evidence",
    "Extraction",
    "Handoff",
    "Ledger",
    "Message",
    "NotTrusted",
    "OpenSegue",
    "OutputNotation",
    "PipelineTemplate",
    "Predecessor",
    "Problem",
    "Reply",
    "Result",
    "Run",
    "RunEnded",
    "RunEvent",
    "SegueError",
    "SessionRequest",
    "StepEnded",
    "StepResult",
    "StepStarted",
    "TemplateStep",
    "__version__",
    "brief",
    "check_handoff",
    "extract_handoff",
    "fix_handoff",
    "open_segue",
    "redact",
    "render_context_header",
    "render_handoff",
    "rewrite_task_file",
    "run_pipeline",
    "verify_claims",
]

_ELSEWHERE = {
    "segue.domain.briefing": ("Briefing", "Predecessor", "brief"),
    "segue.domain.errors": ("SegueError",),
    "segue.domain.claims": ("Evidence", "Ledger"),
    "segue.domain.claims.verify": ("verify_claims",),
    "segue.domain.handoff.extract.extraction": ("extract_handoff",),
    "segue.running": (
        "AgentAsked",
        "AgentBackend",
        "AgentSaid",
        "AgentUsedTool",
        "Capabilities",
        "CheckFunction",
        "CheckOutcome",
        "Claim",
        "ClaimsVerified",
        "CustomNotation",
        "Message",
        "NotTrusted",
        "OpenSegue",
        "PipelineTemplate",
        "Reply",
        "Result",
        "Run",
        "RunEnded",
        "RunEvent",
        "SessionRequest",
        "StepEnded",
        "StepResult",
        "StepStarted",
        "TemplateStep",
        "open_segue",
        "run_pipeline",
    ),
}
_HOMES = {name: home for home, names in _ELSEWHERE.items() for name in names}


def __getattr__(name: str) -> Any:
    """Load what is asked for: no command needs all of it, and some need nothing."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(_HOMES.get(name, "segue.domain.handoff")), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
