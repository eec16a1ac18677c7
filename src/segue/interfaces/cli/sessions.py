"""`segue session`: start, say, list, show, handoff, resume, lineage, end."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from segue.interfaces.cli.parts import CliSettings, parts_of

if TYPE_CHECKING:
    from rich.console import Console

    from segue.application.handoffs.handover import Draft
    from segue.application.handoffs.outcomes import Edit, Outcome
    from segue.application.ports.backend import SessionEvent
    from segue.application.segue import Segue
    from segue.application.views import Lineage, SessionDetail, SessionView

T = TypeVar("T")
Json = Annotated[bool, typer.Option("--json", help="Print JSON, in the same shape as REST.")]
Id = Annotated[int, typer.Argument(help="The session's id.", metavar="ID", min=1, max=2**31 - 1)]

_FALSE = "# false: "
"""Begins a line about a false claim in a handoff that is edited; such lines are left out again."""


def add_to(app: typer.Typer) -> None:
    """Give the group its commands."""
    for name, command in (
        ("start", start),
        ("say", say),
        ("list", list_sessions),
        ("show", show),
        ("handoff", hand_off),
        ("resume", resume),
        ("lineage", lineage),
        ("end", end),
    ):
        app.command(name)(command)


def start(
    context: typer.Context,
    agent: Annotated[str, typer.Argument(help="An agent of the catalog, or a back end.")],
    directory: Annotated[
        str | None, typer.Option("--directory", "-C", help="Folder to work in; this one if left out.")
    ] = None,
    model: Annotated[str | None, typer.Option(help="The agent's own if left out.")] = None,
    title: Annotated[str, typer.Option(help="A line to know it by.")] = "",
    as_json: Json = False,
) -> None:
    """Begin a session with an agent."""
    from segue.interfaces.cli.output import print_json

    started = _with_segue(
        context,
        lambda segue: segue.sessions.start(agent, working_dir=directory, model=model, title=title),
        parts_of(context).settings(Path(directory) if directory else None),
    )
    if as_json:
        print_json(started)
    else:
        typer.echo(f'session {started.id} is open: segue session say {started.id} "..."')


def say(
    context: typer.Context,
    session_id: Id,
    text: Annotated[str, typer.Argument(help="What to say.")],
    message_id: Annotated[
        str | None, typer.Option(help="The same id again says nothing, and gives the same reply.")
    ] = None,
    auto_handoff: Annotated[
        bool | None,
        typer.Option("--auto-handoff/--no-auto-handoff", help="Hand over at a limit; else as is set."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Say something and wait for the reply."""
    from segue.interfaces.cli.output import console, print_json, safe
    from segue.interfaces.session_shapes import answer_view

    screen = console()
    answer = _with_segue(
        context,
        lambda segue: segue.sessions.say(
            session_id,
            text,
            message_id=message_id,
            auto_handoff=auto_handoff,
            on_event=_shown_on(segue, session_id, None if as_json else screen),
        ),
    )
    if as_json:
        print_json(answer_view(answer))
        return
    screen.print(safe(answer.reply))
    for outcome in answer.handoffs:
        _print_outcome(outcome, screen)


def list_sessions(
    context: typer.Context,
    limit: Annotated[int, typer.Option(help="How many at most.", min=1, max=200)] = 20,
    before: Annotated[
        int | None, typer.Option(help="Only those with a smaller id.", min=1, max=2**31 - 1)
    ] = None,
    as_json: Json = False,
) -> None:
    """The sessions outside of pipelines, newest first."""
    from segue.interfaces.cli.output import console, print_json

    page = _with_records(context, lambda segue: segue.sessions.list(before=before, limit=limit))
    if as_json:
        print_json(page)
        return
    screen = console()
    if not page.items:
        screen.print("no sessions yet; `segue session start AGENT` begins one")
        return
    _print_table(page.items, screen)
    if page.next_cursor:
        screen.print(f"[dim]more: segue session list --before {page.next_cursor}[/]")


