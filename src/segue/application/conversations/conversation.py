"""The conversation with an agent: opened or joined, each message delivered once, its reply kept."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeVar

import structlog

from segue.application.conversations.recorder import OnEvent, Recording
from segue.application.conversations.timeouts import LimitReached, Limits, uninterrupted, within
from segue.application.conversations.transactions import (
    Happened,
    add_message,
    end_message,
    read_submitted,
    record_compacted,
    record_opened,
    record_reply,
    record_sent,
    save_message,
    settle_permission,
    storable,
)
from segue.application.conversations.turn import HeldTurn
from segue.application.ports import backend as port
from segue.application.ports.backend import AgentBackend, Reply, SessionRequest
from segue.application.ports.store import Rows, Store
from segue.application.ports.world import Clock
from segue.domain.errors import AgentFailed, BackendError, LeaseLost, SessionLost
from segue.domain.pipeline import Lease
from segue.domain.session import (
    HandoffLimits,
    MessageKind,
    MessageStatus,
    Session,
    SessionMessage,
)
from segue.domain.usage import Usage

log = structlog.get_logger()
T = TypeVar("T")

_GRACE_SECONDS = 1.0
"""How long a reply may take that comes with the number by which a limit is reached."""
_LAST_WORDS_SECONDS = 5.0
_AWAKE_SECONDS = 5.0
"""A worker that held its lease so short a time ago cannot have lost it by silence."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ConversationParts:
    """What every conversation needs."""

    store: Store
    clock: Clock
    limits: Limits
    opened: set[str] = field(default_factory=set)
    """Keys of the sessions that this process has opened."""


def _moment() -> float:
    """In seconds, by a clock that nobody sets and that runs while this process is stopped."""
    return asyncio.get_running_loop().time()


