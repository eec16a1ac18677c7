"""Watching an agent work: what it says, does and uses is written down; what it asks is put to a person."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict, dataclass
from typing import Any

import structlog

from segue.application.backends import (
    AgentBackend,
    PermissionAsked,
    PermissionSettled,
    Retrying,
    Said,
    SessionEvent,
    ToolUsed,
    UsageReported,
)
from segue.application.patience import unbroken
from segue.application.ports import Clock, Database, NewActivity, NewApproval
from segue.domain.activity import ActivityKind
from segue.domain.approvals import Approval, ApprovalStatus
from segue.domain.audit import AuditKind
from segue.domain.errors import BackendError, OwnershipLost, StorageError
from segue.domain.handoff import redact
from segue.domain.pipeline import Agent, Attempt, Lease
from segue.domain.usage import Usage

log = structlog.get_logger()

_FLUSH_SECONDS = 0.25
"""How often what came meanwhile is written: often enough to read along, seldom enough to cost nothing."""
_ANSWER_SECONDS = 0.5
"""How often an answer to a question is looked for."""
_LAST_WORDS_SECONDS = 10.0
"""How long the last events may take after the reply."""
_LONGEST_TEXT = 16_000
"""Characters of one piece of activity; of more, the beginning is kept."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Watched:
    """A message that an agent works on."""

    lease: Lease
    attempt: Attempt
    agent: Agent
    backend: AgentBackend
    message_id: str
    working_dir: str
    """Paths inside are shown from here."""


@dataclass(slots=True)
class Seen:
    """What a session has used so far, by the numbers that came while it was watched."""

    usage: Usage | None = None
    turns: int = 0
    """Answers of its model: how often the numbers changed."""

    def take(self, usage: Usage) -> None:
        """Take in new numbers."""
        self.turns += usage != self.usage
        self.usage = usage


