"""Running pipelines from Python: what `from segue import ...` gives of it."""

from segue.adapters.checks.functions import CheckFunction, CheckOutcome
from segue.application.ports.backend import (
    AgentBackend,
    Capabilities,
    Message,
    Reply,
    SessionRequest,
)
from segue.domain.errors import NotTrusted
from segue.domain.handoff.custom_notation import CustomNotation
from segue.domain.template import PipelineTemplate, TemplateStep
from segue.running.events import (
    AgentAsked,
    AgentSaid,
    AgentUsedTool,
    ClaimsVerified,
    RunEnded,
    RunEvent,
    StepEnded,
    StepStarted,
)
from segue.running.opening import OpenSegue, open_segue, run_pipeline
from segue.running.result import Claim, Result, StepResult
from segue.running.run import Run

__all__ = [
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
]
