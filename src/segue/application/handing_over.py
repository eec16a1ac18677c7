"""From one session to the next: the old one is asked, its answer is checked, kept, and handed in.

Order: ask, examine, save (the document and all rows, or nothing), start the successor. Until the successor
has taken its first message, a cancellation undoes everything; after that the handoff is a fact.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from uuid import uuid4

from segue.application.drafting import NoHandoff, draft, examine, stalled_by
from segue.application.handoff_outcomes import (
    Edit,
    HandedOff,
    HandoffCancelled,
    HandoffFailed,
    Outcome,
    Progress,
    Stage,
    Wanted,
)
from segue.application.patience import unbroken
from segue.application.ports import NewHandoff
from segue.application.session_ports import Documents, NewMessage, NewSession
from segue.application.talking import Talking
from segue.application.verification import Examined, Verification
from segue.domain.audit import AuditKind
from segue.domain.briefing.marking import mark_handoff
from segue.domain.errors import BackendError, RepositoryError, StorageError
from segue.domain.evidence.sources import Observed
from segue.domain.handing_over import (
    Document,
    injection,
    problems_that_count,
)
from segue.domain.handoff import (
    Handoff,
    OutputNotation,
    render_handoff,
)
from segue.domain.limits import MOST_HANDOFFS_WITHOUT_PROGRESS, nothing_new
from segue.domain.sessions import MessageStatus, Reason, Role, Session, SpokenMessage
from segue.domain.workspace import WorkspaceChoice


@dataclass(frozen=True, kw_only=True, slots=True)
class _Ready:
    """A handoff that may be saved."""

    handoff: Handoff
    text: str
    examined: Examined
    stalled: int
    injection: str = field(repr=False)


class _Stop(Exception):
    """An outcome on its way out."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__()
        self.outcome = outcome


