"""`segue session`: sessions of other tools on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from segue.domain.handoff import OutputNotation
from segue.interfaces.cli.parts import parts_of

if TYPE_CHECKING:
    from segue.domain.transcripts import FoundSession

app = typer.Typer(help="Talk with agents, and hand over from session to session.", no_args_is_help=True)

_MOST = 30
_ID = 14
"""Characters of an id that tell one session from others."""


@app.callback()
def session() -> None:
    """Sessions of other tools on this machine."""


@app.command("import")
def import_session(
    context: typer.Context,
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[ID|FILE]",
            help="A session by its id, the beginning of it, or its file; nothing lists what is here.",
            show_default=False,
        ),
    ] = None,
    tool: Annotated[
        str | None,
        typer.Option(help="Only this tool: claude, codex, opencode, goose, pi or omp.", show_default=False),
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option("--dir", help="Only sessions that worked in this folder.", show_default=False),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help=f"List all, not the newest {_MOST}.")] = False,
    notation: Annotated[OutputNotation, typer.Option(help="How the handoff is written.")] = (
        OutputNotation.YAML
    ),
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write the handoff to this file.", show_default=False),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the list as JSON.")] = False,
) -> None:
    """Show the sessions of other tools, or the handoff of one.

    The handoff is made from the transcript alone, without a model: the user's words, the files and commands
    of tool calls, the agent's last report. Nothing of the other tool is changed.
    """
    if name is None:
        _list(parts_of(context).transcripts().find(tool, folder, None if every else _MOST), as_json=as_json)
        return
    from segue.domain.handoff import render_handoff
    from segue.domain.transcripts import summarise
    from segue.interfaces.cli.handoff_files import shown_name, write_text
    from segue.interfaces.cli.output import print_document

    transcript = parts_of(context).transcripts().read(name, tool=tool, working_dir=folder)
    document = render_handoff(summarise(transcript), notation)
    if output is None:
        print_document(document)
    else:
        write_text(output, document)
        typer.echo(f"wrote {shown_name(str(output))}", err=True)


def _list(found: list[FoundSession], *, as_json: bool) -> None:
    from segue.interfaces.cli.output import console, plain_table, print_json, safe

    if as_json:
        print_json(found)
        return
    if not found:
        typer.echo("no session of another tool was found", err=True)
        return
    table = plain_table("tool", "id", "time", "size", "folder", "title")
    for column in table.columns[:4]:
        column.no_wrap = True
    for each in found:
        table.add_row(
            each.tool,
            safe(each.session_id[:_ID]),
            each.updated_at.astimezone().strftime("%Y-%m-%d %H:%M"),
            "" if each.size is None else f"{max(each.size // 1000, 1)}k",
            safe(Path(each.working_dir or "").name),
            safe(each.title),
        )
    console().print(table)
    typer.echo("`segue session import ID` shows the handoff of one; --json tells more of each", err=True)
