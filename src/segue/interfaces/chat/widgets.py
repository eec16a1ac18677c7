"""What stands in the conversation: messages, replies, tool calls, notes, questions."""

from __future__ import annotations

import time
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.widgets import Markdown, Static

from segue.application.ports.backend import PermissionAsked, ToolState, ToolUsed
from segue.interfaces.chat.chat import Tone
from segue.interfaces.chat.text import calm, first_line, parser

_MOST_SHOWN = 60_000
"""Characters of one reply; the rest is in the records."""
_LONGEST_LINE = 400
_HASTE_SECONDS = 0.4
"""A key so soon after a question came up was meant for something else."""
_MARKS = {ToolState.STARTED: "●", ToolState.DONE: "✔", ToolState.FAILED: "✘"}
_SIGNS = {Tone.PLAIN: "·", Tone.BAD: "✘", Tone.HANDOFF: "⇢"}


class Spoken(Static):
    """What the user said."""

    def __init__(self, text: str) -> None:
        super().__init__(Content(calm(text)))


class Streamed(Markdown):
    """Words that come one after the other: a reply, or a handoff that is being written."""

    def __init__(self, *, is_draft: bool = False) -> None:
        super().__init__(parser_factory=parser, open_links=False, classes="draft" if is_draft else "reply")
        if is_draft:
            self.border_title = "handoff"
        self._room = _MOST_SHOWN
        self._coming = ""

    def on_mount(self) -> None:
        """Words may have come before there was a place for them."""
        self.call_later(self.flush)

    def add(self, words: str) -> None:
        """The next words; they are shown with the next flush."""
        text = calm(words)
        if self._room > 0 and len(text) > self._room:
            text = text[: self._room] + "\n\n… (`segue session show` has all of it)"
            self._room = 0
        elif self._room <= 0:
            return
        else:
            self._room -= len(text)
        self._coming += text

    @property
    def is_shown(self) -> bool:
        """True if nothing has come since the last flush."""
        return not self._coming

    async def flush(self) -> None:
        """Show what has come."""
        if self._coming and self.is_mounted:
            words, self._coming = self._coming, ""
            await self.append(words)
            self.scroll_end(animate=False)


class ToolLine(Static):
    """A tool call in one line, with how far it has come."""

    def __init__(self, used: ToolUsed) -> None:
        super().__init__(_tool_line(used), classes=_state(used))

    def advance(self, used: ToolUsed) -> None:
        """It has come further."""
        self.set_classes(_state(used))
        self.update(_tool_line(used))


class Note(Static):
    """A line of Segue's own."""

    def __init__(self, text: str, tone: Tone) -> None:
        super().__init__(Content(f"{_SIGNS[tone]} {calm(text)}"), classes=tone)


class Question(Static, can_focus=True):
    """The agent wants something, and waits."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y,a", "answer(True)", "allow"),
        Binding("n,d", "answer(False)", "deny"),
    ]

    class Answered(Message):
        """The user has decided."""

        def __init__(self, session_id: int, asked: PermissionAsked, *, allow: bool) -> None:
            super().__init__()
            self.session_id, self.asked, self.allow = session_id, asked, allow

    def __init__(self, session_id: int, asked: PermissionAsked) -> None:
        self._wish = first_line(asked.title, _LONGEST_LINE)
        super().__init__(Content(f"? It asks for permission: {self._wish}\n  y allows · n denies"))
        self._session_id, self._asked = session_id, asked
        self._since = time.monotonic()
        self.is_open = True

    def action_answer(self, allow: bool) -> None:
        """Tell the agent."""
        if self.is_open and time.monotonic() - self._since > _HASTE_SECONDS:
            self.settle("allowed" if allow else "denied")
            self.post_message(self.Answered(self._session_id, self._asked, allow=allow))

    def settle(self, how: str) -> None:
        """It waits no more."""
        self.is_open = self.can_focus = False
        self.set_class(True, "settled")
        self.update(Content(f"? It asked for permission: {self._wish} · {how}"))


def _tool_line(used: ToolUsed) -> Content:
    name, target = first_line(used.name, 40), first_line(used.target, _LONGEST_LINE)
    state, how = _state(used), ""
    if state is ToolState.FAILED:
        how = f" (exit {used.exit_code})" if used.exit_code else " (failed)"
    return Content.assemble(_MARKS[state], " ", (name, "bold"), f" {target}".rstrip(), how)


def _state(used: ToolUsed) -> ToolState:
    """How far it has come; a command that ended badly has failed, whatever its agent calls that."""
    return ToolState.FAILED if used.exit_code else used.state
