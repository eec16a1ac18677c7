"""The signs and colours of verdicts and states: one place, so that they mean the same everywhere.

Only the 16 colours of the terminal: red and magenta bright, for plain ones vanish on dark themes; yellow,
cyan and green plain, for bright ones vanish on light ones. A sign always has its word or its column.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from rich.text import Text

if TYPE_CHECKING:
    from rich.console import Console


class Mark(NamedTuple):
    """A sign, what it is where there is no UTF-8, and its colour."""

    sign: str
    plain: str
    style: str


FALSE = "bold bright_red"
VERDICTS = {
    "refuted": Mark("✗", "x", FALSE),
    "weakened": Mark("↓", "v", FALSE),
    "unmentioned": Mark("!", "!", "yellow"),
    "partly": Mark("~", "~", "yellow"),
    "unverifiable": Mark("?", "?", ""),
    "confirmed": Mark("✓", "ok", "cyan"),
}
"""In the order of severity."""
STATES = {
    "pending": Mark("·", ".", "dim"),
    "running": Mark("▸", ">", "green"),
    "interrupted": Mark("■", "#", ""),
    "waiting_for_approval": Mark("◆", "=", "bold bright_magenta"),
    "done": Mark("●", "o", ""),
    "failed": Mark("✗", "x", FALSE),
    "aborted": Mark("■", "#", ""),
    "skipped": Mark("\u2013", "-", "dim"),
}


class Signs:
    """The signs that a screen can show."""

    def __init__(self, screen: Console) -> None:
        self._is_unicode = screen.encoding.lower().startswith("utf")

    def verdict(self, name: str, words: str = "", *, width: int = 0) -> Text:
        """`✗ refuted`, or with other words; in its colour, filled up to a width."""
        mark = VERDICTS[name]
        text = f"{self._of(mark)} {words or name}"
        return Text(text, mark.style) + Text(" " * (width - len(text)))

    def state(self, name: str) -> Text:
        """`●`, in its colour."""
        mark = STATES[name]
        return Text(self._of(mark), mark.style)

    def quoted(self, words: str) -> str:
        """Words of an agent."""
        return f"“{words}”" if self._is_unicode else f'"{words}"'

    @property
    def minus(self) -> str:
        """In front of lines that went."""
        return "\u2212" if self._is_unicode else "-"

    @property
    def bar(self) -> str:
        """In front of lines that are quoted."""
        return "│" if self._is_unicode else "|"

    def _of(self, mark: Mark) -> str:
        return mark.sign if self._is_unicode else mark.plain