class HandingOver:
    """Brings a handoff between two sessions to its end."""

    def __init__(self, *, talking: Talking, documents: Documents, verification: Verification) -> None:
        self._talking = talking
        self._documents = documents
        self._workspaces = verification.workspaces

    async def mark(self, working_dir: str) -> str | None:
        """A name for the present state of a folder; none outside of git."""
        try:
            workspace = await self._workspaces.check(working_dir, None, WorkspaceChoice.IN_PLACE)
            return await self._workspaces.mark(workspace)
        except RepositoryError:
            return None

    async def run(self, session: Session, wanted: Wanted, progress: Progress) -> Outcome:
        """Ask, examine, save, start; the outcome is told apart from what it did."""
        try:
            ready = await self._prepare(session, wanted)
            return await self._hand_in(session, wanted, ready, progress)
        except _Stop as stop:
            return stop.outcome
        except (BackendError, StorageError) as error:
            return HandoffFailed(session_id=session.id, why=str(error))

    async def _prepare(self, session: Session, wanted: Wanted) -> _Ready:
        wanted.tell(Stage.ASKED, session)
        try:
            made = await draft(
                lambda text: self._ask(session, text, wanted),
                lambda: self._observe(session),
                focus=wanted.focus,
                on_mending=lambda: wanted.tell(Stage.MENDING, session),
            )
        except NoHandoff as error:
            raise _failed(session, str(error)) from None
        examined, observed = made.examined, made.observed
        if wanted.edit is not None:
            examined = await _edited(session, wanted.edit, examined, observed)
        handoff = examined.handoff
        assert handoff is not None
        text = render_handoff(handoff, OutputNotation.YAML)
        has_changes = observed is not None and bool(observed.evidence.changes)
        async with self._talking.database.begin() as work:
            stalled = await stalled_by(work, session.parent_id, handoff, has_changes=has_changes)
        if wanted.automatic and stalled >= MOST_HANDOFFS_WITHOUT_PROGRESS:
            raise _failed(
                session,
                f"{nothing_new(stalled)}. Give the work smaller steps, or go on by hand",
            )
        return _Ready(
            handoff=handoff,
            text=text,
            examined=examined,
            stalled=stalled,
            injection=injection(
                render_handoff(mark_handoff(handoff, examined.false), OutputNotation.YAML),
                examined.corrections,
                measured=examined.measured,
            ),
        )

    async def _ask(self, session: Session, text: str, wanted: Wanted) -> str:
        """The reply to this very question."""
        message_id = uuid4().hex
        try:
            asked = await self._talking.save(session, Role.HANDOFF, text, message_id)
        except asyncio.CancelledError:
            await unbroken(self._talking.withdraw(session, message_id))
            raise
        return (await self._talking.exchange(session, asked, wanted.on_event)).reply or ""

    async def _observe(self, session: Session) -> Observed | None:
        try:
            workspace = await self._workspaces.check(session.working_dir, None, WorkspaceChoice.IN_PLACE)
            return await self._workspaces.observe(workspace, session.base_mark)
        except RepositoryError:
            return None  # what cannot be read refutes nothing

    async def _hand_in(self, session: Session, wanted: Wanted, ready: _Ready, progress: Progress) -> Outcome:
        try:
            await unbroken(self._save(session, wanted, ready, progress))
            assert progress.successor is not None
            assert progress.first is not None
            assert progress.path is not None
            assert progress.handoff_id is not None
            try:
                successor = await self._talking.open(progress.successor)
                progress.successor = successor
                first = await self._talking.deliver(successor, progress.first)
            except BackendError as error:
                await unbroken(self._give_up(progress, str(error)))
                why = f"the new session could not be started: {error}. The document is saved: {progress.path}"
                return HandoffFailed(session_id=session.id, why=why, document=progress.path)
        except asyncio.CancelledError:
            await unbroken(self._undo(progress))
            raise
        progress.is_fact = True
        await unbroken(self._settle(session, successor, wanted.reason, progress.handoff_id))
        wanted.tell(Stage.TAKEN, session, successor)
        reply, problem = await self._first_reply(successor, first, wanted)
        return HandedOff(
            session_id=session.id,
            successor_id=successor.id,
            handoff_id=progress.handoff_id,
            reason=wanted.reason,
            document=progress.path,
            text=ready.text,
            problems=tuple(problems_that_count(ready.examined.problems)),
            refuted=ready.examined.refuted,
            reply=reply,
            problem=problem,
        )

    async def _first_reply(
        self, successor: Session, first: SpokenMessage, wanted: Wanted
    ) -> tuple[str | None, str | None]:
        try:
            return (await self._talking.exchange(successor, first, wanted.on_event)).reply, None
        except BackendError as error:
            return None, str(error)

    async def _save(self, session: Session, wanted: Wanted, ready: _Ready, progress: Progress) -> None:
        """The document, then all rows in one transaction; if that fails, the document goes again."""
        now = self._talking.clock.now()
        name, _ = self._talking.backends.get(wanted.profile.backend, wanted.name)
        mark = await self.mark(session.working_dir)
        progress.path = await self._documents.write(
            Document(
                agent=session.name,
                session=session.id,
                parent=session.parent_id,
                reason=wanted.reason,
                created_at=now,
                text=ready.text,
            )
        )
        try:
            async with self._talking.database.begin() as work:
                handoff_id = await work.handoffs.add(
                    NewHandoff(
                        agent_id=session.id,
                        step_id=None,
                        reason=wanted.reason,
                        content_md=ready.text,
                        metadata_json=ready.handoff.to_json(),
                        ledger_json=ready.examined.ledger_json,
                        evidence_json=ready.examined.evidence_json,
                        is_synthetic=False,
                        created_at=now,
                        file_path=progress.path,
                        injection_prompt=ready.injection,
                        stalled=ready.stalled,
                    )
                )
                successor = await work.sessions.add(
                    NewSession(
                        name=wanted.name,
                        backend=name,
                        key=uuid4().hex,
                        parent_id=session.id,
                        title=session.title,
                        model=wanted.model,
                        working_dir=session.working_dir,
                        profile=wanted.profile,
                        base_mark=mark,
                        started_at=now,
                    )
                )
                first = await work.sessions.add_message(
                    NewMessage(
                        agent_id=successor.id,
                        role=Role.HANDOFF,
                        message_id=uuid4().hex,
                        text=ready.injection,
                        created_at=now,
                    )
                )
                await work.commit()
        except BaseException:
            await self._documents.remove(progress.path)
            raise
        progress.handoff_id, progress.successor, progress.first = handoff_id, successor, first

    async def _undo(self, progress: Progress) -> None:
        """All is as it was before."""
        if progress.successor is None or progress.handoff_id is None or progress.path is None:
            return
        await self._talking.release(progress.successor, abort=True)
        async with self._talking.database.begin() as work:
            await work.sessions.remove(progress.successor.id)
            await work.sessions.remove_handoff(progress.handoff_id)
            await work.commit()
        await self._documents.remove(progress.path)

    async def _give_up(self, progress: Progress, why: str) -> None:
        """The successor never began; what was handed off is kept."""
        assert progress.successor is not None
        assert progress.first is not None
        await self._talking.release(progress.successor, abort=True)
        await self._talking.record(progress.first, MessageStatus.FAILED, error=why)
        await self._talking.end(progress.successor)

    async def _settle(self, session: Session, successor: Session, reason: Reason, handoff_id: int) -> None:
        """Tell that it is done. What still waited in the old session was meant for one that goes on."""
        async with self._talking.database.begin() as work:
            why = f"the session handed over to session {successor.id}; say it there"
            await work.sessions.drop_waiting(session.id, why)
            await work.audit.add(
                AuditKind.SESSION_HANDED_OVER,
                self._talking.clock.now(),
                session=session.id,
                successor=successor.id,
                handoff_id=handoff_id,
                reason=reason,
            )
            await work.commit()


async def _edited(session: Session, edit: Edit, examined: Examined, observed: Observed | None) -> Examined:
    """The handoff as a person wants it."""
    assert examined.handoff is not None
    text = render_handoff(examined.handoff, OutputNotation.YAML)
    edited = await edit(text)
    if edited is None:
        raise _Stop(HandoffCancelled(session_id=session.id))
    if edited == text:
        return examined
    again = await examine(edited, observed)
    if again.handoff is None:
        raise _failed(session, "the edited text holds no handoff")
    return again


def _failed(session: Session, why: str) -> _Stop:
    return _Stop(HandoffFailed(session_id=session.id, why=why))
