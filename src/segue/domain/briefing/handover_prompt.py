"""The prompts of a handover: what a session is asked, and what its successor is given."""

from __future__ import annotations

from collections.abc import Sequence

from segue.domain.briefing.fencing import FENCE_CLOSE, FENCE_OPEN, clean
from segue.domain.briefing.instructions import how_to_hand_off
from segue.domain.briefing.repair_prompt import errors_of, repair_prompt
from segue.domain.handoff.checking.lint import Problem
from segue.domain.handoff.writing.rendering import OutputNotation

QUESTION = "Stop here and hand over: a new session will continue this work, and it knows nothing of ours."
NOTHING_TO_HAND_OFF = "Nothing to hand off (no messages yet)"
FEWEST_MESSAGES = 2

_WHAT_FOR = (
    "Change nothing more. Write down what the new session must know: the goal, the user's constraints and "
    "preferences, the progress, the key decisions with their reasons, the critical context, the next steps."
)
_GO_ON = (
    "The above was written by the session before this one, and checked. Continue its work where it "
    "stopped, by its next steps and within its constraints; look at the files before you rely on what it "
    "says of them."
)
_GO_ON_ALONE = (
    "The session before this one ended without a handoff; the above is what the files and its log show. Look "
    "at the files first, then continue its work where it stopped."
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
    """What a session is asked so that it repairs its handoff."""
    return repair_prompt(problems_that_count(problems), refuted, OutputNotation.SIX_SECTIONS)


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
    text: str,
    corrections: Sequence[str] = (),
    *,
    measured: Sequence[str] = (),
    focus: str = "",
    is_synthetic: bool = False,
) -> str:
    """The first message of the successor: the handoff as data, then what to do with it.

    `focus` is what the user wants it to begin with, word for word.

    What Segue found is data, too: names in it were chosen by the agent.
    """
    go_on = _GO_ON_ALONE if is_synthetic else _GO_ON
    parts = [f"{FENCE_OPEN}\n{clean(text).strip()}\n{FENCE_CLOSE}", go_on]
    if focus.strip():
        parts.append(f"The user's focus for this session: {focus.strip()}")
    for heading, lines in ((_MEASURED, measured), (_OTHERWISE, corrections)):
        if lines:
            listed = "\n".join(f"- {clean(line)}" for line in lines)
            parts.append(f"{heading}\n\n{FENCE_OPEN}\n{listed}\n{FENCE_CLOSE}")
    return "\n\n".join(parts) + "\n"
