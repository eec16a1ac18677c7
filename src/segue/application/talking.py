"""Talking in sessions outside of pipelines: each message is saved first, sent once, and its reply is kept."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any, TypeVar

import structlog

from segue.application.backends import (
    AgentBackend,
    Backends,
    Message,
    PermissionAsked,
    Said,
    SessionEvent,
    SessionRequest,
    ToolUsed,
)
from segue.application.endings import Limits
from segue.application.patience import unbroken, within
from segue.application.ports import Clock, Database
from segue.application.session_ports import NewMessage
from segue.domain.audit import AuditKind
from segue.domain.errors import AgentFailed, BackendError, TurnStopped
from segue.domain.handoff import redact
from segue.domain.permissions import rules_for
from segue.domain.sessions import MessageStatus, Role, Session, SpokenMessage
from segue.domain.usage import Usage

T = TypeVar("T")
log = structlog.get_logger()

OnEvent = Callable[[SessionEvent], None]
"""Is told what the agent does while it works on a message."""

_LAST_WORDS_SECONDS = 5.0


class Talking:
    """The way to the back ends. Every call has a limit; what takes longer is a failure with a sentence."""

    def __init__(
        self,
        *,
        database: Database,
        backends: Backends,
        clock: Clock,
        limits: Limits,
        credential: str | None = None,
    ) -> None:
        self.database = database
        self.backends = backends
        self.clock = clock
        self._limits = limits
        self._credential = credential
        """The file that agents are kept from."""
        self._joined: set[int] = set()
        self._exchanges: dict[int, asyncio.Task[SpokenMessage]] = {}

    def backend_of(self, session: Session) -> AgentBackend:
        """The program that runs it."""
        return self.backends.get(session.backend, session.name)[1]

    def request_of(self, session: Session) -> SessionRequest:
        """What its back end needs to know of it."""
        return SessionRequest(
            key=session.key,
            agent_name=session.name,
            profile=session.profile,
            permissions=rules_for(session.profile.permissions, session.working_dir, self._credential),
            model=session.model,
            working_dir=session.working_dir,
            title=f"segue session {session.id} {session.name}: {session.title}",
        )

    async def open(self, session: Session) -> Session:
        """Open it on its back end, and write down its reference."""
        opening = self.backend_of(session).open(self.request_of(session))
        reference = await within(
            self._limits.open_timeout, opening, f"{session.backend} did not open a session"
        )
        opened = replace(session, session_ref=reference)
        async with self.database.begin() as work:
            await work.sessions.save(opened)
            await work.commit()
        self._joined.add(session.id)
        return opened

    async def join(self, session: Session) -> Session:
        """Make a session usable that an earlier process opened, or that was never opened."""
        if session.session_ref is None:
            return await self.open(session)
        if session.id not in self._joined:
            joining = self.backend_of(session).resume(self.request_of(session), session.session_ref)
            await within(
                self._limits.open_timeout, joining, f"{session.backend} did not give the session back"
            )
            self._joined.add(session.id)
        return session

    async def save(self, session: Session, role: Role, text: str, message_id: str) -> SpokenMessage:
        """Write down what is about to be said; the same message again is the one that was saved."""
        async with self.database.begin() as work:
            known = await work.sessions.find_message(session.id, message_id)
            if known is not None:
                return known
            saved = await work.sessions.add_message(
                NewMessage(
                    agent_id=session.id,
                    role=role,
                    message_id=message_id,
                    text=_storable(text),
                    created_at=self.clock.now(),
                )
            )
            await work.commit()
        return saved

    async def deliver(self, session: Session, message: SpokenMessage) -> SpokenMessage:
        """Send a message, unless it was sent before."""
        if message.status is not MessageStatus.SENDING:
            return message
        text = message.text
        if await self._is_first(message) and session.profile.system_prompt_additions.strip():
            text = f"{session.profile.system_prompt_additions.strip()}\n\n{text}"
        wire = Message(id=_wire_id(session, message), text=text)
        sending = self.backend_of(session).send(self.request_of(session), session.session_ref or "", wire)
        await within(self._limits.open_timeout, sending, f"{session.backend} did not take the message")
        return await self.record(message, MessageStatus.SENT)

    async def exchange(
        self, session: Session, message: SpokenMessage, on_event: OnEvent | None = None
    ) -> SpokenMessage:
        """Send a message and wait for its reply; the message as it stands then.

        A failure is written down before it is raised. Whoever is cancelled here stops the agent, too.
        `TurnStopped` if somebody else stopped it.
        """
        task = asyncio.create_task(self._exchange(session, message, on_event))
        self._exchanges[session.id] = task
        try:
            return await task
        except asyncio.CancelledError:
            waiting = asyncio.current_task()
            if waiting is not None and waiting.cancelling():
                raise
            raise TurnStopped("it was stopped before it had answered") from None
        finally:
            del self._exchanges[session.id]

    async def stop(self, session_id: int) -> bool:
        """Stop what the agent of a session is at; false if it is at nothing."""
        task = self._exchanges.get(session_id)
        if task is None:
            return False
        task.cancel()
        await asyncio.wait({task})
        return task.cancelled()

    async def _exchange(
        self, session: Session, message: SpokenMessage, on_event: OnEvent | None
    ) -> SpokenMessage:
        try:
            session = await self.join(session)
            message = await self.deliver(session, message)
            return await self._await_reply(session, message, on_event)
        except asyncio.CancelledError:
            await unbroken(self._stop(session, message))
            raise
        except BackendError as error:
            await self.record(message, MessageStatus.FAILED, error=str(error))
            raise

    async def withdraw(self, session: Session, message_id: str) -> None:
        """Who was cancelled before a message was sent says nothing any more."""
        async with self.database.begin() as work:
            message = await work.sessions.find_message(session.id, message_id)
        if message is not None and message.status is MessageStatus.SENDING:
            await self.record(message, MessageStatus.CANCELLED, error="it was cancelled before it was sent")

    async def record(self, message: SpokenMessage, status: MessageStatus, **changes: Any) -> SpokenMessage:
        """Write down how far a message has come."""
        moved = replace(message, status=status, **changes)
        async with self.database.begin() as work:
            await work.sessions.save_message(moved)
            await work.commit()
        return moved

    async def release(self, session: Session, *, abort: bool = False) -> None:
        """Abort and close a session. What cannot be stopped in time is logged, never waited for."""
        self._joined.discard(session.id)
        reference = session.session_ref or session.key
        try:
            backend = self.backend_of(session)
            async with asyncio.timeout(self._limits.stop_timeout):
                if abort:
                    await backend.abort(reference)
                await backend.close(reference)
        except (BackendError, TimeoutError) as error:
            log.warning("session_not_released", session=session.id, error=str(error))

    async def end(self, session: Session) -> None:
        """Write down that nothing more is said in it."""
        async with self.database.begin() as work:
            now = self.clock.now()
            await work.sessions.save(replace(session, ended_at=now))
            await work.audit.add(AuditKind.SESSION_ENDED, now, session=session.id)
            await work.commit()

    async def compact(self, session: Session) -> None:
        """Let the back end compact the conversation in place. Whoever is cancelled here stops it, too."""
        session = await self.join(session)
        backend, reference = self.backend_of(session), session.session_ref or ""
        allowed = session.profile.timeout or self._limits.step_timeout
        try:
            async with asyncio.timeout(allowed):
                await backend.compact(self.request_of(session), reference)
        except asyncio.CancelledError:
            await unbroken(self._abort(session))
            raise
        except TimeoutError:
            await self._abort(session)
            raise AgentFailed(
                f"the session was not compacted within {allowed:g} s, and this was stopped. If it needs "
                'longer, set "timeout" in its profile, or SEGUE_STEP_TIMEOUT'
            ) from None
        usage = await self._usage(backend, reference)
        async with self.database.begin() as work:
            if usage is not None:
                await work.attempts.save_usage(session.id, usage)
            await work.audit.add(AuditKind.SESSION_COMPACTED, self.clock.now(), session=session.id)
            await work.commit()

    async def _await_reply(
        self, session: Session, message: SpokenMessage, on_event: OnEvent | None
    ) -> SpokenMessage:
        backend, reference = self.backend_of(session), session.session_ref or ""
        wire, allowed = _wire_id(session, message), session.profile.timeout or self._limits.step_timeout
        listening = asyncio.create_task(_listen(backend, session, wire, on_event))
        try:
            async with asyncio.timeout(allowed):
                reply = await backend.wait(reference, wire)
            await asyncio.wait({listening}, timeout=_LAST_WORDS_SECONDS)
            if on_event is not None and not (listening.done() and listening.result()):
                on_event(Said(text=reply.text))  # a back end that told nothing while it worked
        except TimeoutError:
            await self._abort(session)
            raise AgentFailed(
                f"it timed out after {allowed:g} s and was stopped. If it needs longer, set "
                '"timeout" in its profile, or SEGUE_STEP_TIMEOUT'
            ) from None
        finally:
            listening.cancel()
            await asyncio.gather(listening, return_exceptions=True)
        usage = await self._usage(backend, reference)
        moved = replace(
            message,
            status=MessageStatus.REPLIED,
            reply=_storable(reply.text),
            replied_at=self.clock.now(),
        )
        async with self.database.begin() as work:
            await work.sessions.save_message(moved)
            if usage is not None:
                await work.attempts.save_usage(session.id, usage)
            await work.commit()
        return moved

    async def _usage(self, backend: AgentBackend, reference: str) -> Usage | None:
        if not backend.capabilities.usage:
            return None
        with suppress(BackendError, TimeoutError):  # the reply is there: numbers are not worth losing it
            async with asyncio.timeout(_LAST_WORDS_SECONDS):
                return await backend.usage(reference)
        return None

    async def _stop(self, session: Session, message: SpokenMessage) -> None:
        await self._abort(session)
        await self.record(message, MessageStatus.CANCELLED, error="it was cancelled before it was answered")

    async def _abort(self, session: Session) -> None:
        try:
            async with asyncio.timeout(self._limits.stop_timeout):
                await self.backend_of(session).interrupt(session.session_ref or session.key)
        except (BackendError, TimeoutError) as error:
            log.warning("session_not_stopped", session=session.id, error=str(error))

    async def _is_first(self, message: SpokenMessage) -> bool:
        async with self.database.begin() as work:
            return (await work.sessions.messages(message.agent_id))[0].id == message.id


async def _listen(backend: AgentBackend, session: Session, message_id: str, on_event: OnEvent | None) -> bool:
    """Pass on what the agent does; true if it said something.

    With nobody there, what it asks for is refused, so that it goes on.
    """
    reference, spoke = session.session_ref or "", False
    with suppress(BackendError):  # whatever is wrong with the session, `wait` says it
        async for event in backend.events(reference, message_id):
            spoke = spoke or isinstance(event, Said)
            if on_event is not None:
                on_event(event.seen_from(session.working_dir) if isinstance(event, ToolUsed) else event)
            elif isinstance(event, PermissionAsked):
                await backend.answer(reference, event.id, allow=False, comment="nobody is there to ask")
    return spoke


def _wire_id(session: Session, message: SpokenMessage) -> str:
    """The name of a message on its back end, where other sessions have messages, too."""
    return hashlib.sha256(f"{session.key} {message.message_id}".encode()).hexdigest()[:32]


def _storable(text: str) -> str:
    """No key of anybody's is stored, and a NUL is what no database keeps."""
    plain = text.replace("\0", "\ufffd").encode("utf-8", "replace").decode()
    return redact(plain)[0]
