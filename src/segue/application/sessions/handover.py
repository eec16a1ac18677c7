"""From one session to the next: the old one is asked, its answer is checked, kept, and handed in.

Order: ask, review, save (the document and all rows, or nothing), start the successor. Until the successor
has taken its first message, a cancellation undoes everything; after that the handoff is a fact.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from secrets import token_urlsafe
from uuid import uuid4

from segue.application.conversations.registry import Conversations
from segue.application.conversations.timeouts import uninterrupted
from segue.application.handoffs.handover import (
    Draft,
    LeftBehind,
    NoHandoff,
    answer_of,
    blockers_of,
    document_of,
    draft,
    edited,
    left_of,
    record_of,
    stalled_by,
)
from segue.application.handoffs.outcomes import (
    HandedOff,
    HandoffCancelled,
    HandoffFailed,
    HandoverRequest,
    Outcome,
    Progress,
    Stage,
)
from segue.application.handoffs.review import HandoffReviewer
from segue.application.ports.store import Reads
from segue.application.ports.world import Documents
from segue.application.sessions.transactions import (
    end_session,
    hand_in,
    settle_handover,
    undo_handover,
    withdraw,
)
from segue.domain.audit import SEGUE
from segue.domain.briefing.handover_prompt import problems_that_count
from segue.domain.errors import BackendError, RepositoryError, StorageError
from segue.domain.evidence.sources import Observed
from segue.domain.handoff_record import HandoffRecord
from segue.domain.session import MOST_HANDOFFS_WITHOUT_PROGRESS, MessageKind, Session, nothing_new
from segue.domain.workspace import WorkspaceChoice


class _Stop(Exception):
    """An outcome on its way out."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__()
        self.outcome = outcome


