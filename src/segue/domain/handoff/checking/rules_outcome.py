"""Rules about the outcome and what it obliges to."""

from __future__ import annotations

from collections.abc import Iterator

from segue.domain.handoff.checking.rules_values import RuleFinding, outcome_of
from segue.domain.handoff.model import Handoff


def outcome_missing(handoff: Handoff) -> Iterator[RuleFinding]:
    """H001"""
    if not handoff.outcome or not handoff.outcome.strip():
        yield RuleFinding(
            field="outcome",
            message="no outcome: nobody can tell whether the work is done",
            hint="say `outcome: completed`, `partial`, `failed` or `blocked`",
        )


def partial_without_rest(handoff: Handoff) -> Iterator[RuleFinding]:
    """H010"""
    missing = [name for name in ("blockers", "suggested_next_steps") if not getattr(handoff, name)]
    if outcome_of(handoff) == "partial" and missing:
        yield RuleFinding(
            field="outcome",
            message=f"partial, but no {' and no '.join(missing)}",
            hint="name what stopped the work and what is left to do",
        )


def failed_without_resolution(handoff: Handoff) -> Iterator[RuleFinding]:
    """H011"""
    resolved = any((blocker.suggested_resolution or "").strip() for blocker in handoff.blockers)
    if outcome_of(handoff) == "failed" and not resolved:
        yield RuleFinding(
            field="blockers" if handoff.blockers else "outcome",
            message="failed, but no blocker names a suggested_resolution",
            hint="add a blocker with the `suggested_resolution` that you would try",
        )


def blocked_without_tasks(handoff: Handoff) -> Iterator[RuleFinding]:
    """H012"""
    named = any(task.strip() for blocker in handoff.blockers for task in blocker.blocking_tasks)
    if outcome_of(handoff) == "blocked" and not named:
        yield RuleFinding(
            field="blockers" if handoff.blockers else "outcome",
            message="blocked, but no blocker names blocking_tasks",
            hint="list the tasks that cannot continue in `blocking_tasks`",
        )


def nothing_in_record(handoff: Handoff) -> Iterator[RuleFinding]:  # noqa: ARG001 (as every rule)
    """H013 needs `check_against_evidence`, H032 and H041 need `check_extraction`: a record is not enough."""
    yield from ()


def completed_but_blocked(handoff: Handoff) -> Iterator[RuleFinding]:
    """H040"""
    if outcome_of(handoff) != "completed":
        return
    for at, _ in enumerate(handoff.blockers):
        yield _contradiction(f"blockers[{at}]", "a blocker is listed")
    for at, question in enumerate(handoff.open_questions):
        if question.blocking:
            yield _contradiction(f"open_questions[{at}]", "a blocking question is open")


def _contradiction(field: str, what: str) -> RuleFinding:
    return RuleFinding(
        field=field,
        message=f"completed, yet {what}",
        hint="say `outcome: partial`, or drop what no longer blocks",
    )
