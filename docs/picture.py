"""Takes a picture of a terminal program: runs it in a real terminal and saves the last screen as SVG.

.venv/bin/python docs/picture.py docs/images/demo.svg 100 100 segue demo
"""

from __future__ import annotations

import fcntl
import io
import os
import pty
import re
import struct
import sys
import termios
from itertools import groupby
from pathlib import Path

import pyte
from rich.console import Console
from rich.style import Style
from rich.text import Text

_COLOURS = {"brown": "yellow", "brightbrown": "bright_yellow"}


def record(command: list[str], columns: int, rows: int) -> pyte.Screen:
    """The screen after the command has ended."""
    child, terminal = pty.fork()
    if child == 0:
        os.environ.update(TERM="xterm-256color", COLORTERM="truecolor", COLUMNS=str(columns), LINES=str(rows))
        os.execvp(command[0], command)  # noqa: S606  # the command that the caller named
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    screen = pyte.Screen(columns, rows)
    stream = pyte.ByteStream(screen)
    while True:
        try:
            stream.feed(os.read(terminal, 65536))
        except OSError:  # the program has ended
            break
    os.waitpid(child, 0)
    return screen


def draw(screen: pyte.Screen, path: Path, title: str) -> None:
    """Save a screen as SVG, without the empty rows at its end."""
    console = Console(record=True, width=screen.columns, file=io.StringIO(), force_terminal=True)
    used = max(y for y in range(screen.lines) if screen.display[y].strip()) + 1
    for y in range(used):
        line = Text()
        cells = [screen.buffer[y][x] for x in range(screen.columns)]
        # Blanks in runs of their own: viewers trim them from the start of a text.
        for (style, _), run in groupby(cells, key=lambda cell: (_style(cell), cell.data.isspace())):
            line.append("".join(cell.data for cell in run), style)
        line.rstrip()
        console.print(line, no_wrap=True, overflow="crop")
    path.write_text(without_fonts(console.export_svg(title=title)), encoding="utf-8")


def without_fonts(picture: str) -> str:
    """The reader's own font will do: a picture must not fetch one from elsewhere."""
    return re.sub(r"@font-face \{.*?\}\s*", "", picture, flags=re.DOTALL)


def _style(cell: pyte.screens.Char) -> Style:
    return Style(color=_colour(cell.fg), bold=cell.bold, reverse=cell.reverse)


def _colour(name: str) -> str | None:
    if name == "default":
        return None
    if len(name) == 6 and all(c in "0123456789abcdef" for c in name.lower()):
        return f"#{name}"
    known = _COLOURS.get(name, name)
    return known.replace("bright", "bright_") if known.startswith("bright") and "_" not in known else known


if __name__ == "__main__":
    target, columns, rows, *command = sys.argv[1:]
    draw(record(command, int(columns), int(rows)), Path(target), " ".join(command))
