"""The port of reads: what people and programs see of the records."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, TypeVar

from segue.application.views import (
    AuditFilter,
    AuditPage,
    InboxEntry,
    Lineage,
    PipelineDetail,
    PipelineFilter,
    PipelinePage,
    PipelineView,
    SessionDetail,
    SessionPage,
    StepDetail,
)
from segue.domain.activity import Activity
from segue.domain.approvals import Approval
from segue.domain.audit import AuditEntry
from segue.domain.audit_chain import AuditReport, ChainedEntry, ChainHead
from segue.domain.tokens import Token
from segue.domain.workers import Worker

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True, slots=True)
class LeftOfPipeline:
    """What the records know of what a pipeline left."""

    id: int
    title: str
    activity: int
    """How many records of what its agents said and did."""
    has_workspace: bool
    documents: tuple[str, ...]
    """Where the documents of its handovers were written, on whatever machine."""


class SessionReads(Protocol):
    """Reads of sessions, for people and programs."""

    async def sessions(self, *, before: int | None = None, limit: int = 50) -> SessionPage: ...
    async def session(self, session_id: int) -> SessionDetail: ...
    async def lineage(self, session_id: int) -> Lineage: ...


class TokenReads(Protocol):
    """Tokens, read without waiting for writers."""

    async def token(self, token_hash: str) -> Token | None:
        """The token whose value has this hash."""
        ...

    async def tokens(self) -> list[Token]:
        """All tokens, oldest first."""
        ...

    async def has_code(self, code_hash: str) -> bool:
        """Whether there is a code with this hash."""
        ...


class AuditReads(Protocol):
    """The audit trail, read without waiting for writers."""

    async def audit(self, criteria: AuditFilter) -> AuditPage: ...
    async def read_audit(
        self, act: Callable[[Iterator[ChainedEntry | ChainHead]], T], *, pipeline_id: int | None = None
    ) -> T:
        """What `act` makes of the heads and entries of one chain, or of all, as they are at one moment."""
        ...

    async def verify_audit(
        self, *, pipeline_id: int | None = None, noted: Sequence[ChainHead] = ()
    ) -> AuditReport:
        """Whether one chain, or all, is whole, and continues the heads noted earlier."""
        ...


class Views(SessionReads, TokenReads, AuditReads, Protocol):
    """Reads for people and programs; they never block a writer."""

    async def pipelines(self, criteria: PipelineFilter) -> PipelinePage: ...
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
    async def activity_of(self, session_id: int) -> list[Activity]:
        """All that was done in one session."""
        ...

    async def activity_in_step(self, step_id: int) -> list[Activity]:
        """All that was done in the sessions of one step."""
        ...

    async def conflicts(self, working_dir: str) -> list[PipelineView]:
        """The unfinished pipelines that were submitted for a folder."""
        ...

    async def approvals(self, *, pipeline_id: int | None = None, everything: bool = False) -> list[Approval]:
        """Pending questions, oldest first; with `everything`, those that are settled too."""
        ...

    async def left_of_pipelines(self, ended_before: datetime) -> list[LeftOfPipeline]:
        """What is left of pipelines that ended before a moment, oldest first."""
        ...

    async def inbox(self) -> list[InboxEntry]:
        """What waits for a person, and where; the oldest first."""
        ...

    async def workers(self) -> list[Worker]:
        """All workers that were not removed."""
        ...
