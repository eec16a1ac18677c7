"""What a chat does, without a screen: messages, what waits, handoffs, what Escape stops."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine
from enum import StrEnum
from typing import Any, Protocol

from segue.application.handoffs.handover import Draft
from segue.application.handoffs.outcomes import (
    HandedOff,
    HandoffCancelled,
    HandoffFailed,
    Outcome,
    Stage,
    StageChange,
)
from segue.application.ports.backend import (
    PermissionAsked,
    Retrying,
    Said,
    SessionEvent,
    ToolUsed,
    UsageReported,
)
from segue.application.segue import Segue
from segue.application.views import SessionDetail, SessionView
from segue.domain.briefing.handover_prompt import NOTHING_TO_HAND_OFF
from segue.domain.errors import NothingToHandOff, SegueError, TurnStopped
from segue.domain.session import HandoffReason, Session
from segue.domain.usage import Usage
from segue.interfaces.chat.text import at_home, first_line

_TITLE_LENGTH = 80
_STAGES = {
    Stage.ASKED: "the handoff is being written · Escape cancels it",
    Stage.REPAIRING: "the handoff is being repaired · Escape cancels it",
    Stage.TAKEN: "it continues from the handoff · Escape stops it",
}
STOPPED = "Stopped."
CANCELLED = "Handoff cancelled"


class Tone(StrEnum):
    """How a note is meant."""

    PLAIN = "plain"
    BAD = "bad"
    HANDOFF = "handoff"


class Face(Protocol):
    """What a chat shows itself on."""

    def show_message(self, text: str) -> None:
        """What the user says."""

    def show_reply(self, words: str) -> None:
        """The agent's next words."""

    def show_draft(self, words: str) -> None:
        """The next words of a handoff that is being written."""

    def show_tool(self, used: ToolUsed) -> None:
        """A tool call began or ended."""

    def show_question(self, session_id: int, asked: PermissionAsked) -> None:
        """The agent waits for an answer."""

    def show_note(self, text: str, tone: Tone = Tone.PLAIN) -> None:
        """A line of Segue's own."""

    def show_history(self, session: SessionDetail) -> None:
        """What was said in a session before."""

    def end_part(self) -> None:
        """What comes next is something else: the reply, the draft or the turn has ended."""

    def show_state(self) -> None:
        """Who is spoken to, what is under way, what waits or the usage has changed."""

    async def edit(self, draft: Draft) -> str | None:
        """Let the user change a handoff; none to cancel it."""