class Watching:
    """Follows the sessions whose back end tells what its agents do."""

    def __init__(self, *, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    @asynccontextmanager
    async def of(self, watched: Watched) -> AsyncIterator[Seen]:
        """While this is open, what the agent does is written down. It never breaks what it watches."""
        capabilities = watched.backend.capabilities
        if not (capabilities.events or capabilities.usage):
            yield Seen()
            return
        watch = _Watch(self._database, self._clock, watched)
        tasks = [asyncio.create_task(watch.listen()), asyncio.create_task(watch.write())]
        try:
            yield watch.seen
            await asyncio.wait(tasks[:1], timeout=_LAST_WORDS_SECONDS)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await watch.finish()


class _Watch:
    """One attempt, watched."""

    def __init__(self, database: Database, clock: Clock, watched: Watched) -> None:
        self._database, self._clock = database, clock
        self._lease, self._attempt, self._agent = watched.lease, watched.attempt, watched.agent
        self._backend, self._message_id = watched.backend, watched.message_id
        self._session = watched.agent.session_ref or watched.agent.key
        self._folder = watched.working_dir
        self._unwritten: list[tuple[ActivityKind, dict[str, Any]]] = []
        self.seen = Seen()
        self._usage: Usage | None = None
        self._asked: dict[str, PermissionAsked] = {}

    async def listen(self) -> None:
        """Take in what the back end tells."""
        with suppress(BackendError):  # whatever is wrong with the session, `wait` says it
            async for event in self._backend.events(self._session, self._message_id):
                self._take(event)

    async def write(self) -> None:
        """Write down what came, and bring answers to what was asked."""
        loop = asyncio.get_running_loop()
        next_look = 0.0
        while True:
            await asyncio.sleep(_FLUSH_SECONDS)
            try:
                await unbroken(self._flush())  # what it has taken would be lost if it were cut off
                if self._asked and loop.time() >= next_look:
                    next_look = loop.time() + _ANSWER_SECONDS
                    await self._bring_answers()
            except OwnershipLost:
                return
            except (StorageError, BackendError) as error:
                log.warning("watching_interrupted", pipeline=self._lease.pipeline_id, error=str(error))

    async def finish(self) -> None:
        """Write the rest, with the last usage numbers."""
        with suppress(OwnershipLost, StorageError, BackendError, TimeoutError):
            async with asyncio.timeout(_LAST_WORDS_SECONDS):
                if self._backend.capabilities.usage and (usage := await self._backend.usage(self._session)):
                    self._usage = usage
        with suppress(OwnershipLost, StorageError):
            await self._flush()

    def _take(self, event: SessionEvent) -> None:
        match event:
            case Said(text=text):
                kind, last = ActivityKind.SAID, self._unwritten[-1] if self._unwritten else None
                if last is not None and last[0] is kind:
                    last[1]["text"] = (last[1]["text"] + text)[:_LONGEST_TEXT]
                elif text:
                    self._unwritten.append((kind, {"text": text[:_LONGEST_TEXT]}))
            case ToolUsed():
                used = asdict(event.seen_from(self._folder))
                facts = {name: value for name, value in used.items() if value not in (None, "")}
                self._unwritten.append((ActivityKind.TOOL_USED, _shortened(facts)))
            case PermissionAsked():
                self._asked[event.id] = event
            case PermissionSettled(access=access, allowed=allowed):
                facts = {"tool": access.tool, "targets": list(access.targets), "allowed": allowed}
                self._unwritten.append((ActivityKind.PERMISSION_SETTLED, facts))
            case UsageReported(usage=usage):
                self._usage = usage
                self.seen.take(usage)
            case Retrying(reason=reason):
                self._unwritten.append((ActivityKind.RETRYING, {"reason": reason[:_LONGEST_TEXT]}))

    async def _flush(self) -> None:
        news, usage = self._unwritten, self._usage
        fresh = [asked for asked in self._asked.values() if asked.title]
        if not news and usage is None and not fresh:
            return
        self._unwritten, self._usage = [], None
        news = [(kind, {k: _redacted(v) for k, v in payload.items()}) for kind, payload in news]
        now = self._clock.now()
        if usage is not None:
            news.append((ActivityKind.USAGE, {k: v for k, v in asdict(usage).items() if v}))
        try:
            async with self._database.begin() as work:
                await work.pipelines.check(self._lease)
                await work.activity.add(
                    [
                        NewActivity(
                            kind=kind,
                            pipeline_id=self._lease.pipeline_id,
                            step_id=self._attempt.step_id,
                            agent_id=self._agent.id,
                            payload=payload,
                            created_at=now,
                        )
                        for kind, payload in news
                    ]
                )
                if usage is not None:
                    await work.attempts.save_usage(self._agent.id, usage)
                for asked in fresh:
                    approval, is_new = await work.approvals.ask(
                        NewApproval(
                            pipeline_id=self._lease.pipeline_id,
                            step_id=self._attempt.step_id,
                            attempt_id=self._attempt.id,
                            request_ref=asked.id,
                            title=asked.title,
                            created_at=now,
                        )
                    )
                    if is_new:
                        await work.audit.add(
                            AuditKind.PERMISSION_ASKED,
                            now,
                            pipeline_id=self._lease.pipeline_id,
                            step_id=self._attempt.step_id,
                            approval_id=approval.id,
                            title=asked.title,
                        )
                await work.commit()
        except StorageError:
            self._unwritten = news + self._unwritten
            raise

    async def _bring_answers(self) -> None:
        async with self._database.begin() as work:
            decided = [a for a in await work.approvals.of_attempt(self._attempt.id) if _is_decided(a)]
        for approval in decided:
            if self._asked.pop(approval.request_ref, None) is not None:
                await self._backend.answer(
                    self._session,
                    approval.request_ref,
                    allow=approval.status is ApprovalStatus.APPROVED,
                    comment=approval.comment or "",
                )


def _redacted(value: Any) -> Any:
    return redact(value)[0] if isinstance(value, str) else value


def _is_decided(approval: Approval) -> bool:
    return approval.status in (ApprovalStatus.APPROVED, ApprovalStatus.REJECTED)


def _shortened(facts: dict[str, Any]) -> dict[str, Any]:
    return {k: v[:_LONGEST_TEXT] if isinstance(v, str) else v for k, v in facts.items()}
