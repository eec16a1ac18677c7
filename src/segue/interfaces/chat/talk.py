"""The conversation on the screen: its parts in the order in which they came."""

from __future__ import annotations

from textual.containers import VerticalScroll
from textual.widget import Widget

from segue.application.ports.backend import PermissionAsked, ToolUsed
from segue.application.views import MessageView, SessionDetail
from segue.domain.session import MessageKind
from segue.interfaces.chat.chat import Tone
from segue.interfaces.chat.widgets import Note, Question, Spoken, Streamed, ToolLine

_FLOW_SECONDS = 0.06
_MOST_PARTS = 300
"""Older ones leave the screen; they are in the records."""
_MOST_HISTORY = 40


class Talk(VerticalScroll, can_focus=False):
    """All that was said, done, asked and noted."""

    def __init__(self) -> None:
        super().__init__(id="talk")
        self._streamed: Streamed | None = None
        self._tools: dict[str, ToolLine] = {}

    def on_mount(self) -> None:
        """Stay at the end, and let words flow."""
        self.anchor()
        self.set_interval(_FLOW_SECONDS, self._flow)

    def show_message(self, text: str) -> None:
        """What the user says."""
        self.end_part()
        self._add(Spoken(text))
        self.anchor()

    def show_words(self, words: str, *, is_draft: bool) -> None:
        """The agent's next words."""
        if self._streamed is None or self._streamed.has_class("draft") != is_draft:
            self._end_words()
            self._streamed = Streamed(is_draft=is_draft)
            self._add(self._streamed)
        self._streamed.add(words)

    def show_tool(self, used: ToolUsed) -> None:
        """A tool call, in the line that it has already or in a new one."""
        self._end_words()
        known = self._tools.get(used.call_id)
        if known is not None:
            known.advance(used)
        else:
            self._tools[used.call_id] = line = ToolLine(used)
            self._add(line)

    def show_question(self, session_id: int, asked: PermissionAsked) -> Question:
        """The agent waits for an answer."""
        self._end_words()
        question = Question(session_id, asked)
        self._add(question)
        return question

    def show_note(self, text: str, tone: Tone) -> None:
        """A line of Segue's own."""
        self._end_words()
        self._add(Note(text, tone))

    def show_history(self, session: SessionDetail) -> None:
        """What was said in a session before, at least the end of it."""
        self.end_part()
        origin = f", from {session.parent_id}" if session.parent_id is not None else ""
        self.show_note(f"Session {session.id}{origin}: {session.title or session.name}", Tone.HANDOFF)
        first = max(0, len(session.said) - _MOST_HISTORY)
        if first:
            self.show_note(f"{first} earlier messages are in `segue session show {session.id}`", Tone.PLAIN)
        for message in session.said[first:]:
            self._recall(message)
        self.end_part()

    def end_part(self) -> None:
        """What comes next is something else."""
        self._end_words()
        self._tools.clear()
        for question in self.query(Question):
            if question.is_open:
                question.settle("no longer")

    def open_question(self) -> Question | None:
        """What waits for an answer, the oldest first."""
        return next((question for question in self.query(Question) if question.is_open), None)

    def _recall(self, message: MessageView) -> None:
        if message.kind is MessageKind.USER:
            self.show_message(message.text)
        elif message.kind is MessageKind.INJECTION:
            self.show_note("It began with the handoff of the session before it.", Tone.PLAIN)
        else:
            self.show_note("It was asked to hand over.", Tone.PLAIN)
            return
        if message.reply:
            self.show_words(message.reply, is_draft=False)
        if message.error:
            self.show_note(message.error, Tone.PLAIN)

    def _add(self, part: Widget) -> None:
        if not self.is_attached:
            return  # the screen is gone already
        if self.children and isinstance(self.children[-1], ToolLine) and not isinstance(part, ToolLine):
            part.add_class("after-tools")
        self.mount(part)
        if len(self.children) > _MOST_PARTS:
            self.children[0].remove()

    def _end_words(self) -> None:
        if self._streamed is not None:
            self.call_later(self._streamed.flush)
        self._streamed = None

    async def _flow(self) -> None:
        if self._streamed is not None:
            await self._streamed.flush()
