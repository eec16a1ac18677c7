"""`segue agents` and `segue templates`: what is on offer here."""

from __future__ import annotations

from typing import Annotated

import typer

from segue.interfaces.cli.parts import parts_of

agents = typer.Typer(help="The agents that can do a step.", no_args_is_help=True)
templates = typer.Typer(help="The recipes that can be run.", no_args_is_help=True)

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@agents.command("list")
def list_agents(context: typer.Context, as_json: Json = False) -> None:
    """The agents of this project, your own and the built-in ones."""
    from segue.interfaces.cli.output import console, plain_table, print_json, safe

    parts = parts_of(context)
    catalog = parts.catalog(parts.settings()).load(".")
    if as_json:
        print_json(dict(catalog.agents))
        return
    table = plain_table("agent", "back end", "model", "description")
    for name, profile in sorted(catalog.agents.items()):
        backend = safe(profile.backend) if profile.backend else "[yellow]not set[/]"
        table.add_row(safe(name), backend, safe(profile.model or "default"), safe(profile.description))
    screen = console()
    screen.print(table)
    if any(profile.backend is None for profile in catalog.agents.values()):
        screen.print(
            "\n[dim]an agent without a back end cannot run yet: `segue init` writes a catalog to start from, "
            "or set SEGUE_BACKEND[/]"
        )


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
        steps = " → ".join(step.agent for step in template.steps)
        table.add_row(safe(name), safe(steps), safe(template.description))
    console().print(table)
