"""`segue handoff extract`: what Segue reads out of a document."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from segue.interfaces.cli.handoff_files import Document, Inputs, complain, read_inputs

if TYPE_CHECKING:
    from rich.console import Console

    from segue.domain.handoff import Extraction, Handoff

Paths = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="PATHS",
        help="Files or folders; - or nothing for standard input.",
        show_default=False,
    ),
]


def extract(
    paths: Paths = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print handoff, notation, spans and notes as JSON.")
    ] = False,
) -> None:
    """Show the handoff that a document holds.

    The document may be in any notation that agents use. Exit code 1
    if one of them holds none, 2 if one cannot be read.
    """
    from segue.domain.handoff import extract_handoff

    inputs = read_inputs(paths)
    found = [(document, extract_handoff(document.text)) for document in inputs.documents]
    if as_json:
        _print_json(inputs, found)
    else:
        _print_fields(found)
    empty = [document for document, extraction in found if extraction.handoff is None]
    for document in empty:
        complain(f"no handoff in {document.path}")
    raise typer.Exit(max(inputs.report_faults(), 1 if empty else 0))


def _print_json(inputs: Inputs, found: list[tuple[Document, Extraction]]) -> None:
    from segue.interfaces.cli.output import print_json
    from segue.interfaces.handoff_views import view_extraction

    views = [view_extraction(extraction) for _, extraction in found]
    if not inputs.is_single:
        print_json(
            [
                {
                    "path": document.path,
                    "handoff": view.handoff,
                    "notation": view.notation,
                    "spans": view.spans,
                    "notes": view.notes,
                }
                for (document, _), view in zip(found, views, strict=True)
            ]
        )
    elif views:
        print_json(views[0])


def _print_fields(found: list[tuple[Document, Extraction]]) -> None:
    from segue.interfaces.cli.output import console, safe

    screen = console()
    for number, (document, extraction) in enumerate(found):
        if number:
            screen.print()
        screen.print(f"[bold]{safe(document.path)}[/]  [dim]notation: {extraction.notation}[/]")
        if extraction.handoff is not None:
            _print_record(screen, extraction.handoff)
        for note in extraction.notes:
            screen.print(f"[yellow]note:[/] {safe(note)}")


def _print_record(screen: Console, handoff: Handoff) -> None:
    from rich.table import Table

    from segue.interfaces.cli.output import safe

    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True, style="cyan")
    table.add_column(overflow="fold")
    for name in type(handoff).model_fields:
        value = getattr(handoff, name)
        items = value if isinstance(value, tuple) else (value,)
        for number, item in enumerate(each for each in items if each):
            label = "" if number else name.replace("_", " ")
            mark = "- " if isinstance(value, tuple) else ""
            first, *rest = _describe(item)
            table.add_row(label, mark + safe(first))
            for line in rest:
                table.add_row("", f"    [dim]{safe(line)}[/]")
    screen.print(table)


def _describe(item: Any) -> Iterator[str]:
    """What an item says, then each of its further parts."""
    if isinstance(item, str):
        yield item
        return
    parts = dict(item)
    parts.pop("id", None)  # made from the words; a person has no use for it
    headline = getattr(item, "headline", "heading" if parts.get("heading") else "text")
    yield str(parts.pop(headline))
    for name, part in parts.items():
        if part is None or part is False or part in ((), ""):
            continue
        shown = ", ".join(part) if isinstance(part, tuple) else "yes" if part is True else str(part)
        yield f"{name.replace('_', ' ')}: {shown}"
