"""The conversations of this process: which session a lease works with, which one a person holds."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress

import structlog

from segue.application.conversations.conversation import Conversation, ConversationParts
from segue.application.ports.backend import AgentBackend, Backends, SessionRequest, ToolServer
from segue.application.ports.store import Reads
from segue.domain.errors import BackendError, StorageError
from segue.domain.permissions import rules_for
from segue.domain.pipeline import Lease
from segue.domain.session import Session, SessionMessage

log = structlog.get_logger()

_LOOK_SECONDS = 1.0

ToolsFor = Callable[[str], ToolServer]
"""Segue's own tools for the session with a token."""


class Conversations:
    """Makes conversations, finds them again, and closes them."""

    def __init__(
        self,
        *,
        parts: ConversationParts,
        backends: Backends,
        tools_for: ToolsFor | None = None,
        credential: str | None = None,
    ) -> None:
        self.parts = parts
        self.backends = backends
        self._tools_for = tools_for
        self._credential = credential
        """The file that agents are kept from."""
        self._leased: dict[Lease, Conversation] = {}
        self._held: dict[int, Conversation] = {}
        self._turns: dict[int, asyncio.Lock] = {}
        self._releasing: set[asyncio.Task[None]] = set()
        self._waiting: set[asyncio.Task[None]] = set()
        """For the end of sessions of leases that were lost."""

    def of(
        self, session: Session, *, lease: Lease | None = None, messages: tuple[SessionMessage, ...] = ()
    ) -> Conversation:
        """The conversation in a session; one that a person holds stays the same until it is released."""
        if lease is None and (held := self._held.get(session.id)) is not None:
            return held
        _, backend = self.backends.get(session.backend, session.name)
        made = Conversation(
            session,
            lease=lease,
            backend=backend,
            request=self.request_of(session, backend),
            parts=self.parts,
            messages=messages,
        )
        if lease is None:
            self._held[session.id] = made
        else:
            self._leased[lease] = made
        return made

    def find(self, session: Session, lease: Lease) -> Conversation:
        """The conversation that a lease holds in a session, made if there is none."""
        held = self._leased.get(lease)
        if held is None or held.session.id != session.id:
            return self.of(session, lease=lease)
        if held.session.session_ref is None:
            held.session = session  # it was opened while its opener was cancelled
        return held

    async def resumed(self, session: Session, lease: Lease) -> Conversation:
        """The conversation of a step, with what was said in it before."""

        def said(rows: Reads) -> tuple[SessionMessage, ...]:
            return rows.find(SessionMessage, session_id=session.id)

        return self.of(session, lease=lease, messages=await self.parts.store.read(said))

    def request_of(self, session: Session, backend: AgentBackend) -> SessionRequest:
        """What its back end needs to know of a session."""
        tools = None
        if session.token is not None and self._tools_for is not None and backend.capabilities.mcp:
            tools = self._tools_for(session.token)
        return SessionRequest(
            key=session.key,
            agent_name=session.name,
            profile=session.profile,
            permissions=rules_for(session.profile.permissions, session.working_dir, self._credential),
            tools=tools,
            model=session.model,
            working_dir=session.working_dir,
            title=f"segue session {session.id} {session.name}: {session.title}",
        )

    def offers_tools(self, backend: AgentBackend) -> bool:
        """True if agents of this back end can be given Segue's own tools."""
        return self._tools_for is not None and backend.capabilities.mcp

    def turn(self, session_id: int) -> asyncio.Lock:
        """Held while a person's message is sent and answered: in one session, one thing happens at a time."""
        return self._turns.setdefault(session_id, asyncio.Lock())

    def held(self, session_id: int) -> Conversation | None:
        """The conversation that a person holds here in a session, if there is one."""
        return self._held.get(session_id)

    def forget(self, lease: Lease) -> None:
        """The lease works with no session any more."""
        self._leased.pop(lease, None)

    async def drop(self, lease: Lease) -> None:
        """Another worker owns the pipeline now: what only this process can stop, it stops.

        An owner with the same data folder may have joined the session; one that has not ends it in the
        records.
        """
        log.warning("lease_lost", pipeline=lease.pipeline_id, lease=lease.number)
        lost = self._leased.pop(lease, None)
        if lost is None or lost.session.id in {other.session.id for other in self._leased.values()}:
            return  # nothing was begun, or a newer lease in this process has joined the session
        if not lost.backend.local_sessions:
            return
        if not lost.backend.capabilities.once or await self._has_ended(lost.session):
            await self.release(lost, abort=True)
        else:
            waiting = asyncio.create_task(self._release_at_its_end(lost))
            self._waiting.add(waiting)
            waiting.add_done_callback(self._waiting.discard)

    async def _release_at_its_end(self, lost: Conversation) -> None:
        while not await self._has_ended(lost.session):  # noqa: ASYNC110  # another process ends it
            await asyncio.sleep(_LOOK_SECONDS)
        await self.release(lost, abort=True)

    async def _has_ended(self, session: Session) -> bool:
        """True if the records say so; not while they cannot be read."""
        try:
            found = await self.parts.store.read(lambda rows: rows.find(Session, id=session.id))
        except StorageError:
            return False
        return not found or found[0].ended_at is not None

    async def release(self, conversation: Conversation, *, abort: bool = False) -> None:
        """Abort and close a session; this finishes even if its caller is cancelled meanwhile."""
        self._held.pop(conversation.session.id, None)
        releasing = asyncio.create_task(conversation.release(abort=abort))
        self._releasing.add(releasing)
        releasing.add_done_callback(self._releasing.discard)
        await asyncio.shield(releasing)

    async def rest(self, conversation: Conversation) -> None:
        """Nobody speaks in it for a while: end what only waits. It can be joined again."""
        with suppress(BackendError):
            await conversation.backend.rest()

    async def settle(self) -> None:
        """Wait until every session that is being released is gone; each has its limit."""
        for waiting in tuple(self._waiting):
            waiting.cancel()
        if self._releasing:
            await asyncio.wait(tuple(self._releasing))

    async def sweep(self) -> None:
        """Release sessions on this machine that have ended by the records, but were never released."""
        for backend in self.backends.with_leftovers():
            # First, so that one that is opened now is in the records already.
            there = await backend.leftovers()
            used = await self.parts.store.read(lambda rows, there=there: rows.open_sessions(there))  # type: ignore[misc]
            for session in set(there) - set(used):
                await backend.close(session)
                log.info("leftover_removed", session=session)
