"""Handing over in the middle of a step: its session has reached a limit, and a new one goes on with the step.

The attempt is marked first; then the turn is cut off, the session is asked for its handoff, the handoff is
examined, and saved with the end of the attempt. Each part looks at the records first, so that it is safe to
repeat after a crash. A session that hands nothing over gets the handoff that Segue can write for it.
"""

from __future__ import annotations

import asyncio
import hashlib
from dataclasses import dataclass, field, replace
from itertools import count

import structlog

from segue.application.backends import Message
from segue.application.conversations import Conversation, Conversations
from segue.application.drafting import Ask, Draft, draft
from segue.application.endings import Endings
from segue.application.ports import NewHandoff, UnitOfWork
from segue.application.session_ports import Documents, NewMessage
from segue.domain.audit import AuditKind
from segue.domain.errors import AgentFailed, BackendError, BackendUnavailable, RepositoryError
from segue.domain.handing_over import Document, injection
from segue.domain.handoff import Handoff, OutputNotation, render_handoff
from segue.domain.ledger import corrections_of
from segue.domain.ledger.evidence import Evidence
from segue.domain.limits import MOST_HANDOFFS_WITHOUT_PROGRESS, stalled_after
from segue.domain.pipeline import Attempt, AttemptStatus
from segue.domain.sessions import MessageStatus, Reason, Role, SpokenMessage

log = structlog.get_logger()

