"""How things look in the terminal: tables and `--json` from the same data."""

from __future__ import annotations

import re
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from segue.interfaces.cli.marks import STATES, Mark

if TYPE_CHECKING:
    from segue.application.views import PipelineDetail, StepView

_OTHERS = {"handing_over": Mark("↪", ">", "cyan"), "handed_over": Mark("↪", ">", "blue")}
"""States of sessions that no step has."""
STYLES = {name: mark.style for name, mark in (STATES | _OTHERS).items()}
MARKS = {name: mark.sign for name, mark in (STATES | _OTHERS).items()}

_DRIVES_TERMINAL = re.compile("[\x7f-\x9f]")
"""Control characters that JSON may hold as they are; those below the space it never does."""


_SHORT = frozenset({"id", "status", "time", "created"})
"""Columns that are never broken."""


def console() -> Console:
    """The terminal; plain text where it is none."""
    return Console(highlight=False)


def side_console() -> Console:
    """Where a run is watched and notes are told: standard error, so that the result alone is printed."""
    return Console(highlight=False, stderr=True)


def print_json(value: object) -> None:
    """Any view as JSON, the same shape as REST gives."""
    from pydantic import TypeAdapter

    kind: Any = type(value)
    text = TypeAdapter(kind).dump_json(value, indent=2).decode()
    sys.stdout.write(quiet_json(text) + "\n")


def print_document(text: str) -> None:
    """A document as it is, for a file or the next program; on a terminal, without what would drive it."""
    sys.stdout.write(printable(text) if sys.stdout.isatty() else text)


def quiet_json(text: str) -> str:
    """The same JSON, with nothing in it that drives a terminal."""
    return _DRIVES_TERMINAL.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def styled(status: str) -> str:
    """A status with its mark, in its colour."""
    if status not in STYLES:
        return status
    shown, style = f"{MARKS[status]} {status}", STYLES[status]
    return f"[{style}]{shown}[/]" if style else shown


def status_of(pipeline: Any) -> str:
    """The status that is true: a run that nobody moves on is interrupted."""
    if pipeline.status == "running" and pipeline.worker_id is None:
        return "interrupted"
    return str(pipeline.status)


def state_of_step(detail: PipelineDetail, step: StepView) -> tuple[str, datetime | None]:
    """The status of a step and when it ended; while it waits for a person, that, and since when."""
    for approval in detail.approvals:
        if approval.step_id == step.id and approval.waits_without_agent:
            return "waiting_for_approval", approval.created_at
    return str(step.status), step.finished_at


def plain_table(*headings: str) -> Table:
    """A table without boxes."""
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for heading in headings:
        table.add_column(heading, overflow="fold", no_wrap=heading in _SHORT)
    return table


def duration(start: datetime | None, end: datetime | None = None) -> str:
    """`4.2 s`, `3:05 min`, `1:02:11 h`, or nothing if it has not begun."""
    if start is None:
        return ""
    seconds = ((end or datetime.now(UTC)) - start).total_seconds()
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(int(seconds), 60)
    if minutes < 60:
        return f"{minutes}:{rest:02} min"
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02} h"


def when(moment: datetime) -> str:
    """A moment in the reader's own time."""
    return moment.astimezone().strftime("%Y-%m-%d %H:%M:%S")


def safe(text: str) -> str:
    """Text of others: no markup, no control characters that would drive the terminal."""
    return escape(printable(text))


def printable(text: str) -> str:
    """Text without the control characters that would drive the terminal; lines stay lines."""
    return "".join(c if c in "\n\t" or c.isprintable() else "\ufffd" for c in text.replace("\r\n", "\n"))
