"""The words in which an agent is asked to mend its handoff."""

from __future__ import annotations

from collections.abc import Sequence

from segue.domain.briefing.answering import how_to_hand_off
from segue.domain.handoff.checking.lint import Problem
from segue.domain.handoff.checking.rules import Severity
from segue.domain.handoff.writing.rendering import OutputNotation

_OPENING = "Your handoff was checked. It cannot be given to the next agent as it is."
_REFUTED = (
    "## What is not so\n\n"
    "Each of these was checked against the files and against commands that were run again. Either make it "
    "true now, or say what is true instead."
)
_PROBLEMS = """## What is wrong with its form"""
_NOTHING = "No handoff could be found in your reply."


def ask_to_mend(problems: Sequence[Problem], refuted: Sequence[str], notation: OutputNotation | None) -> str:
    """The message of a repair turn; with no notation, the agent is to submit it with its tool again."""
    parts = [_OPENING]
    if refuted:
        parts.append(_REFUTED + "\n\n" + "\n".join(f"- {line}" for line in refuted))
    if problems := errors_of(problems):
        lines = [f"- {each.field}: {each.message}; {each.remedy}" for each in problems]
        parts.append(_PROBLEMS + "\n\n" + "\n".join(lines))
    if not problems and not refuted:
        parts.append(_NOTHING)
    if notation is None:
        parts.append("Then call `submit_handoff` again with the whole handoff, and end with a short message.")
    else:
        parts.append(
            "Then write the whole handoff again, not only what changed.\n\n" + how_to_hand_off(notation)
        )
    return "\n\n".join(parts) + "\n"


def errors_of(problems: Sequence[Problem]) -> list[Problem]:
    """The problems that make a handoff unfit; warnings do not."""
    return [problem for problem in problems if problem.severity is Severity.ERROR]
