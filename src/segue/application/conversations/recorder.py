"""The recorder: what an agent says, does and uses is saved; what it asks is put to a person."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict
from typing import Any

import structlog

from segue.application.conversations.timeouts import uninterrupted
from segue.application.conversations.transactions import Happened, record_activity
from segue.application.ports.backend import (
    AgentBackend,
    PermissionAsked,
    PermissionSettled,
    Retrying,
    Said,
    SessionEvent,
    ToolUsed,
    UsageReported,
)
from segue.application.ports.store import Store
from segue.application.ports.world import Clock
from segue.domain.activity import ActivityKind
from segue.domain.approvals import Approval, ApprovalStatus
from segue.domain.errors import BackendError, LeaseLost, StorageError
from segue.domain.handoff import redact
from segue.domain.pipeline import Lease
from segue.domain.session import HandoffLimits, HandoffReason, Session
from segue.domain.usage import Usage

log = structlog.get_logger()

OnEvent = Callable[[SessionEvent], None]
"""Called with what the agent does while it works on a message."""

_FLUSH_SECONDS = 0.25
"""How often what came meanwhile is written: often enough to read along, seldom enough to cost nothing."""
_LOOK_SECONDS = 0.25
"""How often the limits of a session are looked at."""
_ANSWER_SECONDS = 0.5
"""How often an answer to a question is looked for."""
_LAST_WORDS_SECONDS = 10.0
"""How long the last events may take after the reply."""
_LONGEST_TEXT = 16_000
"""Characters of one piece of activity; of more, the beginning is kept."""


class Recording:
    """One message that is being recorded. A failure in here never ends the turn."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        session: Session,
        backend: AgentBackend,
        lease: Lease | None,
        on_event: OnEvent | None,
    ) -> None:
        self._store, self._clock = store, clock
        self._session, self._backend, self._lease = session, backend, lease
        self._reference = session.session_ref or session.key
        self._on_event = on_event
        self._unwritten: list[tuple[ActivityKind, dict[str, Any]]] = []
        self._usage: Usage | None = None
        self._asked: dict[str, PermissionAsked] = {}
        self.usage: Usage | None = None
        """What the session has used so far, by the numbers that were reported while it was followed."""
        self.turns = 0
        """Answers of its model: how often the numbers changed."""
        self.has_spoken = False

    @asynccontextmanager
    async def follow(self, wire_id: str) -> AsyncIterator[Recording]:
        """While this is open, what the agent does is saved."""
        able = self._backend.capabilities
        if not (able.events or able.usage):
            yield self
            return
        self._listening = asyncio.create_task(self._listen(wire_id))
        writing = asyncio.create_task(self._write())
        try:
            yield self
        finally:
            for task in (self._listening, writing):
                task.cancel()
            await asyncio.gather(self._listening, writing, return_exceptions=True)
            with suppress(LeaseLost, StorageError):
                await self._flush()

    async def take_last(self) -> Happened:
        """What is not written yet when the reply is there, with the last numbers."""
        able = self._backend.capabilities
        if not (able.events or able.usage):
            return Happened()
        await asyncio.wait({self._listening}, timeout=_LAST_WORDS_SECONDS)
        if able.usage:
            with suppress(BackendError, TimeoutError):  # numbers are not worth losing the reply
                async with asyncio.timeout(_LAST_WORDS_SECONDS):
                    self._usage = await self._backend.usage(self._reference) or self._usage
        return self._take_all()

    async def until_full(self, limits: HandoffLimits) -> HandoffReason:
        """Why the session must hand over, once it must."""
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            now = self._clock.now()
            reason = limits.reached(self.usage, self.turns, self._session.started_at, now)
            if reason is not None:
                return reason

    async def settle(self, permission_id: str) -> None:
        """Somebody answers this: it is written down before, and nobody else is to bring an answer."""
        with suppress(StorageError):
            await self._flush()
        self._asked.pop(permission_id, None)

    async def _listen(self, wire_id: str) -> None:
        """Take in what the back end tells."""
        with suppress(BackendError):  # whatever is wrong with the session, `wait` says it
            async for event in self._backend.events(self._reference, wire_id):
                seen = event.seen_from(self._session.working_dir) if isinstance(event, ToolUsed) else event
                self._take(seen)
                if self._on_event is not None:
                    self._on_event(seen)

    async def _write(self) -> None:
        """Write down what came, and bring answers to what was asked."""
        loop = asyncio.get_running_loop()
        next_look = 0.0
        while True:
            await asyncio.sleep(_FLUSH_SECONDS)
            try:
                await uninterrupted(self._flush())  # what it has taken would be lost if it were cut off
                if self._asked and loop.time() >= next_look:
                    next_look = loop.time() + _ANSWER_SECONDS
                    await self._bring_answers()
            except LeaseLost:
                return
            except (StorageError, BackendError) as error:
                log.warning("recording_interrupted", session=self._session.id, error=str(error))

    def _take(self, event: SessionEvent) -> None:
        match event:
            case Said(text=text):
                self.has_spoken = True
                kind, last = ActivityKind.SAID, self._unwritten[-1] if self._unwritten else None
                if last is not None and last[0] is kind:
                    last[1]["text"] = (last[1]["text"] + text)[:_LONGEST_TEXT]
                elif text:
                    self._unwritten.append((kind, {"text": text[:_LONGEST_TEXT]}))
            case ToolUsed():
                facts = {name: value for name, value in asdict(event).items() if value not in (None, "")}
                self._unwritten.append((ActivityKind.TOOL_USED, _shortened(facts)))
            case PermissionAsked():
                self._asked[event.id] = event
            case PermissionSettled(access=access, allowed=allowed):
                facts = {"tool": access.tool, "targets": list(access.targets), "allowed": allowed}
                self._unwritten.append((ActivityKind.PERMISSION_SETTLED, facts))
            case UsageReported(usage=usage):
                self._usage = usage
                self.turns += usage != self.usage
                self.usage = usage
            case Retrying(reason=reason):
                self._unwritten.append((ActivityKind.RETRYING, {"reason": reason[:_LONGEST_TEXT]}))

    def _take_all(self) -> Happened:
        news, usage = self._unwritten, self._usage
        self._unwritten, self._usage = [], None
        return Happened(
            news=[(kind, {k: _redacted(v) for k, v in payload.items()}) for kind, payload in news],
            usage=usage,
            questions=[(asked.id, asked.title) for asked in self._asked.values() if asked.title],
        )

    async def _flush(self) -> None:
        happened = self._take_all()
        if not happened:
            return
        now = self._clock.now()
        try:
            await self._store.write(
                lambda rows: record_activity(rows, self._lease, self._session, happened, now)
            )
        except StorageError:
            self._unwritten = [(kind, dict(payload)) for kind, payload in happened.news] + self._unwritten
            self._usage = self._usage or happened.usage
            raise

    async def _bring_answers(self) -> None:
        found = await self._store.read(lambda rows: rows.find(Approval, session_id=self._session.id))
        for approval in found:
            is_decided = approval.status in (ApprovalStatus.APPROVED, ApprovalStatus.REJECTED)
            if is_decided and self._asked.pop(approval.request_ref, None) is not None:
                await self._backend.answer(
                    self._reference,
                    approval.request_ref,
                    allow=approval.status is ApprovalStatus.APPROVED,
                    comment=approval.comment or "",
                )


def _redacted(value: Any) -> Any:
    return redact(value)[0] if isinstance(value, str) else value


def _shortened(facts: dict[str, Any]) -> dict[str, Any]:
    return {k: v[:_LONGEST_TEXT] if isinstance(v, str) else v for k, v in facts.items()}
