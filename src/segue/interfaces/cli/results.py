"""`segue pipelines diff|merge|clean|export`: what a pipeline made."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from segue.interfaces.cli.parts import parts_of
from segue.interfaces.cli.people import refuse_agents
from segue.interfaces.cli.pipelines import Id
from segue.interfaces.cli.xray import export

if TYPE_CHECKING:
    from collections.abc import Iterable

    from segue.application.ports.workspace import MergePreview
    from segue.domain.workspace import Workspace


def add_to(app: typer.Typer) -> None:
    """Make these commands of `segue pipelines`."""
    app.command("diff")(diff)
    app.command("merge")(merge)
    app.command("clean")(clean)
    app.command("export")(export)


def diff(
    context: typer.Context,
    pipeline_id: Id,
    step: Annotated[
        int | None, typer.Option("--step", "-s", help="Only what this step changed.", min=1)
    ] = None,
) -> None:
    """What a pipeline, or one of its steps, has changed, as a patch."""

    async def read() -> str:
        parts = parts_of(context)
        async with parts.open(parts.own_settings()) as segue:
            return await segue.results.diff(pipeline_id, step)

    patch = asyncio.run(read())
    if not sys.stdout.isatty():
        sys.stdout.write(patch)
        return
    from rich.syntax import Syntax

    from segue.interfaces.cli.output import console, printable

    console().print(Syntax(printable(patch), "diff", theme="ansi_dark", background_color="default"))


def merge(
    context: typer.Context,
    pipeline_id: Id,
    allow_refuted: Annotated[
        bool,
        typer.Option(
            "--allow-refuted",
            help="Merge although claims are false or tests weakened; the audit trail has it.",
        ),
    ] = False,
) -> None:
    """Merge what a pipeline made into what you have checked out; a conflict changes nothing.

    Refused if claims of the run are still false at its end, or tests still weakened. Files
    that make programs run (hooks, CI, settings of Segue and of agents) are named first."""
    refuse_agents("merge the work of agents")

    async def act() -> str:
        parts = parts_of(context)
        async with parts.open(parts.own_settings()) as segue:
            _tell(await segue.results.preview_merge(pipeline_id))
            return await segue.results.merge(pipeline_id, allow_refuted=allow_refuted, by=segue.tokens.owner)

    commit = asyncio.run(act())[:12]
    typer.echo(f"merged as {commit}; `segue pipelines clean {pipeline_id}` removes its worktree")


def _tell(preview: MergePreview) -> None:
    """What a person should know before the merge."""
    from segue.domain.program_files import program_files
    from segue.interfaces.cli.output import printable

    def listed(names: Iterable[str]) -> str:
        return ", ".join(printable(name).replace("\n", "\ufffd") for name in names)

    if running := program_files(preview.changed):
        typer.echo(f"This changes files that run programs: {listed(running)}")
    if preview.left_out:
        typer.echo(f"This leaves out what no commit of the worktree holds: {listed(preview.left_out)}")


def clean(
    context: typer.Context,
    pipeline_id: Id,
    force: Annotated[
        bool, typer.Option("--force", help="Delete what no commit holds, too: repositories that agents made.")
    ] = False,
) -> None:
    """Remove the worktree of a pipeline that has ended; its branch and commits stay."""

    async def act() -> Workspace:
        parts = parts_of(context)
        async with parts.open(parts.own_settings()) as segue:
            return await segue.results.clean(pipeline_id, force=force)

    workspace = asyncio.run(act())
    typer.echo(f"removed {workspace.path}; its work is on the branch {workspace.branch}")
