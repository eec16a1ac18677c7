"""Runs one pipeline in this process, shows it, and turns its end into an exit code."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from segue.interfaces.cli.parts import CliSettings, Parts

if TYPE_CHECKING:
    from rich.console import Console

    from segue.application.app import Segue
    from segue.application.views import PipelineDetail

EXIT_CODES = {"done": 0, "failed": 1, "aborted": 130}


async def run_in_foreground(
    parts: Parts, settings: CliSettings, begin: Callable[[Segue], Awaitable[int]], *, as_json: bool
) -> int:
    """Begin a pipeline, follow it to its end, print what came of it."""
    from segue.interfaces.cli.output import console, print_json

    async with parts.open(settings) as segue:
        await segue.start()
        pipeline_id = await begin(segue)
        screen = console()
        if as_json:
            screen.quiet = True
        else:
            await announce(segue, pipeline_id, screen)
        detail = await follow_or_abort(segue, pipeline_id, screen)
    if as_json:
        print_json(detail)
    else:
        conclude(detail, screen)
    return EXIT_CODES[detail.status]


async def announce(segue: Segue, pipeline_id: int, screen: Console) -> None:
    """One line: which run, which recipe, where."""
    from segue.interfaces.cli.output import safe

    detail = await segue.views.pipeline(pipeline_id)
    title = f"[bold]pipeline {detail.id}[/] · {safe(detail.template)} · {safe(detail.title)}"
    screen.print(f"{title}\n[dim]in {safe(detail.working_dir)}[/]\n", soft_wrap=True)


async def follow_or_abort(segue: Segue, pipeline_id: int, screen: Console) -> PipelineDetail:
    """Follow a run; Ctrl-C aborts it and goes on following until it has stopped."""
    from segue.interfaces.cli.live import follow, on_interrupt

    aborting: set[asyncio.Task[None]] = set()

    def abort() -> None:
        if not aborting:
            screen.print("[magenta]aborting: waiting for the agent to stop[/]")
            aborting.add(asyncio.ensure_future(segue.pipelines.abort(pipeline_id, "aborted by Ctrl-C")))

    async with on_interrupt(abort):
        detail = await follow(segue, pipeline_id, screen)
    # An abort that came too late to matter is no error.
    await asyncio.gather(*aborting, return_exceptions=True)
    return detail


def conclude(detail: PipelineDetail, screen: Console) -> None:
    """How it ended, and where to look next."""
    from segue.interfaces.cli.output import duration, safe, styled

    reason = f": {safe(detail.reason)}" if detail.reason else ""
    took = duration(detail.created_at, detail.updated_at)
    screen.print(f"\n{styled(detail.status)} in {took}{reason}", soft_wrap=True)
    screen.print(
        f"[dim]look closer:[/] segue pipelines show {detail.id}   "
        f"[dim]one step:[/] segue pipelines show {detail.id} --step 1",
        soft_wrap=True,
    )
