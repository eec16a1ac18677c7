"""The steps of a run as they ended: who, how long, for how much, and the tally of the claims."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from rich.text import Text

from segue.domain.amounts import count, describe_cost, describe_time, describe_tokens
from segue.interfaces.cli.lines import one_line, put
from segue.interfaces.cli.marks import VERDICTS, Signs

if TYPE_CHECKING:
    from rich.console import Console

    from segue.application.views import PipelineDetail, StepView

_PROGRAMS = {"claude_code": "claude"}
"""Back ends whose program has another name."""


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
        spent = (
            f"{program_of(step):<{back_width}}{_time_of(step):>9}{_tokens_of(step):>13}{_cost_of(step):>8}"
        )
        remark = f"   {_remark(step)}" if _remark(step) else ""
        put(screen, signs.state(step.status) + Text(number + spent + remark))
        for line in _tally_lines(step, signs):
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


def _tally_lines(step: StepView, signs: Signs) -> Iterator[Text]:
    handoff = step.latest_handoff
    if handoff is None or step.status in ("pending", "running"):
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


def _time_of(step: StepView) -> str:
    if step.started_at is None or step.finished_at is None:
        return ""
    return describe_time((step.finished_at - step.started_at).total_seconds())


def _tokens_of(step: StepView) -> str:
    return describe_tokens(step.usage.total_tokens) if step.usage and step.usage.total_tokens else ""


def _cost_of(step: StepView) -> str:
    return describe_cost(step.usage.cost) if step.usage and step.usage.cost else ""


def _remark(step: StepView) -> str:
    """What is worth knowing of how it went."""
    attempts = step.attempt_count - step.handovers
    parts = [step.status.value] if step.status in ("failed", "aborted") else []
    parts += [count(attempts, "attempt")] if attempts > 1 else []
    parts += [count(step.handovers, "handover")] if step.handovers else []
    parts += [count(step.repairs, "repair")] if step.repairs else []
    parts += ["asked to structure its reply"] if step.questions else []
    return ", ".join(parts)
