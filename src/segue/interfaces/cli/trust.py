"""`segue trust`: which projects may configure Segue and name programs to run; and the question about one."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from segue.domain.errors import InvalidRequest, NotTrusted
from segue.domain.trust import one_line
from segue.interfaces.cli.parts import Parts, parts_of
from segue.interfaces.cli.people import refuse_agents

if TYPE_CHECKING:
    from segue.domain.trust import ProjectContent


def trust(
    context: typer.Context,
    folder: Annotated[
        Path, typer.Argument(help="A folder of the project.", show_default="this one")
    ] = Path(),
    show_list: Annotated[bool, typer.Option("--list", help="Show the folders that are trusted.")] = False,
    revoke: Annotated[bool, typer.Option("--revoke", help="Trust the folder no longer.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask, in a terminal either.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="With --list: print JSON.")] = False,
) -> None:
    """Trust a project's .segue/ as it is now.

    Until then nothing of it is used. It covers the settings, the catalog and the scripts that they name: when
    one of these changes, Segue asks again.
    """
    if revoke and show_list:
        raise InvalidRequest("--list and --revoke exclude each other")
    if as_json and not show_list:
        raise InvalidRequest("--json goes with --list")
    parts = parts_of(context)
    if show_list:
        _list(parts, as_json=as_json)
        return
    refuse_agents("say which projects are trusted")
    if revoke:
        _revoke(parts, folder)
    else:
        _trust(parts, folder, yes=yes)


def offer_trust(parts: Parts, error: NotTrusted) -> bool:
    """Show what is not trusted and ask the person at the terminal; true if it is trusted now."""
    if not _is_terminal():
        return False
    _show(error.content, error.changed)
    if agreed := _ask():
        parts.trust(parts.own_settings()).trust(error.content)
    return agreed


def _is_terminal() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()


def _ask() -> bool:
    try:
        return typer.confirm("Trust it?", default=False, err=True)
    except typer.Abort:
        return False


def _trust(parts: Parts, folder: Path, *, yes: bool) -> None:
    if not folder.is_dir():
        raise InvalidRequest(f"{folder} is not a folder")
    content = parts.project_content(folder)
    if content is None:
        raise InvalidRequest(
            f"there is nothing to trust in {folder.resolve()}: it has no .segue/ with YAML files"
        )
    store = parts.trust(parts.own_settings())
    try:
        store.check(content)
    except NotTrusted as error:
        _show(content, error.changed)
        if _is_terminal() and not yes and not _ask():
            typer.echo("not trusted: nothing of it is used", err=True)
            raise typer.Exit(2) from None
    else:
        _show(content, None)
    store.trust(content)
    typer.echo(f"trusted: {_printable(content.folder)}")


def _revoke(parts: Parts, folder: Path) -> None:
    store = parts.trust(parts.own_settings())
    start = folder.resolve()
    known = {each.folder for each in store.projects()}
    nearest = next((str(each) for each in (start, *start.parents) if str(each) in known), None)
    if nearest is None or not store.revoke(nearest):
        raise InvalidRequest(f"{start} is not trusted; `segue trust --list` shows what is")
    typer.echo(f"trusted no longer: {_printable(nearest)}")


def _list(parts: Parts, *, as_json: bool) -> None:
    from segue.interfaces.cli.output import print_json, printable, when

    found = parts.trust(parts.own_settings()).projects()
    if as_json:
        print_json(found)
        return
    if not found:
        typer.echo("no folder is trusted yet", err=True)
        return
    for each in found:
        typer.echo(f"{when(each.trusted_at)}  {printable(each.folder)}")


def _show(content: ProjectContent, changed: tuple[str, ...] | None) -> None:
    """What is in question, on standard error: it must not get into `--json`."""
    folder = one_line(content.folder)
    if changed is None:
        lines = [f"The project {folder} configures Segue with:"]
    else:
        lines = [f"The project {folder} has changed since you trusted it:"]
        lines += [f"  {one_line(name)}{'' if name in content.files else ' (gone)'}" for name in changed]
        lines += ["It configures Segue with:"]
    lines += [f"  {one_line(name)}" for name in sorted(content.files)]
    if content.commands:
        lines += ["They run, or hand to programs that run as you:"]
        lines += ["  " + line.rstrip().replace("\n", "\n      ") for line in content.commands]
    else:
        lines += ["They name no programs of their own."]
    if content.changes:
        lines += ["They set or replace:"]
        lines += ["  " + line.rstrip().replace("\n", "\n      ") for line in content.changes]
    for line in lines:
        typer.echo(_printable(line), err=True)


def _printable(text: str) -> str:
    from segue.interfaces.cli.output import printable

    return printable(text)
