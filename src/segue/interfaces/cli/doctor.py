"""`segue agents doctor`: which agents work here, and what to do about those that do not."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from segue.interfaces.cli.parts import parts_of

if TYPE_CHECKING:
    from rich.console import Console

    from segue.application.doctor import BackendFinding, Diagnosis

_WIDTH = 52
"""Of a path in the table; `--json` has it whole."""


def doctor(
    context: typer.Context,
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME]...", help="Back ends or agents to look at; all if left out."),
    ] = None,
    timeout: Annotated[float, typer.Option(help="Seconds that each look may take.", min=0.1)] = 60.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Look at every back end: is it there, does it start, does it answer. Exit code 0 if an agent works."""
    from segue.interfaces.cli.output import console, print_json

    parts = parts_of(context)
    looking = parts.diagnose(parts.settings(), names or [], seconds=timeout)
    screen = console()
    if as_json:
        found = asyncio.run(looking)
        print_json(found)
    else:
        with screen.status("asking every back end ..."):
            found = asyncio.run(looking)
        show(found, screen)
    raise typer.Exit(0 if found.has_agent else 1)


def show(found: Diagnosis, screen: Console) -> None:
    """The back ends as a table, then the default and what is withheld from agents."""
    from rich.table import Table

    from segue.interfaces.cli.output import safe

    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    table.add_column("")
    table.add_column("back end", no_wrap=True)
    table.add_column("version", no_wrap=True)
    table.add_column("", overflow="fold")
    for each in found.backends:
        table.add_row(_mark(each), safe(each.name), safe(_number(each.version)), _words(each))
    screen.print(table)
    screen.print()
    screen.print(f"by default: {_default(found)}", soft_wrap=True)
    if found.withheld:
        names = safe(", ".join(found.withheld))
        screen.print(f"[dim]not shown to agents (pass_env hands one on):[/] {names}", soft_wrap=True)


def _default(found: Diagnosis) -> str:
    from segue.interfaces.cli.output import safe

    if found.default is None:
        return "[yellow]none[/], no agent program was found; run `segue agents install opencode`"
    broken = [each for each in found.backends if each.name == found.default.name and not each.works]
    yet = "; [yellow]it does not work yet, see above[/]" if broken else ""
    return f"[bold]{safe(found.default.name)}[/], {safe(found.default.why)}{yet}"


def _mark(found: BackendFinding) -> str:
    if found.works:
        return "[green]✔[/]" if found.is_agent else "[dim]✔[/]"
    return "[dim]·[/]" if found.hint else "[red]✘[/]"


def _words(found: BackendFinding) -> str:
    from segue.interfaces.cli.output import safe

    if found.hint:
        return f"[dim]{safe(found.said)}:[/] {safe(found.hint)}"
    said = safe(found.said) if found.is_agent else f"[dim]{safe(found.said)}[/]"
    return f"{said}\n[dim]{safe(_short(found.program))}[/]" if found.program else said


def _number(version: str | None) -> str:
    """The number in a version, such as `2.1.325 (Claude Code)` or `codex-cli 0.166.0`; all of it if none."""
    words = (version or "").split()
    return next((word for word in words if word.lstrip("v")[:1].isdigit()), " ".join(words))


def _short(path: str) -> str:
    """A path for the eye: `~` for the user's home, and of a long one the beginning and the end."""
    with suppress(ValueError, RuntimeError):
        path = f"~/{Path(path).relative_to(Path.home())}"
    if len(path) <= _WIDTH:
        return path
    end = f"/{Path(path).name}"[-_WIDTH // 2 :]
    return f"{path[: _WIDTH - len(end) - 1]}…{end}"
