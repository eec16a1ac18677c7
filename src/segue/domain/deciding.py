"""What the ending of a step leads to: one pure function, so that it is the same before and after a crash."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from segue.domain.approvals import ApprovalKind
from segue.domain.final_state import CheckResult, Stopped, StoppedBy
from segue.domain.template import PipelineTemplate, Reaction, StepEnding, StepType


@dataclass(frozen=True, kw_only=True, slots=True)
class AgentEnding:
    """How an agent ended its step, once nothing is to be repaired any more."""

    outcome: StepEnding
    """What its handoff states."""
    stopped: Stopped | None = None
    """Set if it says that it did not do its job."""
    next_step: str = ""
    """What it suggests to do next."""
    bad: str = ""
    """What is wrong with its handoff; empty if it can be passed on."""
    has_record: bool = True
    """False if no handoff could be found in its reply."""
    false: Sequence[str] = ()
    """A line for each false claim and each weakened test."""
    failing: Sequence[CheckResult] = ()
    """Checks that fail now and did not fail in the same way before."""
    has_changes: bool = True
    """False if git shows no change since the attempt began."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Position:
    """Where a step stands in its run."""

    has_reader: bool
    """True if a later agent or a person who approves will read what this step leaves."""
    tries_left: int | None = None
    """How often the work may still be sent back; none for no limit."""


class MoveKind(StrEnum):
    """What happens now."""

    CONTINUE = "continue"
    WAIT = "wait"
    SEND_BACK = "send_back"
    FAIL = "fail"


@dataclass(frozen=True, kw_only=True, slots=True)
class Move:
    """What happens after a step, and why."""

    kind: MoveKind
    reason: str = ""
    """For a person; empty where nothing is to be said."""
    waits_for: ApprovalKind | None = None
    """What is asked of a person; set for `WAIT` alone."""


_CONTINUE = Move(kind=MoveKind.CONTINUE)
_CARRIED = frozenset({Reaction.NOTE, Reaction.REPAIR})
"""Reactions after which the run continues with what there is, once nothing is to be repaired."""


def decide_agent_step(
    ending: AgentEnding, template: PipelineTemplate, index: int, position: Position
) -> Move:
    """What the ending of an agent's step leads to: the first finding that does not let the run continue."""
    for reason, reaction, asks in _findings(ending, template, index, position):
        move = _move(reaction, reason, asks, position)
        if move.kind is not MoveKind.CONTINUE:
            return move
    return _CONTINUE


_Finding = tuple[str, Reaction, ApprovalKind]
"""Why, what it leads to, and what is asked if a person is to decide."""


def _findings(
    ending: AgentEnding, template: PipelineTemplate, index: int, position: Position
) -> Iterator[_Finding]:
    own = template.steps[index].on_outcome
    review = ApprovalKind.REVIEW
    if (stopped := ending.stopped) is not None:
        reaction = own.get(_ENDING_OF[stopped.by], _DEFAULTS[stopped.by])
        asks = review if stopped.by is StoppedBy.FAILED else ApprovalKind.QUESTION
        yield stopped_reason(stopped), reaction, asks
    if ending.bad:
        reaction = template.reaction_to(index, "on_bad_handoff")
        # Of a record that breaks a rule, what it says counts all the same; of a reply without one, nobody
        # would read what was done.
        if reaction in _CARRIED and not ending.has_record and not position.has_reader:
            reaction = Reaction.WAIT
        yield ending.bad, reaction, review
    if ending.false:
        more = f" (and {len(ending.false) - 1} more)" if len(ending.false) > 1 else ""
        reason = f"something that it says is false: {ending.false[0]}{more}"
        yield reason, template.reaction_to(index, "on_refuted"), review
    if ending.failing:
        reason = failed_check_reason(ending.failing[0])
        yield reason, template.reaction_to(index, "on_failed_checks"), review
    if not ending.has_changes:
        yield "it changed no file", template.reaction_to(index, "on_no_change"), review
    if ending.stopped is None:
        yield from _stated(ending, own, position)


def _stated(
    ending: AgentEnding, own: Mapping[StepEnding, Reaction], position: Position
) -> Iterator[_Finding]:
    """An outcome that does not say that the job was not done."""
    default = Reaction.CONTINUE
    if ending.outcome is StepEnding.PARTIAL and not position.has_reader:
        default = Reaction.WAIT
    said = {StepEnding.NONE: "it states no outcome"}.get(ending.outcome, f"it handed off as {ending.outcome}")
    if ending.outcome is StepEnding.PARTIAL and ending.next_step:
        said = f"{said}: {ending.next_step}"
    yield said, own.get(ending.outcome, default), ApprovalKind.REVIEW


def _move(reaction: Reaction, reason: str, asks: ApprovalKind, position: Position) -> Move:
    match reaction:
        case Reaction.WAIT:
            return Move(kind=MoveKind.WAIT, reason=reason, waits_for=asks)
        case Reaction.FAIL:
            return Move(kind=MoveKind.FAIL, reason=reason)
        case Reaction.BACK_TO:
            return send_back_or_fail(reason, position)
        case _:
            return _CONTINUE


def send_back_or_fail(reason: str, position: Position) -> Move:
    """The work goes back, unless all tries are used up."""
    if position.tries_left == 0:
        return Move(kind=MoveKind.FAIL, reason=f"{reason}. It was sent back as often as the template allows")
    return Move(kind=MoveKind.SEND_BACK, reason=reason)


def decide_gate(
    reason: str, *, passed: bool, has_target: bool, has_changed: bool, position: Position
) -> Move:
    """What a gate leads to; `reason` names the check. Work that has not changed is not tried again."""
    if passed:
        return _CONTINUE
    if not has_target:
        return Move(kind=MoveKind.FAIL, reason=reason)
    if not has_changed:
        return Move(kind=MoveKind.FAIL, reason=f"{reason}. No file was changed since it failed the last time")
    return send_back_or_fail(reason, position)


def position_of(template: PipelineTemplate, index: int, sent_back: int) -> Position:
    """Where a step stands; `sent_back` is how often it has sent the work back."""
    tries = template.steps[index].tries
    return Position(
        has_reader=any(step.type is not StepType.GATE for step in template.steps[index + 1 :]),
        tries_left=None if tries is None else max(0, tries - 1 - sent_back),
    )


def stopped_reason(stopped: Stopped) -> str:
    """Why an agent did not do its job, in its words."""
    match stopped.by:
        case StoppedBy.FAILED:
            return stopped.reason or "it handed off as failed and gave no reason"
        case StoppedBy.BLOCKED:
            return f"it is blocked: {stopped.reason or 'it gave no reason'}"
        case StoppedBy.QUESTION:
            return f"it asks: {stopped.reason}"


def failed_check_reason(check: CheckResult) -> str:
    """Which check failed, and how."""
    if check.fault is not None:
        return f"`{check.command}` says nothing: {check.fault}"
    return f"`{check.command}` ended with exit code {check.exit_code}"


_ENDING_OF: Mapping[StoppedBy, StepEnding] = {
    StoppedBy.FAILED: StepEnding.FAILED,
    StoppedBy.BLOCKED: StepEnding.BLOCKED,
    StoppedBy.QUESTION: StepEnding.QUESTION,
}
_DEFAULTS: Mapping[StoppedBy, Reaction] = {
    StoppedBy.FAILED: Reaction.FAIL,
    StoppedBy.BLOCKED: Reaction.WAIT,
    StoppedBy.QUESTION: Reaction.WAIT,
}
