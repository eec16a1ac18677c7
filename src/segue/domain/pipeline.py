"""Pipeline, Step, Lease: their states and the moves that are allowed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum

from segue.domain.catalog import Plan
from segue.domain.errors import IllegalMove
from segue.domain.final_state import FinalState
from segue.domain.repository_source import RepositorySource
from segue.domain.template import StepType
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


@dataclass(frozen=True, slots=True)
class Offer:
    """A run that nobody owns: its next worker holds the lease after the one with this number."""

    pipeline_id: int
    number: int
    created_at: datetime
    """When the run was submitted: tells it from one of records that are gone."""
    is_at_home: bool = field(default=False, compare=False)
    """True if its worktree is in the data folder of the worker that reads this."""

    @property
    def lease(self) -> Lease:
        """What it becomes."""
        return Lease(self.pipeline_id, self.number + 1)


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """A place in the run."""

    id: int = 0
    pipeline_id: int = 0
    agent_name: str
    order_index: int
    name: str = ""
    """What it is called in its template; no two steps of a run alike."""
    kind: StepType = StepType.AGENT
    """An agent's session, a person's decision, or commands."""
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
    round: int = 1
    """Counts how often it began anew, because the work was sent back or the run was restarted."""
    sent_back: int = 0
    """How often it sent the work back."""
    returned: str = ""
    """Why it is done once more: the end of its briefing, word for word."""
    started_at: datetime | None = None
    finished_at: datetime | None = None

    def again(self, returned: str = "", *, sends_back: bool = False) -> Step:
        """The same step, to be done once more; `returned` tells its agent why."""
        return replace(
            self,
            returned=returned,
            status=StepStatus.PENDING,
            round=self.round + 1,
            sent_back=self.sent_back + sends_back,
            error_message=None,
            end_commit=None,
            finished_at=None,
        )

    @property
    def title(self) -> str:
        """For a person: its number and what it is called."""
        return f"step {self.order_index + 1} ({self.name or self.agent_name})"


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
    recoveries: int = 0
    """How often it was taken up again, after somebody had left it, since its last step was done."""
    not_before: datetime | None = None
    """Until then nobody takes it up by themselves; none for at once."""
    idempotency_key: str | None = None
    workspace: Workspace | None = None
    """Where its agents work, once that was made."""
    workspace_choice: WorkspaceChoice
    created_at: datetime
    updated_at: datetime
    steps: tuple[Step, ...]
    source: RepositorySource | None = None
    """How other machines get its repository; none if there are none, or if only one can work on it."""
    home: str | None = None
    """The data folder of its worktree, where several machines share the records."""
    home_until: datetime | None = None
    """Until then only workers of that data folder take it up by themselves."""
    final: FinalState | None = None
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
        first = step.base_mark if step.round > 1 else None
        begun = replace(step, status=StepStatus.RUNNING, base_mark=first or mark, started_at=at)
        return self._with_step(begun, at)

    def finish_step(self, step_id: int, at: datetime, commit: str | None = None) -> Pipeline:
        """A running step is done; after the last one, so is the pipeline."""
        step = self.step(step_id)
        self._require(step.status is StepStatus.RUNNING, f"step {step.order_index + 1} is {step.status}")
        done = replace(step, status=StepStatus.DONE, end_commit=commit, finished_at=at)
        moved = replace(self._with_step(done, at), recoveries=0)
        return replace(moved, status=PipelineStatus.DONE) if moved.next_step() is None else moved

    def noted(self, *notes: str) -> Pipeline:
        """With more that the user should know of its workspace."""
        if not notes or self.workspace is None:
            return self
        return replace(self, workspace=replace(self.workspace, notes=(*self.workspace.notes, *notes)))

    def complete(self, at: datetime) -> Pipeline:
        """Every step is done already: so is the pipeline."""
        self._require(self.next_step() is None, "not all of its steps are done")
        return replace(self, status=PipelineStatus.DONE, updated_at=at)

    def fail_step(self, step_id: int, reason: str, at: datetime) -> Pipeline:
        """A step failed, and the pipeline with it; later steps stay pending."""
        self._require(not self.status.is_final, f"it is {self.status}")
        step = replace(self.step(step_id), status=StepStatus.FAILED, error_message=reason, finished_at=at)
        failed = self._with_step(step, at)
        sentence = f"{step.title} failed: {reason}"
        return replace(failed, status=PipelineStatus.FAILED, reason=sentence)

    def wait_at(self, step_id: int, reason: str, at: datetime) -> Pipeline:
        """A person decides how a step continues; nobody owns the run meanwhile."""
        self._require(self.status is PipelineStatus.RUNNING, f"it is {self.status}")
        sentence = f"{self.step(step_id).title} waits for you: {reason}"
        waiting = PipelineStatus.WAITING_FOR_APPROVAL
        return replace(self, status=waiting, reason=sentence, worker_id=None, recoveries=0, updated_at=at)

    def decided(self, at: datetime) -> Pipeline:
        """A person has decided: it continues as soon as a worker takes it."""
        self._require(self.status is PipelineStatus.WAITING_FOR_APPROVAL, f"it is {self.status}")
        return replace(self, status=PipelineStatus.PENDING, reason=None, updated_at=at)

    def pass_step(self, step_id: int, at: datetime, commit: str | None = None) -> Pipeline:
        """A step that a person or a command decides about is done; the run is not ended by it."""
        step = replace(self.step(step_id), status=StepStatus.DONE, end_commit=commit, finished_at=at)
        return self._with_step(step, at)

    def send_back(self, sender_id: int, target: int, returned: str, at: datetime) -> Pipeline:
        """The steps from the one at index `target` to the sender are to be done once more."""
        sender = self.step(sender_id)
        self._require(target <= sender.order_index, "work goes back to an earlier step")
        steps = tuple(
            step.again(returned if step.order_index == target else "", sends_back=step.id == sender_id)
            if target <= step.order_index <= sender.order_index
            else step
            for step in self.steps
        )
        return replace(self, steps=steps, updated_at=at)

    def restart(self, returned: str, at: datetime) -> Pipeline:
        """The first step that is not done begins anew; what is done stays done."""
        step = self.next_step()
        self._require(
            self.status in (PipelineStatus.FAILED, PipelineStatus.ABORTED) and step is not None,
            f"it is {self.status}; only a run that failed or was aborted can be restarted",
        )
        steps = tuple(
            replace(each.again(returned) if each == step else each, sent_back=0) for each in self.steps
        )
        pending = PipelineStatus.PENDING
        return replace(
            self, status=pending, steps=steps, reason=None, abort_reason=None, worker_id=None, updated_at=at
        )

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
