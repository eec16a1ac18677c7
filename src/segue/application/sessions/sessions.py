"""Sessions outside of pipelines: start, say, resume, end, and hand over from one to the next."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from secrets import token_urlsafe
from uuid import uuid4

from segue.application.conversations.conversation import Conversation
from segue.application.conversations.recorder import OnEvent
from segue.application.conversations.registry import Conversations
from segue.application.conversations.timeouts import uninterrupted
from segue.application.handoffs.outcomes import (
    Compacted,
    Edit,
    HandedOff,
    HandoffCancelled,
    HandoffFailed,
    HandoverRequest,
    OnStageChange,
    Outcome,
    Progress,
)
from segue.application.ports.store import Reads
from segue.application.ports.world import CatalogSource
from segue.application.sessions.handover import SessionHandover
from segue.application.sessions.model import Answer, SessionPolicy
from segue.application.sessions.profiles import find_folder, find_profile
from segue.application.sessions.transactions import (
    end_session,
    find_open_session,
    find_session,
    record_started,
    withdraw,
)
from segue.application.views import Lineage, SessionDetail, SessionPage
from segue.domain.briefing.handover_prompt import FEWEST_MESSAGES, NOTHING_TO_HAND_OFF
from segue.domain.catalog import AgentProfile
from segue.domain.errors import (
    BackendError,
    BackendUnavailable,
    CatalogError,
    IllegalMove,
    InvalidRequest,
    NothingToHandOff,
    UnknownName,
)
from segue.domain.session import (
    HandoffReason,
    MessageKind,
    MessageStatus,
    Session,
    SessionMessage,
)

_LONGEST_ID = 64


@dataclass(slots=True)
class _Handing:
    """A handoff that is under way."""

    task: asyncio.Task[Outcome]
    progress: Progress


class Sessions:
    """All that can be done with sessions. In one session, one thing happens at a time."""

    def __init__(
        self,
        *,
        conversations: Conversations,
        handover: SessionHandover,
        catalog: CatalogSource,
        policy: SessionPolicy | None = None,
    ) -> None:
        self._conversations = conversations
        self._store, self._clock = conversations.parts.store, conversations.parts.clock
        self._handover = handover
        self._catalog = catalog
        self.policy = policy or SessionPolicy()
        self._handing: dict[int, _Handing] = {}

    async def start(
        self,
        who: str,
        *,
        working_dir: str | None = None,
        model: str | None = None,
        title: str = "",
        actor: str | None = None,
    ) -> SessionDetail:
        """Begin a session with an agent profile, or with a back end as it is; `auto` is the default one."""
        folder = find_folder(working_dir)
        name, profile = await asyncio.to_thread(self.profile, who, folder)
        backend_name, backend = self._conversations.backends.get(profile.backend, name)
        new = Session(
            name=name,
            backend=backend_name,
            key=uuid4().hex,
            token=token_urlsafe(32),
            title=title,
            model=model or profile.model,
            working_dir=folder,
            profile=profile,
            timeout=profile.timeout,
            base_mark=await self._handover.mark(folder),
            started_at=self._clock.now(),
        )
        session = await self._store.write(lambda rows: rows.insert(new))
        talk = self._conversations.of(session)
        try:
            if not await backend.converses(talk.request):
                raise BackendUnavailable(
                    f'the back end "{backend_name}" holds no conversation: it would forget each message. '
                    "Take another one for a session; `segue agents doctor` shows those that work"
                )
            await talk.open()
            await self._store.write(lambda rows: record_started(rows, session, actor=actor))
        except (BackendError, asyncio.CancelledError):
            await uninterrupted(self._forget(talk))
            raise
        return await self.show(session.id)

    async def say(  # noqa: PLR0913  # each is a choice of the caller's own
        self,
        session_id: int,
        text: str,
        *,
        message_id: str | None = None,
        on_event: OnEvent | None = None,
        on_stage: OnStageChange | None = None,
        auto_handoff: bool | None = None,
        actor: str | None = None,
    ) -> Answer:
        """Say something and wait for the reply. The same message id again gives the same reply.

        If a limit is reached by then and automatic handoffs are on, the session hands itself over, and the
        answer tells where the work continues.
        """
        if not text.strip():
            raise InvalidRequest("there is nothing to say: the message is empty")
        if message_id is not None and not 0 < len(message_id) <= _LONGEST_ID:
            raise InvalidRequest(f"a message id has 1 to {_LONGEST_ID} characters")
        await self._trusted(session_id)
        said = await self._say(session_id, text, message_id or uuid4().hex, on_event, actor)
        answer = Answer(session_id=session_id, message_id=said.key, reply=said.reply or "")
        automatic = self.policy.auto_handoff if auto_handoff is None else auto_handoff
        return await self._hand_over_while_full(answer, on_event, on_stage) if automatic else answer

    async def stop(self, session_id: int) -> bool:
        """Stop what the agent of a session is at; whoever waits for its reply is told so.

        False if it is at nothing. To stop a handoff there is `cancel`.
        """
        talk = self._conversations.held(session_id)
        return talk is not None and await talk.stop()

    async def resume(self, session_id: int) -> SessionDetail:
        """Make a session usable again that an earlier process opened, or that has handed over."""
        async with self._conversations.turn(session_id):
            await self._conversations.of(await self._trusted(session_id)).join()
        return await self.show(session_id)

    async def end(self, session_id: int, *, actor: str | None = None) -> SessionDetail:
        """Close a session for good; what was said stays readable. Safe to repeat."""
        await self.cancel(session_id)
        async with self._conversations.turn(session_id):
            session = await self._store.read(lambda rows: find_session(rows, session_id))
            if session.ended_at is None:
                talk = self._conversations.of(session)
                await self._conversations.release(talk, abort=True)
                now = self._clock.now()
                await self._store.write(lambda rows: end_session(rows, session, now, actor=actor))
        return await self.show(session_id)

    async def list(self, *, before: int | None = None, limit: int = 50) -> SessionPage:
        """The sessions outside of pipelines, newest first."""
        return await self._store.views.sessions(before=before, limit=limit)

    async def show(self, session_id: int) -> SessionDetail:
        """One session with all that was said in it."""
        return await self._store.views.session(session_id)

    async def lineage(self, session_id: int) -> Lineage:
        """Where a session came from, and what continues from it."""
        return await self._store.views.lineage(session_id)

    async def answer(self, session_id: int, permission_id: str, *, allow: bool, comment: str = "") -> None:
        """Answer what the agent of a session asked, as `on_event` told it."""
        session = await self._open_one(session_id)
        await self._conversations.of(session).answer(permission_id, allow=allow, comment=comment)

    def is_handing_off(self, session_id: int) -> bool:
        """True while a handoff of this session is under way here."""
        return session_id in self._handing

    async def hand_off(  # noqa: PLR0913  # each is a choice of the caller's own
        self,
        session_id: int,
        *,
        reason: HandoffReason | str,
        focus: str = "",
        to: str | None = None,
        in_place: bool = False,
        edit: Edit | None = None,
        on_event: OnEvent | None = None,
        on_stage: OnStageChange | None = None,
        actor: str | None = None,
    ) -> Outcome:
        """Let a session write down what it knows, and continue in a new one with that.

        `NothingToHandOff` if too little was said. Cancelling the caller, or `cancel`, undoes what was begun.
        """
        known, session = _known(reason), await self._trusted(session_id)
        if in_place and (to is not None or focus.strip() or edit is not None):
            raise InvalidRequest(
                "in place there is no successor, and the back end sums up by itself: leave out `to`, `focus` "
                "and `edit`, or hand over to a new session"
            )
        name, profile, model = session.name, session.profile, session.model
        if to is not None:
            name, profile = await asyncio.to_thread(self.profile, to, session.working_dir)
            model = profile.model
        request = HandoverRequest(
            reason=known,
            focus=focus,
            name=name,
            profile=profile,
            model=model,
            edit=edit,
            on_event=on_event,
            on_stage=on_stage,
            actor=actor,
        )
        return await self._hand_off(session_id, request, in_place=in_place)

    async def cancel(self, session_id: int) -> bool:
        """Stop a handoff that is under way; false if there is none, or if it has come too far already."""
        handing = self._handing.get(session_id)
        if handing is None or handing.progress.is_fact:
            return False
        handing.task.cancel()
        await asyncio.wait({handing.task})
        return handing.task.cancelled()

    async def _hand_over_while_full(
        self, answer: Answer, on_event: OnEvent | None, on_stage: OnStageChange | None
    ) -> Answer:
        """Hand over for as long as a limit is reached; what brings nothing new ends it."""
        while (reason := await self._reached(answer.session_id)) is not None:
            if self.is_handing_off(answer.session_id):
                break  # somebody asked for it already
            try:
                session = await self._trusted(answer.session_id)
            except CatalogError as error:
                failed = HandoffFailed(session_id=answer.session_id, why=str(error))
                return replace(answer, handoffs=(*answer.handoffs, failed))
            request = HandoverRequest(
                reason=reason,
                name=session.name,
                profile=session.profile,
                model=session.model,
                on_event=on_event,
                on_stage=on_stage,
                automatic=True,
            )
            outcome = await self._hand_off(session.id, request)
            answer = replace(answer, handoffs=(*answer.handoffs, outcome))
            if not isinstance(outcome, HandedOff):
                break
            answer = replace(answer, session_id=outcome.successor_id)
            if outcome.reply is None:
                break
        return answer

    async def _reached(self, session_id: int) -> HandoffReason | None:
        def look(rows: Reads) -> tuple[Session, tuple[SessionMessage, ...]]:
            return find_session(rows, session_id), rows.find(SessionMessage, session_id=session_id)

        session, said = await self._store.read(look)
        turns = sum(message.status is MessageStatus.REPLIED for message in said)
        return self.policy.limits.reached(session.usage, turns, session.started_at, self._clock.now())

    async def _hand_off(
        self, session_id: int, request: HandoverRequest, *, in_place: bool = False
    ) -> Outcome:
        if session_id in self._handing:
            raise IllegalMove(f"session {session_id} is handing over already")
        progress = Progress()
        act = (
            self._compact(session_id, request.actor)
            if in_place
            else self._in_turn(session_id, request, progress)
        )
        task = asyncio.create_task(act)
        self._handing[session_id] = _Handing(task, progress)
        try:
            return await task
        except asyncio.CancelledError:
            caller = asyncio.current_task()
            if caller is not None and caller.cancelling():
                raise
            return HandoffCancelled(session_id=session_id)
        finally:
            del self._handing[session_id]

    async def _in_turn(self, session_id: int, request: HandoverRequest, progress: Progress) -> Outcome:
        async with self._conversations.turn(session_id):
            session = await self._guarded(session_id)
            return await self._handover.run(session, request, progress)

    async def _compact(self, session_id: int, actor: str | None) -> Outcome:
        async with self._conversations.turn(session_id):
            session = await self._guarded(session_id)
            talk = self._conversations.of(session)
            if not talk.backend.capabilities.compaction:
                return HandoffFailed(
                    session_id=session_id,
                    why=f'the back end "{session.backend}" cannot compact a session in place; hand off to '
                    "a new session instead",
                )
            try:
                await talk.compact(actor=actor)
            except BackendError as error:
                return HandoffFailed(session_id=session_id, why=str(error))
            return Compacted(session_id=session_id)

    async def _trusted(self, session_id: int) -> Session:
        """A session that has not ended, in a project that is trusted with the scripts that it has now."""
        session = await self._open_one(session_id)
        await asyncio.to_thread(self._catalog.check_copy, session.working_dir, session.working_dir, None)
        return session

    async def _guarded(self, session_id: int) -> Session:
        """The session, if enough was said in it: the one place that decides."""
        session = await self._open_one(session_id)
        if (await self.show(session_id)).messages < FEWEST_MESSAGES:
            raise NothingToHandOff(NOTHING_TO_HAND_OFF)
        return session

    async def _open_one(self, session_id: int) -> Session:
        return await self._store.read(lambda rows: find_open_session(rows, session_id))

    async def _say(
        self, session_id: int, text: str, key: str, on_event: OnEvent | None, actor: str | None
    ) -> SessionMessage:
        """Say something and wait for the reply; what a crash left open is brought to its end first."""
        talk = self._conversations.of(await self._open_one(session_id))
        try:
            own = await talk.add(MessageKind.USER, key, text, actor=actor)
            async with self._conversations.turn(session_id):
                talk = self._conversations.of(await self._open_one(session_id))
                said = await self._store.read(lambda rows: rows.find(SessionMessage, session_id=session_id))
                own = next(message for message in said if message.id == own.id)
                if not own.status.is_final:
                    await self._settle_before(talk, said, own, on_event)
                    own = await talk.exchange(own, on_event=on_event)
        except asyncio.CancelledError:
            await uninterrupted(self._store.write(lambda rows: withdraw(rows, session_id, key)))
            raise
        if own.status is not MessageStatus.REPLIED:
            raise IllegalMove(f'the message "{own.key}" is {own.status}: {own.error}')
        return own

    async def _settle_before(
        self,
        talk: Conversation,
        said: tuple[SessionMessage, ...],
        own: SessionMessage,
        on_event: OnEvent | None,
    ) -> None:
        for message in said:
            if message.id < own.id and not message.status.is_final:
                try:
                    await talk.exchange(message, on_event=on_event)
                except BackendError:
                    continue  # it is recorded, and concerns its own sender

    async def _forget(self, talk: Conversation) -> None:
        await self._conversations.release(talk, abort=True)
        await self._store.write(lambda rows: rows.delete(talk.session))

    def names(self, working_dir: str) -> tuple[str, ...]:
        """The agents and back ends that a session can be begun with in a folder."""
        return tuple(
            sorted({*self._catalog.load(working_dir).agents, *self._conversations.backends.states()})
        )

    def profile(self, who: str, folder: str) -> tuple[str, AgentProfile]:
        """An agent profile by its name, or a back end as it is; `auto` is the default one."""
        return find_profile(who, folder, self._catalog, self._conversations.backends)


def _known(reason: HandoffReason | str) -> HandoffReason:
    if reason not in set(HandoffReason):
        raise UnknownName("reason", str(reason), HandoffReason)
    return HandoffReason(reason)
