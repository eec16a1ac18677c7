"""A run while it lasts: a live table in a terminal, a line an event elsewhere."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager, suppress
from typing import TYPE_CHECKING

from rich.console import Console, Group
from rich.live import Live
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from segue.application.event_stream import follow as follow_events
from segue.domain.activity import Activity, ActivityKind
from segue.domain.audit import FINAL_KINDS, AuditEntry, AuditKind
from segue.domain.usage import Usage
from segue.interfaces.cli.activity import WorkShown, approval_lines, describe_activity, describe_usage
from segue.interfaces.cli.ledgers import describe_ledger
from segue.interfaces.cli.output import (
    MARKS,
    STYLES,
    duration,
    plain_table,
    printable,
    safe,
    state_of_step,
    styled,
)

if TYPE_CHECKING:
    from segue.application.segue import Segue
    from segue.application.views import HandoffView, PipelineDetail, StepView


_POLITE = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Signals by which a person or a terminal asks us to end."""


async def follow(
    segue: Segue, pipeline_id: int, console: Console, *, is_left_waiting: bool = False
) -> PipelineDetail:
    """Show a run until it ends, or until it waits for a person; gives it as it stands then."""
    detail = await segue.views.pipeline(pipeline_id)
    show = _LiveTable if console.is_terminal else _Lines
    with show(console, detail) as screen:
        async with aclosing(follow_events(segue, pipeline_id=pipeline_id)) as events:
            async for _, event in events:
                if isinstance(event, Activity):
                    screen.show(event)
                    continue
                detail = await segue.views.pipeline(pipeline_id)
                screen.update(detail)
                if event.event_type is AuditKind.WORKSPACE_OPENED:
                    screen.tell_notes(event)
                if event.event_type is AuditKind.LIMIT_REACHED:
                    screen.tell_limit(event)
                if event.event_type in FINAL_KINDS and detail.status.is_final:
                    break  # of a run that was restarted, earlier ends are passed over
                if is_left_waiting and detail.status == "waiting_for_approval" and waits(detail):
                    break
    return detail


def waits(detail: PipelineDetail) -> bool:
    """True if a run rests until a person decides."""
    return any(each.waits_without_agent for each in detail.approvals)


@asynccontextmanager
async def on_interrupt(act: Callable[[], None]) -> AsyncIterator[None]:
    """Ctrl-C or a polite kill calls `act` instead of tearing the process down.

    What was ignored when we started stays ignored: SIGINT in `segue serve &` of a script, SIGHUP under nohup.
    """
    loop = asyncio.get_running_loop()
    heard = [number for number in _POLITE if signal.getsignal(number) is not signal.SIG_IGN]
    for number in heard:
        loop.add_signal_handler(number, act)
    try:
        yield
    finally:
        for number in heard:
            with suppress(ValueError):
                loop.remove_signal_handler(number)


class _LiveTable:
    """Steps, agents, times; the running one with a spinner."""

    def __init__(self, console: Console, detail: PipelineDetail) -> None:
        self._detail = detail
        self._spinner = Spinner("dots", style=STYLES["running"])
        self._work = WorkShown()
        self._console = console
        # What it ends with is printed once, with the end of the run.
        self._live = Live(console=console, get_renderable=self._render, refresh_per_second=10, transient=True)

    def __enter__(self) -> _LiveTable:
        self._live.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._live.refresh()
        self._live.__exit__(None, None, None)

    def update(self, detail: PipelineDetail) -> None:
        """Show how the run stands now."""
        self._detail = detail

    def show(self, activity: Activity) -> None:
        """Show what an agent does."""
        self._work.take(activity)

    def tell_limit(self, entry: AuditEntry) -> None:
        """The table says it once the session has handed over."""

    def tell_notes(self, entry: AuditEntry) -> None:
        """What a person should know of the folder that agents work in."""
        _print_notes(entry, self._console)

    def _render(self) -> Group:
        table = Table.grid(padding=(0, 2, 0, 0))
        for step in self._detail.steps:
            status, end = state_of_step(self._detail, step)
            running = status == "running" and self._detail.status == "running"
            mark = self._spinner if running else Text(MARKS[status], STYLES[status])
            table.add_row(
                mark,
                str(step.order_index + 1),
                Text(printable(step.name), style="bold" if running else ""),
                Text(status, style=STYLES[status]),
                duration(step.started_at, end),
                Text.from_markup(_remark(step, self._work.usage_of(step))),
            )
            if running:
                table.add_row("", "", "", "", "", self._work.render(step))
        waiting = [Text.from_markup(line) for line in approval_lines(self._detail)]
        return Group(table, *waiting)


