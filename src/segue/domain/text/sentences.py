"""Cuts prose into sentences, without taking `e.g.`, `v1.2` or `a.py` for an end."""

from __future__ import annotations

import re
from itertools import islice
from typing import Final

_STOP: Final = re.compile(
    # What begins with a set of characters is found fast: so what may not stand before is asked after it.
    r"[.!?\u3002\uff01\uff1f\n](?:(?<=[.!?])(?<![.!?][.!?])[.!?]*+[\"')\]*`\u201d]{0,3}"
    r"(?=[ \t\r\n]+(?!\([a-z])[^a-z\s])"
    r"|(?<=[\u3002\uff01\uff1f])(?<![\u3002\uff01\uff1f][\u3002\uff01\uff1f])[\u3002\uff01\uff1f]*+"
    r"|(?<=\n)[ \t]*\n)"
)
MAX_SENTENCES: Final = 500
"""What follows in one paragraph is taken as the last sentence."""
_SHORT: Final = frozenset(
    {
        "e.g.",
        "i.e.",
        "etc.",
        "vs.",
        "cf.",
        "approx.",
        "incl.",
        "no.",
        "z.b.",
        "d.h.",
        "bzw.",
        "ca.",
        "mr.",
        "dr.",
    }
)


def sentences_in(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Start and end of each sentence in `text[start:end]`."""
    found: list[tuple[int, int]] = []
    begin = start
    for stop in islice(_STOP.finditer(text, start, end), MAX_SENTENCES):
        tail = text[max(begin, stop.start() - 8) : stop.start() + 1].casefold()
        if tail.endswith(".") and tail.split()[-1].lstrip("(") in _SHORT:
            continue
        if text[begin : stop.end()].strip():
            found.append((begin, stop.end()))
        begin = stop.end()
    if text[begin:end].strip():
        found.append((begin, end))
    return found
