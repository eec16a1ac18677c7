"""A handover in the middle of a step: its session has reached a limit, and a new one continues the step.

The attempt is marked first; then the turn is cut off, the session is asked for its handoff, the handoff is
reviewed, and saved with the end of the attempt. A session that hands nothing over gets the handoff that Segue
can write for it.
"""

from __future__ import annotations

from dataclasses import replace

import structlog

from segue.application.conversations.registry import Conversations
from segue.application.handoffs.handover import (
    Ask,
    LeftBehind,
    NoHandoff,
    answer_of,
    blockers_of,
    document_of,
    draft,
    left_of,
    record_of,
    stalled_by,
)
from segue.application.handoffs.review import HandoffReviewer
from segue.application.handoffs.step_work import StepWork
from segue.application.handoffs.synthetic import SyntheticHandoffs
from segue.application.handoffs.transactions import save_handover
from segue.application.pipelines.ending import end_attempt
from segue.application.pipelines.run import LeasedRun
from segue.application.pipelines.transactions import begin_handover
from segue.application.ports.store import Reads, Store
from segue.application.ports.world import Clock, Documents
from segue.domain.attempt import Attempt, AttemptStatus
from segue.domain.briefing.handover_prompt import injection
from segue.domain.briefing.measured import measured_lines
from segue.domain.errors import BackendError, RepositoryError, StorageError
from segue.domain.evidence.record import evidence_as_dict
from segue.domain.evidence.sources import Observed
from segue.domain.handoff import OutputNotation, render_handoff
from segue.domain.handoff.checking.submitted import add_blockers
from segue.domain.handoff_record import HandoffRecord
from segue.domain.session import HandoffReason, MessageKind, MessageStatus

log = structlog.get_logger()

_WHY = {
    HandoffReason.CONTEXT_LIMIT: "the session reached its context limit",
    HandoffReason.SHIFT_END: "the session's shift was over",
    HandoffReason.TASK_BOUNDARY: "the session came to the end of a task",
}


class StepHandover:
    """Brings an attempt from its limit to the attempt that continues it."""

    def __init__(
        self,
        *,
        store: Store,
        clock: Clock,
        conversations: Conversations,
        reviewer: HandoffReviewer,
        synthetic: SyntheticHandoffs,
        documents: Documents,
    ) -> None:
        self._store = store
        self._clock = clock
        self._conversations = conversations
        self._reviewer = reviewer
        self._synthetic = synthetic
        self._documents = documents

    async def begin(self, work: StepWork, reason: HandoffReason) -> Attempt | None:
        """Write down that the session will hand over, before it is told; none if it has handed off."""
        (briefing,), now = work.talk.said(MessageKind.BRIEFING), self._clock.now()
        begun = await self._store.write(
            lambda rows: begin_handover(rows, work.lease, work.attempt, briefing, reason, now)
        )
        if begun is None:
            return None
        moved, cut_off = begun
        work.talk.keep(cut_off)
        log.info("limit_reached", **work.where, reason=reason)
        return moved

    async def finish(self, run: LeasedRun, work: StepWork) -> None:
        """Let the session hand over; after this, the next attempt can begin."""
        reason = work.attempt.handover_reason
        assert reason is not None  # `begin` wrote it
        try:
            made = await draft(self._asker(work), lambda: self._observe(work))
            left = left_of(made, await blockers_of(self._store, work.session))
        except (BackendError, RepositoryError) as error:
            await self._conversations.release(work.talk, abort=True)
            left = await self._left_without(work, f"{_WHY[reason]}, and it wrote no handoff: {error}")
        await self._save(run, work, left, reason)
        await self._conversations.release(work.talk)

    def _asker(self, work: StepWork) -> Ask:
        async def ask(kind: MessageKind, text: str) -> str:
            message = next(iter(work.talk.said(kind)), None)  # what was asked before a crash
            if message is None:
                message = await work.talk.add(kind, f"handover-{kind}", text)
            if message.status.is_final and message.status is not MessageStatus.REPLIED:
                raise NoHandoff(message.error or "it gave no answer")
            if message.status is MessageStatus.SENDING and kind is MessageKind.HANDOFF_REQUEST:
                await work.talk.join()
                await self._cut_off(work)
            return await answer_of(self._store, await work.talk.exchange(message))

        return ask

    async def _cut_off(self, work: StepWork) -> None:
        """Stop what the session is doing. One that has done nothing has nothing to hand over."""
        if work.talk.backend.capabilities.events and not await self._reviewer.has_worked(work.session):
            raise NoHandoff("it had done nothing yet")
        await work.talk.interrupt()

    async def _observe(self, work: StepWork) -> Observed | None:
        able, since = work.talk.backend.capabilities, work.step.base_mark
        return await self._reviewer.observe(work.pipeline.workspace, since, work.session, able)

    async def _left_without(self, work: StepWork, why: str) -> LeftBehind:
        seen, evidence = await self._synthetic.write(work.pipeline, work.session, why)
        handoff = add_blockers(seen, await blockers_of(self._store, work.session))
        text = render_handoff(handoff, OutputNotation.YAML)
        measured = measured_lines(evidence) if evidence else ()
        return LeftBehind(
            text=text,
            handoff=handoff,
            ledger=None,
            evidence=evidence_as_dict(evidence) if evidence else None,
            is_synthetic=True,
            injection=injection(text, measured=measured, is_synthetic=True),
        )

    async def _has_changes(self, work: StepWork) -> bool:
        """True if this very session changed files."""
        if work.pipeline.workspace is None:
            return False
        try:
            mark = work.session.base_mark
            found = await self._reviewer.workspaces.evidence(work.pipeline.workspace, mark)
        except RepositoryError:
            return True  # what cannot be read ends no chain
        return found is not None and bool(found.changes)

    async def _save(self, run: LeasedRun, work: StepWork, left: LeftBehind, reason: HandoffReason) -> None:
        """The document, then all rows in one transaction; if that fails, the document goes again."""
        now, changed = self._clock.now(), await self._has_changes(work)

        def before(rows: Reads) -> HandoffRecord | None:
            parent_id = work.session.parent_id
            return rows.last_handoff(parent_id) if parent_id is not None else None

        stalled = stalled_by(await self._store.read(before), left.handoff, has_changes=changed)
        record = replace(record_of(work.session, left, reason, now), stalled=stalled)
        record = replace(record, file_path=await self._write(work, record))
        ended = end_attempt(work.attempt, work.session, AttemptStatus.HANDED_OVER, now)
        try:
            saved = await self._store.write(
                lambda rows: save_handover(
                    rows, work.lease, record, work.where, (ended.attempt, ended.session)
                )
            )
        except BaseException:
            if record.file_path is not None:
                await self._documents.remove(record.file_path)
            raise
        run.attempts[work.step.id], run.sessions[work.step.id] = ended.attempt[1], ended.session[1]
        run.handoffs[work.step.id] = saved
        log.info("session_handed_over", **work.where, reason=reason)

    async def _write(self, work: StepWork, record: HandoffRecord) -> str | None:
        """The document, for people; the step continues without it, for the records hold all of it."""
        try:
            return await self._documents.write(document_of(work.session, record))
        except StorageError as error:
            log.warning("document_not_written", **work.where, error=str(error))
            return None
