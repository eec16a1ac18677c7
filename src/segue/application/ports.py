"""The ports: what the use cases need from the world, and nothing more."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol, TypeVar

from segue.application.attempt_ports import AttemptStore
from segue.application.session_ports import SessionReads, SessionStore
from segue.application.token_ports import TokenReads, TokenStore
from segue.application.views import PipelineDetail, PipelineFilter, PipelinePage, PipelineView, StepDetail
from segue.domain.activity import Activity, ActivityKind
from segue.domain.approvals import Approval
from segue.domain.audit import AuditEntry, AuditKind
from segue.domain.catalog import AgentProfile, Catalog, Plan
from segue.domain.pipeline import Lease, Pipeline
from segue.domain.sessions import Reason
from segue.domain.workspace import WorkspaceChoice


class Clock(Protocol):
    """Tells the time."""

    def now(self) -> datetime:
        """The present moment, in UTC."""
        ...


class CatalogSource(Protocol):
    """Where agents and templates come from."""

    def load(self, working_dir: str | None = None) -> Catalog:
        """The present catalog for a project folder; the last good one if a file is broken now."""

    def check_copy(self, working_dir: str, copy: str, branch: str | None) -> None:
        """`NotTrusted` unless the project is trusted, and its scripts as they are in a copy of the folder."""

    def problem(self, working_dir: str | None = None) -> str | None:
        """What is wrong with the files now, or none."""

    def why_backend(self, agent_name: str, working_dir: str | None = None) -> str:
        """Why an agent has its back end, in a few words."""

    def without_profile(self, backend: str) -> AgentProfile:
        """An agent on a back end as it is; `auto` for the default back end."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NewPipeline:
    """A run that is to be saved."""

    title: str
    template: str
    prompt: str
    branch: str | None
    working_dir: str
    plan: Plan
    idempotency_key: str | None
    workspace_choice: WorkspaceChoice
    created_at: datetime


class PipelineStore(Protocol):
    """Pipelines with their steps."""

    async def add(self, new: NewPipeline) -> Pipeline: ...
    async def get(self, pipeline_id: int) -> Pipeline: ...
    async def of_step(self, step_id: int) -> Pipeline:
        """The pipeline that a step belongs to."""
        ...

    async def find_by_key(self, idempotency_key: str) -> Pipeline | None: ...
    async def hold(self, lease: Lease) -> Pipeline:
        """The pipeline, if the lease still holds; `OwnershipLost` if not."""
        ...

    async def check(self, lease: Lease) -> None:
        """`OwnershipLost` unless the lease still holds: `hold` without the pipeline."""
        ...

    async def lease(self, pipeline_id: int, worker_id: str | None) -> Lease:
        """Take this pipeline, whoever had it before; with no worker, only to end it."""
        ...

    async def lease_next(self, worker_id: str) -> Lease | None:
        """Take the oldest unfinished pipeline that nobody owns."""
        ...

    async def save(self, pipeline: Pipeline) -> None: ...
    async def in_place(self, working_dir: str, *, counting: Collection[WorkspaceChoice]) -> int | None:
        """The unfinished pipeline, if any, whose agents work in this very folder, around or below it.

        Of those whose workspace is not open yet, the ones with these choices count.
        """
        ...

    async def owned(self, worker_id: str) -> Collection[Lease]:
        """The leases that the records say this worker has."""
        ...

    async def adopt(self, leases: Collection[Lease], worker_id: str) -> None:
        """Take back leases that were freed by mistake and that nobody has taken since."""
        ...

    async def orders(self, leases: Collection[Lease]) -> Mapping[Lease, str | None]:
        """For leases that must stop: the abort reason, or none if the lease was lost."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class NewHandoff:
    """A handoff that is to be saved."""

    agent_id: int
    step_id: int | None
    reason: Reason
    content_md: str
    metadata_json: str | None
    ledger_json: str | None
    is_synthetic: bool
    created_at: datetime
    evidence_json: str | None = None
    file_path: str | None = None
    injection_prompt: str | None = None
    stalled: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class SavedHandoff:
    """A handoff as it was saved."""

    id: int
    step_id: int | None
    agent_name: str
    content_md: str
    metadata_json: str | None
    ledger_json: str | None
    evidence_json: str | None
    is_synthetic: bool
    injection_prompt: str | None
    """The exact words to the session that goes on from it, if one does."""


class HandoffStore(Protocol):
    """Handoffs."""

    async def add(self, new: NewHandoff) -> int: ...
    async def latest_of_steps(self, step_ids: Collection[int]) -> Mapping[int, SavedHandoff]:
        """Step id -> its newest handoff."""
        ...

    async def recent_in(self, working_dir: str, *, limit: int) -> Sequence[SavedHandoff]:
        """Handoffs with a record, of finished steps in a folder, newest first."""
        ...


class AuditStore(Protocol):
    """The audit trail: entries are added, never changed."""

    async def add(
        self,
        kind: AuditKind,
        at: datetime,
        *,
        pipeline_id: int | None = None,
        step_id: int | None = None,
        **payload: Any,
    ) -> None: ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Worker:
    """A process that moves pipelines on."""

    id: str
    host: str
    """Machine and process space; two workers with the same host can see each other's processes."""
    pid: int
    process_started_at: float
    """Tells this process from a later one with the same pid."""
    heartbeat_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class NewActivity:
    """Something that an agent did."""

    kind: ActivityKind
    pipeline_id: int
    step_id: int
    agent_id: int
    payload: Mapping[str, Any]
    created_at: datetime


