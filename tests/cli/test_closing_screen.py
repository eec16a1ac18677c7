"""How the end of a run looks: the order, the signs, what is left out, and what a poor terminal gets."""

from __future__ import annotations

import io
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

from rich.console import Console

from segue.application.run_results import EndedRun, result_of
from segue.domain.final_state import (
    CheckResult,
    FilesChanged,
    FinalState,
    Finding,
    FindingKind,
    TestCounts,
)
from segue.domain.pipeline import PipelineStatus, StepStatus
from segue.domain.template import StepType
from segue.domain.usage import Usage
from segue.interfaces.cli.closing import Closing, print_closing
from segue.interfaces.cli.steps_block import print_steps

BEGAN = datetime(2026, 11, 17, 14, 2, tzinfo=UTC)
REFUTED = Finding(
    kind=FindingKind.REFUTED,
    step=2,
    agent_name="developer",
    text="Added a test for the empty cart",
    reason="No test was added: 14 before, 14 after",
)
WEAKENED = Finding(
    kind=FindingKind.WEAKENED,
    step=2,
    agent_name="developer",
    text="test_discount_rounding",
    reason="Skipped now, and it asserts less than before.",
    path="tests/test_pricing.py",
    line=41,
)
SILENT = Finding(kind=FindingKind.UNMENTIONED, step=2, agent_name="developer", text="shop/settings.py")
CHECK = CheckResult(
    command="pytest -q",
    exit_code=0,
    after=TestCounts(passed=13, skipped=1),
    before=TestCounts(passed=14),
)


def step(index: int, name: str, backend: str, minutes: int, usage: Usage, **counts: int) -> Any:
    ledger = {"entries": [], "unmentioned": [], "weakened": [], "counts": counts}
    handoff = SimpleNamespace(ledger=ledger, metadata={"outcome": "completed"}, is_synthetic=False)
    return SimpleNamespace(
        order_index=index,
        type=StepType.AGENT,
        agent_name=name,
        name=name,
        backend=backend,
        status=StepStatus.DONE,
        started_at=BEGAN,
        finished_at=BEGAN + timedelta(minutes=minutes),
        attempt_count=2 if index else 1,
        handovers=0,
        repairs=2 if index else 0,
        questions=0,
        usage=usage,
        latest_handoff=handoff,
        error_message=None,
    )


def closing(*findings: Finding, can_merge: bool = True) -> Closing:
    steps = [
        step(0, "planner", "claude_code", 3, Usage(input_tokens=41_000, cost=0.11), claims=7, confirmed=6),
        step(
            1,
            "developer",
            "codex",
            16,
            Usage(input_tokens=248_000, cost=0.58),
            claims=4,
            refuted=1,
            weakened=1,
            unmentioned=1,
            partly=1,
            confirmed=2,
        ),
    ]
    files = FilesChanged(count=5, additions=96, deletions=11)
    final = FinalState(findings=findings, checks=(CHECK,), files=files)
    run = EndedRun(
        status=PipelineStatus.DONE,
        reason=None,
        steps=steps,
        final=final,
        began=BEGAN,
        ended=BEGAN + timedelta(minutes=25),
    )
    workspace = SimpleNamespace(branch="segue/42-empty-cart")
    detail: Any = SimpleNamespace(
        id=42,
        title="Empty cart",
        status=PipelineStatus.DONE,
        steps=steps,
        approvals=[],
        workspace=workspace,
    )
    return Closing(detail=detail, result=result_of(run), files=files, can_merge=can_merge, into="main")


class Utf8(io.StringIO):
    encoding = "utf-8"


class Ascii(io.StringIO):
    encoding = "ascii"


def shown(made: Closing, *, file: io.StringIO | None = None, width: int = 80) -> str:
    out = file or Utf8()
    screen = Console(file=out, width=width, force_terminal=True, color_system=None, highlight=False)
    print_steps(made.detail, screen)
    screen.print()
    print_closing(made, screen)
    return out.getvalue()


def test_what_is_false_comes_before_what_is_true_and_what_to_type_comes_last() -> None:
    assert shown(closing(REFUTED, WEAKENED, SILENT)) == (
        "● 1 planner    claude      3 min   41k tokens   $0.11\n"
        "    ✓ 6 confirmed\n"
        "● 2 developer  codex      16 min  248k tokens   $0.58   2 attempts, 2 repairs\n"
        "    ✗ 1 refuted  ↓ 1 weakened test  ! 1 file unmentioned\n"
        "    ~ 1 partly  ✓ 2 confirmed\n"
        "\n"
        "Done, with false claims: 1 refuted and 1 weakened test after 2 repairs.\n"
        "\n"
        "  ✗ refuted      “Added a test for the empty cart”\n"
        "                 No test was added: 14 before, 14 after.\n"
        "  ↓ weakened     test_discount_rounding in tests/test_pricing.py:41\n"
        "                 Skipped now, and it asserts less than before.\n"
        "  ! unmentioned  shop/settings.py changed; no statement mentions it.\n"
        "\n"
        "  claims  11: 1 refuted, 1 partly, 8 confirmed\n"
        "  check   `pytest -q` exit 0: 13 passed, 1 skipped; 14 passed before\n"
        "  files   5 changed, +96 \u221211, on branch segue/42-empty-cart\n"
        "  cost    $0.69, 289k tokens, 25 min\n"
        "\n"
        "Next\n"
        "  segue pipelines show 42 --step 2           each claim with its evidence\n"
        "  segue pipelines diff 42                    read the change\n"
        "  segue pipelines merge 42 --allow-refuted   take it as it is\n"
    )


def test_a_merge_that_would_be_refused_is_not_offered() -> None:
    assert "merge" not in shown(closing(REFUTED, can_merge=False))
    assert "merge" not in shown(closing(can_merge=False))
    assert "segue pipelines merge 42           take it into main\n" in shown(closing())


def test_of_many_findings_five_are_shown() -> None:
    printed = shown(closing(*[REFUTED] * 9))
    assert printed.count("✗ refuted") == 5
    assert "  and 4 more: segue pipelines show 42\n" in printed


def test_no_line_is_wider_than_the_terminal() -> None:
    lines = shown(closing(REFUTED, WEAKENED, SILENT), width=60).splitlines()
    result = lines[lines.index("") + 1 :]
    assert max(len(line) for line in result if not line.startswith("  segue ")) <= 60


def test_without_utf_8_the_signs_are_plain() -> None:
    printed = shown(closing(REFUTED, WEAKENED, SILENT), file=Ascii())
    assert printed.isascii()
    assert '  x refuted      "Added a test for the empty cart"\n' in printed
    assert "+96 -11" in printed


def test_a_run_that_failed_or_was_aborted_can_be_restarted() -> None:
    made = closing()
    for status, reason in ((PipelineStatus.FAILED, "it broke"), (PipelineStatus.ABORTED, "enough")):
        run = EndedRun(
            status=status, reason=reason, steps=made.detail.steps, final=None, began=BEGAN, ended=BEGAN
        )
        detail: Any = SimpleNamespace(**{**vars(made.detail), "status": status})
        ended = replace(made, detail=detail, result=result_of(run), can_merge=False)
        commands = [line.split("  ")[1] for line in shown(ended).partition("Next\n")[2].splitlines() if line]
        assert commands[-1] == "segue pipelines restart 42"
        assert len(commands) <= 3
