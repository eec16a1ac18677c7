"""Reads of sessions, in plain SQL."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TypeVar

from segue.adapters.storage.codec import columns, decode, where
from segue.adapters.storage.gateway import ReadConnection
from segue.application.views import (
    Lineage,
    MessageView,
    SessionDetail,
    SessionHandoffView,
    SessionPage,
    SessionView,
)
from segue.domain.errors import SessionNotFound

T = TypeVar("T")


class SessionReading(ABC):
    """Reads of sessions, each in one transaction."""

    @abstractmethod
    async def _read(self, act: Callable[[ReadConnection], T]) -> T:
        """Run a read in a transaction of its own."""

    async def sessions(self, *, before: int | None = None, limit: int = 50) -> SessionPage:
        """Some sessions outside of pipelines, newest first."""
        older, given = where(("a.id < :before", "before", before))
        sql = f"{_SESSIONS} {older or 'WHERE true'} AND a.step_id IS NULL ORDER BY a.id DESC LIMIT :most"
        found = await self._read(lambda rows: rows.all(sql, most=limit + 1, **given))
        items = [decode(SessionView, row) for row in found[:limit]]
        return SessionPage(items=items, next_cursor=items[-1].id if len(found) > limit else None)

    async def session(self, session_id: int) -> SessionDetail:
        """A session with all that was said in it."""
        return await self._read(lambda rows: _detail(rows, session_id))

    async def lineage(self, session_id: int) -> Lineage:
        """Where a session came from, and what continues from it."""
        return await self._read(lambda rows: _lineage(rows, session_id))


def _detail(rows: ReadConnection, session_id: int) -> SessionDetail:
    found = rows.all(f"{_SESSIONS} WHERE a.id = :session_id", session_id=session_id)
    if not found:
        raise SessionNotFound(session_id)
    return decode(
        SessionDetail,
        found[0],
        said=[decode(MessageView, row) for row in rows.all(_MESSAGES, session_id=session_id)],
        handoffs=[decode(SessionHandoffView, row) for row in rows.all(_HANDOFFS, session_id=session_id)],
    )


def _lineage(rows: ReadConnection, session_id: int) -> Lineage:
    own = [decode(SessionView, row) for row in rows.all(f"{_SESSIONS} WHERE a.id = :id", id=session_id)]
    if not own:
        raise SessionNotFound(session_id)
    return Lineage(
        session=own[0],
        parents=[decode(SessionView, row) for row in rows.all(_PARENTS, session_id=session_id)],
        children=[decode(SessionView, row) for row in rows.all(_CHILDREN, session_id=session_id)],
    )


_SESSIONS = f"""
SELECT {columns(SessionView, "a", without=("working_dir", "pipeline_id", "messages"))},
    coalesce(a.working_dir, '') AS working_dir, s.pipeline_id,
    (SELECT count(*) + count(m.reply) FROM messages m WHERE m.session_id = a.id) AS messages
FROM agents a LEFT JOIN steps s ON s.id = a.step_id
"""
_MESSAGES = f"""
SELECT {columns(MessageView, "m", without=("message_id",))}, m.key AS message_id
FROM messages m WHERE m.session_id = :session_id ORDER BY m.id
"""
_HANDOFFS = f"""
SELECT {columns(SessionHandoffView, "h")} FROM handoffs h WHERE h.agent_id = :session_id ORDER BY h.id
"""
_PARENTS = f"""
WITH RECURSIVE line(id) AS (
    SELECT parent_id FROM agents WHERE id = :session_id
    UNION SELECT a.parent_id FROM agents a JOIN line ON a.id = line.id
)
{_SESSIONS} WHERE a.id IN (SELECT id FROM line) ORDER BY a.id
"""
"""A session is saved after its parent, so the first of all has the smallest id."""
_CHILDREN = f"""
WITH RECURSIVE line(id) AS (
    SELECT id FROM agents WHERE parent_id = :session_id
    UNION SELECT a.id FROM agents a JOIN line ON a.parent_id = line.id
)
{_SESSIONS} WHERE a.id IN (SELECT id FROM line) ORDER BY a.id
"""
