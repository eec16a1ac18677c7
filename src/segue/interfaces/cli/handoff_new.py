"""`segue handoff new`: an empty form to fill in."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from segue.domain.errors import SegueError
from segue.domain.handoff import OutputNotation
from segue.interfaces.cli.handoff_files import shown_name, write_text


def new(
    notation: Annotated[OutputNotation, typer.Option(help="How the handoff is written.")] = (
        OutputNotation.YAML
    ),
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write to this file, not to standard output.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite a file that is there.")] = False,
) -> None:
    """Print an empty form to fill in.

    `segue handoff lint` finds the parts of the YAML and JSON forms that were not filled in.
    """
    from segue.domain.handoff.writing.rendering import render_template

    form = render_template(notation)
    if output is None:
        typer.echo(form, nl=False)
        return
    if output.is_file() and not force:
        raise SegueError(
            f"{shown_name(str(output))} exists already; nothing was written (--force overwrites)"
        )
    write_text(output, form)
    typer.echo(f"wrote {shown_name(str(output))}", err=True)
