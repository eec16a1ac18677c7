"""What an X-ray shows, as values: the JSON inside the exported file has exactly this shape."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

Mark = Literal[
    "confirmed",
    "refuted",
    "partly",
    "unverifiable",
    "none",
    "unjudged",
    "weakened",
    "disclosed",
    "edited",
    "unmentioned",
    "removed",
]
"""A verdict; `none` for what is not a claim; `unjudged` for an item of which the ledger says nothing; or what
Segue found and nobody said."""

FOUND: tuple[Mark, ...] = ("weakened", "disclosed", "edited", "removed", "unmentioned")
"""The marks of what Segue found by itself."""


class TextRun(NamedTuple):
    """Characters of the agent that belong to the same statements."""

    text: str
    statements: tuple[str, ...]
    """The ids of the statements that these words make; empty between statements."""


class DiffLine(NamedTuple):
    """A line of a hunk."""

    sign: Literal["+", "-", " "]
    old: int | None
    """Its number before the step; none for an added line."""
    new: int | None
    """Its number after the step; none for a removed line."""
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class DiffHunk:
    """Changed lines with those around them."""

    heading: str
    """`@@ -4,4 +4,7 @@`, and what git names behind it."""
    lines: tuple[DiffLine, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class FileEvidence:
    """What happened to a file."""

    id: str
    path: str
    change: str
    """`added`, `modified`, `deleted`, `renamed`, `type-changed`, or `unchanged`."""
    old_path: str | None
    """Its name before, if it was renamed."""
    additions: int | None
    deletions: int | None
    hunks: tuple[DiffHunk, ...]
    """Empty if there are no lines to show; `note` tells why."""
    note: str = ""
    """What the reader must know: that the lines are missing, or are of a later state."""
    kind: Literal["file"] = "file"


@dataclass(frozen=True, kw_only=True, slots=True)
class TestCount:
    """What one run of the tests counted."""

    __test__ = False
    when: str
    """`before this step`, `after this step`, `tests of before on the new code`."""
    passed: int
    failed: int
    skipped: int


@dataclass(frozen=True, kw_only=True, slots=True)
class CommandEvidence:
    """A command that ran: by Segue as a check, or by the agent as its log shows."""

    id: str
    command: str
    by: Literal["segue", "agent"]
    exit_code: int | None
    output: tuple[str, ...]
    """The last lines that it printed."""
    is_cut: bool
    """Whether it printed more."""
    at: str | None
    """When it began, in ISO 8601."""
    fault: str | None
    """Why it says nothing: it could not be started, or ran out of time."""
    tests: tuple[TestCount, ...] = ()
    gone: tuple[str, ...] = ()
    """Tests that were collected before and are not now."""
    note: str = ""
    kind: Literal["command"] = "command"


@dataclass(frozen=True, kw_only=True, slots=True)
class TreeEvidence:
    """The files after the step, where a statement is about what is there or not."""

    id: str
    path: str
    """The path that was looked for; empty if it was the whole tree."""
    note: str = ""
    kind: Literal["tree"] = "tree"


Evidence = FileEvidence | CommandEvidence | TreeEvidence


@dataclass(frozen=True, kw_only=True, slots=True)
class Reference:
    """From a statement to what decides it."""

    evidence: str
    """The id of the evidence."""
    lines: tuple[int, ...] = ()
    """Which of its lines decide, counted from 0 through all its hunks, or through its output."""
    is_pointed: bool = True
    """True if the ledger points to it; false if only the reason speaks of it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class BriefingPlace:
    """Where the next agent reads something."""

    line: int
    """The line of the briefing, counted from 1."""
    is_correction: bool
    """True if Segue says there what is true instead."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StatementXray:
    """Something that the agent said, or that Segue found, with what became of it."""

    id: str
    """The same in every version in which the same words stand in the same field."""
    mark: Mark
    field: str
    """Where it is in the record: `what_was_done[2]`; empty if no field holds it."""
    words: str
    detail: str
    """What the record holds besides, such as the reason of a decision."""
    is_code: bool
    """True for a path or a command."""
    reason: str
    """One sentence that names what was measured, or says why it is not a claim."""
    unchecked: tuple[str, ...]
    """The words of it that nothing checked."""
    line: int | None
    """The line of the agent's words in which it begins."""
    references: tuple[Reference, ...]
    read: tuple[BriefingPlace, ...] = ()
    """Where the next agent reads it; only of the version that was handed on."""
    is_left_out: bool = False
    """True if the budget of the briefing had no room for it."""
    change: str = ""
    """What a repair did to it: `new in repair 1`, `was refuted in the version before`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Withdrawn:
    """A statement of the version before that is not made any more."""

    field: str
    words: str
    mark: Mark


@dataclass(frozen=True, kw_only=True, slots=True)
class Version:
    """A handoff as it was reviewed: as written, or after a repair."""

    label: str
    """`As written`, `Repair 1`."""
    words: tuple[tuple[TextRun, ...], ...]
    """The agent's own words, line by line."""
    statements: tuple[StatementXray, ...]
    """In the order of the record, those that Segue found at the end."""
    withdrawn: tuple[Withdrawn, ...]
    is_compared: bool
    """False if there was nothing to compare it with, so that it has no verdicts."""
    note: str = ""
    """What the reader must know of this version."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LeftOutItem:
    """Something that is known and not in the briefing."""

    agent_name: str
    field: str
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class NextBriefing:
    """What the next agent reads."""

    reader: str
    """Who is given it."""
    is_sent: bool
    """False if it is what the next agent would be given, and nobody was."""
    sha256: str | None
    """The receipt: of the exact text that was sent."""
    lines: tuple[str, ...]
    corrections: tuple[int, ...]
    """The lines, counted from 1, in which Segue says what is true instead."""
    left_out: tuple[LeftOutItem, ...]
    note: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class HandoffXray:
    """One handoff, from the agent's words to what the next agent reads."""

    number: int | None
    """Of the step, 1 for the first; none for a document."""
    writer: str
    reader: str
    """Who reads it next; empty if nobody does."""
    facts: tuple[str, ...]
    """Back end, session, time: short, for one line."""
    versions: tuple[Version, ...]
    """The earliest first; the last one is what was handed on."""
    evidence: tuple[Evidence, ...]
    looked_at: str
    """What was measured at all: `3 changed files, 12 logged commands, 1 check`."""
    problems: tuple[str, ...]
    """Rules of form that the handoff breaks."""
    briefing: NextBriefing | None
    """None if there is no next agent, or it has not begun."""
    no_briefing: str
    """Why there is no briefing; empty if there is one."""


@dataclass(frozen=True, kw_only=True, slots=True)
class XrayPage:
    """All that one exported file shows."""

    title: str
    subtitle: str
    """The run, or the two states that were compared."""
    sentence: str
    """What came of the run; empty for a document."""
    made_at: str
    """When it was exported, in ISO 8601."""
    segue: str
    """The version of Segue that made it."""
    handoffs: tuple[HandoffXray, ...]
