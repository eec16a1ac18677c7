"""The shapes that people and programs read; the same in REST, in `--json` and in tables."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any

from pydantic import Field

from segue.application.run_results import RunResult
from segue.domain.approvals import Approval
from segue.domain.audit import AuditEntry, AuditKind
from segue.domain.briefing.model import LeftOut
from segue.domain.pipeline import PipelineStatus, StepStatus
from segue.domain.session import HandoffReason, MessageKind, MessageStatus
from segue.domain.template import StepType
from segue.domain.usage import Usage
from segue.domain.workspace import Workspace

EVIDENCE = Field(
    description="What Segue itself measured: `files`, `definitions`, `unparsed`, `dependencies`, `commands`, "
    "`checks`, `tests`, `weakened`, `commits`; `is_diff_whole` and `is_log_whole` tell whether all is there, "
    "`left_out` how many entries of a part were too much to keep. None outside of git."
)
"""How the record is described to those who read the API."""


READING = Field(
    description="How the record was read: `coverage`, the share of the reply that became typed items; "
    "`guessed`, items that no rule was sure of; `asked`, fields and items that the writer gave when it was "
    "asked; `dropped`, what its answer said and its reply does not; `places`, what items stood under."
)


@dataclass(frozen=True, kw_only=True, slots=True)
class HandoffView:
    """The newest handoff of a step."""

    id: int
    content_md: str
    """The agent's reply, word for word."""
    metadata: dict[str, Any] | None
    """The structured record; none if nothing could be extracted."""
    is_synthetic: bool
    """True if Segue wrote it, because the agent ended before it could."""
    ledger: dict[str, Any] | None
    """Its claims, each with its verdict; none if nothing could be checked."""
    evidence: Annotated[dict[str, Any] | None, EVIDENCE]
    """What Segue itself measured of the step; none outside of git, and for handoffs of older versions."""
    reading: Annotated[dict[str, Any] | None, READING]
    """How the record was read; none for handoffs of older versions."""
    created_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class StepView:
    """A step as it stands."""

    id: int
    agent_name: str
    order_index: int
    name: str
    """What it is called; no two steps of a run alike."""
    type: StepType
    """An agent's session, a person's decision, or commands."""
    description: str
    status: StepStatus
    round: int
    """Counts how often it began anew, because the work was sent back or the run was restarted."""
    model: str | None
    attempt_count: int
    """How many attempts were begun."""
    handovers: int
    """How many of them handed over to the next one, at a limit."""
    repairs: int
    """How often its agents were asked to repair their handoffs."""
    questions: int
    """How often its agents were asked to structure their replies."""
    backend: str | None
    """The back end of its newest attempt; none if it has not begun."""
    started_at: datetime | None
    finished_at: datetime | None
    error_message: str | None
    base_mark: str | None
    """Names the files as they were before it."""
    end_commit: str | None
    """The commit that was made after it."""
    latest_handoff: HandoffView | None
    usage: Usage | None
    """What its sessions have used, as far as their back end says."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PipelineView:
    """A run as it stands, without its steps."""

    id: int
    title: str
    template: str
    status: PipelineStatus
    reason: str | None
    """Why it failed or was aborted."""
    branch: str | None
    working_dir: str
    workspace: Workspace | None
    """Where its agents work, once that was made."""
    worker_id: str | None
    """The worker that moves it on; none for a run that waits, has ended, or was interrupted."""
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class PipelineDetail(PipelineView):
    """A run with its steps."""

    prompt: str
    steps: list[StepView]
    approvals: list[Approval]
    """What waits for a person's answer."""
    result: RunResult | None
    """What came of it; none while it has not ended."""


@dataclass(frozen=True, kw_only=True, slots=True)
class InboxEntry:
    """Something that waits for a person, and where."""

    approval: Approval
    pipeline_title: str | None
    """None for a session outside of pipelines."""
    step_number: int | None
    """1 for the first."""
    step_name: str | None


class AttemptProgress(StrEnum):
    """How far an attempt at a step has come, told by its own state and that of its briefing."""

    OPENING = "opening"
    SENDING = "sending"
    SENT = "sent"
    REPLIED = "replied"
    HANDING_OVER = "handing_over"
    HANDED_OVER = "handed_over"
    DONE = "done"
    FAILED = "failed"
    LOST = "lost"
    ABORTED = "aborted"


