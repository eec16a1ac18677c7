"""`segue handoff extract`: what Segue reads out of a document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from segue.interfaces.cli.handoff_files import Document, Inputs, complain, read_inputs

if TYPE_CHECKING:
    from segue.domain.handoff import Extraction

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
    from segue.interfaces.cli.records import draw_record

    screen = console()
    for number, (document, extraction) in enumerate(found):
        if number:
            screen.print()
        screen.print(f"[bold]{safe(document.path)}[/]  [dim]notation: {extraction.notation}[/]")
        if extraction.handoff is not None:
            for line in draw_record(extraction.handoff.model_dump(mode="json")):
                screen.print(line)
        for note in extraction.notes:
            screen.print(f"[yellow]note:[/] {safe(note)}")
