"""Finds labels that stand before text: `**Status:** done`, `Next: ...`, `- **Done**: ...`."""

from __future__ import annotations

import re
from itertools import islice
from typing import Final, NamedTuple

from segue.domain.handoff.extract.topics import DONE_MARKS, OPEN_MARKS, Topic
from segue.domain.handoff.extract.vocabulary import read_label

_BOLD: Final = re.compile(r"[ \t]*+(?:\*\*|__)([^*_\n]{1,94}+)(?:\*\*|__)[ \t]*+([:\uff1a]?)[ \t]*+")
_COLONS: Final = (":", "\uff1a")
_LONGEST_BOLD: Final = 90
_MAY_BE_BOLD: Final = "*_ \t"
_LONGEST_PLAIN: Final = 80
_PLAIN: Final = re.compile(
    r"[ \t]*+(?!(?:async )?(?:def|class) )([^\W\d][^\n:\uff1a.!?`|*]{0,60}+)"
    r"(?::(?=[ \t\r\n]|$)|\uff1a)[ \t]*+"
)
_MOST_WORDS: Final = 7
MOST_LINES: Final = 1000
_OPENS_A_LIST: Final = (":", "**", "\uff1a")
_SIGN: Final = re.compile(f"[ \t]*(?:[-*+\u2022][ \t]+)?[{DONE_MARKS}{OPEN_MARKS}\u274c\u26a0\u2022]")
_STATED: Final = re.compile(
    r"[ \t]*[\w.#-]{1,20}:[ \t]+(?:DONE|TODO|WIP|PENDING|COMPLETED?|FIXED|BLOCKED|SKIPPED|FAILED|OPEN)\b"
)
"""`C1: DONE - fixed the exit code`."""
_QUOTED_LINE: Final = re.compile(r"[ ]{0,3}>[> \t]*")
"""What a line of a quotation begins with, from its second line on: the first begins after it."""
_NUMBER: Final = re.compile(r"\n[ \t]*\d{1,2}[.)][ \t]+(?=\S)")
_BOLD_LINE: Final = re.compile(r"[ \t]*(?:\*\*|__)([^*\n]{1,120})(?:\*\*|__)[ \t]*[:\uff1a]?([^\n]{0,60})")
_ITALIC_NOTE: Final = re.compile(
    r"[ \t]*(?:\([^()\n]{0,60}\)|[\u2705\u23f3\U0001f504\U0001f6a7\u274c\ufe0f \t])*[:\uff1a]?"
)


_FEWEST_SPACES: Final = 2
"""A sentence has more; `Done.` may be a heading."""


class Label(NamedTuple):
    """A label and where its text begins."""

    name: str
    start: int
    """Where the label begins."""
    value: int
    """Where its text begins."""
    bold: bool


def label_at(text: str, start: int, end: int) -> Label | None:
    """The label at `start`, if there is one."""
    if start < end and text[start] in _MAY_BE_BOLD:
        bold = _BOLD.match(text, start, end)
        if bold and (label := _bold_label(bold, start)):
            return label
    end = min(end, start + _LONGEST_PLAIN)
    if text.find(":", start, end) < 0 and text.find("\uff1a", start, end) < 0:
        return None
    plain = _PLAIN.match(text, start, end)
    if plain and plain[1].count(" ") < _MOST_WORDS:
        return Label(plain[1].strip(), start, plain.end(), False)
    return None


def _bold_label(bold: re.Match[str], start: int) -> Label | None:
    """The colon stands at the end, `**Status:**`, after it, `**Status**:`, or inside."""
    inside, after = bold.groups()
    name = inside.rstrip()
    if name.endswith(_COLONS):
        name, value = name[:-1].rstrip(), bold.start(2)
    elif after:
        value = bold.end()
    else:
        return _stressed_status(bold, start)
    return Label(name.lstrip(), start, value, True) if 0 < len(name) <= _LONGEST_BOLD else None


def _stressed_status(bold: re.Match[str], start: int) -> Label | None:
    """`**Status: done** but for the docs`: the stress goes further than the label."""
    name, colon, _ = bold[1].partition(": ")
    reading = read_label(name.strip()) if colon else None
    if reading is None or not reading.exact or reading.topic is not Topic.STATUS:
        return None
    return Label(name.strip(), start, bold.start(1) + len(name) + len(colon), True)


def bold_line(text: str, start: int, end: int) -> str | None:
    """The words of a line that is all bold, but for a remark in brackets: a heading in disguise.

    A whole sentence is none: `**Fix applied, not yet tested.**`
    """
    found = _BOLD_LINE.fullmatch(text, start, end)
    if found is None or "**" in found[1] or not _ITALIC_NOTE.fullmatch(found[2]):
        return None
    if found[1].endswith((".", "\u3002")) and ":" not in found[1] and found[1].count(" ") > _FEWEST_SPACES:
        return None
    return (found[1] + " " + found[2]).strip(" \t:\uff1a")


def lines_of(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Start and end of each line, without its line break."""
    found: list[tuple[int, int]] = []
    while start < end:
        stop = text.find("\n", start, end)
        stop = end if stop < 0 else stop
        found.append((start, stop))
        start = stop + 1
    return found


def listed_lines(text: str, start: int, end: int) -> list[tuple[int, int, int]]:
    """The items of a list that is a paragraph to CommonMark: where its line, its words, and the item end.

    Each line may begin with a sign, or with a name and its status; or some are numbered, and continue a list
    of before: `4. ...` right below a line of text begins none.
    """
    for begins in (_SIGN, _STATED):
        if begins.match(text, start, end) and text.count("\n", start, end) < MOST_LINES:
            lines = lines_of(text, start, end)
            if all(begins.match(text, begin, stop) for begin, stop in lines):
                return [(begin, begin, stop) for begin, stop in lines]
    marks = list(islice(_NUMBER.finditer(text, start, end), MOST_LINES))
    if not marks or not (len(marks) > 1 or text[start : marks[0].start()].rstrip().endswith(_OPENS_A_LIST)):
        return []  # a line of prose may begin with a number, too
    ends = [*(mark.start() + 1 for mark in marks[1:]), end]
    return [(mark.start() + 1, mark.end(), stop) for mark, stop in zip(marks, ends, strict=True)]


def labels_in(text: str, start: int, end: int) -> list[Label]:
    """The labels that begin a paragraph's lines: the first, and those that are bold or mean something."""
    found: list[Label] = []
    for begin, stop in lines_of(text, start, end)[:MOST_LINES]:
        quoted = _QUOTED_LINE.match(text, begin, stop)
        label = label_at(text, quoted.end() if quoted else begin, stop)
        if label and (label.bold or read_label(label.name) or not found):
            found.append(label._replace(start=begin))
    return found


def later_label(text: str, start: int, end: int) -> Label | None:
    """A bold label at the begin of another line than the first, that says what follows."""
    if text.find("\n**", start, end) < 0:
        return None
    for begin, stop in lines_of(text, start, end)[1:MOST_LINES]:
        label = label_at(text, begin, stop)
        if label and label.bold and (reading := read_label(label.name)) and reading.exact:
            return label
    return None