@dataclass(frozen=True, kw_only=True, slots=True)
class RepairView:
    """A turn in which the agent was asked to repair its handoff, or to structure its reply."""

    number: int
    kind: MessageKind
    text: str
    reply: str | None
    ledger: dict[str, Any] | None
    """The claims of the handoff that was refused, each with its verdict."""
    usage: Usage | None
    """What the turn has used, as far as the back end says."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AttemptView:
    """One attempt at a step, with the exact text that was sent."""

    number: int
    status: AttemptProgress
    backend: str
    briefing: str
    """What the agent was given."""
    carry_over: str
    """What was added because an earlier attempt was cut off."""
    text: str
    """The two together: exactly what was sent."""
    briefing_sha256: str | None
    """The receipt: the SHA-256 of that text, written down when it was sent."""
    left_out: list[LeftOut]
    """What was known and is not in the briefing, because its budget had no room or it is too small."""
    over_budget: int
    """How many tokens the briefing has beyond its budget: what is never cut needs them."""
    repairs: list[RepairView]
    """The turns in which the agent was asked to repair its handoff, or to structure its reply."""
    reply: str | None
    usage: Usage | None
    error: str | None
    session: int
    """The session that it ran in; `segue session lineage` tells where it came from."""
    handover_reason: HandoffReason | None
    """Why it handed over to the next attempt; none if it did not."""
    started_at: datetime
    finished_at: datetime | None


@dataclass(frozen=True, kw_only=True, slots=True)
class StepDetail(StepView):
    """A step with all its attempts."""

    attempts: list[AttemptView]


@dataclass(frozen=True, kw_only=True, slots=True)
class PipelinePage:
    """Some pipelines, newest first."""

    items: list[PipelineView]
    next_cursor: int | None
    """Give it back as `before` for the next page; none on the last one."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PipelineFilter:
    """Which pipelines to list."""

    status: PipelineStatus | None = None
    template: str | None = None
    text: str | None = None
    """Words that the title or the prompt must contain."""
    before: int | None = None
    limit: int = 50


@dataclass(frozen=True, kw_only=True, slots=True)
class AuditFilter:
    """Which audit entries to list."""

    pipeline_id: int | None = None
    """0 for what happened outside of pipelines."""
    kind: AuditKind | None = None
    since: datetime | None = None
    before: int | None = None
    limit: int = 50


@dataclass(frozen=True, kw_only=True, slots=True)
class AuditPage:
    """Some audit entries, newest first."""

    items: list[AuditEntry]
    next_cursor: int | None
    """`before` for the next page; none if this is the last."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SessionView:
    """A session as it stands."""

    id: int
    name: str
    """The agent profile, or the back end where there is none."""
    backend: str
    model: str | None
    title: str
    working_dir: str
    parent_id: int | None
    """The session that it continues."""
    step_id: int | None
    """The step that it works on; none outside of a pipeline."""
    pipeline_id: int | None
    messages: int
    """How many messages and replies it holds."""
    started_at: datetime
    ended_at: datetime | None
    usage: Usage | None


@dataclass(frozen=True, kw_only=True, slots=True)
class MessageView:
    """A message and its reply."""

    id: int
    kind: MessageKind
    message_id: str
    text: str
    status: MessageStatus
    reply: str | None
    error: str | None
    created_at: datetime
    replied_at: datetime | None


@dataclass(frozen=True, kw_only=True, slots=True)
class SessionHandoffView:
    """A handoff that a session has left."""

    id: int
    reason: HandoffReason
    content_md: str
    metadata: dict[str, Any] | None
    ledger: dict[str, Any] | None
    evidence: Annotated[dict[str, Any] | None, EVIDENCE]
    """What Segue itself measured; none outside of git, and for handoffs of older versions."""
    file_path: str | None
    injection_prompt: str | None
    """The exact first message of the successor."""
    created_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class SessionDetail(SessionView):
    """A session with all that was said in it, and what it left."""

    said: list[MessageView]
    handoffs: list[SessionHandoffView]


@dataclass(frozen=True, kw_only=True, slots=True)
class SessionPage:
    """Some sessions, newest first."""

    items: list[SessionView]
    next_cursor: int | None
    """Give it back as `before` for the next page; none on the last one."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Lineage:
    """Where a session came from, and what continues it."""

    session: SessionView
    parents: list[SessionView]
    """The first of all first."""
    children: list[SessionView]
    """All that continue it, directly or not, oldest first."""
