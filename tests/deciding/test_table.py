"""The table of endings, row by row, as the pure function."""

from __future__ import annotations

from typing import Any

import pytest

from segue.domain.approvals import ApprovalKind
from segue.domain.deciding import (
    AgentEnding,
    Move,
    MoveKind,
    Position,
    decide_agent_step,
    decide_gate,
    position_of,
)
from segue.domain.final_state import CheckResult, Stopped, StoppedBy
from segue.domain.template import PipelineTemplate, StepEnding

FIRST, LAST = Position(has_reader=True, tries_left=2), Position(has_reader=False, tries_left=2)
USED_UP = Position(has_reader=True, tries_left=0)
DONE = AgentEnding(outcome=StepEnding.COMPLETED)
SILENT = AgentEnding(outcome=StepEnding.NONE)
PARTIAL = AgentEnding(outcome=StepEnding.PARTIAL, next_step="Write the docs")
FAILED = AgentEnding(
    outcome=StepEnding.FAILED, stopped=Stopped(by=StoppedBy.FAILED, reason="the disk is full")
)
BLOCKED = AgentEnding(outcome=StepEnding.BLOCKED, stopped=Stopped(by=StoppedBy.BLOCKED, reason="no key"))
ASKS = AgentEnding(outcome=StepEnding.NONE, stopped=Stopped(by=StoppedBy.QUESTION, reason="Which one?"))
NOTHING = AgentEnding(outcome=StepEnding.NONE, bad="no handoff could be found in its reply", has_record=False)
BAD = AgentEnding(outcome=StepEnding.COMPLETED, bad="its handoff is bad: H012 goal: too long")
FALSE = AgentEnding(outcome=StepEnding.COMPLETED, false=("Created a.py: there is none", "two"))
RED = AgentEnding(outcome=StepEnding.COMPLETED, failing=(CheckResult(command="pytest -q", exit_code=1),))
UNCHANGED = AgentEnding(outcome=StepEnding.COMPLETED, has_changes=False)


def template(**keys: Any) -> PipelineTemplate:
    """A template whose second step has these keys."""
    steps = [{"agent": "a"}, {"agent": "b", "back_to": "a", **keys}, {"agent": "c"}]
    return PipelineTemplate.model_validate({"steps": steps})


def decide(ending: AgentEnding, position: Position = FIRST, **keys: Any) -> Move:
    return decide_agent_step(ending, template(**keys), 1, position)


@pytest.mark.parametrize(
    ("ending", "position", "kind", "asks", "reason"),
    [
        (DONE, FIRST, "continue", None, ""),
        (DONE, LAST, "continue", None, ""),
        (SILENT, LAST, "continue", None, ""),
        (PARTIAL, FIRST, "continue", None, ""),
        (PARTIAL, LAST, "wait", "review", "it handed off as partial: Write the docs"),
        (FAILED, FIRST, "fail", None, "the disk is full"),
        (BLOCKED, FIRST, "wait", "question", "it is blocked: no key"),
        (ASKS, LAST, "wait", "question", "it asks: Which one?"),
        (NOTHING, FIRST, "continue", None, ""),
        (NOTHING, LAST, "wait", "review", "no handoff could be found in its reply"),
        (BAD, FIRST, "continue", None, ""),
        (BAD, LAST, "continue", None, ""),
        (FALSE, LAST, "continue", None, ""),
        (RED, LAST, "continue", None, ""),
        (UNCHANGED, LAST, "continue", None, ""),
    ],
)
def test_each_ending_leads_where_the_table_says(
    ending: AgentEnding, position: Position, kind: str, asks: str | None, reason: str
) -> None:
    move = decide(ending, position)
    assert (move.kind, move.waits_for, move.reason) == (kind, asks, reason)


@pytest.mark.parametrize(
    ("ending", "keys", "kind", "asks"),
    [
        (DONE, {"on_outcome": {"completed": "wait"}}, "wait", "review"),
        (SILENT, {"on_outcome": {"none": "fail"}}, "fail", None),
        (PARTIAL, {"on_outcome": {"partial": "back_to"}}, "send_back", None),
        (FAILED, {"on_outcome": {"failed": "continue"}}, "continue", None),
        (FAILED, {"on_outcome": {"failed": "wait"}}, "wait", "review"),
        (FAILED, {"on_outcome": {"failed": "back_to"}}, "send_back", None),
        (BLOCKED, {"on_outcome": {"blocked": "fail"}}, "fail", None),
        (BLOCKED, {"on_outcome": {"blocked": "continue"}}, "continue", None),
        (ASKS, {"on_outcome": {"question": "continue"}}, "continue", None),
        (NOTHING, {"on_bad_handoff": "wait"}, "wait", "review"),
        (NOTHING, {"on_bad_handoff": "back_to"}, "send_back", None),
        (BAD, {"on_bad_handoff": "fail"}, "fail", None),
        (FALSE, {"on_refuted": "wait"}, "wait", "review"),
        (FALSE, {"on_refuted": "back_to"}, "send_back", None),
        (RED, {"on_failed_checks": "wait"}, "wait", "review"),
        (RED, {"on_failed_checks": "fail"}, "fail", None),
        (UNCHANGED, {"on_no_change": "wait"}, "wait", "review"),
        (UNCHANGED, {"on_no_change": "fail"}, "fail", None),
    ],
)
def test_a_template_decides_otherwise(
    ending: AgentEnding, keys: dict[str, Any], kind: str, asks: str | None
) -> None:
    move = decide(ending, **keys)
    assert (move.kind, move.waits_for) == (kind, asks)


def test_the_first_row_that_does_not_let_the_run_continue_decides() -> None:
    both = AgentEnding(outcome=StepEnding.BLOCKED, stopped=BLOCKED.stopped, false=("Created a.py",))
    assert decide(both, on_refuted="fail").waits_for is ApprovalKind.QUESTION
    carried = decide(both, on_outcome={"blocked": "continue"}, on_refuted="fail")
    assert (carried.kind, carried.reason) == (MoveKind.FAIL, "something that it says is false: Created a.py")
    assert decide(BLOCKED, on_outcome={"blocked": "continue"}).kind is MoveKind.CONTINUE


def test_once_all_tries_are_used_up_the_step_fails() -> None:
    move = decide(FAILED, USED_UP, on_outcome={"failed": "back_to"})
    assert move.kind is MoveKind.FAIL
    assert move.reason.startswith("the disk is full. It was sent back as often as")


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        ({"passed": True}, "continue"),
        ({}, "send_back"),
        ({"has_target": False}, "fail"),
        ({"has_changed": False}, "fail"),
        ({"position": USED_UP}, "fail"),
    ],
)
def test_a_gate_sends_back_until_it_passes_or_nothing_is_left_to_try(
    given: dict[str, Any], kind: str
) -> None:
    known: dict[str, Any] = {"passed": False, "has_target": True, "has_changed": True, "position": FIRST}
    assert decide_gate("`pytest -q` ended with exit code 1", **{**known, **given}).kind == kind


def test_a_position_counts_tries_and_readers() -> None:
    steps: list[dict[str, Any]] = [
        {"agent": "a"},
        {"type": "gate", "checks": ["true"], "back_to": "a", "at_most": 2},
        {"type": "approval", "back_to": "a"},
        {"type": "gate", "checks": ["true"]},
    ]
    made = PipelineTemplate.model_validate({"steps": steps})
    found = [position_of(made, index, 1) for index in range(4)]
    assert [each.has_reader for each in found] == [True, True, False, False]
    assert [each.tries_left for each in found] == [1, 0, None, 1]
