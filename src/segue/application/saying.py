"""Saying something in a session: one after the other, each once, also across a crash."""

from __future__ import annotations

import asyncio

from segue.application.patience import unbroken
from segue.application.talking import OnEvent, Talking
from segue.domain.errors import BackendError, IllegalMove
from segue.domain.sessions import MessageStatus, Role, Session, SpokenMessage


class Saying:
    """Messages of sessions. In one session, one thing happens at a time."""

    def __init__(self, talking: Talking) -> None:
        self._talking = talking
        self._database = talking.database
        self._turns: dict[int, asyncio.Lock] = {}

    def turn(self, session_id: int) -> asyncio.Lock:
        """Whoever holds it speaks."""
        return self._turns.setdefault(session_id, asyncio.Lock())

    async def open_one(self, session_id: int) -> Session:
        """A session that has not ended."""
        async with self._database.begin() as work:
            session = await work.sessions.get(session_id)
        if session.ended_at is not None:
            raise IllegalMove(f"session {session_id} has ended; start a new one, or go on in its successor")
        return session

    async def say(
        self, session_id: int, text: str, message_id: str, on_event: OnEvent | None
    ) -> SpokenMessage:
        """Say something and wait for the reply."""
        session = await self.open_one(session_id)
        try:
            await self._talking.save(session, Role.USER, text, message_id)
            async with self.turn(session_id):
                session = await self.open_one(session_id)
                message = await self._settle_before(session, message_id, on_event)
                if message.status.is_final:
                    return _replied(message)
                return await self._talking.exchange(session, message, on_event)
        except asyncio.CancelledError:
            await unbroken(self._talking.withdraw(session, message_id))
            raise

    async def _settle_before(
        self, session: Session, message_id: str, on_event: OnEvent | None
    ) -> SpokenMessage:
        """Bring what was said before to its end, if a crash left it open; gives the message as it stands."""
        async with self._database.begin() as work:
            said = await work.sessions.messages(session.id)
        own = next(message for message in said if message.message_id == message_id)
        if own.status.is_final:
            return own
        for message in said[: said.index(own)]:
            if not message.status.is_final:
                try:
                    await self._talking.exchange(session, message, on_event)
                except BackendError:
                    continue  # it is written down, and concerns whoever said it
        return own


def _replied(message: SpokenMessage) -> SpokenMessage:
    if message.status is not MessageStatus.REPLIED:
        raise IllegalMove(f'the message "{message.message_id}" is {message.status}: {message.error}')
    return message
