"""What transactions ask and write; the same on both databases."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from segue.adapters.storage.audit import NewEntry, append_entries
from segue.adapters.storage.codec import decode, read_time, read_workspace
from segue.adapters.storage.gateway import (
    TABLES,
    ReadConnection,
    WriteConnection,
    changed_row,
    insert_into,
    read_row,
    row_of,
    select_from,
    update_of,
    where_equal,
)
from segue.adapters.storage.statements import (
    ADOPT,
    BEGUN_FROM,
    CLAIM,
    COUNT_OWNED,
    DUE_APPROVALS,
    FENCE,
    OFFERS,
    PREFER_HOME,
    RECENT_HANDOFFS,
    STILL_FREE,
    UNFINISHED_PLACES,
)
from segue.domain.activity import Activity
from segue.domain.approvals import Approval, ApprovalStatus
from segue.domain.attempt import Attempt, AttemptStatus
from segue.domain.audit import SEGUE, AuditKind, user_actor
from segue.domain.errors import LeaseLost, PipelineNotFound
from segue.domain.handoff_record import HandoffRecord
from segue.domain.pipeline import Lease, Offer, Pipeline, PipelineStatus, Step
from segue.domain.session import MessageStatus
from segue.domain.tokens import LinkCode
from segue.domain.workers import Worker
from segue.domain.workspace import WorkspaceChoice, WorkspaceKind

R = TypeVar("R")

_AUDIT_LOCK, _ACTIVITY_LOCK = 7_301_002, 7_301_003
"""Numbers of the PostgreSQL locks that make ids commit in their order.

