"""`segue templates`: the recipes on offer here."""

from __future__ import annotations

from typing import Annotated

import typer

from segue.interfaces.cli.parts import parts_of

templates = typer.Typer(help="The recipes that can be run.", no_args_is_help=True)

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@templates.command("list")
def list_templates(context: typer.Context, as_json: Json = False) -> None:
    """The templates of this project, your own and the built-in ones."""
    from segue.interfaces.cli.output import console, plain_table, print_json, safe

    parts = parts_of(context)
    catalog = parts.catalog(parts.settings()).load(".")
    if as_json:
        print_json(dict(catalog.templates))
        return
    table = plain_table("template", "steps", "description")
    for name, template in sorted(catalog.templates.items()):
        steps = " → ".join(template.step_names)
        table.add_row(safe(name), safe(steps), safe(template.description))
    console().print(table)
