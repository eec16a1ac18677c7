"""Sessions outside of pipelines: their rows, written and read."""

from __future__ import annotations

from typing import TypeVar

from sqlalchemy import delete, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import lazyload

from segue.adapters.storage.codec import read_usage
from segue.adapters.storage.mapping import read, write
from segue.adapters.storage.tables import AgentRow, HandoffRow, MessageRow
from segue.application.session_ports import LastHandoff, NewMessage, NewSession
from segue.domain.catalog import AgentProfile
from segue.domain.errors import IllegalMove, SessionNotFound
from segue.domain.sessions import MessageStatus, Role, Session, SpokenMessage

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


def _read_session(row: AgentRow) -> Session:
    profile = AgentProfile.model_validate_json(row.profile_json or "{}")
    return read(Session, row, profile=profile, usage=read_usage(row.usage_json))


def _read_message(row: MessageRow) -> SpokenMessage:
    return read(SpokenMessage, row, role=Role(row.role), status=MessageStatus(row.status))
