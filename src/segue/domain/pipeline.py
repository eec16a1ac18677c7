"""Pipeline, Step, Attempt: their states and the moves that are allowed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from segue.domain.catalog import Plan
from segue.domain.errors import IllegalMove
from segue.domain.sessions import Reason
from segue.domain.usage import Usage
from segue.domain.workspace import Workspace, WorkspaceChoice


class PipelineStatus(StrEnum):
    """Where a run stands."""

    PENDING = "pending"
    RUNNING = "running"
    WAITING_FOR_APPROVAL = "waiting_for_approval"
    DONE = "done"
    FAILED = "failed"
    ABORTED = "aborted"

    @property
    def is_final(self) -> bool:
        """True if nothing will happen any more."""
        return self in (PipelineStatus.DONE, PipelineStatus.FAILED, PipelineStatus.ABORTED)


class StepStatus(StrEnum):
    """Where a step stands: it ends done, failed with a reason, aborted, or is skipped."""

    PENDING = "pending"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    ABORTED = "aborted"
    SKIPPED = "skipped"


class AttemptStatus(StrEnum):
    """How far one try at a step has come."""

    OPENING = "opening"
    SENDING = "sending"
    SENT = "sent"
    REPLIED = "replied"
    HANDING_OVER = "handing_over"
    """Its session has reached a limit; it is asked for what the next one must know."""
    HANDED_OVER = "handed_over"
    """The step goes on in another session."""
    DONE = "done"
    FAILED = "failed"
    LOST = "lost"
    ABORTED = "aborted"

    @property
    def is_final(self) -> bool:
        """True if this try is over."""
        return self in _ENDED


_ENDED = frozenset(
    {
        AttemptStatus.HANDED_OVER,
        AttemptStatus.DONE,
        AttemptStatus.FAILED,
        AttemptStatus.LOST,
        AttemptStatus.ABORTED,
    }
)


def join_text(briefing: str, carry_over: str) -> str:
    """What is sent: the briefing, and what an attempt before this one left."""
    return f"{briefing}\n{carry_over}" if carry_over else briefing


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to move a pipeline on. A later lease has a higher segment and ends this one."""

    pipeline_id: int
    segment: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Agent:
    """One session of an agent profile on a back end."""

    id: int
    name: str
    """Name of the profile."""
    backend: str
    """Name of the program that is driven."""
    key: str
    """Ours, made before the session is opened, so that opening can be repeated."""
    session_ref: str | None
    """The back end's own name of the session, once it is open."""
    parent_id: int | None
    """The session that this one goes on from."""
    step_id: int | None
    base_mark: str | None
    """Names the files as they were when it began; none outside of git."""
    started_at: datetime
    ended_at: datetime | None
    usage: Usage | None
    """What it has used, as far as the back end says."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Attempt:
    """One try at a step, in one agent session."""

    id: int
    step_id: int
    agent_id: int
    number: int
    """1 for the first try."""
    status: AttemptStatus
    briefing: str
    """What the agent is given; depends on saved records alone."""
    carry_over: str
    """What the try before it left behind; empty for the first try."""
    message_id: str
    """Names the message, so that it is never delivered twice."""
    briefing_sha256: str | None
    """The receipt: of the exact text that was sent."""
    token: str | None
    """Opens Segue's own tools to this attempt's agent, and to nobody else."""
    submitted_json: str | None
    """The handoff that the agent submitted through a tool; it wins over what stands in the reply."""
    blockers_json: str | None
    """The blockers that the agent reported through a tool."""
    reply: str | None
    error: str | None
    handover_reason: Reason | None
    """Why the step goes on in another session; none if it does not."""
    started_at: datetime
    finished_at: datetime | None

    @property
    def text(self) -> str:
        """The exact text that is sent."""
        return join_text(self.briefing, self.carry_over)

    def moved(self, status: AttemptStatus, **changes: object) -> Attempt:
        """This attempt, one state further."""
        if self.status.is_final:
            raise IllegalMove(f"attempt {self.id} is {self.status} already")
        return replace(self, status=status, **changes)  # type: ignore[arg-type]  # checked by replace itself


@dataclass(frozen=True, kw_only=True, slots=True)
class Repair:
    """A turn in the same session, in which the agent is asked to mend its handoff."""

    id: int
    attempt_id: int
    number: int
    message_id: str
    text: str
    """What the agent is told."""
    rejected_json: str | None
    """The handoff that did not pass; none if there was none."""
    status: AttemptStatus
    """`sending`, `sent` or `replied`."""
    reply: str | None
    created_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """A place in the run."""

    id: int
    pipeline_id: int
    agent_name: str
    order_index: int
    description: str
    """This step's own job."""
    model: str | None
    timeout: float | None
    """Seconds until the agent's session is aborted; none for the setting's default."""
    status: StepStatus
    error_message: str | None
    base_mark: str | None
    """Names the files as they were before the step; none outside of git."""
    end_commit: str | None
    """The commit that was made after the step."""
    started_at: datetime | None
    finished_at: datetime | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Pipeline:
    """One run, with its steps in order."""

    id: int
    title: str
    template: str
    prompt: str
    """The user's words, kept as they are."""
    branch: str | None
    working_dir: str
    plan: Plan
    """Template and agents as they were when the run was submitted."""
    status: PipelineStatus
    reason: str | None
    """Why it failed or was aborted, in one sentence."""
    abort_reason: str | None
    """Set when somebody asked for an abort that has not been carried out yet."""
    worker_id: str | None
    segment: int
    idempotency_key: str | None
    workspace: Workspace | None
    """Where its agents work, once that was made."""
    workspace_choice: WorkspaceChoice
    created_at: datetime
    updated_at: datetime
    steps: tuple[Step, ...]
    final_json: str | None = None
    """How the work was when the last step was done, judged again; none before that."""

    def next_step(self) -> Step | None:
        """The first step that is not done, or none if all are."""
        return next((s for s in self.steps if s.status not in (StepStatus.DONE, StepStatus.SKIPPED)), None)

    def step(self, step_id: int) -> Step:
        """The step with this id."""
        return next(s for s in self.steps if s.id == step_id)

    def start_step(self, step_id: int, at: datetime) -> Pipeline:
        """A pending step begins; one that runs already goes on."""
        step = self.step(step_id)
        if step.status is StepStatus.RUNNING:
            return self
        self._require(step.status is StepStatus.PENDING, f"step {step.order_index + 1} is {step.status}")
        return self._with_step(replace(step, status=StepStatus.RUNNING, started_at=at), at)

    def mark_step(self, step_id: int, mark: str | None, at: datetime) -> Pipeline:
        """The files are as `mark` names them before the step begins."""
        return self._with_step(replace(self.step(step_id), base_mark=mark), at)

    def finish_step(self, step_id: int, at: datetime, commit: str | None = None) -> Pipeline:
        """A running step is done; after the last one, so is the pipeline."""
        step = self.step(step_id)
        self._require(step.status is StepStatus.RUNNING, f"step {step.order_index + 1} is {step.status}")
        done = replace(step, status=StepStatus.DONE, end_commit=commit, finished_at=at)
        moved = self._with_step(done, at)
        return replace(moved, status=PipelineStatus.DONE) if moved.next_step() is None else moved

    def complete(self, at: datetime) -> Pipeline:
        """Every step is done already: so is the pipeline."""
        self._require(self.next_step() is None, "not all of its steps are done")
        return replace(self, status=PipelineStatus.DONE, updated_at=at)

    def fail_step(self, step_id: int, reason: str, at: datetime) -> Pipeline:
        """A step failed, and the pipeline with it; later steps stay pending."""
        self._require(not self.status.is_final, f"it is {self.status}")
        step = replace(self.step(step_id), status=StepStatus.FAILED, error_message=reason, finished_at=at)
        sentence = f"step {step.order_index + 1} ({step.agent_name}) failed: {reason}"
        return replace(self._with_step(step, at), status=PipelineStatus.FAILED, reason=sentence)

    def request_abort(self, reason: str, at: datetime) -> Pipeline:
        """Somebody wants this run to stop; whoever owns it carries that out."""
        self._require(
            not self.status.is_final, f"it is {self.status}; only a run that goes on can be aborted"
        )
        self._require(self.abort_reason is None, "it is being aborted already")
        return replace(self, abort_reason=reason, updated_at=at)

    def abort(self, at: datetime) -> Pipeline:
        """The run stops for good; steps that were running end aborted."""
        self._require(not self.status.is_final, f"it is {self.status}")
        reason = self.abort_reason or "aborted"
        steps = tuple(
            replace(s, status=StepStatus.ABORTED, error_message=reason, finished_at=at)
            if s.status is StepStatus.RUNNING
            else s
            for s in self.steps
        )
        return replace(self, status=PipelineStatus.ABORTED, reason=reason, steps=steps, updated_at=at)

    def _with_step(self, step: Step, at: datetime) -> Pipeline:
        by_id: Mapping[int, Step] = {step.id: step}
        return replace(self, steps=tuple(by_id.get(s.id, s) for s in self.steps), updated_at=at)

    def _require(self, allowed: bool, why_not: str) -> None:
        if not allowed:
            raise IllegalMove(f"pipeline {self.id} cannot do that: {why_not}")
