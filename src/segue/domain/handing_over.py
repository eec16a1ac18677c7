"""The words of a handoff between sessions: the question, the document, and what the successor is given."""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from segue.domain.briefing.answering import how_to_hand_off
from segue.domain.briefing.fencing import FENCE_CLOSE, FENCE_OPEN, clean
from segue.domain.handoff.checking.lint import Problem
from segue.domain.handoff.writing.rendering import OutputNotation
from segue.domain.repairing import ask_to_mend, errors_of
from segue.domain.sessions import Reason

QUESTION = "Stop here and hand over: a new session will go on with this work, and it knows nothing of ours."
NOTHING_TO_HAND_OFF = "Nothing to hand off (no messages yet)"
FEWEST_MESSAGES = 2

_WHAT_FOR = (
    "Change nothing more. Write down what the new session must know: the goal, the user's constraints and "
    "preferences, the progress, the key decisions with their reasons, the critical context, the next steps."
)
_GO_ON = (
    "The above was written by the session before this one, and checked. Go on with its work where it "
    "stopped, by its next steps and within its constraints; look at the files before you rely on what it "
    "says of them."
)
_GO_ON_ALONE = (
    "The session before this one ended without a handoff; the above is what the files and its log show. Look "
    "at the files first, then go on with its work where it stopped."
)
_MEASURED = "Measured by Segue, in files and logs:"
_OTHERWISE = "Its claims were compared with the files. What is otherwise:"
_NO_OUTCOME = "H001"
_STOPPED = "H010"
_NO_FILES = "H013"


def question(focus: str = "") -> str:
    """What a session is asked so that it hands over; the focus stands in it word for word."""
    parts = [QUESTION, _WHAT_FOR]
    if focus.strip():
        parts.append(f"Additional focus: {focus.strip()}")
    return "\n\n".join([*parts, how_to_hand_off(OutputNotation.SIX_SECTIONS)]) + "\n"


def repair_question(problems: Sequence[Problem], refuted: Sequence[str]) -> str:
    """What a session is asked so that it mends its handoff."""
    return ask_to_mend(problems_that_count(problems), refuted, OutputNotation.SIX_SECTIONS)


def problems_that_count(problems: Sequence[Problem]) -> list[Problem]:
    """Those that make a handoff between sessions unfit.

    That no outcome is told is no matter in the middle of the work, and what stopped it is no blocker: it is
    the reason of the handoff. Which files changed is measured, and told with it.
    """
    return [
        each
        for each in errors_of(problems)
        if each.code not in (_NO_OUTCOME, _NO_FILES)
        and not (each.code == _STOPPED and "suggested_next_steps" not in each.message)
    ]


def injection(
    text: str, corrections: Sequence[str] = (), *, measured: Sequence[str] = (), is_synthetic: bool = False
) -> str:
    """The first message of the successor: the handoff as data, then what to do with it.

    What Segue found is data, too: names in it were chosen by the agent.
    """
    go_on = _GO_ON_ALONE if is_synthetic else _GO_ON
    parts = [f"{FENCE_OPEN}\n{clean(text).strip()}\n{FENCE_CLOSE}", go_on]
    for heading, lines in ((_MEASURED, measured), (_OTHERWISE, corrections)):
        if lines:
            listed = "\n".join(f"- {clean(line)}" for line in lines)
            parts.append(f"{heading}\n\n{FENCE_OPEN}\n{listed}\n{FENCE_CLOSE}")
    return "\n\n".join(parts) + "\n"


@dataclass(frozen=True, kw_only=True, slots=True)
class Document:
    """A handoff as it is kept in a file, for people and other programs."""

    agent: str
    session: int
    parent: int | None
    reason: Reason
    created_at: datetime
    text: str
    """The record, in the notation that Segue stores."""

    @property
    def folder(self) -> str:
        """Whose folder it belongs into: a name that every file system takes."""
        plain = unicodedata.normalize("NFKD", self.agent).encode("ascii", "ignore").decode().lower()
        return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:60].rstrip("-") or "agent"

    @property
    def sha256(self) -> str:
        """Of the record, so that a reader can see whether it was changed."""
        return hashlib.sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()

    def render(self) -> str:
        """Front matter, then the record."""
        facts = {
            "agent": json.dumps(self.agent, ensure_ascii=True),
            "session": self.session,
            "parent": "null" if self.parent is None else self.parent,
            "reason": self.reason,
            "created_at": self.created_at.astimezone(UTC).isoformat(),
            "sha256": self.sha256,
        }
        front = "\n".join(f"{name}: {value}" for name, value in facts.items())
        longest = max((len(ticks) for ticks in re.findall("`+", self.text)), default=0)
        fence = "`" * max(3, longest + 1)
        return f"---\n{front}\n---\n\n## Handoff\n\n{fence}yaml\n{self.text.rstrip()}\n{fence}\n"

    def stamp(self) -> str:
        """`20260220T143025`: the beginning of the file's name."""
        return self.created_at.astimezone(UTC).strftime("%Y%m%dT%H%M%S")
