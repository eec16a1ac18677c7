"""Pipeline, Step, Lease: their states and the moves that are allowed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from segue.domain.catalog import Plan
from segue.domain.errors import IllegalMove
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


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to move a pipeline on. A later lease has a higher number and ends this one."""

    pipeline_id: int
    number: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """A place in the run."""

    id: int = 0
    pipeline_id: int = 0
    agent_name: str
    order_index: int
    description: str
    """This step's own job."""
    model: str | None
    timeout: float | None
    """Seconds until the agent's session is aborted; none for the setting's default."""
    status: StepStatus = StepStatus.PENDING
    error_message: str | None = None
    base_mark: str | None = None
    """Names the files as they were before the step; none outside of git."""
    end_commit: str | None = None
    """The commit that was made after the step."""
    started_at: datetime | None = None
    finished_at: datetime | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Pipeline:
    """One run, with its steps in order."""

    id: int = 0
    title: str
    template: str
    prompt: str
    """The user's words, kept as they are."""
    branch: str | None
    working_dir: str
    plan: Plan
    """Template and agents as they were when the run was submitted."""
    status: PipelineStatus = PipelineStatus.PENDING
    reason: str | None = None
    """Why it failed or was aborted, in one sentence."""
    abort_reason: str | None = None
    """Set when somebody asked for an abort that has not been carried out yet."""
    worker_id: str | None = None
    lease_number: int = 0
    """Of its last lease; 0 before the first one."""
    idempotency_key: str | None = None
    workspace: Workspace | None = None
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

    def start_step(self, step_id: int, mark: str | None, at: datetime) -> Pipeline:
        """A pending step begins, with the files as `mark` names them; one that runs already continues."""
        step = self.step(step_id)
        if step.status is StepStatus.RUNNING:
            return self
        self._require(step.status is StepStatus.PENDING, f"step {step.order_index + 1} is {step.status}")
        begun = replace(step, status=StepStatus.RUNNING, base_mark=mark, started_at=at)
        return self._with_step(begun, at)

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
            not self.status.is_final, f"it is {self.status}; only a run that has not ended can be aborted"
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
