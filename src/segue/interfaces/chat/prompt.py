"""Where the user types: several lines if wanted, commands completed, earlier messages at hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textual import events
from textual.message import Message
from textual.widgets import TextArea

from segue.interfaces.chat.commands import complete
from segue.interfaces.chat.text import calm

_NEW_LINE = ("ctrl+j", "shift+enter", "alt+enter")


class CalmArea(TextArea):
    """A text area into which nothing is pasted that drives the screen."""

    async def _on_paste(self, event: events.Paste) -> None:
        """What is pasted stays whole, whatever lines it has."""
        event.stop()
        event.prevent_default()
        if not self.read_only and (found := self._replace_via_keyboard(calm(event.text), *self.selection)):
            self.move_cursor(found.end_location)


class Prompt(CalmArea):
    """Sends on Enter."""

    class Sent(Message):
        """The user has said something, or called a command."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Turned(Message):
        """The user wants to read further up or down."""

        def __init__(self, pages: int) -> None:
            super().__init__()
            self.pages = pages

    def __init__(self, names: Callable[[], Sequence[str]]) -> None:
        super().__init__(
            id="prompt",
            compact=True,
            highlight_cursor_line=False,
            placeholder="Say something. / shows the commands, Ctrl+J makes a new line.",
        )
        self._names = names
        self._sent: list[str] = []
        self._recalled = 0
        """How far back in what was sent; 0 for what is being typed."""

    def update_suggestion(self) -> None:
        """What Tab or the right arrow would add."""
        at_end = self.cursor_at_end_of_text
        self.suggestion = complete(self.text, self._names()) if at_end and self.text[:1] == "/" else ""

    async def _on_key(self, event: events.Key) -> None:
        if self._takes(event.key):
            event.stop()
            event.prevent_default()

    def _takes(self, key: str) -> bool:
        """Do what a key means here; false if it means nothing special."""
        if key == "enter":
            self._send()
        elif key in _NEW_LINE:
            self.insert("\n")
        elif key == "tab" and self.suggestion:
            self.insert(self.suggestion)
        elif key == "up" and self.cursor_at_first_line and self._sent:
            self._recall(1)
        elif key == "down" and self.cursor_at_last_line and self._recalled:
            self._recall(-1)
        elif key in ("pageup", "pagedown"):
            self.post_message(self.Turned(-1 if key == "pageup" else 1))
        else:
            return False
        return True

    def _send(self) -> None:
        text = self.text
        if not text.strip():
            return
        self._sent.append(text)
        self._recalled = 0
        self.clear()
        self.post_message(self.Sent(text))

    def _recall(self, further: int) -> None:
        self._recalled = max(0, min(len(self._sent), self._recalled + further))
        self.text = self._sent[-self._recalled] if self._recalled else ""
        self.move_cursor(self.document.end)