Readers resume from an id: a smaller one must never become visible after a larger one.
"""
_TOKENS_LOCK = 7_301_004


class SqlReads:
    """Questions, asked in one transaction."""

    def __init__(self, connection: ReadConnection) -> None:
        self._connection = connection
        self._is_shared = False

    def get(self, kind: type[R], id: int, *, lock: bool = False) -> R:  # noqa: A002
        found = self._connection.all(f"{select_from(kind)} WHERE t.id = :id{self._locked(lock)}", id=id)
        if not found:
            missing = TABLES[kind].not_found
            raise missing(id) if missing is not None else KeyError(f"no {TABLES[kind].name} {id}")
        return read_row(kind, found[0])

    def find(self, kind: type[R], **equal: object) -> tuple[R, ...]:
        sql = f"{select_from(kind)} {where_equal(kind, equal)} ORDER BY t.id"
        given = {name: value for name, value in equal.items() if value is not None}
        rows = self._connection.all(sql, **given)
        return tuple(read_row(kind, row) for row in rows)

    def first(self, kind: type[R], **equal: object) -> R | None:
        found = self.find(kind, **equal)
        return found[0] if found else None

    def pipeline(self, pipeline_id: int, *, lock: bool = False) -> Pipeline:
        sql = f"{select_from(Pipeline)} WHERE t.id = :id{self._locked(lock)}"
        found = self._connection.all(sql, id=pipeline_id)
        if not found:
            raise PipelineNotFound(pipeline_id)
        steps = self._connection.all(
            f"{select_from(Step)} WHERE t.pipeline_id = :id ORDER BY t.order_index", id=pipeline_id
        )
        return decode(Pipeline, found[0], steps=tuple(decode(Step, row) for row in steps))

    def newest_attempt(self, step_id: int) -> Attempt | None:
        sql = f"{select_from(Attempt)} WHERE t.step_id = :step_id ORDER BY t.number DESC LIMIT 1"
        found = self._connection.all(sql, step_id=step_id)
        return decode(Attempt, found[0]) if found else None

    def newest_handoffs(self, step_ids: Collection[int]) -> dict[int, HandoffRecord]:
        if not step_ids:
            return {}
        newest = f"SELECT max(id) FROM handoffs WHERE step_id IN ({_listed(step_ids)}) GROUP BY step_id"
        rows = self._connection.all(f"{select_from(HandoffRecord)} WHERE t.id IN ({newest})")
        return {record.step_id: record for row in rows if (record := decode(HandoffRecord, row)).step_id}

    def recent_handoffs(self, working_dir: str, *, limit: int) -> Sequence[tuple[str, HandoffRecord]]:
        rows = self._connection.all(RECENT_HANDOFFS, working_dir=working_dir, most=limit)
        return [(row["agent_name"], decode(HandoffRecord, row)) for row in rows]

    def last_handoff(self, session_id: int) -> HandoffRecord | None:
        sql = f"{select_from(HandoffRecord)} WHERE t.agent_id = :session_id ORDER BY t.id DESC LIMIT 1"
        found = self._connection.all(sql, session_id=session_id)
        return decode(HandoffRecord, found[0]) if found else None

    def count_handovers(self, step_id: int) -> int:
        sql = "SELECT count(*) AS counted FROM attempts WHERE step_id = :step_id AND status = :status"
        (row,) = self._connection.all(sql, step_id=step_id, status=str(AttemptStatus.HANDED_OVER))
        return int(row["counted"])

    def begun_from(self, repository: str) -> Sequence[str]:
        return [row["tip"] for row in self._connection.all(BEGUN_FROM, repository=repository)]

    def running_in_place(self, working_dir: str, *, counting: Collection[WorkspaceChoice]) -> int | None:
        folder = Path(working_dir)
        around = {f"around{at}": str(each) for at, each in enumerate((folder, *folder.parents))}
        below = f"{str(folder).rstrip('/')}/"
        sql = UNFINISHED_PLACES.format(around=", ".join(f":{name}" for name in around))
        for row in self._connection.all(sql, **around, below=below, length=len(below)):
            opened = read_workspace(row["workspace_json"]) if row["workspace_json"] is not None else None
            choice = row["workspace_choice"]
            if opened.kind is WorkspaceKind.IN_PLACE if opened is not None else choice in counting:
                return int(row["id"])
        return None

    def orders(self, leases: Collection[Lease]) -> Mapping[Lease, str | None]:
        if not leases:
            return {}
        ids = _listed(lease.pipeline_id for lease in leases)
        rows = self._connection.all(
            f"SELECT id, lease_number, abort_reason FROM pipelines WHERE id IN ({ids})"
        )
        present = {Lease(row["id"], row["lease_number"]): row["abort_reason"] for row in rows}
        return {
            lease: present.get(lease)
            for lease in leases
            if lease not in present or present[lease] is not None
        }

    def now(self) -> datetime:
        (row,) = self._connection.all(f"SELECT {self._connection.now_sql} AS moment")
        return read_time(row["moment"])

    def offers(self, *, limit: int, home: str | None = None) -> Sequence[Offer]:
        rows = self._connection.all(OFFERS, now=self.now(), most=limit, home=home or "")
        return [
            Offer(row["id"], row["lease_number"], read_time(row["created_at"]), bool(row["is_at_home"]))
            for row in rows
        ]

    def count_owned(self) -> int:
        (row,) = self._connection.all(COUNT_OWNED)
        return int(row["counted"])

    def owned(self, worker_id: str) -> Collection[Lease]:
        sql = "SELECT id, lease_number FROM pipelines WHERE worker_id = :worker_id AND status = :status"
        rows = self._connection.all(sql, worker_id=worker_id, status=str(PipelineStatus.RUNNING))
        return {Lease(row["id"], row["lease_number"]) for row in rows}

    def due_approvals(self, now: datetime) -> Sequence[Approval]:
        rows = self._connection.all(DUE_APPROVALS, now=now)
        return [read_row(Approval, row) for row in rows]

    def open_sessions(self, references: Collection[str]) -> Collection[str]:
        sql = "SELECT key, session_ref FROM agents WHERE ended_at IS NULL"
        held = {name for row in self._connection.all(sql) for name in (row["key"], row["session_ref"])}
        return held & set(references)

    def _locked(self, lock: bool) -> str:
        return " FOR UPDATE" if lock and self._is_shared else ""


class SqlRows(SqlReads):
    """One or more transactions that are committed together; audit entries and activity are written last."""

    _connection: WriteConnection

    def __init__(self, connection: WriteConnection, user: str) -> None:
        super().__init__(connection)
        self._is_shared = connection.is_shared
        self._user = user
        self._entries: list[NewEntry] = []
        self._activity: list[dict[str, Any]] = []
        self.changes = 0
        """How often something was written."""

    def insert(self, value: R, **more: object) -> R:
        row = {**row_of(value), **more}
        new_id = self._run_insert(type(value), row)
        return replace(value, id=new_id) if TABLES[type(value)].has_own_ids else value  # type: ignore[type-var]

    def insert_all(self, values: Sequence[object]) -> None:
        self.changes += len(values)
        for value in values:
            if isinstance(value, Activity):
                self._activity.append(row_of(value))
            else:
                self._run_insert(type(value), row_of(value))

    def save(self, old: R, new: R) -> R:
        if changed := changed_row(old, new):
            self.changes += 1
            given = {"id": getattr(new, "id"), **changed}  # noqa: B009  # every kind has one
            self._connection.run(update_of(TABLES[type(new)].name, tuple(changed)), **given)
        return new

    def save_run(self, old: Pipeline, new: Pipeline) -> Pipeline:
        self.save(old, new)
        for before, after in zip(old.steps, new.steps, strict=True):
            if before is not after:
                self.save(before, after)
        return new

    def delete(self, value: Any) -> None:
        self.changes += 1
        self._connection.run(f"DELETE FROM {TABLES[type(value)].name} WHERE id = :id", id=value.id)

    def drop_activity(self, pipeline_id: int) -> int:
        self.changes += 1
        return self._connection.run("DELETE FROM activity WHERE pipeline_id = :id", id=pipeline_id)

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
        self.changes += 1
        self._entries.append(
            NewEntry(
                kind=kind,
                pipeline_id=pipeline_id,
                step_id=step_id,
                who=who or user_actor(self._user),
                payload=facts or None,
                created_at=at,
            )
        )

    def flush(self) -> None:
        """Write what has to be in order, at the very end, so that the lock for it is held for a moment."""
        if self._entries:
            self._lock(_AUDIT_LOCK)
            append_entries(self._connection, self._entries)
        if self._activity:
            self._lock(_ACTIVITY_LOCK)
            self._connection.run_many(insert_into("activity", tuple(self._activity[0])), self._activity)
        self._entries, self._activity = [], []

    def fence(self, lease: Lease | None) -> str | None:
        if lease is None:
            return None
        found = self._connection.all(FENCE + self._locked(True), id=lease.pipeline_id)
        if not found or found[0]["lease_number"] != lease.number:
            raise LeaseLost(lease.pipeline_id)
        reason: str | None = found[0]["abort_reason"]
        return reason

    def claim(self, pipeline_id: int, worker_id: str | None) -> Lease:
        self.changes += 1
        rows = self._connection.all(CLAIM.format(free=""), id=pipeline_id, worker_id=worker_id)
        if not rows:
            raise PipelineNotFound(pipeline_id)
        return Lease(pipeline_id, rows[0]["lease_number"])

    def accept(self, offer: Offer, worker_id: str) -> Lease | None:
        self.changes += 1
        found = self._connection.all(
            CLAIM.format(free=STILL_FREE),
            id=offer.pipeline_id,
            number=offer.number,
            created_at=offer.created_at,
            worker_id=worker_id,
        )
        return offer.lease if found else None

    def adopt(self, leases: Collection[Lease], worker_id: str) -> None:
        self.changes += 1
        for lease in leases:
            self._connection.run(ADOPT, id=lease.pipeline_id, number=lease.number, worker_id=worker_id)

    def beat(self, worker_id: str) -> bool:
        self.changes += 1
        sql = f"UPDATE workers SET heartbeat_at = {self._connection.now_sql} WHERE id = :worker_id"
        return self._connection.run(sql, worker_id=worker_id) > 0

    def prefer_home(self, worker: Worker, until: datetime) -> None:
        self.changes += 1
        self._connection.run(PREFER_HOME, worker_id=worker.id, home=worker.home, until=until)

    def is_joined(self, worker_id: str) -> bool:
        sql = "SELECT id FROM workers WHERE id = :worker_id" + self._locked(True)
        return bool(self._connection.all(sql, worker_id=worker_id))

    def remove_silent(self, worker: Worker) -> bool:
        self.changes += 1
        sql = "DELETE FROM workers WHERE id = :id AND heartbeat_at = :heartbeat_at"
        return self._connection.run(sql, id=worker.id, heartbeat_at=worker.heartbeat_at) > 0

    def void_approvals(self, session_id: int, at: datetime) -> None:
        self.changes += 1
        sql = (
            "UPDATE approvals SET status = :void, decided_at = :at "
            "WHERE session_id = :session_id AND status = :pending"
        )
        void, pending = str(ApprovalStatus.VOID), str(ApprovalStatus.PENDING)
        self._connection.run(sql, session_id=session_id, at=at, void=void, pending=pending)

    def settle_messages(
        self, session_id: int, status: MessageStatus, why: str, *, unsent_only: bool = False
    ) -> None:
        self.changes += 1
        open_ones = "'sending'" if unsent_only else "'sending', 'sent'"
        sql = (
            "UPDATE messages SET status = :status, error = :why "
            f"WHERE session_id = :session_id AND status IN ({open_ones})"
        )
        self._connection.run(sql, session_id=session_id, why=why, status=str(status))

    def lock_tokens(self) -> None:
        self._lock(_TOKENS_LOCK)

    def take_code(self, code_hash: str) -> LinkCode | None:
        self.lock_tokens()
        found = self._connection.all(f"{select_from(LinkCode)} WHERE t.hash = :hash", hash=code_hash)
        if not found:
            return None
        self.changes += 1
        self._connection.run("DELETE FROM link_codes WHERE hash = :hash", hash=code_hash)
        return decode(LinkCode, found[0])

    def drop_codes(self, *, name: str | None = None, expired_at: datetime | None = None) -> None:
        self.changes += 1
        if name is not None:
            self._connection.run("DELETE FROM link_codes WHERE name = :name", name=name)
        if expired_at is not None:
            self._connection.run("DELETE FROM link_codes WHERE expires_at <= :at", at=expired_at)

    def _run_insert(self, kind: type[Any], row: Mapping[str, Any]) -> int:
        self.changes += 1
        table = TABLES[kind]
        sql = insert_into(table.name, tuple(row))
        if not table.has_own_ids:
            return self._connection.run(sql, **row)
        return self._connection.insert(sql, **row)

    def _lock(self, number: int) -> None:
        if self._is_shared:
            self._connection.all(f"SELECT pg_advisory_xact_lock({number})")


def _listed(ids: Any) -> str:
    """Numbers for an IN."""
    return ", ".join(str(int(each)) for each in ids)
