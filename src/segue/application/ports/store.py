"""The store: records, written and read in transactions, each of them one plain function."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol, TypeVar

from segue.application.ports.views import Views
from segue.domain.approvals import Approval
from segue.domain.attempt import Attempt
from segue.domain.audit import SEGUE, AuditKind
from segue.domain.handoff_record import HandoffRecord
from segue.domain.pipeline import Lease, Offer, Pipeline
from segue.domain.session import MessageStatus
from segue.domain.tokens import LinkCode
from segue.domain.workers import Worker
from segue.domain.workspace import WorkspaceChoice

T = TypeVar("T")
R = TypeVar("R")


class Reads(Protocol):
    """The records as they are at one moment."""

    def get(self, kind: type[R], id: int, *, lock: bool = False) -> R:  # noqa: A002
        """The record with this id; the not-found error of that kind if there is none.

        With `lock`, nobody else changes it until the transaction ends.
        """
        ...

    def find(self, kind: type[R], **equal: object) -> tuple[R, ...]:
        """Those whose fields are like this, oldest first."""
        ...

    def first(self, kind: type[R], **equal: object) -> R | None:
        """The oldest of those, or none."""
        ...

    def pipeline(self, pipeline_id: int, *, lock: bool = False) -> Pipeline:
        """A run with its steps."""
        ...

    def newest_attempt(self, step_id: int) -> Attempt | None: ...
    def newest_handoffs(self, step_ids: Collection[int]) -> dict[int, HandoffRecord]:
        """Step id -> its newest handoff."""
        ...

    def recent_handoffs(self, working_dir: str, *, limit: int) -> Sequence[tuple[str, HandoffRecord]]:
        """Handoffs with a record, of finished steps in a folder, newest first, each with its agent's name."""
        ...

    def last_handoff(self, session_id: int) -> HandoffRecord | None:
        """The newest handoff of a session."""
        ...

    def count_handovers(self, step_id: int) -> int:
        """How many sessions of a step handed over to the next one."""
        ...

    def begun_from(self, repository: str) -> Sequence[str]:
        """The commits of a repository for which there are bundles that runs begin from, newest first."""
        ...

    def running_in_place(self, working_dir: str, *, counting: Collection[WorkspaceChoice]) -> int | None:
        """The unfinished pipeline, if any, whose agents work in this very folder, around or below it.

        Of those whose workspace is not open yet, the ones with these choices count.
        """
        ...

    def orders(self, leases: Collection[Lease]) -> Mapping[Lease, str | None]:
        """For leases that must stop: the abort reason, or none if the lease was lost."""
        ...

    def now(self) -> datetime:
        """The database's clock, by which heartbeats are written and read."""
        ...

    def offers(self, *, limit: int, home: str | None = None) -> Sequence[Offer]:
        """Unfinished pipelines that nobody owns and that a worker at `home` may run now, oldest first."""
        ...

    def count_owned(self) -> int:
        """How many pipelines are run by a worker."""
        ...

    def owned(self, worker_id: str) -> Collection[Lease]:
        """The leases that the records say this worker has."""
        ...

    def due_approvals(self, now: datetime) -> Sequence[Approval]:
        """Questions to people of which it is time to remind, or that nobody decided in time."""
        ...

    def open_sessions(self, references: Collection[str]) -> Collection[str]:
        """Those of the sessions that have not ended, by reference or key."""
        ...


class Rows(Reads, Protocol):
    """One transaction."""

    def insert(self, value: R, **more: object) -> R:
        """Saved, with its id, and with columns that the value does not hold.

        `AlreadyThere` if there is one that it must differ from.
        """
        ...

    def insert_all(self, values: Sequence[object]) -> None: ...
    def save(self, old: R, new: R) -> R:
        """Write the fields that differ."""
        ...

    def save_run(self, old: Pipeline, new: Pipeline) -> Pipeline:
        """Write the fields of a run and of its steps that differ."""
        ...

    def delete(self, value: object) -> None: ...
    def drop_activity(self, pipeline_id: int) -> int:
        """Delete what the agents of a pipeline said and did; gives how many records that were."""
        ...

    def audit(
        self,
        kind: AuditKind,
        at: datetime,
        *,
        who: str | None = SEGUE,
        pipeline_id: int | None = None,
        step_id: int | None = None,
        **facts: Any,
    ) -> None:
        """Add an entry to the audit trail; with none for `who`, of the user whose process this is."""
        ...

    def fence(self, lease: Lease | None) -> str | None:
        """`LeaseLost` unless it holds; gives the abort reason. None checks nothing."""
        ...

    def claim(self, pipeline_id: int, worker_id: str | None) -> Lease:
        """Take this pipeline, whoever had it before; with no worker, only to end it."""
        ...

    def accept(self, offer: Offer, worker_id: str) -> Lease | None:
        """Take what is offered; none if it is not free any more."""
        ...

    def adopt(self, leases: Collection[Lease], worker_id: str) -> None:
        """Take back leases that were freed by mistake and that nobody has taken since."""
        ...

    def beat(self, worker_id: str) -> bool:
        """Say that this worker lives; false if it was removed meanwhile."""
        ...

    def prefer_home(self, worker: Worker, until: datetime) -> None:
        """Let what this worker owns be taken up, until then, by workers with its data folder alone."""
        ...

    def is_joined(self, worker_id: str) -> bool:
        """True if this worker is there; then it is until the transaction ends."""
        ...

    def remove_silent(self, worker: Worker) -> bool:
        """Remove a worker, which frees its pipelines; false if it has said since that it lives."""
        ...

    def void_approvals(self, session_id: int, at: datetime) -> None:
        """Nobody waits for answers in this session any more."""
        ...

    def settle_messages(
        self, session_id: int, status: MessageStatus, why: str, *, unsent_only: bool = False
    ) -> None:
        """Nobody waits any more for replies to what is open in a session, or to what was not sent yet."""
        ...

    def lock_tokens(self) -> None:
        """Until the transaction ends, nobody else looks at tokens in order to write them."""
        ...

    def take_code(self, code_hash: str) -> LinkCode | None:
        """Remove the code of a link and give it: of all who ask, one gets it."""
        ...

    def drop_codes(self, *, name: str | None = None, expired_at: datetime | None = None) -> None:
        """Forget the codes of this name, or those that are too old."""
        ...


class Store(Protocol):
    """Where the records are."""

    async def write(self, act: Callable[[Rows], T]) -> T:
        """One transaction: committed if `act` returns, undone if it raises.

        `act` may be run more than once, so it changes nothing but rows. It runs to its end even if the caller
        is cancelled, who is told so after that.
        """
        ...

    async def read(self, act: Callable[[Reads], T]) -> T:
        """What `act` finds in one state of the records; it never waits for a writer."""
        ...

    @property
    def views(self) -> Views: ...