class Conversation:
    """One session on its back end. Every call has a limit; what takes longer is a failure with a sentence.

    With a lease it is that of a step: all that it writes is fenced, a caller who is cancelled leaves the
    agent alone, and how a message fails is recorded with its attempt. Without one it is held by a person:
    whoever is cancelled stops the agent, and each failure is written down.
    """

    def __init__(  # called in one place
        self,
        session: Session,
        *,
        lease: Lease | None,
        backend: AgentBackend,
        request: SessionRequest,
        parts: ConversationParts,
        messages: tuple[SessionMessage, ...] = (),
    ) -> None:
        self.session = session
        self.lease = lease
        self.backend = backend
        self.request = request
        self.messages = list(messages)
        """What was said so far, as far as a lease holder knows it; one that a person holds reads it anew."""
        self._parts = parts
        self._store, self._clock, self._limits = parts.store, parts.clock, parts.limits
        self._is_joined = False
        self._confirmed = _moment()
        """When the lease was last seen to hold."""
        self._turn: HeldTurn[SessionMessage] | None = None
        self._recording: Recording | None = None

    @property
    def reference(self) -> str:
        """The back end's name of the session."""
        return self.session.session_ref or ""

    def said(self, *kinds: MessageKind) -> list[SessionMessage]:
        """What was said of these kinds, in order."""
        return [message for message in self.messages if message.kind in kinds]

    async def open(self) -> None:
        """Open it on its back end, and write down its reference."""
        await self.confirm()
        opening = self.backend.open(self.request)
        reference = await within(
            self._limits.open_timeout, opening, f"{self.session.backend} did not open a session"
        )
        self._parts.opened.add(self.session.key)
        session = self.session
        self.session = await self._write(lambda rows: record_opened(rows, self.lease, session, reference))
        self._is_joined = True

    async def join(self) -> None:
        """Make it usable if an earlier process opened it, or if it was never opened."""
        if self._is_joined:
            return None
        if self.session.session_ref is None:
            return await self.open()
        is_ours = self.session.key in self._parts.opened
        if self.lease is not None and not is_ours and not self.backend.capabilities.once:
            raise SessionLost("its session belongs to the Segue that opened it, which had to leave the step")
        joining = self.backend.resume(self.request, self.reference)
        await within(
            self._limits.open_timeout, joining, f"{self.session.backend} did not give the session back"
        )
        self._is_joined = True
        return None

    async def add(
        self, kind: MessageKind, key: str, text: str, *, actor: str | None = None, **more: Any
    ) -> SessionMessage:
        """Write down what is about to be said; the same message again is the one that was saved."""
        new = self.session.message(kind, key, storable(text), self._clock.now(), **more)
        added = await self._write(lambda rows: add_message(rows, self.lease, new, actor=actor))
        return self.keep(added)

    def keep(self, message: SessionMessage) -> SessionMessage:
        """Remember a message as it stands now."""
        for place, known in enumerate(self.messages):
            if known.id == message.id:
                self.messages[place] = message
                return message
        self.messages.append(message)
        return message

    async def exchange(
        self,
        message: SessionMessage,
        *,
        since: datetime | None = None,
        limits: HandoffLimits | None = None,
        on_event: OnEvent | None = None,
    ) -> SessionMessage:
        """Send a message unless it was sent, and wait for its reply; the message as it stands then.

        Time counts from `since`, or from when the agent took it. With limits, `LimitReached` once the session
        has used what it may. `TurnStopped` if somebody else stopped it.
        """
        if message.status.is_final:
            return message
        if self.lease is not None:
            return await self._exchange(message, since, limits, on_event)
        self._turn = HeldTurn(self._exchange_held(message, on_event), lambda: self._cancel(message))
        try:
            return await self._turn.result()
        finally:
            self._turn = None

    async def stop(self) -> bool:
        """Stop what the agent is at for a person; false if it is at nothing."""
        return self._turn is not None and await self._turn.stop()

    async def deliver(self, message: SessionMessage) -> SessionMessage:
        """Send a message, unless it was sent before."""
        if message.status is not MessageStatus.SENDING:
            return message
        text = await self._words_of(message)
        await self.confirm()
        sending = self.backend.send(self.request, self.reference, port.Message(id=message.wire_id, text=text))
        await within(self._limits.open_timeout, sending, f"{self.session.backend} did not take the message")
        now, session = self._clock.now(), self.session
        return self.keep(
            await self._write(lambda rows: record_sent(rows, self.lease, session, message, text=text, at=now))
        )

    async def save(self, old: SessionMessage, new: SessionMessage) -> SessionMessage:
        """Write down how far a message has come."""
        return self.keep(await self._write(lambda rows: save_message(rows, self.lease, old, new)))

    async def confirm(self) -> None:
        """Before an act on the outside: who slept may have lost the lease. `LeaseLost` if it is so."""
        lease = self.lease
        if lease is None or _moment() - self._confirmed < _AWAKE_SECONDS:
            return
        if (await self._store.read(lambda rows: rows.orders([lease]))).get(lease, "") is None:
            raise LeaseLost(lease.pipeline_id)
        self._confirmed = _moment()

    async def _write(self, act: Callable[[Rows], T]) -> T:
        """One transaction, which checks the lease."""
        result = await self._store.write(act)
        self._confirmed = _moment()
        return result

    async def answer(self, permission_id: str, *, allow: bool, comment: str = "") -> None:
        """Answer what the agent asked; what is settled already stays as it is."""
        if self._recording is not None:
            await self._recording.settle(permission_id)
        now, session_id = self._clock.now(), self.session.id
        await self._store.write(
            lambda rows: settle_permission(
                rows, session_id, permission_id, approve=allow, comment=comment, at=now
            )
        )
        reference = self.session.session_ref or self.session.key
        await self.backend.answer(reference, permission_id, allow=allow, comment=comment)

    async def compact(self, *, actor: str | None = None) -> None:
        """Let the back end compact the conversation in place. If the caller is cancelled, that is stopped."""
        await self.join()
        allowed = self._allowed()
        try:
            async with asyncio.timeout(allowed):
                await self.backend.compact(self.request, self.reference)
        except asyncio.CancelledError:
            await uninterrupted(self._interrupt())
            raise
        except TimeoutError:
            await self._interrupt()
            raise AgentFailed(
                f"the session was not compacted within {allowed:g} s, and this was stopped. If it needs "
                'longer, set "timeout" in its profile, or SEGUE_STEP_TIMEOUT'
            ) from None
        usage, now, session = await self._usage(), self._clock.now(), self.session
        self.session = await self._store.write(
            lambda rows: record_compacted(rows, session, usage, now, actor=actor)
        )

    async def interrupt(self) -> None:
        """Stop the turn that is under way, so that it can be spoken to again."""
        stopping = self.backend.interrupt(self.reference)
        await within(self._limits.stop_timeout, stopping, f"{self.session.backend} did not stop")

    async def release(self, *, abort: bool = False) -> None:
        """Abort and close it. What cannot be stopped in time is logged, never waited for."""
        self._is_joined = False
        self._parts.opened.discard(self.session.key)
        reference = self.session.session_ref or self.session.key
        try:
            async with asyncio.timeout(self._limits.stop_timeout):
                if abort:
                    await self.backend.abort(reference)
                await self.backend.close(reference)
        except (BackendError, TimeoutError) as error:
            log.warning("session_not_released", session=self.session.id, error=str(error))

    async def _exchange_held(self, message: SessionMessage, on_event: OnEvent | None) -> SessionMessage:
        """With a person: a failure is written down, too."""
        try:
            return await self._exchange(message, None, None, on_event)
        except BackendError as error:
            await self._end(message, message.failed(str(error)))
            raise

    async def _exchange(
        self,
        message: SessionMessage,
        since: datetime | None,
        limits: HandoffLimits | None,
        on_event: OnEvent | None,
    ) -> SessionMessage:
        is_rejoined = message.status is MessageStatus.SENT
        await self.join()
        message = await self.deliver(message)
        since, now = since or message.sent_at or message.created_at, self._clock.now()
        left = self._limits.left_of(self._allowed(), since, now, is_rejoined=is_rejoined)
        recording = Recording(self._store, self._clock, self.session, self.backend, self.lease, on_event)
        self._recording = recording
        try:
            async with recording.follow(message.wire_id):
                reply = await self._reply(message, recording, left, limits)
                happened = await recording.take_last()
                if on_event is not None and not recording.has_spoken:
                    on_event(port.Said(text=reply.text))  # a back end that told nothing while it worked
                return await self._record_reply(message, reply, happened)
        finally:
            self._recording = None

    async def _reply(
        self, message: SessionMessage, recording: Recording, left: float, limits: HandoffLimits | None
    ) -> Reply:
        try:
            async with asyncio.timeout(left):
                if limits is None:
                    return await self.backend.wait(self.reference, message.wire_id)
                return await self._within_limits(message, recording, limits)
        except TimeoutError:
            if self.lease is None:  # whoever closes a step aborts its session
                await self._interrupt()
            raise AgentFailed(
                f"it timed out after {self._allowed():g} s and was stopped. If it needs longer, set "
                '"timeout" in its step or profile, or SEGUE_STEP_TIMEOUT'
            ) from None

    async def _record_reply(
        self, message: SessionMessage, reply: Reply, happened: Happened
    ) -> SessionMessage:
        before = self.session.usage
        usage = None
        if message.kind is MessageKind.QUESTION:
            after = happened.usage or before
            usage = after.since(before) if after is not None else None
        replied = message.replied(storable(reply.text), self._clock.now(), usage)
        session = self.session
        self.session, message = await self._write(
            lambda rows: record_reply(rows, self.lease, session, message, replied, happened)
        )
        return self.keep(message)

    async def _within_limits(
        self, message: SessionMessage, recording: Recording, limits: HandoffLimits
    ) -> Reply:
        waiting = asyncio.ensure_future(self.backend.wait(self.reference, message.wire_id))
        watching = asyncio.ensure_future(recording.until_full(limits))
        try:
            await asyncio.wait({waiting, watching}, return_when=asyncio.FIRST_COMPLETED)
            if not waiting.done():
                # The last answer fills the context, too: it may be on its way.
                await asyncio.wait({waiting}, timeout=_GRACE_SECONDS)
            if waiting.done() or await self._has_submitted(message):
                return await waiting
            raise LimitReached(watching.result())
        finally:
            for task in (waiting, watching):
                task.cancel()
            await asyncio.gather(waiting, watching, return_exceptions=True)

    async def _has_submitted(self, message: SessionMessage) -> bool:
        """True if the agent handed off through a tool already: it is about to end."""
        given = await self._store.read(lambda rows: read_submitted(rows, self.session.id, message.id))
        return given.accepted is not None

    async def _words_of(self, message: SessionMessage) -> str:
        """What is sent: the first message of a person brings the standing orders; a briefing has them."""
        orders = self.session.profile.system_prompt_additions.strip()
        if not orders or self.session.step_id is not None:
            return message.text
        said = await self._store.read(lambda rows: rows.find(SessionMessage, session_id=self.session.id))
        return f"{orders}\n\n{message.text}" if said[0].id == message.id else message.text

    async def _cancel(self, message: SessionMessage) -> None:
        await self._interrupt()
        await self._end(message, message.cancelled("it was cancelled before it was answered"))

    async def _end(self, message: SessionMessage, ended: SessionMessage) -> None:
        """How it ended, unless its reply came in the last moment."""
        now = self._clock.now()
        await self._store.write(lambda rows: end_message(rows, message.id, ended, now))

    async def _interrupt(self) -> None:
        try:
            async with asyncio.timeout(self._limits.stop_timeout):
                await self.backend.interrupt(self.session.session_ref or self.session.key)
        except (BackendError, TimeoutError) as error:
            log.warning("session_not_stopped", session=self.session.id, error=str(error))

    async def _usage(self) -> Usage | None:
        if not self.backend.capabilities.usage:
            return None
        with suppress(BackendError, TimeoutError):
            async with asyncio.timeout(_LAST_WORDS_SECONDS):
                return await self.backend.usage(self.reference)
        return None

    def _allowed(self) -> float:
        return self.session.timeout or self.session.profile.timeout or self._limits.step_timeout
