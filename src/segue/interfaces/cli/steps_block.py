"""The steps of a run as they ended: who, how long, for how much, and the tally of the claims."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from rich.text import Text

from segue.domain.amounts import count, describe_cost, describe_time, describe_tokens
from segue.domain.template import StepType
from segue.interfaces.cli.lines import one_line, put
from segue.interfaces.cli.marks import VERDICTS, Signs
from segue.interfaces.cli.output import state_of_step

if TYPE_CHECKING:
    from datetime import datetime

    from rich.console import Console

    from segue.application.views import PipelineDetail, StepView

_PROGRAMS = {"claude_code": "claude"}
"""Back ends whose program has another name."""
_SAID = {"failed": "failed", "aborted": "aborted", "waiting_for_approval": "waits for you"}
"""States that are said in words, too."""


def print_title(detail: PipelineDetail, screen: Console) -> None:
    """Which run it is."""
    put(screen, Text(f"{detail.id}  {one_line(detail.title)}", "bold"))
    put(screen)


def print_steps(detail: PipelineDetail, screen: Console) -> None:
    """The steps as they ended, each with the tally of its claims."""
    signs = Signs(screen)
    name_width = max(len(one_line(step.name)) for step in detail.steps)
    back_width = max(8, *(len(program_of(step)) for step in detail.steps))
    for step in detail.steps:
        number = f" {step.order_index + 1} {one_line(step.name):<{name_width}}  "
        state, end = state_of_step(detail, step)
        took = _time_until(end, step)
        spent = f"{program_of(step):<{back_width}}{took:>9}{_tokens_of(step):>13}{_cost_of(step):>8}"
        remark = f"   {words}" if (words := _remark(step, state)) else ""
        put(screen, signs.state(state) + Text(number + spent + remark))
        for line in _tally_lines(step, state, signs):
            put(screen, Text("    ") + line)


def program_of(step: StepView) -> str:
    """The program that did a step."""
    return _PROGRAMS.get(step.backend or "", step.backend or "")


def tally(counts: Mapping[str, int], signs: Signs, names: tuple[str, ...] = tuple(VERDICTS)) -> Text:
    """`✗ 2 refuted  ↓ 1 weakened test`; what is none is left out."""
    words = {
        "weakened": count(counts.get("weakened", 0), "weakened test"),
        "unmentioned": f"{count(counts.get('unmentioned', 0), 'file')} unmentioned",
    }
    parts = [signs.verdict(n, words.get(n, f"{counts[n]} {n}")) for n in names if counts.get(n)]
    return Text("  ").join(parts)


def _tally_lines(step: StepView, state: str, signs: Signs) -> Iterator[Text]:
    handoff = step.latest_handoff
    if handoff is None or state in ("pending", "running"):
        return
    if handoff.is_synthetic:
        yield Text(f"no handoff by the agent; Segue recorded {_recorded(handoff.metadata or {})}")
    elif handoff.metadata is None:
        yield Text("no handoff found in its reply")
    elif handoff.ledger is not None:
        counts = handoff.ledger["counts"]
        bad = tally(counts, signs, ("refuted", "weakened", "unmentioned"))
        rest = tally(counts, signs, ("partly", "confirmed", "unverifiable"))
        yield from (line for line in (bad, rest) if line)


def _recorded(record: Mapping[str, Any]) -> str:
    files = len(record.get("files_created") or ()) + len(record.get("files_modified") or ())
    return count(files, "changed file") if files else "no changed file"


def _time_until(end: datetime | None, step: StepView) -> str:
    if step.type is StepType.APPROVAL or step.started_at is None or end is None:
        return ""
    return describe_time((end - step.started_at).total_seconds())


def _tokens_of(step: StepView) -> str:
    return describe_tokens(step.usage.total_tokens) if step.usage and step.usage.total_tokens else ""


def _cost_of(step: StepView) -> str:
    return describe_cost(step.usage.cost) if step.usage and step.usage.cost else ""


def _remark(step: StepView, state: str) -> str:
    """What is worth knowing of how it went."""
    attempts = step.attempt_count - step.handovers
    parts = [words] if (words := _SAID.get(state)) else []
    parts += [count(attempts, "attempt")] if attempts > 1 else []
    parts += [count(step.handovers, "handover")] if step.handovers else []
    parts += [count(step.repairs, "repair")] if step.repairs else []
    parts += ["asked to structure its reply"] if step.questions else []
    return ", ".join(parts)
