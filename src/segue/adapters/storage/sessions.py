"""Sessions outside of pipelines: their rows, written and read."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from sqlalchemy import Select, delete, func, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import Session as Reading
from sqlalchemy.orm import lazyload

from segue.adapters.storage.mapping import read, read_usage, write
from segue.adapters.storage.tables import AgentRow, HandoffRow, MessageRow, StepRow
from segue.application.session_ports import LastHandoff, NewMessage, NewSession
from segue.application.session_views import (
    Lineage,
    MessageView,
    SessionDetail,
    SessionHandoffView,
    SessionPage,
    SessionView,
)
from segue.domain.catalog import AgentProfile
from segue.domain.errors import IllegalMove, SessionNotFound
from segue.domain.sessions import MessageStatus, Reason, Role, Session, SpokenMessage

T = TypeVar("T")

_FREE = AgentRow.step_id.is_(None)
"""Outside of a pipeline; a session of a step is moved on by its pipeline alone, but can be read."""


class SqlSessions:
    """Sessions and what is said in them."""

    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def add(self, new: NewSession) -> Session:
        """Save a session, before anything is opened."""
        row = AgentRow(profile_json=new.profile.model_dump_json())
        write(new, row, without=("profile",))
        self._session.add(row)
        await self._session.flush()
        return _read_session(row)

    async def get(self, session_id: int) -> Session:
        """One session."""
        found = select(AgentRow).where(AgentRow.id == session_id).options(lazyload(AgentRow.handoffs))
        row = (await self._session.scalars(found.execution_options(populate_existing=True))).one_or_none()
        if row is None:
            raise SessionNotFound(session_id)
        if row.step_id is not None:
            raise IllegalMove(
                f"session {session_id} works on a step of a pipeline, and only that pipeline speaks with it; "
                f"`segue session show {session_id}` tells which"
            )
        return _read_session(row)

    async def save(self, session: Session) -> None:
        """Write what changes in the life of a session."""
        where = update(AgentRow).where(AgentRow.id == session.id)
        changed = where.values(session_ref=session.session_ref, ended_at=session.ended_at)
        await self._session.execute(changed.execution_options(synchronize_session=False))

    async def remove(self, session_id: int) -> None:
        """As if it had never begun."""
        await self._session.execute(delete(AgentRow).where(AgentRow.id == session_id))

    async def add_message(self, new: NewMessage) -> SpokenMessage:
        """Save a message before it is sent."""
        row = MessageRow(status=MessageStatus.SENDING)
        write(new, row)
        self._session.add(row)
        try:
            await self._session.flush()
        except IntegrityError as error:
            raise IllegalMove(f'the message "{new.message_id}" is being sent already') from error
        return _read_message(row)

    async def find_message(self, session_id: int, message_id: str) -> SpokenMessage | None:
        """A message by the name that its sender gave it."""
        found = select(MessageRow).where(
            MessageRow.agent_id == session_id, MessageRow.message_id == message_id
        )
        row = (await self._session.scalars(found.execution_options(populate_existing=True))).one_or_none()
        return _read_message(row) if row is not None else None

    async def save_message(self, message: SpokenMessage) -> None:
        """Write how far it has come."""
        names = ("status", "reply", "error", "replied_at")
        changed = {name: getattr(message, name) for name in names}
        where = update(MessageRow).where(MessageRow.id == message.id).values(changed)
        await self._session.execute(where.execution_options(synchronize_session=False))

    async def messages(self, session_id: int) -> list[SpokenMessage]:
        """All that was said, in order."""
        found = select(MessageRow).where(MessageRow.agent_id == session_id).order_by(MessageRow.id)
        rows = await self._session.scalars(found.execution_options(populate_existing=True))
        return [_read_message(row) for row in rows]

    async def drop_waiting(self, session_id: int, why: str) -> None:
        """Cancel what was not sent yet."""
        waiting = update(MessageRow).where(
            MessageRow.agent_id == session_id, MessageRow.status == MessageStatus.SENDING
        )
        changed = waiting.values(status=MessageStatus.CANCELLED, error=why)
        await self._session.execute(changed.execution_options(synchronize_session=False))

    async def last_handoff(self, session_id: int) -> LastHandoff | None:
        """The newest handoff of a session."""
        newest = (
            select(HandoffRow.metadata_json, HandoffRow.stalled)
            .where(HandoffRow.agent_id == session_id)
            .order_by(HandoffRow.id.desc())
            .limit(1)
        )
        row = (await self._session.execute(newest)).one_or_none()
        return LastHandoff(metadata_json=row.metadata_json, stalled=row.stalled) if row else None

    async def remove_handoff(self, handoff_id: int) -> None:
        """As if it had never been written."""
        await self._session.execute(delete(HandoffRow).where(HandoffRow.id == handoff_id))


class SessionReading(ABC):
    """Reads of sessions, each in one transaction."""

    @abstractmethod
    async def _read(self, act: Callable[[Reading], T]) -> T:
        """Run a function of a session in a transaction of its own."""

    async def sessions(self, *, before: int | None = None, limit: int = 50) -> SessionPage:
        """Some sessions, newest first."""
        query = _sessions().where(_FREE).order_by(AgentRow.id.desc()).limit(limit + 1)
        if before is not None:
            query = query.where(AgentRow.id < before)
        items = await self._read(lambda session: _views(session, session.scalars(query).all()))
        more = len(items) > limit
        return SessionPage(items=items[:limit], next_cursor=items[limit - 1].id if more else None)

    async def session(self, session_id: int) -> SessionDetail:
        """A session with all that was said in it."""
        return await self._read(lambda session: _detail(session, session_id))

    async def lineage(self, session_id: int) -> Lineage:
        """Where a session came from, and what goes on from it."""
        return await self._read(lambda session: _lineage(session, session_id))


def _detail(session: Reading, session_id: int) -> SessionDetail:
    (view,) = _views(session, [_row(session, session_id)])
    said = select(MessageRow).where(MessageRow.agent_id == session_id).order_by(MessageRow.id)
    table = HandoffRow.__table__
    left = select(table).where(table.c.agent_id == session_id).order_by(table.c.id)
    return read(
        SessionDetail,
        view,
        said=[
            read(MessageView, row, role=Role(row.role), status=MessageStatus(row.status))
            for row in session.scalars(said)
        ],
        handoffs=[
            read(
                SessionHandoffView,
                row,
                reason=Reason(row.reason),
                metadata=_loaded(row.metadata_json),
                ledger=_loaded(row.ledger_json),
                evidence=_loaded(row.evidence_json),
            )
            for row in session.execute(left)
        ],
    )


def _lineage(session: Reading, session_id: int) -> Lineage:
    own = _row(session, session_id)
    parents: list[AgentRow] = []
    above = own.parent_id
    while above is not None and above not in {row.id for row in parents}:
        parents.insert(0, _row(session, above))
        above = parents[0].parent_id
    children: dict[int, AgentRow] = {}
    newest = [own.id]
    while newest:
        found = _sessions().where(AgentRow.parent_id.in_(newest)).order_by(AgentRow.id)
        fresh = [row for row in session.scalars(found) if row.id not in children]
        children |= {row.id: row for row in fresh}
        newest = [row.id for row in fresh]
    (view,) = _views(session, [own])
    return Lineage(
        session=view,
        parents=_views(session, parents),
        children=_views(session, [children[each] for each in sorted(children)]),
    )


def _sessions() -> Select[AgentRow]:
    return select(AgentRow).options(lazyload(AgentRow.handoffs))


def _row(session: Reading, session_id: int) -> AgentRow:
    row = session.scalars(_sessions().where(AgentRow.id == session_id)).one_or_none()
    if row is None:
        raise SessionNotFound(session_id)
    return row


def _views(session: Reading, rows: Sequence[AgentRow]) -> list[SessionView]:
    counted = (
        select(MessageRow.agent_id, func.count(MessageRow.id) + func.count(MessageRow.reply))
        .where(MessageRow.agent_id.in_([row.id for row in rows]))
        .group_by(MessageRow.agent_id)
    )
    counts: dict[int, int] = {agent_id: count for agent_id, count in session.execute(counted)}  # noqa: C416  # rows, not pairs
    steps = [row.step_id for row in rows if row.step_id is not None]
    found = session.execute(select(StepRow.id, StepRow.pipeline_id).where(StepRow.id.in_(steps)))
    pipelines: dict[int, int] = {step_id: pipeline_id for step_id, pipeline_id in found}  # noqa: C416  # rows, not pairs
    return [
        read(
            SessionView,
            row,
            working_dir=row.working_dir or "",
            pipeline_id=pipelines.get(row.step_id or 0),
            messages=counts.get(row.id, 0),
            usage=read_usage(row.usage_json),
        )
        for row in rows
    ]


def _read_session(row: AgentRow) -> Session:
    profile = AgentProfile.model_validate_json(row.profile_json or "{}")
    return read(Session, row, profile=profile, usage=read_usage(row.usage_json))


def _read_message(row: MessageRow) -> SpokenMessage:
    return read(SpokenMessage, row, role=Role(row.role), status=MessageStatus(row.status))


def _loaded(text: str | None) -> dict[str, Any] | None:
    return None if text is None else json.loads(text)
