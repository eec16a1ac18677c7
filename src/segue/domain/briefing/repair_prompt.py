"""What an agent is asked about its handoff: to repair it, or to tell what could not be read."""

from __future__ import annotations

from collections.abc import Sequence

from segue.domain.asking import Missing
from segue.domain.briefing.fencing import clean
from segue.domain.briefing.instructions import AskedNotation, how_to_hand_off
from segue.domain.evidence.model import CommandRun
from segue.domain.handoff.checking.lint import Problem
from segue.domain.handoff.checking.rules import Severity
from segue.domain.handoff.migration import structuring_prompt
from segue.domain.handoff.writing.text import fence_for

_OPENING = "Your handoff was checked. It cannot be given to the next agent as it is."
_REFUTED = (
    "## What is false\n\n"
    "Each of these was checked against the files and against commands that were run again. Either make it "
    "true now, or say what is true instead."
)
_ONLY_FAILURES = "Your work was checked. It does not pass."
_FAILURES = (
    "## What fails\n\nSegue ran this after your work. Make it pass without weakening a test; if it cannot "
    "pass, say in your handoff why."
)
_MOST_OUTPUT_LINES = 40
_MOST_OUTPUT = 4_000
_PROBLEMS = """## What is wrong with its form"""
_MISSING = "## What could not be read"
_NO_HANDOFF = "No handoff could be found in your reply."
_NO_OUTCOME = "Your reply does not say how the work ended."
_NO_FIELDS = "Most of your reply could not be assigned to a field of the record."
_GROUNDED = (
    "Use only what your reply says, in its own words: anything else is dropped. Do no further work, and "
    "change no file."
)
_ONLY_OUTCOME = (
    "Answer with this one line, and nothing else:\n\noutcome: completed | partial | failed | blocked"
)


def repair_prompt(
    problems: Sequence[Problem],
    refuted: Sequence[str],
    notation: AskedNotation | None,
    missing: Missing | None = None,
    *,
    failures: Sequence[str] = (),
) -> str:
    """The message of a repair turn; with no notation, the agent is to submit it with its tool again."""
    parts = [_OPENING if problems or refuted or not failures else _ONLY_FAILURES]
    if failures:
        parts.append(_FAILURES + "\n\n" + "\n\n".join(failures))
    if refuted:
        parts.append(_REFUTED + "\n\n" + "\n".join(f"- {line}" for line in refuted))
    if problems := errors_of(problems):
        lines = [f"- {each.field}: {each.message}; {each.hint}" for each in problems]
        parts.append(_PROBLEMS + "\n\n" + "\n".join(lines))
    if missing or not (problems or refuted or failures):
        parts.append(_about(missing or Missing(handoff=True)))
    if notation is None:
        parts.append("Then call `submit_handoff` again with the whole handoff, and end with a short message.")
    else:
        parts.append(
            "Then write the whole handoff again, not only what changed.\n\n" + how_to_hand_off(notation)
        )
    return "\n\n".join(parts) + "\n"


def describe_failure(run: CommandRun) -> str:
    """A check that failed, with the end of what it printed."""
    ended = run.fault or f"ended with exit code {run.exit_code}"
    output = clean("\n".join(run.output.splitlines()[-_MOST_OUTPUT_LINES:])[-_MOST_OUTPUT:]).strip()
    return f"`{run.command}` {ended}." + (f" The end of its output:\n\n{_fenced(output)}" if output else "")


def question_for(missing: Missing, notation: AskedNotation, *, reply: str | None = None) -> str:
    """What the writer of a reply is asked; with `reply`, it does not remember it and reads it again."""
    if not (missing.handoff or missing.statements):
        again = "" if reply is None else f"You wrote this reply:\n\n{_fenced(reply)}\n\n"
        return f"{again}{_about(missing)}\n\n{_ONLY_OUTCOME}\n"
    if reply is not None:
        return structuring_prompt(reply)
    return "\n\n".join((_about(missing), _GROUNDED, how_to_hand_off(notation))) + "\n"


def _about(missing: Missing) -> str:
    lines = [
        line
        for line, is_missing in (
            (_NO_HANDOFF, missing.handoff),
            (_NO_OUTCOME, missing.outcome),
            (_NO_FIELDS, missing.statements),
        )
        if is_missing
    ]
    return _MISSING + "\n\n" + "\n".join(f"- {line}" for line in lines)


def _fenced(text: str) -> str:
    fence = fence_for(text)
    return f"{fence}\n{text.strip()}\n{fence}"


def errors_of(problems: Sequence[Problem]) -> list[Problem]:
    """The problems that make a handoff unfit; warnings do not."""
    return [problem for problem in problems if problem.severity is Severity.ERROR]
