"""Handing over in the middle of a step: its session has reached a limit, and a new one goes on with the step.

The attempt is marked first; then the turn is cut off, the session is asked for its handoff, the handoff is
examined, and saved with the end of the attempt. Each part looks at the records first, so that it is safe to
repeat after a crash. A session that hands nothing over gets the handoff that Segue can write for it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import count

import structlog

from segue.application.backends import Message
from segue.application.conversations import Conversation, Conversations
from segue.application.drafting import Ask, Draft, NoHandoff, draft, stalled_by
from segue.application.endings import Endings
from segue.application.patience import within
from segue.application.ports import NewHandoff, UnitOfWork
from segue.application.session_ports import Documents, NewMessage
from segue.application.submissions import has_submitted, read_handoff, reported_blockers
from segue.domain.audit import AuditKind
from segue.domain.briefing.marking import mark_handoff
from segue.domain.briefing.measured import measured_lines
from segue.domain.errors import (
    AgentFailed,
    BackendError,
    RepositoryError,
    StorageError,
)
from segue.domain.evidence.record import evidence_as_json
from segue.domain.evidence.sources import Observed
from segue.domain.handing_over import Document, injection
from segue.domain.handoff import Handoff, OutputNotation, render_handoff
from segue.domain.handoff.checking.submitted import add_blockers
from segue.domain.handoff.model import Blocker
from segue.domain.limits import MOST_HANDOFFS_WITHOUT_PROGRESS, nothing_new
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
    evidence_json: str | None
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
                f"{nothing_new(last.stalled)}. Give the step a smaller job, or go on by hand from its last "
                "handoff"
            )

    async def begin(self, talk: Conversation, reason: Reason) -> Conversation:
        """Write down that the session will hand over, before it is told; not if it has handed off already."""
        now = self._clock.now()
        async with self._database.begin() as work:
            await work.pipelines.check(talk.lease)
            latest = await work.attempts.latest(talk.step.id)
            assert latest is not None  # it was begun
            attempt, agent = latest
            if has_submitted(attempt):
                return replace(talk, attempt=attempt, agent=agent)
            moved = attempt.moved(AttemptStatus.HANDING_OVER, handover_reason=reason)
            await work.attempts.save(moved, agent)
            await work.approvals.void(talk.step.id, now)
            await work.audit.add(
                AuditKind.LIMIT_REACHED,
                now,
                pipeline_id=talk.pipeline.id,
                step_id=talk.step.id,
                session=talk.agent.id,
                reason=reason,
            )
            await work.commit()
        log.info("limit_reached", pipeline=talk.pipeline.id, step=talk.step.id, reason=reason)
        return replace(talk, attempt=moved, agent=agent)

    async def finish(self, talk: Conversation, *, rejoined: bool = False) -> None:
        """Let the session hand over; after this, the next attempt can begin."""
        reason = talk.attempt.handover_reason
        assert reason is not None  # `begin` wrote it
        try:
            made = await draft(self._asker(talk, rejoined=rejoined), lambda: self._observe(talk))
            left = _left_of(made, await self._blockers(talk))
        except (BackendError, RepositoryError) as error:
            await self._endings.release(talk.agent, abort=True)
            left = await self._synthetic(talk, f"{_WHY[reason]}, and it wrote no handoff: {error}")
        await self._save(talk, left, reason)
        await self._endings.release(talk.agent)

    def _asker(self, talk: Conversation, *, rejoined: bool) -> Ask:
        """Asks one thing after the other; what was asked before a crash is not asked again."""
        numbers, is_joined = count(1), not rejoined

        async def ask(text: str) -> str:
            nonlocal is_joined
            number = next(numbers)
            message = await self._saved(talk, text, number)
            if message.status is MessageStatus.REPLIED:
                return message.reply or ""
            if not is_joined:
                await self._conversations.join(talk)
                is_joined = True
            if message.status is MessageStatus.SENDING and number == 1:
                await self._cut_off(talk)
            return await self._exchange(talk, message)

        return ask

    async def _saved(self, talk: Conversation, text: str, number: int) -> SpokenMessage:
        """A question as it stands; it is written down before it is asked."""
        name = hashlib.sha256(f"{talk.agent.key} handover {number}".encode()).hexdigest()[:32]
        async with self._database.begin() as work:
            await work.pipelines.check(talk.lease)
            if (known := await work.sessions.find_message(talk.agent.id, name)) is not None:
                return known
            new = NewMessage(
                agent_id=talk.agent.id,
                role=Role.HANDOFF,
                message_id=name,
                text=text,
                created_at=self._clock.now(),
            )
            message = await work.sessions.add_message(new)
            await work.commit()
        return message

    async def _cut_off(self, talk: Conversation) -> None:
        """Stop what the session is doing. One that has done nothing has nothing to hand over."""
        if talk.backend.capabilities.events and not await self._verification.has_worked(talk.agent):
            raise NoHandoff("it had done nothing yet")
        stopping = talk.backend.interrupt(talk.session)
        await within(self._endings.limits.stop_timeout, stopping, f"{talk.agent.backend} did not stop")

    async def _exchange(self, talk: Conversation, message: SpokenMessage) -> str:
        """Send the question unless it was sent, and wait for the answer."""
        since, rejoined = message.created_at, message.status is MessageStatus.SENT
        if not rejoined:
            await self._conversations.deliver(talk, Message(id=message.message_id, text=message.text))
            message = await self._record(talk, replace(message, status=MessageStatus.SENT))
            since = self._clock.now()
        reply = await self._conversations.reply(talk, message.message_id, rejoined=rejoined, since=since)
        reply = await self._submitted(talk) or reply
        now = self._clock.now()
        await self._record(talk, replace(message, status=MessageStatus.REPLIED, reply=reply, replied_at=now))
        return reply

    async def _submitted(self, talk: Conversation) -> str | None:
        """The handoff that the agent gave through a tool, which wins over its reply; each counts once."""
        async with self._database.begin() as work:
            await work.pipelines.check(talk.lease)
            latest = await work.attempts.latest(talk.step.id)
            if latest is None or not has_submitted(latest[0]):
                return None
            await work.attempts.forget_submission(talk.attempt.id)
            await work.commit()
        handoff = read_handoff(replace(latest[0], blockers_json=None), "")[0].handoff
        return render_handoff(handoff, OutputNotation.YAML) if handoff is not None else None

    async def _blockers(self, talk: Conversation) -> Sequence[Blocker]:
        """What the agent reported to stop it."""
        async with self._database.begin() as work:
            latest = await work.attempts.latest(talk.step.id)
        return reported_blockers(latest[0]) if latest is not None else ()

    async def _record(self, talk: Conversation, message: SpokenMessage) -> SpokenMessage:
        async with self._database.begin() as work:
            await work.pipelines.check(talk.lease)
            await work.sessions.save_message(message)
            await work.commit()
        return message

    async def _observe(self, talk: Conversation) -> Observed | None:
        able = talk.backend.capabilities
        return await self._verification.observe(
            talk.pipeline,
            talk.step,
            talk.agent,
            knows_commands=able.tool_log,
            logs_all=able.whole_log,
        )

    async def _synthetic(self, talk: Conversation, why: str) -> _Left:
        seen, evidence = await self._endings.synthetic(talk.lease, talk.agent, why)
        handoff = add_blockers(seen, await self._blockers(talk))
        text = render_handoff(handoff, OutputNotation.YAML)
        return _Left(
            content=text,
            metadata=handoff,
            ledger_json=None,
            evidence_json=evidence_as_json(evidence),
            is_synthetic=True,
            injection=injection(
                text, measured=measured_lines(evidence) if evidence else (), is_synthetic=True
            ),
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

    async def _write(self, talk: Conversation, left: _Left, reason: Reason, now: datetime) -> str | None:
        """The document, for people; the step goes on without it, for the records hold all of it."""
        document = Document(
            agent=talk.agent.name,
            session=talk.agent.id,
            parent=talk.agent.parent_id,
            reason=reason,
            created_at=now,
            text=left.content,
        )
        try:
            return await self._documents.write(document)
        except StorageError as error:
            log.warning("document_not_written", pipeline=talk.pipeline.id, error=str(error))
            return None

    async def _save(self, talk: Conversation, left: _Left, reason: Reason) -> None:
        """The document, then all rows in one transaction; if that fails, the document goes again."""
        now, changed = self._clock.now(), await self._has_changes(talk)
        path = await self._write(talk, left, reason, now)
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
                    evidence_json=left.evidence_json,
                    is_synthetic=left.is_synthetic,
                    created_at=now,
                    file_path=path,
                    injection_prompt=left.injection,
                    stalled=await stalled_by(work, talk.agent.parent_id, left.metadata, has_changes=changed),
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
            if path is not None:
                await self._documents.remove(path)
            raise
        log.info("session_handed_over", pipeline=talk.pipeline.id, step=talk.step.id, reason=reason)


def _left_of(made: Draft, blockers: Sequence[Blocker]) -> _Left:
    handoff = add_blockers(made.handoff, blockers) if blockers else made.handoff
    text = render_handoff(handoff, OutputNotation.YAML)
    return _Left(
        content=text,
        metadata=handoff,
        ledger_json=made.examined.ledger_json,
        evidence_json=made.examined.evidence_json,
        is_synthetic=False,
        injection=injection(
            render_handoff(mark_handoff(handoff, made.examined.false), OutputNotation.YAML),
            made.examined.corrections,
            measured=made.examined.measured,
        ),
    )