class Chat:
    """One conversation, which may go through several sessions."""

    def __init__(self, segue: Segue, face: Face, *, who: str, working_dir: str) -> None:
        self._sessions = segue.sessions
        self._face = face
        self.who = who
        """The agent of the next session that is begun."""
        self.working_dir = working_dir
        self.session: SessionView | Session | None = None
        """Where the conversation is; none until the first message."""
        self.usage: Usage | None = None
        self.has_reply = False
        """Whether the session has answered yet."""
        self.waiting: list[str] = []
        """Messages that are said when the turn has ended."""
        self.since = 0.0
        """When the present activity began, by the monotonic clock."""
        self._turn: asyncio.Task[None] | None = None
        self._handoff: asyncio.Task[None] | None = None
        self._stage: Stage | None = None
        self._opening = ""
        self._cancelling = False
        self._stopped = False

    @property
    def is_busy(self) -> bool:
        """True while a turn or a handoff is under way."""
        return self._turn is not None or self._handoff is not None

    @property
    def doing(self) -> str:
        """What is under way, and what Escape would do; empty if nothing is."""
        if self._cancelling:
            return "the handoff is being cancelled"
        if self._stage is not None:
            return _STAGES[self._stage]
        if self._opening:
            return f"{self._opening} · Escape stops it"
        if self._handoff is not None:
            return "working; the handoff comes after it · Escape cancels the handoff"
        return "working · Escape stops it" if self._turn is not None else ""

    def names(self) -> tuple[str, ...]:
        """The agents and back ends to choose from; empty if the catalog cannot be read."""
        try:
            return self._sessions.names(self.working_dir)
        except SegueError:
            return ()

    def say(self, text: str) -> None:
        """Say something, now or when the turn has ended."""
        if self.is_busy:
            self.waiting.append(text)
            self._face.show_state()
        else:
            self._face.show_message(text)
            self._begin(self._talk(text))

    def hand_off(self, focus: str, to: str | None = None) -> None:
        """Let the session hand over to a new one, of the same agent or another."""
        if self.session is None:
            self._face.show_note(NOTHING_TO_HAND_OFF)
        elif self._handoff is not None or self._sessions.is_handing_off(self.session.id):
            self._face.show_note("A handoff is under way already; Escape cancels it.")
        else:
            self.since = time.monotonic() if self._turn is None else self.since
            self._handoff = asyncio.create_task(self._hand_over(self.session.id, focus, to))
            self._handoff.add_done_callback(self._report)
            self._face.show_state()

    def resume(self, session_id: int) -> None:
        """Continue in an earlier session."""
        if self._is_free():
            self._begin(self._resume(session_id))

    def begin_anew(self, who: str | None) -> None:
        """The next message begins a new session."""
        if not self._is_free():
            return
        try:
            self._sessions.profile(who or self.who, self.working_dir)
        except SegueError as error:
            self._face.show_note(str(error), Tone.BAD)
            return
        self.who, self.session = who or self.who, None
        self.usage, self.has_reply = None, False
        self._face.show_note(f"A new session with {self.who} begins with your next message.", Tone.HANDOFF)
        self._face.show_state()

    async def answer(self, session_id: int, asked: PermissionAsked, *, allow: bool) -> None:
        """Answer what the agent asked."""
        try:
            await self._sessions.answer(session_id, asked.id, allow=allow)
        except SegueError as error:
            self._face.show_note(str(error), Tone.BAD)

    async def escape(self) -> None:
        """Cancel the handoff that is under way; if there is none, stop the turn; else nothing."""
        here = self.session
        if here is not None and self._sessions.is_handing_off(here.id) and not self._cancelling:
            self._cancelling = True
            self._face.show_state()
            try:
                await self._sessions.cancel(here.id)
            finally:
                self._cancelling = False
        elif here is not None and self._stage is Stage.TAKEN:
            self._stopped = True
            await self._sessions.stop(here.id)
        elif self._turn is not None:
            self._turn.cancel()

    async def close(self) -> None:
        """Withdraw what is under way; the session itself stays."""
        self.waiting.clear()
        under_way = [task for task in (self._handoff, self._turn) if task is not None]
        for task in under_way:
            task.cancel()
        await asyncio.gather(*under_way, return_exceptions=True)

    def _is_free(self) -> bool:
        if self.is_busy:
            self._face.show_note("Not while something is under way; Escape stops it.")
        return not self.is_busy

    def _begin(self, act: Coroutine[Any, Any, None]) -> None:
        self.since = time.monotonic()
        self._turn = asyncio.create_task(act)
        self._turn.add_done_callback(self._report)
        self._face.show_state()

    def _report(self, task: asyncio.Task[None]) -> None:
        """However a task ends, the chat continues; what nobody has foreseen is told, too."""
        self._turn = None if self._turn is task else self._turn
        self._handoff = None if self._handoff is task else self._handoff
        if not task.cancelled() and (error := task.exception()) is not None:
            what = f"{type(error).__name__}: {error}".removesuffix(": ")
            self._face.show_note(f"This should not have happened, please report it: {what}", Tone.BAD)
        self._face.show_state()

    async def _talk(self, text: str) -> None:
        try:
            here = self.session or await self._open(text)
            answer = await self._sessions.say(here.id, text, on_event=self._hear, on_stage=self._move)
            for outcome in answer.handoffs:
                self._tell(outcome)
        except (asyncio.CancelledError, TurnStopped):
            self._face.show_note(STOPPED)
        except SegueError as error:
            self._face.show_note(_sentence(error), Tone.BAD)
        finally:
            self._turn = None
            await self._settle()

    async def _open(self, text: str) -> SessionView:
        self._opening = f"a session with {self.who} is being opened"
        self._face.show_state()
        try:
            title = first_line(text, _TITLE_LENGTH)
            self.session = await self._sessions.start(self.who, working_dir=self.working_dir, title=title)
        finally:
            self._opening = ""
        self._face.show_state()
        return self.session

    async def _resume(self, session_id: int) -> None:
        self._opening = f"session {session_id} is being opened"
        self._face.show_state()
        try:
            found = await self._sessions.resume(session_id)
            self.session, self.who, self.working_dir = found, found.name, found.working_dir
            self._face.show_history(found)
        except asyncio.CancelledError:
            self._face.show_note(STOPPED)
        except SegueError as error:
            self._face.show_note(_sentence(error), Tone.BAD)
        finally:
            self._turn, self._opening = None, ""
            await self._settle()

    async def _hand_over(self, session_id: int, focus: str, to: str | None) -> None:
        try:
            outcome = await self._sessions.hand_off(
                session_id,
                reason=HandoffReason.TASK_BOUNDARY,
                focus=focus,
                to=to,
                edit=self._face.edit,
                on_event=self._hear,
                on_stage=self._move,
            )
            self._tell(outcome)
        except asyncio.CancelledError:
            self._face.show_note(CANCELLED)
        except NothingToHandOff as error:
            self._face.show_note(str(error))
        except SegueError as error:
            self._face.show_note(f"Handoff failed: {_sentence(error)}", Tone.BAD)
        finally:
            self._handoff = None
            await self._settle()

    async def _settle(self) -> None:
        """Something has ended: show how things stand, and say what waits."""
        if self._handoff is None:  # else it has begun already, and what is shown belongs to it
            self._stage = None
            self._face.end_part()
        if self.session is not None:
            await self._look_at(self.session.id)
        if self.waiting and not self.is_busy:
            self.say(self.waiting.pop(0))
        self._face.show_state()

    async def _look_at(self, session_id: int) -> None:
        try:
            found = await self._sessions.show(session_id)
        except SegueError:
            return  # whatever is wrong was told by what has just ended, or is by what comes next
        if self.session is not None and self.session.id == session_id:  # else it has handed over meanwhile
            self.session, self.usage = found, found.usage
            self.has_reply = any(message.reply is not None for message in found.said)

    def _hear(self, event: SessionEvent) -> None:
        """Show what the agent does."""
        match event:
            case Said(text=words):
                is_draft = self._stage in (Stage.ASKED, Stage.REPAIRING)
                (self._face.show_draft if is_draft else self._face.show_reply)(words)
            case ToolUsed():
                self._face.show_tool(event)
            case PermissionAsked() if self.session is not None:
                self._face.show_question(self.session.id, event)
            case UsageReported(usage=usage):
                self.usage = usage
                self._face.show_state()
            case Retrying(reason=reason):
                self._face.show_note(f"Its model gave an error and is asked again: {reason}")

    def _move(self, moved: StageChange) -> None:
        """A handoff has come a stage further."""
        self._stage, self._stopped = moved.stage, False
        self.since = time.monotonic()
        self._face.end_part()
        match moved.stage:
            case Stage.ASKED if moved.is_automatic:
                self._face.show_note(
                    f"A limit is reached ({moved.reason}): the session hands itself over.", Tone.HANDOFF
                )
            case Stage.REPAIRING:
                self._face.show_note("Its handoff was checked, and it was asked to repair it.", Tone.HANDOFF)
            case Stage.TAKEN:
                assert moved.successor is not None
                self.session, self.who = moved.successor, moved.successor.name
                self.usage, self.has_reply = None, False
                self._face.show_note(
                    f"New session {moved.successor.id} started with handoff context ({moved.reason})",
                    Tone.HANDOFF,
                )
                self._drop_waiting()
        self._face.show_state()

    def _drop_waiting(self) -> None:
        """What still waited was meant for the old session."""
        if self.waiting:
            lines = "\n".join(f"  {first_line(text)}" for text in self.waiting)
            self._face.show_note(f"Dropped at the handoff, as it was meant for the old session:\n{lines}")
        self.waiting.clear()

    def _tell(self, outcome: Outcome) -> None:
        """How a handoff ended; cancelled and failed are told apart."""
        self._face.end_part()
        match outcome:
            case HandedOff():
                for line in outcome.refuted:
                    self._face.show_note(f"False, and the new session was told: {line}", Tone.BAD)
                if self._stopped:
                    self._face.show_note(STOPPED)
                elif outcome.problem is not None:
                    self._face.show_note(
                        f"The new session has the handoff, but gave no answer: {outcome.problem}", Tone.BAD
                    )
                self._face.show_note(f"The handoff is kept in {at_home(outcome.document)}")
            case HandoffCancelled():
                self._face.show_note(CANCELLED)
            case HandoffFailed():
                self._face.show_note(f"Handoff failed: {outcome.why}", Tone.BAD)


def _sentence(error: SegueError) -> str:
    return " ".join(str(error).split())
