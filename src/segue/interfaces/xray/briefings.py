"""What the next agent reads, and where each statement stands in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from segue.domain.briefing import LeftOut
from segue.interfaces.xray.model import (
    FOUND,
    BriefingPlace,
    LeftOutItem,
    NextBriefing,
    StatementXray,
    Version,
)
from segue.interfaces.xray.text import shown, shown_lines, squeezed

_CORRECTIONS = "## Corrections"
_HANDOFF = "## Handoff from "
_SHORTEST = 4
_LONGEST = 80
"""So many characters of a statement are looked for: a longer one goes over several lines."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SentBriefing:
    """The text that an agent was given, or would be given."""

    text: str
    reader: str
    is_sent: bool
    sha256: str | None
    left_out: Sequence[LeftOut]
    note: str = ""


def briefing_of(sent: SentBriefing) -> NextBriefing:
    """A briefing, line by line."""
    lines = shown_lines(sent.text.rstrip("\n"))
    return NextBriefing(
        reader=shown(sent.reader),
        is_sent=sent.is_sent,
        sha256=sent.sha256,
        lines=lines,
        corrections=tuple(_corrections(lines)),
        left_out=tuple(
            LeftOutItem(agent_name=shown(each.agent_name), field=each.field, text=shown(each.text))
            for each in sent.left_out
        ),
        note=sent.note,
    )


def found_in(version: Version, briefing: NextBriefing, writer: str) -> Version:
    """A version with the places where the next agent reads its statements."""
    text = {at: squeezed(line) for at, line in enumerate(briefing.lines, 1)}
    own = _own_lines(briefing.lines, writer)
    left = {each.field for each in briefing.left_out if each.agent_name == writer}
    statements = tuple(
        replace(
            each,
            read=(*_said_in(each, text, own), *_corrected_in(each, text, briefing.corrections)),
            is_left_out=each.field != "" and (each.field in left or each.field.partition("[")[0] in left),
        )
        for each in version.statements
    )
    return replace(version, statements=statements)


def _said_in(each: StatementXray, text: Mapping[int, str], own: Sequence[int]) -> tuple[BriefingPlace, ...]:
    words = squeezed(each.words)
    sought = f"outcome: {words}" if each.field == "outcome" else words[:_LONGEST]
    if len(sought) < _SHORTEST or each.mark in FOUND:
        return ()
    if each.is_code:  # a path: its own entry of a list rather than a sentence with its name
        own = sorted(own, key=lambda number: not text[number].removeprefix("- ").startswith(sought))
    at = next((number for number in own if sought in text[number].replace(" :", ":")), None)
    return () if at is None else (BriefingPlace(line=at, is_correction=False),)


def _corrected_in(
    each: StatementXray, text: Mapping[int, str], corrections: Sequence[int]
) -> tuple[BriefingPlace, ...]:
    if each.mark == "refuted":
        sought = [squeezed(each.reason)[:_LONGEST], _start(each.words)]
    elif each.mark in FOUND:
        sought = [squeezed(each.words.partition(" in ")[0] if each.mark == "removed" else each.words)]
    else:
        return ()
    at = next((number for number in corrections if all(part in text[number] for part in sought)), None)
    return () if at is None else (BriefingPlace(line=at, is_correction=True),)


def _start(words: str) -> str:
    """As much of a statement as every correction quotes."""
    return squeezed(words)[:40].rstrip()


def _own_lines(lines: Sequence[str], writer: str) -> list[int]:
    """The lines of what this agent handed off."""
    found: list[int] = []
    is_own = False
    for number, line in enumerate(lines, 1):
        if line.startswith(("## ", "</")):
            is_own = line.startswith(_HANDOFF) and line.endswith(f"({writer})")
        if is_own:
            found.append(number)
    return found


def _corrections(lines: Sequence[str]) -> list[int]:
    """The lines below the heading of corrections that hold one."""
    found: list[int] = []
    is_inside = False
    for number, line in enumerate(lines, 1):
        if line.startswith("## "):
            is_inside = line == _CORRECTIONS
        elif is_inside and line.startswith("- "):
            found.append(number)
    return found
