"""The `segue` command: its tree of commands, and how errors leave it."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from segue.domain.errors import (
    CatalogError,
    InvalidRequest,
    NotTrusted,
    RepositoryError,
    SegueError,
    SettingsError,
    UnknownName,
)
from segue.interfaces.cli.parts import Parts, parts_of
from segue.interfaces.cli.tree import CommandTree

_MISUSE = (CatalogError, InvalidRequest, RepositoryError, SettingsError, UnknownName)
"""What the user wrote is wrong: exit code 2. Everything else that fails: 1."""

app = typer.Typer(
    name="segue",
    cls=CommandTree,
    help="Run chains of AI coding agents durably, with a checked handoff between them.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(context: typer.Context, wanted: bool) -> None:
    if wanted:
        typer.echo(f"segue {parts_of(context).version}")
        raise typer.Exit


@app.callback()
def root(
    context: typer.Context,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks and debug logs.")] = False,
    version: Annotated[  # noqa: ARG001  # its callback has answered
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and stop."),
    ] = False,
) -> None:
    """Run chains of AI coding agents durably, with a checked handoff between them."""
    if context.invoked_subcommand != "handoff":  # it works on documents, and logs nothing
        from segue.interfaces.cli.logs import send_logs_to_stderr

        send_logs_to_stderr(level="debug" if debug else "error")


def run_cli(parts: Parts, arguments: list[str] | None = None) -> int:
    """Run one command; gives its exit code. An error is one sentence; --debug adds the traceback."""
    given = sys.argv[1:] if arguments is None else arguments
    try:
        _check_text(given)
        app(given, obj=parts, prog_name="segue")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0
    except NotTrusted as error:
        from segue.interfaces.cli.trust import offer_trust

        if offer_trust(parts, error):
            return run_cli(parts, given)
        typer.echo(f"segue: {error}", err=True)
        return 2
    except SegueError as error:
        if "--debug" in given:
            raise
        _tell(error)
        return 2 if isinstance(error, _MISUSE) else 1
    return 0


def _tell(error: SegueError) -> None:
    """One sentence; with hints, each on a line of its own below it."""
    if not error.hints:
        typer.echo(f"segue: {error}", err=True)
        return
    heads = ("hint:", *["     "] * len(error.hints))
    hints = [f"  {head} {hint}" for head, hint in zip(heads, error.hints, strict=False)]
    typer.echo("\n".join([f"error: {error}", *hints]), err=True)


def _check_text(arguments: list[str]) -> None:
    """Records hold text alone; only documents may have names that are none."""
    for argument in arguments:
        if argument == "handoff":
            return
        if any("\ud800" <= character <= "\udfff" for character in argument):
            raise InvalidRequest(f"the argument {argument!a} is not UTF-8 text")