class ActivityStore(Protocol):
    """What agents did."""

    async def add(self, new: Sequence[NewActivity]) -> None: ...


@dataclass(frozen=True, kw_only=True, slots=True)
class NewApproval:
    """A question to a person."""

    pipeline_id: int
    step_id: int
    attempt_id: int
    request_ref: str
    title: str
    created_at: datetime


class ApprovalStore(Protocol):
    """Questions to a person."""

    async def ask(self, new: NewApproval) -> tuple[Approval, bool]:
        """The approval for this question, and whether it is new: asking again finds the first one."""
        ...

    async def get(self, approval_id: int) -> Approval: ...
    async def of_attempt(self, attempt_id: int) -> Collection[Approval]: ...
    async def pending(self, pipeline_id: int) -> Collection[Approval]: ...
    async def save(self, approval: Approval) -> None: ...
    async def void(self, step_id: int, at: datetime) -> None:
        """Nobody needs an answer any more."""
        ...


class WorkerStore(Protocol):
    """The workers. Removing one frees its pipelines for the others."""

    async def add(self, worker: Worker) -> None: ...
    async def all(self) -> list[Worker]: ...
    async def beat(self, worker_id: str, at: datetime) -> bool:
        """Say that this worker lives; false if it was removed meanwhile."""
        ...

    async def remove(self, worker_id: str) -> None: ...


class UnitOfWork(Protocol):
    """One transaction. Leaving it without `commit` undoes everything."""

    @property
    def pipelines(self) -> PipelineStore: ...
    @property
    def attempts(self) -> AttemptStore: ...
    @property
    def handoffs(self) -> HandoffStore: ...
    @property
    def audit(self) -> AuditStore: ...
    @property
    def activity(self) -> ActivityStore: ...
    @property
    def approvals(self) -> ApprovalStore: ...
    @property
    def workers(self) -> WorkerStore: ...
    @property
    def sessions(self) -> SessionStore: ...
    @property
    def tokens(self) -> TokenStore: ...
    async def commit(self) -> None: ...


class Views(SessionReads, TokenReads, Protocol):
    """Reads for people and programs; they never block a writer."""

    async def pipelines(self, wanted: PipelineFilter) -> PipelinePage: ...
    async def pipeline(self, pipeline_id: int) -> PipelineDetail: ...
    async def check_pipeline(self, pipeline_id: int) -> None:
        """`PipelineNotFound` unless it is there."""
        ...

    async def step(self, pipeline_id: int, number: int) -> StepDetail:
        """A step by its place in the run, 1 for the first."""
        ...

    async def entries_after(
        self, entry_id: int, *, pipeline_id: int | None = None, limit: int = 500
    ) -> list[AuditEntry]: ...
    async def last_entry_id(self) -> int: ...
    async def activity_after(
        self, activity_id: int, *, pipeline_id: int | None = None, limit: int = 500
    ) -> list[Activity]: ...
    async def last_activity_id(self) -> int: ...
    async def activity_of(self, agent_id: int) -> list[Activity]:
        """All that was done in one session."""
        ...

    async def activity_in_step(self, pipeline_id: int, step_id: int) -> list[Activity]:
        """All that was done in the sessions of one step."""
        ...

    async def conflicts(self, working_dir: str) -> list[PipelineView]:
        """The unfinished pipelines that were submitted for a folder."""
        ...

    async def approvals(self, *, pipeline_id: int | None = None, everything: bool = False) -> list[Approval]:
        """Pending questions, oldest first; with `everything`, those that are settled too."""
        ...

    async def workers(self) -> list[Worker]:
        """All workers that were not removed."""
        ...


Followed_co = TypeVar("Followed_co", covariant=True)


class EventFeed(Protocol[Followed_co]):
    """Audit entries, or activity, as they come."""

    def subscribe(
        self, *, after: int | None = None, pipeline_id: int | None = None
    ) -> AbstractAsyncContextManager[AsyncIterator[Followed_co]]:
        """All after an id, without a gap; from now on if none is given."""
        ...


class Database(Protocol):
    """Where the records are."""

    def begin(self) -> AbstractAsyncContextManager[UnitOfWork]:
        """A new transaction."""
        ...

    @property
    def views(self) -> Views: ...


Advance = Callable[[Lease], Awaitable[bool]]
"""Moves a pipeline on by one step; true if there is more to do."""


class Engine(Protocol):
    """The motor: runs each lease once, side by side, and can stop any of them."""

    async def launch(self, worker_id: str, advance: Advance, on_end: Callable[[], None]) -> None:
        """Start the motor; `on_end` is called whenever a lease has come to its end."""
        ...

    def running(self) -> Collection[Lease]:
        """The leases that are being moved on in this process."""
        ...

    async def start(self, lease: Lease) -> None:
        """Begin to move a lease on; a second start of the same lease does nothing."""
        ...

    async def stop(self, lease: Lease) -> None:
        """Stop a lease here and wait until it has let go of its agent."""
        ...

    async def shutdown(self) -> None: ...


class Processes(Protocol):
    """This process, and whether others live."""

    def me(self, now: datetime) -> Worker:
        """A new worker for this process."""
        ...

    def is_gone(self, worker: Worker, now: datetime) -> bool:
        """True if that worker will never move again."""
        ...