def show(context: typer.Context, session_id: Id, as_json: Json = False) -> None:
    """One session with all that was said in it, and what it left."""
    from segue.interfaces.cli.output import console, print_json

    found = _with_records(context, lambda segue: segue.sessions.show(session_id))
    if as_json:
        print_json(found)
    else:
        _print_session(found, console())


def hand_off(
    context: typer.Context,
    session_id: Id,
    reason: Annotated[str, typer.Option(help="context_limit, shift_end or task_boundary.")] = "task_boundary",
    focus: Annotated[str, typer.Option(help="What matters most; told to the agent word for word.")] = "",
    to: Annotated[str | None, typer.Option(help="Another agent or back end to continue with.")] = None,
    in_place: Annotated[
        bool, typer.Option("--in-place", help="Let the back end compact the session itself.")
    ] = False,
    edit: Annotated[
        bool, typer.Option("--edit", help="Open the handoff in your editor before it is used.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Let a session write down what it knows, and continue in a new one; Ctrl-C cancels."""
    from segue.interfaces.cli.output import console, print_json
    from segue.interfaces.session_shapes import outcome_view

    async def act(segue: Segue) -> Outcome:
        return await segue.sessions.hand_off(
            session_id,
            reason=reason,
            focus=focus,
            to=to,
            in_place=in_place,
            edit=_editor() if edit else None,
        )

    try:
        outcome = _with_segue(context, act)
    except KeyboardInterrupt:
        typer.echo("Handoff cancelled", err=True)
        raise typer.Exit(130) from None
    shown = outcome_view(outcome)
    if as_json:
        print_json(shown)
    else:
        _print_outcome(outcome, console())
    if shown.outcome == "failed":
        raise typer.Exit(1)


def resume(context: typer.Context, session_id: Id, as_json: Json = False) -> None:
    """Make a session usable again that an earlier process opened, or that has handed over."""
    from segue.interfaces.cli.output import print_json

    found = _with_segue(context, lambda segue: segue.sessions.resume(session_id))
    if as_json:
        print_json(found)
    else:
        typer.echo(f'session {found.id} answers again: segue session say {found.id} "..."')


def lineage(context: typer.Context, session_id: Id, as_json: Json = False) -> None:
    """Where a session came from, and what continues from it."""
    from segue.interfaces.cli.output import console, print_json

    found: Lineage = _with_records(context, lambda segue: segue.sessions.lineage(session_id))
    if as_json:
        print_json(found)
    else:
        _print_table([*found.parents, found.session, *found.children], console(), marked=session_id)


def end(context: typer.Context, session_id: Id) -> None:
    """Close a session for good; what was said stays readable."""
    found = _with_records(context, lambda segue: segue.sessions.end(session_id))
    typer.echo(f"session {found.id} has ended")


def _with_segue(
    context: typer.Context, act: Callable[[Segue], Awaitable[T]], settings: CliSettings | None = None
) -> T:
    parts = parts_of(context)
    chosen = settings or parts.settings()

    async def run() -> T:
        async with parts.open(chosen) as segue:
            return await act(segue)

    return asyncio.run(run())


def _with_records(context: typer.Context, act: Callable[[Segue], Awaitable[T]]) -> T:
    """For what needs no settings of a project, and so no trust in it."""
    return _with_segue(context, act, parts_of(context).own_settings())


def _editor() -> Edit:
    async def edit(draft: Draft) -> str | None:
        import click

        false = "".join(f"{_FALSE}{line}\n" for line in draft.findings)
        changed = await asyncio.to_thread(click.edit, false + draft.text, extension=".yaml")
        if changed is None:
            return draft.text
        return "".join(line for line in changed.splitlines(True) if not line.startswith(_FALSE))

    return edit


def _shown_on(segue: Segue, session_id: int, screen: Console | None) -> Callable[[SessionEvent], None]:
    """Show what the agent does; what it asks for is put to the person at the terminal, if there is one."""
    from segue.application.ports.backend import PermissionAsked, ToolState, ToolUsed
    from segue.interfaces.cli.output import safe

    asking: set[asyncio.Task[None]] = set()

    async def ask(event: PermissionAsked) -> None:
        allow = False
        if screen is not None and screen.is_terminal:
            allow = await asyncio.to_thread(typer.confirm, f"It wants: {safe(event.title)}. Allow it?")
        await segue.sessions.answer(session_id, event.id, allow=allow)

    def shown(event: SessionEvent) -> None:
        if isinstance(event, PermissionAsked):
            asking.add(asyncio.create_task(ask(event)))
        elif screen is not None and isinstance(event, ToolUsed) and event.state is not ToolState.STARTED:
            screen.print(f"[dim]{safe(event.name)} {safe(event.target)}[/]")

    return shown


def _print_table(sessions: list[SessionView], screen: Console, *, marked: int | None = None) -> None:
    from segue.interfaces.cli.output import plain_table, safe, when

    has_pipelines = any(each.pipeline_id is not None for each in sessions)
    more = ("pipeline",) if has_pipelines else ()
    table = plain_table("id", "from", "agent", "title", "messages", "started", "ended", *more)
    for each in sessions:
        number = f"[bold]{each.id}[/]" if each.id == marked else str(each.id)
        parent = str(each.parent_id) if each.parent_id is not None else ""
        ended = when(each.ended_at) if each.ended_at is not None else ""
        table.add_row(
            number,
            parent,
            safe(each.name),
            safe(each.title),
            str(each.messages),
            when(each.started_at),
            ended,
            *([str(each.pipeline_id or "")] if has_pipelines else []),
        )
    screen.print(table)


def _print_session(found: SessionDetail, screen: Console) -> None:
    from segue.interfaces.cli.output import safe, when

    since = f", from session {found.parent_id}" if found.parent_id is not None else ""
    ended = f", ended {when(found.ended_at)}" if found.ended_at is not None else ""
    of = f", of pipeline {found.pipeline_id}" if found.pipeline_id is not None else ""
    who = f"{safe(found.name)} on {safe(found.backend)}"
    screen.print(f"[bold]session {found.id}[/]  {who}{since}{of}{ended}")
    screen.print(f"[dim]{safe(found.title)} in {safe(found.working_dir)}, since {when(found.started_at)}[/]")
    for each in found.said:
        kind = each.kind.replace("_", " ")
        screen.print(f"\n[bold]{kind}[/] [dim]{when(each.created_at)} {each.status}[/]\n{safe(each.text)}")
        if each.reply is not None:
            screen.print(f"[bold]reply[/]\n{safe(each.reply)}")
        elif each.error:
            screen.print(f"[red]{safe(each.error)}[/]")
    for handoff in found.handoffs:
        screen.print(
            f"\n[bold]handoff {handoff.id}[/] {handoff.reason} [dim]{safe(handoff.file_path or '')}[/]"
        )


def _print_outcome(outcome: Outcome, screen: Console) -> None:
    """What came of a handoff; cancelled and failed are told apart."""
    from segue.interfaces.cli.output import safe
    from segue.interfaces.session_shapes import outcome_view

    shown = outcome_view(outcome)
    match shown.outcome:
        case "handed_off":
            screen.print(f"New session {shown.successor_id} started with handoff context ({shown.reason})")
            screen.print(f"[dim]document: {safe(shown.document or '')}[/]", soft_wrap=True)
            for line in shown.refuted:
                screen.print(f"[red]false:[/] {safe(line)}")
            if shown.reply is not None:
                screen.print(safe(shown.reply))
            elif shown.why is not None:
                screen.print(f"[red]it has the handoff, but gave no answer: {safe(shown.why)}[/]")
        case "compacted":
            screen.print(f"session {shown.session_id} was compacted in place")
        case "cancelled":
            screen.print("[yellow]Handoff cancelled[/]")
        case "failed":
            screen.print(f"[red]Handoff failed: {safe(shown.why or '')}[/]", soft_wrap=True)