class SessionHandover:
    """Brings a handoff between two sessions to its end."""

    def __init__(
        self, *, conversations: Conversations, documents: Documents, reviewer: HandoffReviewer
    ) -> None:
        self._conversations = conversations
        self._store, self._clock = conversations.parts.store, conversations.parts.clock
        self._documents = documents
        self._reviewer = reviewer

    async def mark(self, working_dir: str) -> str | None:
        """A name for the present state of a folder; none outside of git."""
        workspaces = self._reviewer.workspaces
        try:
            return await workspaces.mark(await workspaces.check(working_dir, None, WorkspaceChoice.IN_PLACE))
        except RepositoryError:
            return None

    async def run(self, session: Session, request: HandoverRequest, progress: Progress) -> Outcome:
        """Ask, review, save, start the successor."""
        try:
            made = await self._draft(session, request)
            left = left_of(made, await blockers_of(self._store, session), focus=request.focus)
            stalled = await self._stalled(session, left, made)
            if request.automatic and stalled >= MOST_HANDOFFS_WITHOUT_PROGRESS:
                raise _failed(
                    session, f"{nothing_new(stalled)}. Give the work smaller steps, or continue by hand"
                )
            record = replace(record_of(session, left, request.reason, self._clock.now()), stalled=stalled)
            return await self._hand_in(session, request, record, made, progress)
        except _Stop as stop:
            return stop.outcome
        except (BackendError, StorageError) as error:
            return HandoffFailed(session_id=session.id, why=str(error))

    async def _draft(self, session: Session, request: HandoverRequest) -> Draft:
        request.report(Stage.ASKED, session)
        try:
            made = await draft(
                lambda kind, text: self._ask(session, kind, text, request),
                lambda: self._observe(session),
                focus=request.focus,
                on_repair=lambda: request.report(Stage.REPAIRING, session),
            )
        except NoHandoff as error:
            raise _failed(session, str(error)) from None
        if request.edit is None:
            return made
        text = await request.edit(made)
        if text is None:
            raise _Stop(HandoffCancelled(session_id=session.id))
        again = await edited(made, text)
        if again is None:
            raise _failed(session, "the edited text holds no handoff")
        return again

    async def _ask(self, session: Session, kind: MessageKind, text: str, request: HandoverRequest) -> str:
        """The reply to this very question."""
        talk, key = self._conversations.of(session), uuid4().hex
        try:
            asked = await talk.add(kind, key, text)
        except asyncio.CancelledError:
            await uninterrupted(self._store.write(lambda rows: withdraw(rows, session.id, key)))
            raise
        return await answer_of(self._store, await talk.exchange(asked, on_event=request.on_event))

    async def _observe(self, session: Session) -> Observed | None:
        able = self._conversations.of(session).backend.capabilities
        try:
            folder, choice = session.working_dir, WorkspaceChoice.IN_PLACE
            workspace = await self._reviewer.workspaces.check(folder, None, choice)
            return await self._reviewer.observe(workspace, session.base_mark, session, able)
        except RepositoryError:
            return None  # what cannot be read refutes nothing

    async def _stalled(self, session: Session, left: LeftBehind, made: Draft) -> int:
        def before(rows: Reads) -> HandoffRecord | None:
            return rows.last_handoff(session.parent_id) if session.parent_id is not None else None

        found = await self._store.read(before)
        return stalled_by(found, left.handoff, has_changes=made.has_changes)

    async def _hand_in(
        self,
        session: Session,
        request: HandoverRequest,
        record: HandoffRecord,
        made: Draft,
        progress: Progress,
    ) -> Outcome:
        try:
            await uninterrupted(self._save(session, request, record, progress))
            assert progress.successor is not None
            assert progress.first is not None
            assert progress.record is not None
            document = progress.record.file_path or ""
            talk = self._conversations.of(progress.successor)
            try:
                await talk.open()
                progress.successor = talk.session
                first = progress.first = await talk.deliver(progress.first)
            except BackendError as error:
                await uninterrupted(self._give_up(progress, str(error)))
                why = f"the new session could not be started: {error}. The document is saved: {document}"
                return HandoffFailed(session_id=session.id, why=why, document=document)
        except asyncio.CancelledError:
            await uninterrupted(self._undo(progress))
            raise
        progress.is_fact = True
        saved, successor, now = progress.record, progress.successor, self._clock.now()
        actor = SEGUE if request.automatic else request.actor
        await uninterrupted(
            self._store.write(lambda rows: settle_handover(rows, saved, successor, now, actor=actor))
        )
        request.report(Stage.TAKEN, session, successor)
        reply: str | None = None
        problem: str | None = None
        try:
            reply = (await talk.exchange(first, on_event=request.on_event)).reply
        except BackendError as error:
            problem = str(error)
        return HandedOff(
            session_id=session.id,
            successor_id=successor.id,
            handoff_id=saved.id,
            reason=request.reason,
            document=document,
            text=record.content_md,
            problems=tuple(problems_that_count(made.reviewed.problems)),
            refuted=made.reviewed.refuted,
            reply=reply,
            problem=problem,
        )

    async def _save(
        self, session: Session, request: HandoverRequest, record: HandoffRecord, progress: Progress
    ) -> None:
        """The document, then all rows in one transaction; if that fails, the document goes again."""
        name, _ = self._conversations.backends.get(request.profile.backend, request.name)
        mark = await self.mark(session.working_dir)
        path = await self._documents.write(document_of(session, record))
        successor = Session(
            name=request.name,
            backend=name,
            key=uuid4().hex,
            token=token_urlsafe(32),
            parent_id=session.id,
            title=session.title,
            model=request.model,
            working_dir=session.working_dir,
            profile=request.profile,
            timeout=request.profile.timeout,
            base_mark=mark,
            started_at=record.created_at,
        )
        kept, key = replace(record, file_path=path), uuid4().hex
        try:
            saved = await self._store.write(lambda rows: hand_in(rows, kept, successor, key))
        except BaseException:
            await self._documents.remove(path)
            raise
        progress.record, progress.successor, progress.first = saved

    async def _undo(self, progress: Progress) -> None:
        """All is as it was before."""
        record, successor = progress.record, progress.successor
        if record is None or successor is None:
            return
        await self._conversations.release(self._conversations.of(successor), abort=True)
        await self._store.write(lambda rows: undo_handover(rows, record, successor))
        if record.file_path is not None:
            await self._documents.remove(record.file_path)

    async def _give_up(self, progress: Progress, why: str) -> None:
        """The successor never began; what was handed off is kept."""
        assert progress.successor is not None
        assert progress.first is not None
        talk = self._conversations.of(progress.successor)
        await self._conversations.release(talk, abort=True)
        await talk.save(progress.first, progress.first.failed(why))
        now = self._clock.now()
        await self._store.write(lambda rows: end_session(rows, talk.session, now, actor=SEGUE))


def _failed(session: Session, why: str) -> _Stop:
    return _Stop(HandoffFailed(session_id=session.id, why=why))
