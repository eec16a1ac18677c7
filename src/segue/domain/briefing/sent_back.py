"""What an agent is told when its step is to be done once more, and what people decided in the run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from segue.domain.approvals import Approval, ApprovalStatus
from segue.domain.briefing.fencing import clean, fenced, neutralise
from segue.domain.gate_run import GateCheck
from segue.domain.handoff_record import HandoffRecord
from segue.domain.pipeline import Pipeline, Step

_EARLIER = "Earlier tries:\n"
_CLOSING = (
    "Your earlier work is in the working directory. Continue from it. In your handoff, report on the whole "
    "step."
)
_RESTARTED = (
    "This step was tried before, and ended so: {why}. Its work is in the working directory. Look at what is "
    "there before you begin, and continue from it."
)
_MOST_LINES = 200
_MOST_CHARACTERS = 8_000
_LONGEST_LINE = 300


def gate_output(check: GateCheck) -> str:
    """What a gate's command printed last, for the inside of a fence."""
    lines = check.output.splitlines()[-_MOST_LINES:]
    return "\n".join(lines)[-_MOST_CHARACTERS:]


def write_sent_back(  # the parts of the text, each named at the call
    target: Step,
    left: HandoffRecord | None,
    *,
    tries: int | None,
    by: str,
    reason: str,
    output: str = "",
) -> str:
    """The end of the briefing of a step that is sent back; `left` is what its last try handed off."""
    number = target.round + 1
    of = f" of {tries}" if tries is not None else ""
    shown = f" The end of its output:\n\n{fenced(neutralise(output), after='')}" if output.strip() else ""
    parts = [
        f"## This step was sent back (try {number}{of})",
        f"{by} sent it back: {neutralise(reason).rstrip('.')}.{shown}",
        _EARLIER + "\n".join([*_earlier_lines(target.returned), _try_line(target, left, by)]),
        _CLOSING,
    ]
    return "\n" + "\n\n".join(parts) + "\n"


def write_restarted(step: Step, left: HandoffRecord | None, note: str) -> str:
    """The end of the briefing of a step that begins anew because a person restarted the run."""
    why = (step.error_message or "it was cut off").rstrip(".")
    parts = [
        "## An earlier attempt failed",
        _RESTARTED.format(why=neutralise(why)),
    ]
    if left is not None:
        parts.append(fenced(neutralise(left.content_md)))
    if note.strip():
        parts.append(f"The person who restarted the run says: {clean(note).strip()}")
    return "\n" + "\n\n".join(parts) + "\n"


def human_decisions(pipeline: Pipeline, approvals: Iterable[Approval]) -> list[str]:
    """What people said to this run, oldest first; a decision without a comment is left out."""
    steps = {step.id: step for step in pipeline.steps}
    lines = []
    for each in approvals:
        said = (each.comment or "").strip()
        step = steps.get(each.step_id or 0)
        if said and step is not None and each.waits_without_agent:
            lines.append(f"{each.decided_by or 'A person'} {_did(each, step)}: {said}")
    return lines


def answer_message(approval: Approval) -> str:
    """What is said to an agent that asked."""
    who = approval.decided_by or "They"
    return (
        f"A person answered.\n\nYou asked: {approval.title}\n{who}: {(approval.comment or '').strip()}\n\n"
        "Continue your job, and hand off again when it is done.\n"
    )


def _did(approval: Approval, step: Step) -> str:
    if approval.status is ApprovalStatus.ANSWERED:
        return f'answered "{_shortened(approval.title)}"'
    verb = "approved" if approval.status is ApprovalStatus.APPROVED else "rejected"
    return f"{verb} {step.title}"


def _earlier_lines(returned: str) -> Sequence[str]:
    """The lines about tries before the last one."""
    listed = returned.rpartition(_EARLIER)[2] if _EARLIER in returned else ""
    return [line for line in listed.split("\n\n")[0].splitlines() if line]


def _try_line(target: Step, left: HandoffRecord | None, by: str) -> str:
    commit = f", commit {target.end_commit[:7]}" if target.end_commit else ""
    done = left.handoff.what_was_done[:3] if left is not None and left.handoff is not None else ()
    told = "; ".join(_shortened(str(each)).rstrip(".") for each in done)
    said = f": {neutralise(told)}." if told else "."
    return f"- Try {target.round} ({target.agent_name}{commit}){said} Sent back by {by[:1].lower() + by[1:]}."


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST_LINE else line[: _LONGEST_LINE - 1] + "…"
