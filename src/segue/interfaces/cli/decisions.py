"""What waits for you, and what you decide: `segue inbox`, `segue pipelines approve|reject|answer|restart`."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated

import typer

from segue.interfaces.cli.foreground import run_in_foreground
from segue.interfaces.cli.parts import parts_of
from segue.interfaces.cli.people import refuse_agents

if TYPE_CHECKING:
    from segue.application.pipelines.transactions_deciding import HumanDecision
    from segue.application.segue import Segue
    from segue.application.views import InboxEntry
    from segue.domain.approvals import Approval
    from segue.domain.pipeline import Pipeline

Json = Annotated[bool, typer.Option("--json", help="Print JSON, in the same shape as REST.")]
Id = Annotated[int, typer.Argument(help="The pipeline's id.", metavar="ID", min=1, max=2**31 - 1)]
Comment = Annotated[str | None, typer.Option(help="Words for the agents that come after.")]


def add_to(app: typer.Typer) -> None:
    """Add these commands to `segue pipelines`."""
    app.command("approve")(approve)
    app.command("reject")(reject)
    app.command("answer")(answer)
    app.command("restart")(restart)


def approve(context: typer.Context, pipeline_id: Id, comment: Comment = None) -> None:
    """Let a pipeline continue, or its agent do what it asks."""
    _decide(context, pipeline_id, approved=True, comment=comment)


def reject(context: typer.Context, pipeline_id: Id, comment: Comment = None) -> None:
    """Say no: the pipeline fails or goes back to an earlier step; of a permission, its agent is told so."""
    _decide(context, pipeline_id, approved=False, comment=comment)


def answer(
    context: typer.Context,
    pipeline_id: Id,
    text: Annotated[str, typer.Argument(help="The answer, in your own words.")],
) -> None:
    """Answer what an agent asked; it continues with your words."""
    _decide(context, pipeline_id, approved=True, comment=text, is_answer=True)


def restart(
    context: typer.Context,
    pipeline_id: Id,
    note: Annotated[str, typer.Option(help="Told to the agent of the step that begins anew.")] = "",
    detach: Annotated[
        bool, typer.Option("--detach", help="Leave it to `segue serve` or a worker to run it.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Continue a pipeline that failed or was aborted, from the first step that is not done."""
    refuse_agents("restart a pipeline")
    parts = parts_of(context)

    async def begin(segue: Segue) -> Pipeline:
        restarted = await segue.pipelines.restart(pipeline_id, note)
        return restarted if detach else await segue.pipelines.resume(pipeline_id)

    async def leave() -> Pipeline:
        async with parts.open(parts.own_settings()) as segue:
            return await begin(segue)

    if detach:
        pipeline = asyncio.run(leave())
        step = pipeline.next_step()
        where = f" at {step.title}" if step is not None else ""
        typer.echo(f"pipeline {pipeline_id} restarts{where} once a server or a worker takes it")
        return
    raise typer.Exit(asyncio.run(run_in_foreground(parts, parts.settings(), begin, as_json=as_json)))


def inbox(context: typer.Context, as_json: Json = False) -> None:
    """Show what waits for you: approve, reject, answer."""
    from segue.interfaces.cli.activity import how_to_decide
    from segue.interfaces.cli.output import console, plain_table, print_json, safe, when

    async def read() -> list[InboxEntry]:
        parts = parts_of(context)
        async with parts.open(parts.own_settings()) as segue:
            return await segue.views.inbox()

    waiting = asyncio.run(read())
    if as_json:
        print_json(waiting)
        return
    screen = console()
    if not waiting:
        screen.print("nothing waits for you")
        return
    table = plain_table("pipeline", "step", "needs", "since")
    for each in waiting:
        place = f"{each.step_number} {each.step_name}" if each.step_number else "session"
        table.add_row(
            str(each.approval.pipeline_id or ""),
            safe(place),
            safe(f"{each.approval.kind}: {each.approval.title}"),
            when(each.approval.created_at),
        )
    screen.print(table)
    first = waiting[0].approval
    if first.pipeline_id is not None:
        screen.print(f"[dim]next: {how_to_decide(first)}[/]")


def _decide(
    context: typer.Context,
    pipeline_id: int,
    *,
    approved: bool,
    comment: str | None,
    is_answer: bool = False,
) -> None:
    from segue.interfaces.cli.output import printable

    refuse_agents("decide what a pipeline waits for")
    decided, is_left = asyncio.run(
        _decided(context, pipeline_id, approved=approved, comment=comment, is_answer=is_answer)
    )
    typer.echo(f"{decided.status}: {printable(decided.title)}")
    if is_left:
        typer.echo(f"nobody runs it now: segue pipelines resume {pipeline_id}, or segue serve")


async def _decided(
    context: typer.Context, pipeline_id: int, *, approved: bool, comment: str | None, is_answer: bool
) -> tuple[Approval, bool]:
    """The decision, and whether nobody is there to continue the run."""
    from segue.application.pipelines.transactions_deciding import HumanDecision

    parts = parts_of(context)
    async with parts.open(parts.own_settings()) as segue:
        decision: HumanDecision = HumanDecision(
            approve=approved, comment=comment, is_answer=is_answer, decided_by=segue.tokens.owner
        )
        decided = await segue.approvals.decide_next(pipeline_id, decision, is_answer=is_answer)
        await segue.workers.reap()
        detail = await segue.views.pipeline(pipeline_id)
        is_left = detail.status == "pending" and not await segue.views.workers()
        return decided, is_left
