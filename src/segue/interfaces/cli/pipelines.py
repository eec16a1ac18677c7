"""`segue pipelines`: list, show, watch, abort, resume."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated

import typer

from segue.domain.errors import SegueError
from segue.interfaces.cli.foreground import NOT_ENDED, conclude, run_in_foreground
from segue.interfaces.cli.parts import parts_of

if TYPE_CHECKING:
    from rich.console import Console

    from segue.application.segue import Segue
    from segue.application.views import PipelineDetail, StepDetail
    from segue.domain.pipeline import Pipeline

app = typer.Typer(help="Look at pipelines and steer them.", no_args_is_help=True)

Json = Annotated[bool, typer.Option("--json", help="Print JSON, in the same shape as REST.")]
Id = Annotated[int, typer.Argument(help="The pipeline's id.", metavar="ID", min=1, max=2**31 - 1)]


@app.command("list")
def list_pipelines(
    context: typer.Context,
    status: Annotated[str | None, typer.Option(help="Only those with this status.")] = None,
    template: Annotated[str | None, typer.Option(help="Only those of this template.")] = None,
    text: Annotated[str | None, typer.Option("--text", "-q", help="Words in title or prompt.")] = None,
    limit: Annotated[int, typer.Option(help="How many at most.", min=1, max=200)] = 20,
    before: Annotated[
        int | None, typer.Option(help="Only those with a smaller id.", min=1, max=2**31 - 1)
    ] = None,
    as_json: Json = False,
) -> None:
    """The pipelines, newest first."""
    from segue.application.views import PipelineFilter
    from segue.domain.errors import UnknownName
    from segue.domain.pipeline import PipelineStatus
    from segue.interfaces.cli.output import (
        console,
        duration,
        plain_table,
        print_json,
        safe,
        status_of,
        styled,
        when,
    )

    if status is not None and status not in set(PipelineStatus):
        raise UnknownName("status", status, PipelineStatus)

    async def read() -> None:
        criteria = PipelineFilter(
            status=PipelineStatus(status) if status else None,
            template=template,
            text=text,
            before=before,
            limit=limit,
        )
        parts = parts_of(context)
        async with parts.open(parts.own_settings()) as segue:
            await segue.workers.reap()
            page = await segue.views.pipelines(criteria)
        if as_json:
            print_json(page)
            return
        screen = console()
        if not page.items:
            screen.print(
                "no pipelines" + (" like that" if status or template or text else " yet; try `segue demo`")
            )
            return
        table = plain_table("id", "status", "template", "title", "created", "time")
        for each in page.items:
            took = duration(each.created_at, each.updated_at if each.status.is_final else None)
            shown = styled(status_of(each))
            table.add_row(
                str(each.id), shown, safe(each.template), safe(each.title), when(each.created_at), took
            )
        screen.print(table)
        if page.next_cursor:
            screen.print(f"[dim]more: segue pipelines list --before {page.next_cursor}[/]")

    asyncio.run(read())


@app.command("show")
def show_pipeline(
    context: typer.Context,
    pipeline_id: Id,
    step: Annotated[
        int | None,
        typer.Option(
            "--step",
            "-s",
            help="Show this step: each claim with its evidence, and what was sent and said.",
            min=1,
        ),
    ] = None,
    briefing: Annotated[
        int | None,
        typer.Option(
            "--briefing", "-b", help="Print the exact briefing of this step, and nothing else.", min=1
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """One pipeline with its steps and handoffs; or one step with all that was sent and said."""
    from segue.interfaces.cli.output import console, print_document, print_json
    from segue.interfaces.cli.step_view import print_step

    async def read() -> tuple[PipelineDetail, StepDetail | None]:
        parts = parts_of(context)
        async with parts.open(parts.own_settings()) as segue:
            await segue.workers.reap()
            detail = await segue.views.pipeline(pipeline_id)
            number = briefing or step
            return detail, None if number is None else await segue.views.step(pipeline_id, number)

    detail, found = asyncio.run(read())
    if briefing is not None and found is not None and not as_json:
        if not found.attempts:
            raise SegueError(f"step {briefing} of pipeline {pipeline_id} has not begun: nothing was sent")
        print_document(found.attempts[-1].text)
    elif as_json:
        print_json(found or detail)
    elif found is not None:
        print_step(detail, found, console())
    else:
        _print_pipeline(detail, console())


@app.command("watch")
def watch_pipeline(context: typer.Context, pipeline_id: Id) -> None:
    """Follow a pipeline that runs elsewhere; Ctrl-C stops watching, not the pipeline."""
    from segue.interfaces.cli.closing import closing_of
    from segue.interfaces.cli.live import follow
    from segue.interfaces.cli.output import side_console, status_of
    from segue.interfaces.cli.steps_block import print_title

    async def watch() -> int:
        parts = parts_of(context)
        async with parts.open(parts.own_settings()) as segue:
            await segue.workers.reap()
            detail = await segue.views.pipeline(pipeline_id)
            screen = side_console()
            if status_of(detail) == "interrupted":
                screen.print(
                    f"[yellow]nobody moves pipeline {pipeline_id} on: `segue serve` takes it up, or "
                    f"`segue pipelines resume {pipeline_id}`[/]"
                )
            detail = await follow(segue, pipeline_id, screen)
            closing = await closing_of(segue, detail)
        print_title(detail, screen)
        conclude(detail, closing, screen)
        return detail.result.exit_code if detail.result is not None else NOT_ENDED

    try:
        raise typer.Exit(asyncio.run(watch()))
    except KeyboardInterrupt:
        raise typer.Exit(130) from None


@app.command("abort")
def abort_pipeline(
    context: typer.Context,
    pipeline_id: Id,
    reason: Annotated[str, typer.Option(help="Why, kept with the pipeline.")] = "aborted by the user",
) -> None:
    """Stop a pipeline for good, wherever it runs; its agent is stopped first."""

    async def abort() -> PipelineDetail:
        parts = parts_of(context)
        async with parts.open(parts.own_settings()) as segue:
            await segue.pipelines.abort(pipeline_id, reason)
            return await segue.views.pipeline(pipeline_id)

    status = asyncio.run(abort()).status
    if status == "aborted":
        typer.echo(f"pipeline {pipeline_id} is aborted")
    else:
        raise SegueError(f"pipeline {pipeline_id} is {status}: it ended before it could be aborted")


@app.command("resume")
def resume_pipeline(context: typer.Context, pipeline_id: Id, as_json: Json = False) -> None:
    """Continue here with a pipeline that was interrupted, from the first step that is not done."""
    parts = parts_of(context)
    settings = parts.settings()

    async def resume(segue: Segue) -> Pipeline:
        return await segue.pipelines.resume(pipeline_id)

    raise typer.Exit(asyncio.run(run_in_foreground(parts, settings, resume, as_json=as_json)))


def _print_pipeline(detail: PipelineDetail, screen: Console) -> None:
    from segue.interfaces.cli.ledgers import print_ledger
    from segue.interfaces.cli.live import steps_table
    from segue.interfaces.cli.output import safe, status_of, styled, when
    from segue.interfaces.cli.records import print_handoff

    screen.print(f"[bold]pipeline {detail.id}[/]  {styled(status_of(detail))}  {safe(detail.title)}")
    screen.print(
        f"[dim]{safe(detail.template)} in {safe(detail.working_dir)}, since {when(detail.created_at)}[/]"
    )
    if detail.workspace is not None and detail.workspace.branch is not None:
        screen.print(
            f"[dim]on branch[/] {safe(detail.workspace.branch)} [dim]in[/] {safe(detail.workspace.path)}"
        )
    if detail.reason:
        screen.print(f"[dim]why:[/] {safe(detail.reason)}")
    screen.print(f"[dim]task:[/] {safe(detail.prompt.strip())}\n")
    screen.print(steps_table(detail))
    for step in detail.steps:
        if step.latest_handoff is not None:
            screen.print()
            print_handoff(
                step.agent_name, step.latest_handoff.metadata, step.latest_handoff.content_md, screen
            )
            if step.latest_handoff.ledger is not None:
                print_ledger(step.latest_handoff.ledger, screen)
