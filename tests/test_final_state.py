"""What is still false when a run ends, from the ledgers of its steps and what is measured at the end."""

from __future__ import annotations

from typing import Any

import pytest

from segue.domain.evidence.model import CommandRun, Evidence, TestComparison, TestOutcome, TestRun
from segue.domain.final_state import (
    FindingKind,
    StepLedger,
    StoppedBy,
    check_results,
    judge_again,
    why_stopped,
)
from segue.domain.handoff import Handoff

SKIPPED = {
    "way": "skipped",
    "path": "t.py",
    "line": 3,
    "test": "test_a",
    "reason": "It is skipped now",
    "standing": "weakened",
}


def entry(text: str, verdict: str, reason: str = "measured") -> dict[str, Any]:
    return {"field": "what_was_done[0]", "text": text, "claim": text, "verdict": verdict, "reason": reason}


def step(number: int, *entries: dict[str, Any], source: str = "", **rest: Any) -> StepLedger:
    ledger = {"entries": list(entries), "unmentioned": [], "weakened": [], **rest}
    return StepLedger(step=number, agent_name="dev", source=source, ledger=ledger)


@pytest.mark.parametrize(
    ("now", "is_false"),
    [("refuted", True), ("unverifiable", True), ("confirmed", False), ("partly", False)],
)
def test_a_false_statement_stays_false_unless_it_holds_at_the_end(now: str, is_false: bool) -> None:
    lied = step(1, entry("Added b", "refuted", "then"))
    again = step(1, entry("Added b", now, "at the end")).ledger
    wrong, resolved = judge_again([lied], {1: again}, None)
    assert (len(wrong), len(resolved)) == ((1, 0) if is_false else (0, 1))
    told = (wrong or resolved)[0]
    assert told.reason == ("then" if now == "unverifiable" else "at the end")


def test_a_statement_that_is_not_found_again_stays_false() -> None:
    wrong, _ = judge_again([step(1, entry("Added b", "refuted"))], {1: step(1).ledger}, None)
    assert [each.text for each in wrong] == ["Added b"]


def test_a_test_that_was_weakened_and_restored_is_not_weakened() -> None:
    weak = step(1, weakened=[SKIPPED])
    assert [each.kind for each in judge_again([weak], {}, None)[0]] == [FindingKind.WEAKENED]
    assert judge_again([weak], {1: step(1).ledger}, None)[0] == ()
    disclosed = step(1, weakened=[SKIPPED | {"standing": "disclosed"}])
    assert judge_again([disclosed], {}, None)[0] == ()


def test_a_file_that_another_step_mentions_or_that_changed_back_is_not_unmentioned() -> None:
    silent = step(1, unmentioned=["a.py"])
    assert len(judge_again([silent, step(2)], {}, frozenset({"a.py"}))[0]) == 1
    assert judge_again([silent, step(2, source="I saw a.py")], {}, None)[0] == ()
    assert judge_again([silent, step(2)], {}, frozenset())[0] == ()


def test_what_is_worst_comes_first() -> None:
    first = step(1, unmentioned=["a.py"], weakened=[SKIPPED])
    second = step(2, entry("Added b", "refuted"))
    kinds = [each.kind for each in judge_again([first, second], {}, None)[0]]
    assert kinds == [FindingKind.REFUTED, FindingKind.WEAKENED, FindingKind.UNMENTIONED]


def run_of(code: int, **outcomes: TestOutcome) -> TestRun:
    return TestRun(command="t", runner="pytest", exit_code=code, outcomes=outcomes)


FAILED, PASSED = TestOutcome.FAILED, TestOutcome.PASSED


@pytest.mark.parametrize(
    ("before", "after", "fails"),
    [
        (run_of(0, a=PASSED), run_of(0, a=PASSED), False),
        (run_of(0, a=PASSED), run_of(1, a=FAILED), True),
        (run_of(1, a=FAILED), run_of(1, a=FAILED), False),
        (run_of(1, a=FAILED, b=PASSED), run_of(1, a=FAILED, b=FAILED), True),
        (run_of(1), run_of(1), True),
        (None, run_of(1, a=FAILED), True),
    ],
)
def test_a_check_fails_unless_the_same_tests_failed_before(
    before: TestRun | None, after: TestRun, fails: bool
) -> None:
    evidence = Evidence(
        checks=(CommandRun(command="t", exit_code=after.exit_code),),
        tests=(TestComparison(after=after, before=before),),
    )
    (result,) = check_results(evidence)
    assert result.fails is fails


@pytest.mark.parametrize(
    ("record", "by", "reason"),
    [
        ({"outcome": "blocked", "blockers": ["No key"]}, StoppedBy.BLOCKED, "No key"),
        ({"outcome": "failed", "failed_approaches": ["a", "b"]}, StoppedBy.FAILED, "b"),
        ({"outcome": "failed"}, StoppedBy.FAILED, ""),
        ({"blockers": ["No key"]}, StoppedBy.BLOCKED, "No key"),
        ({"open_questions": ["Which one?"]}, StoppedBy.QUESTION, "Which one?"),
    ],
)
def test_an_agent_that_did_not_do_its_job_says_why(
    record: dict[str, Any], by: StoppedBy, reason: str
) -> None:
    stopped = why_stopped(Handoff.model_validate(record), "", has_changes=False)
    assert stopped is not None
    assert (stopped.by, stopped.reason) == (by, reason)


@pytest.mark.parametrize(
    ("record", "has_changes"),
    [
        ({"outcome": "completed", "blockers": ["No key"]}, False),
        ({"outcome": "partial", "what_was_done": ["Half"]}, False),
        ({"open_questions": ["Which one?"], "what_was_done": ["Looked"]}, False),
        ({"open_questions": ["Which one?"]}, True),
    ],
)
def test_an_agent_that_did_something_is_not_stopped(record: dict[str, Any], has_changes: bool) -> None:
    assert why_stopped(Handoff.model_validate(record), "", has_changes=has_changes) is None


def test_a_bare_question_without_a_record_is_only_a_question() -> None:
    asked = why_stopped(None, "I looked.\n\nShould I go on?\n", has_changes=False)
    assert asked is not None
    assert asked.reason == "Should I go on?"
    assert why_stopped(None, "Should I go on?", has_changes=True) is None
