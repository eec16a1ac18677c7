"""The shapes that people and programs read; the same in REST, in `--json` and in tables."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any

from pydantic import Field

from segue.application.run_results import RunResult
from segue.domain.approvals import Approval
from segue.domain.pipeline import AttemptStatus, PipelineStatus, StepStatus
from segue.domain.sessions import Reason
from segue.domain.usage import Usage
from segue.domain.workspace import Workspace

EVIDENCE = Field(
    description="What Segue itself measured: `files`, `definitions`, `unparsed`, `dependencies`, `commands`, "
    "`checks`, `tests`, `weakened`, `commits`; `is_diff_whole` and `is_log_whole` tell whether all is there, "
    "`left_out` how many entries of a part were too much to keep. None outside of git."
)
"""How the record is described to those who read the API."""


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
    created_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class StepView:
    """A step as it stands."""

    id: int
    agent_name: str
    order_index: int
    description: str
    status: StepStatus
    model: str | None
    attempts: int
    """How many tries were begun."""
    handovers: int
    """How many of them handed over to the next one, at a limit."""
    repairs: int
    """How often its agents were asked to repair their handoffs."""
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
class RepairView:
    """A turn in which the agent was asked to mend its handoff."""

    number: int
    text: str
    reply: str | None
    ledger: dict[str, Any] | None
    """The claims of the handoff that was refused, each with its verdict."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AttemptView:
    """One try at a step, with the exact text that was sent."""

    number: int
    status: AttemptStatus
    backend: str
    briefing: str
    """What the agent was given."""
    carry_over: str
    """What was added because an earlier try was cut off."""
    text: str
    """The two together: exactly what was sent."""
    briefing_sha256: str | None
    """The receipt: the SHA-256 of that text, written down when it was sent."""
    repairs: list[RepairView]
    """The turns in which the agent was asked to mend its handoff."""
    reply: str | None
    usage: Usage | None
    error: str | None
    session: int
    """The session that it ran in; `segue session lineage` tells where it came from."""
    handover_reason: Reason | None
    """Why it handed over to the next try; none if it did not."""
    started_at: datetime
    finished_at: datetime | None


@dataclass(frozen=True, kw_only=True, slots=True)
class StepDetail(StepView):
    """A step with all its tries."""

    tries: list[AttemptView]


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
