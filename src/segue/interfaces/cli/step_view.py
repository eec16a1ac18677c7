"""`segue pipelines show N --step K`: each claim with its evidence, then what was sent and said."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.text import Text

from segue.domain.amounts import describe_cost, describe_time
from segue.interfaces.cli.activity import describe_usage
from segue.interfaces.cli.ledgers import print_ledger, print_summary
from segue.interfaces.cli.lines import one_line, put, put_commands
from segue.interfaces.cli.output import printable, safe
from segue.interfaces.cli.steps_block import program_of

if TYPE_CHECKING:
    from rich.console import Console

    from segue.application.views import AttemptView, PipelineDetail, StepDetail

_UNDER_WAY = ("opening", "sending", "sent", "replied")


def print_step(detail: PipelineDetail, step: StepDetail, screen: Console) -> None:
    """One step: its ledger, the worst first; then each attempt word for word."""
    put(
        screen, Text(f"{detail.id}.{step.order_index + 1} {one_line(step.agent_name)}", "bold") + _facts(step)
    )
    if step.error_message:
        put(screen, one_line(step.error_message))
    handoff = step.latest_handoff
    if handoff is not None and handoff.ledger is not None:
        print_summary(handoff.ledger, screen)
        put(screen)
        print_ledger(handoff.ledger, screen)
    elif handoff is not None:
        put(screen, "Nothing of its handoff could be checked." if handoff.metadata else "It left no handoff.")
    for each in step.attempts:
        put(screen)
        _print_attempt(each, screen, of=len(step.attempts))
    if step.attempts:
        number = step.order_index + 1
        has_diff = step.base_mark is not None
        commands = [
            (f"segue pipelines show {detail.id} --briefing {number}", "the briefing alone, for a file")
        ]
        if has_diff:
            commands.append((f"segue pipelines diff {detail.id} --step {number}", "what it changed"))
        put_commands(screen, "Read on", commands)
    else:
        put(screen, "It has not begun.")


def _facts(step: StepDetail) -> Text:
    return Text("".join(f" {fact}" if not at else f" · {fact}" for at, fact in enumerate(_each_fact(step))))


def _each_fact(step: StepDetail) -> Iterator[str]:
    if program := program_of(step):
        yield program
    if step.attempts:
        yield f"session {step.attempts[-1].session}"
    if len(step.attempts) > 1:
        yield f"attempt {step.attempts[-1].number} of {len(step.attempts)}"
    yield step.status
    if step.started_at is not None and step.finished_at is not None:
        yield describe_time((step.finished_at - step.started_at).total_seconds())
    if step.usage is not None and step.usage.cost:
        yield describe_cost(step.usage.cost)


def _print_attempt(each: AttemptView, screen: Console, *, of: int) -> None:
    if of > 1:
        shown = "running" if each.status in _UNDER_WAY else each.status
        why = f" ({each.handover_reason})" if each.handover_reason else ""
        put(screen, Text(f"Attempt {each.number}: {shown}{why}, session {each.session}", "bold"))
        if each.error:
            put(screen, one_line(each.error))
    receipt = f"   sha256 {each.briefing_sha256}" if each.briefing_sha256 else ""
    put(screen, Text("Briefing, as sent", "bold") + Text(receipt, "dim"))
    _print_text(each.text, screen)
    _print_left_out(each, screen)
    if each.reply is not None:
        put(screen, Text("Reply, as given", "bold"))
        _print_text(each.reply, screen)
    for repair in each.repairs:
        used = f"   {describe_usage(repair.usage)}" if repair.usage is not None else ""
        kind = "Question" if repair.kind == "question" else "Repair"
        put(screen, Text(f"{kind} {repair.number}: what it was asked", "bold") + Text(used, "dim"))
        _print_text(repair.text, screen)
        if repair.reply is not None:
            put(screen, Text("Reply, as given", "bold"))
            _print_text(repair.reply, screen)


def _print_left_out(each: AttemptView, screen: Console) -> None:
    if each.over_budget:
        put(
            screen, Text(f"{each.over_budget} tokens over its budget: what is never cut needs them", "yellow")
        )
    if each.left_out:
        put(screen, Text("Not in the briefing", "bold"))
        for left in each.left_out:
            whose = f"{left.agent_name}: " if left.agent_name else ""
            put(screen, one_line(f"{whose}{left.field}: {left.text}"))
        put(screen, "")


def _print_text(text: str, screen: Console) -> None:
    screen.print(safe(printable(text).rstrip()) + "\n", soft_wrap=True)
