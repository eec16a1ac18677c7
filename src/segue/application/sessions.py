"""Sessions outside of pipelines: start, say, resume, end, and hand over from one to the next."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from pathlib import Path
from uuid import uuid4

from segue.application.handing_over import HandingOver
from segue.application.handoff_outcomes import (
    Compacted,
    Edit,
    HandedOff,
    HandoffCancelled,
    HandoffFailed,
    OnMove,
    Outcome,
    Progress,
    Wanted,
)
from segue.application.patience import unbroken
from segue.application.ports import CatalogSource
from segue.application.saying import Saying
from segue.application.session_ports import NewSession
from segue.application.session_views import Lineage, SessionDetail, SessionPage
from segue.application.talking import OnEvent, Talking
from segue.domain.audit import AuditKind
from segue.domain.catalog import AUTO, AgentProfile
from segue.domain.errors import (
    BackendError,
    BackendUnavailable,
    CatalogError,
    IllegalMove,
    InvalidRequest,
    NothingToHandOff,
    UnknownName,
)
from segue.domain.handing_over import FEWEST_MESSAGES, NOTHING_TO_HAND_OFF
from segue.domain.limits import HandoffLimits
from segue.domain.sessions import MessageStatus, Reason, Session

_LONGEST_ID = 64


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """What came of a message."""

    session_id: int
    """Where to go on: the successor's, if the session handed itself over."""
    message_id: str
    reply: str
    handoffs: tuple[Outcome, ...] = ()
    """The handoffs that came of it, in order."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SessionPolicy:
    """When sessions hand themselves over."""

    auto_handoff: bool = False
    limits: HandoffLimits = field(default_factory=HandoffLimits)


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
        talking: Talking,
        handing_over: HandingOver,
        catalog: CatalogSource,
        policy: SessionPolicy | None = None,
    ) -> None:
        self._talking = talking
        self._saying = Saying(talking)
        self._database = talking.database
        self._clock = talking.clock
        self._handing_over = handing_over
        self._catalog = catalog
        self.policy = policy or SessionPolicy()
        self._handing: dict[int, _Handing] = {}

    async def start(
        self, who: str, *, working_dir: str | None = None, model: str | None = None, title: str = ""
    ) -> SessionDetail:
        """Begin a session with an agent profile, or with a back end as it is; `auto` is the default one."""
        folder = _folder(working_dir)
        name, profile = await asyncio.to_thread(self.profile, who, folder)
        backend_name, backend = self._talking.backends.get(profile.backend, name)
        new = NewSession(
            name=name,
            backend=backend_name,
            key=uuid4().hex,
            parent_id=None,
            title=title,
            model=model or profile.model,
            working_dir=folder,
            profile=profile,
            base_mark=await self._handing_over.mark(folder),
            started_at=self._clock.now(),
        )
        async with self._database.begin() as work:
            session = await work.sessions.add(new)
            await work.commit()
        try:
            if not await backend.converses(self._talking.request_of(session)):
                raise BackendUnavailable(
                    f'the back end "{backend_name}" holds no conversation: it would forget each message. '
                    "Take another one for a session; `segue agents doctor` shows those that work"
                )
            await self._talking.open(session)
            await self._tell_started(session)
        except (BackendError, asyncio.CancelledError):
            await unbroken(self._forget(session))
            raise
        return await self.show(session.id)

    async def _tell_started(self, session: Session) -> None:
        async with self._database.begin() as work:
            await work.audit.add(
                AuditKind.SESSION_STARTED,
                session.started_at,
                session=session.id,
                agent=session.name,
                backend=session.backend,
            )
            await work.commit()

    async def say(
        self,
        session_id: int,
        text: str,
        *,
        message_id: str | None = None,
        on_event: OnEvent | None = None,
        on_move: OnMove | None = None,
        auto_handoff: bool | None = None,
    ) -> Answer:
        """Say something and wait for the reply. The same message id again gives the same reply.

        If a limit is reached by then and automatic handoffs are on, the session hands itself over, and the
        answer tells where the work goes on.
        """
        if not text.strip():
            raise InvalidRequest("there is nothing to say: the message is empty")
        if message_id is not None and not 0 < len(message_id) <= _LONGEST_ID:
            raise InvalidRequest(f"a message id has 1 to {_LONGEST_ID} characters")
        await self._trusted(session_id)
        said = await self._saying.say(session_id, text, message_id or uuid4().hex, on_event)
        answer = Answer(session_id=session_id, message_id=said.message_id, reply=said.reply or "")
        automatic = self.policy.auto_handoff if auto_handoff is None else auto_handoff
        return await self._hand_over_while_full(answer, on_event, on_move) if automatic else answer

    async def stop(self, session_id: int) -> bool:
        """Stop what the agent of a session is at; whoever waits for its reply is told so.

        False if it is at nothing. To stop a handoff there is `cancel`.
        """
        return await self._talking.stop(session_id)

    async def resume(self, session_id: int) -> SessionDetail:
        """Make a session usable again that an earlier process opened, or that has handed over."""
        async with self._saying.turn(session_id):
            await self._talking.join(await self._trusted(session_id))
        return await self.show(session_id)

    async def end(self, session_id: int) -> SessionDetail:
        """Close a session for good; what was said stays readable. Safe to repeat."""
        await self.cancel(session_id)
        async with self._saying.turn(session_id):
            async with self._database.begin() as work:
                session = await work.sessions.get(session_id)
            if session.ended_at is None:
                await self._talking.release(session, abort=True)
                async with self._database.begin() as work:
                    await work.sessions.drop_waiting(session_id, "the session has ended")
                    await work.commit()
                await self._talking.end(session)
        return await self.show(session_id)

    async def list(self, *, before: int | None = None, limit: int = 50) -> SessionPage:
        """The sessions outside of pipelines, newest first."""
        return await self._database.views.sessions(before=before, limit=limit)

    async def show(self, session_id: int) -> SessionDetail:
        """One session with all that was said in it."""
        return await self._database.views.session(session_id)

    async def lineage(self, session_id: int) -> Lineage:
        """Where a session came from, and what goes on from it."""
        return await self._database.views.lineage(session_id)

    async def answer(self, session_id: int, permission_id: str, *, allow: bool, comment: str = "") -> None:
        """Answer what the agent of a session asked, as `on_event` told it."""
        session = await self._saying.open_one(session_id)
        backend, reference = self._talking.backend_of(session), session.session_ref or session.key
        await backend.answer(reference, permission_id, allow=allow, comment=comment)

    def is_handing_off(self, session_id: int) -> bool:
        """True while a handoff of this session is under way here."""
        return session_id in self._handing

    async def hand_off(  # noqa: PLR0913  # each is a choice of the caller's own
        self,
        session_id: int,
        *,
        reason: Reason | str,
        focus: str = "",
        to: str | None = None,
        in_place: bool = False,
        edit: Edit | None = None,
        on_event: OnEvent | None = None,
        on_move: OnMove | None = None,
    ) -> Outcome:
        """Let a session write down what it knows, and go on in a new one with that.

        `NothingToHandOff` if too little was said. Cancelling the caller, or `cancel`, undoes what was begun.
        """
        known, session = _known(reason), await self._trusted(session_id)
        if in_place and (to is not None or focus.strip() or edit is not None):
            raise InvalidRequest(
                "in place nobody else goes on, and the back end sums up by itself: leave out the successor, "
                "the focus and the editing, or hand over to a new session"
            )
        name, profile, model = session.name, session.profile, session.model
        if to is not None:
            name, profile = await asyncio.to_thread(self.profile, to, session.working_dir)
            model = profile.model
        wanted = Wanted(
            reason=known,
            focus=focus,
            name=name,
            profile=profile,
            model=model,
            edit=edit,
            on_event=on_event,
            on_move=on_move,
        )
        return await self._hand_off(session_id, wanted, in_place=in_place)

    async def cancel(self, session_id: int) -> bool:
        """Stop a handoff that is under way; false if there is none, or if it has come too far already."""
        handing = self._handing.get(session_id)
        if handing is None or handing.progress.is_fact:
            return False
        handing.task.cancel()
        await asyncio.wait({handing.task})
        return handing.task.cancelled()

    async def _hand_over_while_full(
        self, answer: Answer, on_event: OnEvent | None, on_move: OnMove | None
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
            wanted = Wanted(
                reason=reason,
                name=session.name,
                profile=session.profile,
                model=session.model,
                on_event=on_event,
                on_move=on_move,
                automatic=True,
            )
            outcome = await self._hand_off(session.id, wanted)
            answer = replace(answer, handoffs=(*answer.handoffs, outcome))
            if not isinstance(outcome, HandedOff):
                break
            answer = replace(answer, session_id=outcome.successor_id)
            if outcome.reply is None:
                break
        return answer

    async def _reached(self, session_id: int) -> Reason | None:
        async with self._database.begin() as work:
            session = await work.sessions.get(session_id)
            said = await work.sessions.messages(session_id)
        turns = sum(message.status is MessageStatus.REPLIED for message in said)
        return self.policy.limits.reached(session.usage, turns, session.started_at, self._clock.now())

    async def _hand_off(self, session_id: int, wanted: Wanted, *, in_place: bool = False) -> Outcome:
        if session_id in self._handing:
            raise IllegalMove(f"session {session_id} is handing over already")
        progress = Progress()
        act = self._compact(session_id) if in_place else self._in_turn(session_id, wanted, progress)
        task = asyncio.create_task(act)
        self._handing[session_id] = _Handing(task, progress)
        try:
            return await task
        except asyncio.CancelledError:
            asking = asyncio.current_task()
            if asking is not None and asking.cancelling():
                raise
            return HandoffCancelled(session_id=session_id)
        finally:
            del self._handing[session_id]

    async def _in_turn(self, session_id: int, wanted: Wanted, progress: Progress) -> Outcome:
        async with self._saying.turn(session_id):
            session = await self._guarded(session_id)
            return await self._handing_over.run(session, wanted, progress)

    async def _compact(self, session_id: int) -> Outcome:
        async with self._saying.turn(session_id):
            session = await self._guarded(session_id)
            if not self._talking.backend_of(session).capabilities.compaction:
                return HandoffFailed(
                    session_id=session_id,
                    why=f'the back end "{session.backend}" cannot compact a session in place; hand off to '
                    "a new session instead",
                )
            try:
                await self._talking.compact(session)
            except BackendError as error:
                return HandoffFailed(session_id=session_id, why=str(error))
            return Compacted(session_id=session_id)

    async def _trusted(self, session_id: int) -> Session:
        """A session that has not ended, in a project that is trusted with the scripts that it has now."""
        session = await self._saying.open_one(session_id)
        folder = session.working_dir
        await asyncio.to_thread(self._catalog.check_copy, folder, folder, None)
        return session

    async def _guarded(self, session_id: int) -> Session:
        """The session, if enough was said in it: the one place that decides."""
        session = await self._saying.open_one(session_id)
        if (await self.show(session_id)).messages < FEWEST_MESSAGES:
            raise NothingToHandOff(NOTHING_TO_HAND_OFF)
        return session

    async def _forget(self, session: Session) -> None:
        await self._talking.release(session, abort=True)
        async with self._database.begin() as work:
            await work.sessions.remove(session.id)
            await work.commit()

    def names(self, working_dir: str) -> tuple[str, ...]:
        """The agents and back ends that a session can be begun with in a folder."""
        return tuple(sorted({*self._catalog.load(working_dir).agents, *self._talking.backends.states()}))

    def profile(self, who: str, folder: str) -> tuple[str, AgentProfile]:
        """An agent profile by its name, or a back end as it is; `auto` is the default one."""
        agents = self._catalog.load(folder).agents
        if who in agents:
            return who, agents[who]
        known = self._talking.backends.states()
        if who not in known and who != AUTO:
            raise UnknownName("agent or back end", who, {*agents, *known})
        profile = self._catalog.without_profile(who)
        return profile.backend or who, profile


def _folder(name: str | None) -> str:
    folder = Path(name or ".").expanduser().resolve()
    if not folder.is_dir():
        raise InvalidRequest(f"the working directory {folder} does not exist")
    return str(folder)


def _known(reason: Reason | str) -> Reason:
    if reason not in set(Reason):
        raise UnknownName("reason", str(reason), Reason)
    return Reason(reason)