_WHY = {
    Reason.CONTEXT_LIMIT: "the session reached its context limit",
    Reason.SHIFT_END: "the session's shift was over",
    Reason.TASK_BOUNDARY: "the session came to the end of a task",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class _Left:
    """What a session leaves to its successor."""

    content: str
    metadata: Handoff
    ledger_json: str | None
    is_synthetic: bool
    injection: str = field(repr=False)


class StepHandover:
    """Brings an attempt from its limit to the attempt that goes on from it."""

    def __init__(
        self, *, endings: Endings, conversations: Conversations, documents: Documents, most: int
    ) -> None:
        self._endings = endings
        self._conversations = conversations
        self._documents = documents
        self._verification = endings.verification
        self._database = endings.database
        self._clock = endings.clock
        self._most = most

    async def refuse_a_loop(self, work: UnitOfWork, attempt: Attempt) -> None:
        """`AgentFailed` if no further session may go on from this one."""
        handed_over = await work.attempts.handed_over(attempt.step_id)
        if handed_over > self._most:
            raise AgentFailed(
                f"its sessions handed over {handed_over} times and came to no end. Give the step a smaller "
                "job, or raise SEGUE_HANDOFF_MOST"
            )
        last = await work.sessions.last_handoff(attempt.agent_id)
        if last is not None and last.stalled >= MOST_HANDOFFS_WITHOUT_PROGRESS:
            raise AgentFailed(
                f"{last.stalled} handoffs in a row brought nothing new: no file was changed, and each said "
                "the same. Give the step a smaller job, or go on by hand from its last handoff"
            )

    async def begin(self, talk: Conversation, reason: Reason) -> Conversation:
        """Write down that the session will hand over, before it is told."""
        moved = talk.attempt.moved(AttemptStatus.HANDING_OVER, handover_reason=reason)
        async with self._database.begin() as work:
            await work.pipelines.check(talk.lease)
            await work.attempts.save(moved, talk.agent)
            await work.audit.add(
                AuditKind.LIMIT_REACHED,
                self._clock.now(),
                pipeline_id=talk.pipeline.id,
                step_id=talk.step.id,
                session=talk.agent.id,
                reason=reason,
            )
            await work.commit()
        log.info("limit_reached", pipeline=talk.pipeline.id, step=talk.step.id, reason=reason)
        return replace(talk, attempt=moved)

    async def finish(self, talk: Conversation) -> None:
        """Let the session hand over; after this, the next attempt can begin."""
        reason = talk.attempt.handover_reason
        assert reason is not None  # `begin` wrote it
        try:
            await self._cut_off(talk)
            made = await draft(self._asker(talk), lambda: self._evidence(talk))
            left = _left_of(made)
        except (BackendError, RepositoryError) as error:
            await self._endings.release(talk.agent, abort=True)
            left = await self._synthetic(talk, f"{_WHY[reason]}, and it wrote no handoff: {error}")
        await self._save(talk, left, reason)
        await self._endings.release(talk.agent)

    async def _cut_off(self, talk: Conversation) -> None:
        """Stop what the session is doing, unless it was asked already."""
        async with self._database.begin() as work:
            if await work.sessions.messages(talk.agent.id):
                return
        try:
            async with asyncio.timeout(self._endings.limits.stop_timeout):
                await talk.backend.abort(talk.session)
        except TimeoutError:
            raise BackendUnavailable(f"{talk.agent.backend} did not stop the turn in time") from None

    def _asker(self, talk: Conversation) -> Ask:
        """Asks one thing after the other; what was asked before a crash is not asked again."""
        numbers = count(1)

        async def ask(text: str) -> str:
            return await self._ask(talk, text, next(numbers))

        return ask

    async def _ask(self, talk: Conversation, text: str, number: int) -> str:
        name = hashlib.sha256(f"{talk.agent.key} handover {number}".encode()).hexdigest()[:32]
        async with self._database.begin() as work:
            await work.pipelines.check(talk.lease)
            message = await work.sessions.find_message(talk.agent.id, name)
            if message is None:
                new = NewMessage(
                    agent_id=talk.agent.id,
                    role=Role.HANDOFF,
                    message_id=name,
                    text=text,
                    created_at=self._clock.now(),
                )
                message = await work.sessions.add_message(new)
                await work.commit()
        if message.status is MessageStatus.REPLIED:
            return message.reply or ""
        rejoined = message.status is MessageStatus.SENT
        if not rejoined:
            await self._conversations.deliver(talk, Message(id=name, text=message.text))
            message = await self._record(talk, replace(message, status=MessageStatus.SENT))
        reply = await self._conversations.reply(talk, name, rejoined=rejoined, since=message.created_at)
        now = self._clock.now()
        await self._record(talk, replace(message, status=MessageStatus.REPLIED, reply=reply, replied_at=now))
        return reply

    async def _record(self, talk: Conversation, message: SpokenMessage) -> SpokenMessage:
        async with self._database.begin() as work:
            await work.pipelines.check(talk.lease)
            await work.sessions.save_message(message)
            await work.commit()
        return message

    async def _evidence(self, talk: Conversation) -> Evidence | None:
        knows = talk.backend.capabilities.tool_log
        return await self._verification.evidence(talk.pipeline, talk.step, talk.agent, knows_commands=knows)

    async def _synthetic(self, talk: Conversation, why: str) -> _Left:
        handoff = await self._endings.synthetic(talk.lease, talk.agent, why)
        text = render_handoff(handoff, OutputNotation.YAML)
        return _Left(
            content=text, metadata=handoff, ledger_json=None, is_synthetic=True, injection=injection(text)
        )

    async def _stalled(self, work: UnitOfWork, talk: Conversation, left: _Left, *, changed: bool) -> int:
        before = (
            await work.sessions.last_handoff(talk.agent.parent_id)
            if talk.agent.parent_id is not None
            else None
        )
        return stalled_after(
            before.stalled if before is not None else 0,
            has_changes=changed,
            is_same=before is not None and before.metadata_json == left.metadata.to_json(),
        )

    async def _has_changes(self, talk: Conversation) -> bool:
        """True if this very session changed files."""
        if talk.pipeline.workspace is None:
            return False
        try:
            mark = talk.agent.base_mark
            found = await self._verification.workspaces.evidence(talk.pipeline.workspace, mark)
        except RepositoryError:
            return True  # what cannot be read ends no chain
        return found is not None and bool(found.changes)

    async def _save(self, talk: Conversation, left: _Left, reason: Reason) -> None:
        """The document, then all rows in one transaction; if that fails, the document goes again."""
        now, changed = self._clock.now(), await self._has_changes(talk)
        path = await self._documents.write(
            Document(
                agent=talk.agent.name,
                session=talk.agent.id,
                parent=talk.agent.parent_id,
                reason=reason,
                created_at=now,
                text=left.content,
            )
        )
        where = {"pipeline_id": talk.pipeline.id, "step_id": talk.step.id}
        try:
            async with self._database.begin() as work:
                await work.pipelines.check(talk.lease)
                new = NewHandoff(
                    agent_id=talk.agent.id,
                    step_id=talk.step.id,
                    reason=reason,
                    content_md=left.content,
                    metadata_json=left.metadata.to_json(),
                    ledger_json=left.ledger_json,
                    is_synthetic=left.is_synthetic,
                    created_at=now,
                    file_path=path,
                    injection_prompt=left.injection,
                    stalled=await self._stalled(work, talk, left, changed=changed),
                )
                handoff_id = await work.handoffs.add(new)
                done = talk.attempt.moved(AttemptStatus.HANDED_OVER, finished_at=now)
                await work.attempts.save(done, replace(talk.agent, ended_at=now))
                await work.attempts.forget_submission(talk.attempt.id)
                await work.approvals.void(talk.step.id, now)
                await work.audit.add(
                    AuditKind.HANDOFF_CREATED,
                    now,
                    **where,
                    handoff_id=handoff_id,
                    is_synthetic=left.is_synthetic,
                )
                await work.audit.add(
                    AuditKind.SESSION_HANDED_OVER,
                    now,
                    **where,
                    session=talk.agent.id,
                    handoff_id=handoff_id,
                    reason=reason,
                )
                await work.commit()
        except BaseException:
            await self._documents.remove(path)
            raise
        log.info("session_handed_over", pipeline=talk.pipeline.id, step=talk.step.id, reason=reason)


def _left_of(made: Draft) -> _Left:
    text = render_handoff(made.handoff, OutputNotation.YAML)
    ledger = made.examined.ledger
    return _Left(
        content=text,
        metadata=made.handoff,
        ledger_json=made.examined.ledger_json,
        is_synthetic=False,
        injection=injection(text, corrections_of(ledger) if ledger is not None else ()),
    )