class _Lines:
    """For logs and pipes: one line when a step changes."""

    def __init__(self, console: Console, detail: PipelineDetail) -> None:
        self._console = console
        self._seen: dict[int, str] = {step.id: "pending" for step in detail.steps}
        self._names = {step.id: step.name for step in detail.steps}
        self._handovers = {step.id: 0 for step in detail.steps}
        self._asked: set[int] = set()
        self._words = ""

    def __enter__(self) -> _Lines:
        return self

    def __exit__(self, *error: object) -> None:
        self._end_words()

    def show(self, activity: Activity) -> None:
        """Print what an agent does: its words line by line, its tool calls when they end."""
        if activity.kind is ActivityKind.SAID:
            *lines, self._words = (self._words + activity.payload["text"]).split("\n")
            for line in lines:
                self._print_words(line)
        elif line := describe_activity(activity):
            self._end_words()
            self._console.print(f"  {line}", soft_wrap=True)

    def tell_limit(self, entry: AuditEntry) -> None:
        """Print why the words that follow are a handoff."""
        reason = str((entry.payload or {}).get("reason", ""))
        who = safe(self._names.get(entry.step_id or 0, ""))
        self._console.print(
            f"  [blue]↪ {who} reached a limit ({safe(reason)}): it is asked to hand over[/]", soft_wrap=True
        )

    def tell_notes(self, entry: AuditEntry) -> None:
        """What a person should know of the folder that agents work in."""
        _print_notes(entry, self._console)

    def _end_words(self) -> None:
        self._print_words(self._words)
        self._words = ""

    def _print_words(self, words: str) -> None:
        if words.strip():
            self._console.print(f"  [dim]│[/] {safe(words)}", soft_wrap=True)

    def update(self, detail: PipelineDetail) -> None:
        """Print what changed."""
        self._end_words()
        for approval, line in zip(detail.approvals, approval_lines(detail), strict=True):
            if approval.id not in self._asked:
                self._asked.add(approval.id)
                self._console.print(line, soft_wrap=True)
        for step in detail.steps:
            if self._handovers[step.id] != step.handovers:
                self._handovers[step.id] = step.handovers
                self._console.print(
                    f"{step.order_index + 1} {safe(step.name)}: [blue]↪ handed over "
                    f"{_times(step.handovers)}[/]; it continues in a new session",
                    soft_wrap=True,
                )
            if self._seen[step.id] != step.status:
                self._seen[step.id] = step.status
                took = duration(step.started_at, step.finished_at) if step.finished_at else ""
                remark = _remark(step, step.usage)
                self._console.print(
                    f"{step.order_index + 1} {safe(step.name)}: {styled(step.status)}"
                    + (f" after {took}" if took else "")
                    + (f"  {remark}" if remark else ""),
                    soft_wrap=True,
                )


def _print_notes(entry: AuditEntry, console: Console) -> None:
    for note in (entry.payload or {}).get("notes", ()):
        console.print(f"note: {safe(note)}", soft_wrap=True)


def _remark(step: StepView, usage: Usage | None) -> str:
    """What is worth knowing about a step, in a few words."""
    parts = []
    if usage is not None and (used := describe_usage(usage)):
        parts.append(f"[dim]{used}[/]")
    if step.handovers:
        parts.append(f"[blue]↪ handed over {_times(step.handovers)}[/]")
    if (attempt := step.attempt_count - step.handovers) > 1:
        parts.append(f"[yellow]attempt {attempt}[/]")
    if step.error_message:
        parts.append(f"[red]{safe(step.error_message)}[/]")
    if step.latest_handoff is not None and step.status != "running":
        parts.insert(0, describe_ledger(step.latest_handoff.ledger))
        parts.append(describe_handoff(step.latest_handoff))
    return "  ".join(part for part in parts if part)


def _times(number: int) -> str:
    return {1: "once", 2: "twice"}.get(number, f"{number} times")


def describe_handoff(handoff: HandoffView) -> str:
    """`handed off: 2 done, 1 decision, 1 question`."""
    metadata = handoff.metadata
    if handoff.is_synthetic:
        return "[yellow]ended without a handoff; Segue wrote down what it left[/]"
    if metadata is None:
        return "[yellow]no structured handoff; the next agent gets the raw reply[/]"
    counted = {
        "what_was_done": ("done", "done"),
        "decisions_made": ("decision", "decisions"),
        "open_questions": ("question", "questions"),
        "blockers": ("blocker", "blockers"),
        "suggested_next_steps": ("next step", "next steps"),
    }
    words = []
    for field, (one, many) in counted.items():
        items = metadata.get(field)
        if isinstance(items, list) and items:
            words.append(f"{len(items)} {one if len(items) == 1 else many}")
    if metadata.get("next_agent_context"):
        words.append("a task for the next")
    return "[dim]handed off: " + ", ".join(words or ["a record"]) + "[/]"


def steps_table(detail: PipelineDetail) -> Table:
    """The steps of a run as a table."""
    table = plain_table("", "agent", "status", "time", "")
    for step in detail.steps:
        status, end = state_of_step(detail, step)
        table.add_row(
            str(step.order_index + 1),
            safe(step.name),
            styled(status),
            duration(step.started_at, end),
            _remark(step, step.usage),
        )
    return table
