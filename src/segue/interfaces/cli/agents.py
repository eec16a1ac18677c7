"""`segue agents`: who can do a step, and the programs they need."""

from __future__ import annotations

from typing import Annotated

import typer

from segue.interfaces.cli.doctor import doctor
from segue.interfaces.cli.parts import parts_of

app = typer.Typer(help="The agents that can do a step, and their programs.", no_args_is_help=True)
app.command("doctor")(doctor)

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command("list")
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
            "\n[dim]an agent without a back end cannot run yet: `segue agents install opencode` installs "
            "one, `segue agents doctor` shows what is there[/]"
        )


@app.command("install")
def install(
    context: typer.Context,
    name: Annotated[
        str, typer.Argument(help="opencode, claude, codex, goose, pi, claude-agent-acp or codex-acp.")
    ],
    as_json: Json = False,
) -> None:
    """Install an agent program, in the version that Segue is tested with, into Segue's own folder."""
    from segue.interfaces.cli.output import console, print_json, safe

    parts = parts_of(context)
    installer = parts.installer(parts.own_settings(), say=lambda line: typer.echo(f"{line} ...", err=True))
    done = installer.install(name)
    if as_json:
        print_json(done)
        return
    screen = console()
    there = "installed" if done.fresh else "was there already"
    screen.print(f"[green]✔[/] {safe(done.name)} {safe(done.version)} {there}:")
    typer.echo(done.program)
    if done.command:
        screen.print("\nnext, in your project:")
        typer.echo(f'segue run quick_fix "Say what to do." --command "{done.command}"')
    else:
        screen.print(
            "\n[dim]it speaks the Agent Client Protocol; give this path to a back end that does, too[/]"
        )
