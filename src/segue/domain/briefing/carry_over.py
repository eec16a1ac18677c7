"""The carry-over: what a new attempt at a step is given of the one before it."""

from __future__ import annotations

from segue.domain.attempt import Attempt, AttemptStatus
from segue.domain.briefing.fencing import fenced, neutralise
from segue.domain.handoff_record import HandoffRecord

_CUT_OFF_HEADING = "\n## An earlier attempt was cut off\n"
_CUT_OFF = (
    _CUT_OFF_HEADING
    + """

Attempt {number} at this step ended before it could hand off: {error}. It may have left unfinished work in
the working directory. Look at what is there before you begin, and continue from it.
"""
)


_HANDED_OVER = """
## This step is under way

You continue this step: session {session} worked on it until its limit, and handed over to you. Do not begin
anew. In your own handoff tell of the whole step: what was done before you counts, too.

"""


def write_carry_over(attempt: Attempt, saved: HandoffRecord | None) -> str:
    """What is told of an attempt that has ended: its handoff, or what git and its log show."""
    # What was handed over to a session that is gone without a handoff of its own still counts.
    before = attempt.carry_over.partition(_CUT_OFF_HEADING)[0]
    if attempt.status is AttemptStatus.HANDED_OVER:
        handed = _HANDED_OVER.format(session=attempt.session_id)
        if saved is None or saved.is_synthetic:
            handed = before + handed
        return handed + (saved.injection_prompt or "" if saved is not None else "")
    left = f"\n{fenced(neutralise(saved.content_md))}\n" if saved is not None and saved.is_synthetic else ""
    why = (attempt.error or "no reason is known").rstrip(".")
    return before + _CUT_OFF.format(number=attempt.number, error=why) + left
