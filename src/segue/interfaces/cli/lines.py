"""Lines of a screen: wrapped at spaces with a hanging indent, never inside a command, wide as people read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from segue.interfaces.cli.output import printable

if TYPE_CHECKING:
    from rich.console import Console

_NARROWEST, _WIDEST = 60, 100
_WORD = re.compile(r"`[^`\n]*`\S*|\S+")
"""What is never broken: a word, or a command in backticks."""
_NOTES_AT = 35
"""Notes under `Next` begin in column 38, or later."""


def width_of(screen: Console) -> int:
    """How wide lines may be: as the terminal, within reason."""
    return min(max(screen.width, _NARROWEST), _WIDEST)


def one_line(text: str) -> str:
    """Words of others on one line, without what would drive the terminal."""
    return printable(" ".join(text.split()))


def wrap(text: str, width: int) -> list[str]:
    """Lines of at most this width, broken at spaces; what is longer has a line of its own."""
    lines: list[str] = []
    for word in _WORD.findall(text):
        if lines and len(lines[-1]) + 1 + len(word) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines or [""]


def put(screen: Console, line: Text | str = "") -> None:
    """Print a line as it is: nothing wraps it, nothing is filled up to the right edge."""
    text = line if isinstance(line, Text) else Text(line)
    text.rstrip()
    screen.print(text, soft_wrap=True)


def put_beside(screen: Console, head: Text, paragraphs: Iterable[Text | str], *, indent: int = 2) -> None:
    """A head with paragraphs to its right, wrapped under their first word."""
    start = indent + len(head)
    first = Text(" " * indent) + head
    for paragraph in paragraphs:
        style = paragraph.style if isinstance(paragraph, Text) else ""
        for line in wrap(str(paragraph), width_of(screen) - start):
            put(screen, first + Text(line, style))
            first = Text(" " * start)


def put_wrapped(screen: Console, text: str, *, styled: int = 0, style: str = "") -> None:
    """A sentence; its first characters, so many, in a style."""
    left = styled
    for line in wrap(text, width_of(screen)):
        shown = Text(line)
        shown.stylize(style, 0, max(min(left, len(line)), 0))
        left -= len(line) + 1
        put(screen, shown)


def put_commands(screen: Console, title: str, commands: Sequence[tuple[str, str]]) -> None:
    """What to type next: commands, and beside each what it is for."""
    if not commands:
        return
    put(screen)
    put(screen, Text(title, "bold"))
    wide = max(_NOTES_AT, *(len(command) + 3 for command, _ in commands))
    fits = all(2 + wide + len(note) <= width_of(screen) for _, note in commands)
    for command, note in commands:
        put(screen, f"  {command:<{wide}}{note}" if fits else f"  {command}\n      {note}")
