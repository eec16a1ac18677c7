"""`segue clean`: removes what is left of pipelines that ended long ago."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated

import typer

from segue.domain.durations import read_duration
from segue.domain.errors import InvalidRequest
from segue.interfaces.cli.parts import parts_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from segue.application.pipelines.retention import Leftover


def clean(
    context: typer.Context,
    older_than: Annotated[
        str | None,
        typer.Option(help="How long ago they ended: 12h, 30d, 8w. Without it, the setting keep_days."),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would be removed.")] = False,
) -> None:
    """Remove what is left of pipelines that ended long ago.

    That is their worktrees and documents on this machine, and the activity of their agents.
    What happened stays: the runs with their handoffs, verdicts and evidence, branches and
    commits, and the audit trail. A worktree stays while something in it is in no commit."""
    parts = parts_of(context)
    settings = parts.own_settings()
    age = read_duration(older_than) if older_than is not None else None
    if age is None and settings.keep_days is not None:
        age = timedelta(days=settings.keep_days)
    if age is None:
        raise InvalidRequest(
            "say how long ago a pipeline must have ended",
            "segue clean --older-than 30d --dry-run    show what would be removed",
            "SEGUE_KEEP_DAYS=30    clean every day, in segue serve and segue worker",
        )

    async def act() -> Sequence[Leftover]:
        async with parts.open(settings) as segue:
            return await (segue.retention.find(age) if dry_run else segue.retention.clean(age))

    found = asyncio.run(act())
    for each in found:
        _tell(each, "would remove" if dry_run else "removed")
    if not found:
        typer.echo("nothing to remove")


def _tell(left: Leftover, verb: str) -> None:
    from segue.domain.amounts import count
    from segue.interfaces.cli.output import printable

    parts = [
        count(left.activity, "record") + " of activity" if left.activity else "",
        f"the worktree {left.worktree}" if left.worktree else "",
        count(len(left.documents), "document") if left.documents else "",
    ]
    if what := ", ".join(part for part in parts if part):
        typer.echo(f"{verb} of {left.id} ({printable(left.title)}): {what}")
    if left.kept:
        typer.echo(f"kept of {left.id}: {printable(left.kept)}", err=True)
