"""Finds the commands that an agent says it ran, and what came of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from segue.domain.text.span import TextPiece, cut
from segue.domain.text.words import PROGRAMS

_CODE: Final = re.compile(r"`([^`\n]{2,400})`")
_LINE: Final = re.compile(r"[^\n]+")
_PROMPT: Final = re.compile(r"[ \t]*(?:[$>%][ \t]+)?")
_EXIT: Final = re.compile(r"(?:exit(?: code| status)?|rc)[ \t:=]*(\d{1,3})\b", re.IGNORECASE)
Found = tuple[TextPiece, list[tuple[str, TextPiece]]]


def is_command(words: str) -> bool:
    """True if the first word is a program that developers run, or a script of the project."""
    first = words.split(maxsplit=1)[0] if words.strip() else ""
    while "=" in first and first.split("=")[0].isidentifier() and " " in words.strip():
        words = words.strip()[len(first) :]
        first = words.split(maxsplit=1)[0] if words.strip() else ""
    return first in PROGRAMS or (first.startswith("./") and len(first) > 3)


def commands_in(text: str, start: int, end: int) -> Iterator[Found]:
    """The commands in back-ticks in one item; what follows the only one is what was observed."""
    codes = [m for m in _CODE.finditer(text, start, end) if is_command(m[1])]
    for at, code in enumerate(codes):
        stop = codes[at + 1].start() if at + 1 < len(codes) else end
        command = cut(text, code.start(1), code.end(1))
        yield command, [("command", command), *_observed(text, code.end(), stop)]


def commands_in_code(text: str, start: int, end: int) -> Iterator[Found]:
    """The commands in a fence, one a line, comments and output left out."""
    for line in _LINE.finditer(text, start, end):
        lead = _PROMPT.match(text, line.start(), line.end())
        begin = lead.end() if lead else line.start()
        if is_command(text[begin : line.end()]):
            command = cut(text, begin, line.end())
            yield command, [("command", command)]


def _observed(text: str, start: int, end: int) -> Iterator[tuple[str, TextPiece]]:
    exit_code = _EXIT.search(text, start, end)
    if exit_code:
        yield "exit_code", TextPiece(exit_code[1], exit_code.start(1), exit_code.end(1))
    rim = " \t\r\n\u2014\u2013-:|\u2192>=,;*("
    raw = text[start:end]
    inner = raw.strip(rim)
    if any(c.isalnum() for c in inner):
        at = start + raw.find(inner)
        yield "observation", cut(text, at, at + len(inner))
