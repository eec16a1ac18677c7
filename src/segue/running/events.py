"""What happens in a run, as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from segue.application.ports.backend import ToolState
from segue.domain.activity import Activity, ActivityKind
from segue.domain.audit import AuditEntry, AuditKind
from segue.domain.permissions import Tool
from segue.domain.pipeline import PipelineStatus, StepStatus

StepPlaces = Mapping[int, tuple[int, str]]
"""The id of each step -> its number, 1 for the first, and its agent."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RunEvent:
    """Something that happened in a run. What has a class of its own below is a value of that class."""

    kind: str
    """`step_started`, `message_sent`, `agent_said`, ...: the same words as in the audit trail."""
    at: datetime
    step: int | None
    """The number of the step, 1 for the first; none for what happens to the run as a whole."""
    agent: str | None
    """The name of the agent that does the step."""
    details: Mapping[str, Any]
    """Small facts about it, as the REST API shows them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StepStarted(RunEvent):
    """A step begins."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AgentSaid(RunEvent):
    """The agent's next words; joined, they are what it said so far."""

    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class AgentUsedTool(RunEvent):
    """A tool call began or ended; both carry the same id."""

    call_id: str
    tool: Tool
    """What kind of tool it is."""
    name: str
    """The agent's own name of the tool."""
    state: ToolState
    """`started`, `done` or `failed`."""
    target: str
    """The path, command or address; empty if there is none."""
    exit_code: int | None
    """Of a command that ended, if it is known."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AgentAsked(RunEvent):
    """The run waits for `Run.answer`: an agent wants to use a tool or asks, or a step needs approval."""

    question: int
    """What `Run.answer` is given."""
    title: str
    """What is asked, in a line."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ClaimsVerified(RunEvent):
    """The claims of a step's handoff were compared with what happened."""

    counts: Mapping[str, int]
    """How many there are, by verdict."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StepEnded(RunEvent):
    """A step is done, failed or aborted."""

    status: StepStatus
    reason: str | None
    """Why it failed or was aborted."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RunEnded(RunEvent):
    """The run is done, failed or aborted: the last event of all."""

    status: PipelineStatus
    reason: str | None
    """Why it failed or was aborted."""


_STEP_ENDS = {
    AuditKind.STEP_DONE: StepStatus.DONE,
    AuditKind.STEP_FAILED: StepStatus.FAILED,
    AuditKind.STEP_ABORTED: StepStatus.ABORTED,
}
_RUN_ENDS = {
    AuditKind.PIPELINE_DONE: PipelineStatus.DONE,
    AuditKind.PIPELINE_FAILED: PipelineStatus.FAILED,
    AuditKind.PIPELINE_ABORTED: PipelineStatus.ABORTED,
}


def event_of(found: AuditEntry | Activity, places: StepPlaces) -> RunEvent:
    """An entry of the audit trail, or of what agents did, as an event."""
    step, agent = places.get(found.step_id or 0, (None, None))
    details = found.payload or {}
    common: dict[str, Any] = {
        "kind": str(found.event_type if isinstance(found, AuditEntry) else found.kind),
        "at": found.created_at,
        "step": step,
        "agent": agent,
        "details": details,
    }
    if isinstance(found, AuditEntry):
        return _from_entry(found.event_type, details, common)
    return _from_activity(found.kind, details, common)


def _from_entry(kind: AuditKind, details: Mapping[str, Any], common: dict[str, Any]) -> RunEvent:
    if kind is AuditKind.STEP_STARTED:
        return StepStarted(**common)
    if kind in (AuditKind.PERMISSION_ASKED, AuditKind.APPROVAL_REQUESTED):
        return AgentAsked(question=details["approval_id"], title=details["title"], **common)
    if kind is AuditKind.CLAIMS_VERIFIED:
        return ClaimsVerified(counts=details, **common)
    if kind in _STEP_ENDS:
        return StepEnded(status=_STEP_ENDS[kind], reason=details.get("reason"), **common)
    if kind in _RUN_ENDS:
        return RunEnded(status=_RUN_ENDS[kind], reason=details.get("reason"), **common)
    return RunEvent(**common)


def _from_activity(kind: ActivityKind, details: Mapping[str, Any], common: dict[str, Any]) -> RunEvent:
    if kind is ActivityKind.SAID:
        return AgentSaid(text=details["text"], **common)
    if kind is ActivityKind.TOOL_USED:
        return AgentUsedTool(
            call_id=details.get("call_id", ""),
            tool=Tool(details["tool"]),
            name=details.get("name", ""),
            state=ToolState(details["state"]),
            target=details.get("target", ""),
            exit_code=details.get("exit_code"),
            **common,
        )
    return RunEvent(**common)
