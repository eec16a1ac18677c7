"""`segue handoff extract`: what Segue reads out of a document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from segue.interfaces.cli.handoff_files import InputDocument, Inputs, complain, read_inputs

if TYPE_CHECKING:
    from segue.domain.handoff import Extraction, Handoff, Origin

Paths = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="PATHS",
        help="Files or folders; - or nothing for standard input.",
        show_default=False,
    ),
]


Reply = Annotated[
    bool, typer.Option("--reply", help="Read them as replies of agents, which need not look like handoffs.")
]


def origin_of(*, is_reply: bool) -> Origin:
    """How a document is read."""
    from segue.domain.handoff import Origin

    return Origin.REPLY if is_reply else Origin.DOCUMENT


def extract(
    paths: Paths = None,
    reply: Reply = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print handoff, notation, spans, notes and coverage as JSON.")
    ] = False,
) -> None:
    """Show the handoff that a document holds.

    The document may be in any notation that agents use. Exit code 1
    if one of them holds none, 2 if one cannot be read.
    """
    from segue.domain.handoff import extract_handoff

    inputs = read_inputs(paths)
    found = [
        (document, extract_handoff(document.text, origin=origin_of(is_reply=reply)))
        for document in inputs.documents
    ]
    if as_json:
        _print_json(inputs, found)
    else:
        _print_fields(found)
    empty = [document for document, extraction in found if extraction.handoff is None]
    for document in empty:
        complain(f"no handoff in {document.path}")
    raise typer.Exit(max(inputs.report_faults(), 1 if empty else 0))


def _print_json(inputs: Inputs, found: list[tuple[InputDocument, Extraction]]) -> None:
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
                    "coverage": view.coverage,
                    "guessed": view.guessed,
                }
                for (document, _), view in zip(found, views, strict=True)
            ]
        )
    elif views:
        print_json(views[0])


def _with_places(handoff: Handoff, extraction: Extraction) -> dict[str, Any]:
    """The record with the headings and sentences that its items stood under, as a briefing shows them."""
    from segue.domain.briefing.places import shown_places

    record: dict[str, Any] = handoff.model_dump(mode="json")
    for name, place in shown_places(extraction.places).items():
        field, _, at = name.rstrip("]").partition("[")
        above = ": ".join(each.rstrip(":.") for each in (place.heading, place.lead_in) if each)
        if not above or not at.isdecimal() or not isinstance(record.get(field), list):
            continue
        item = record[field][int(at)]
        if isinstance(item, dict):
            item["under"] = above
        else:
            record[field][int(at)] = f"{item} (under: {above})"
    return record


def _print_fields(found: list[tuple[InputDocument, Extraction]]) -> None:
    from segue.interfaces.cli.output import console, safe
    from segue.interfaces.cli.records import draw_record

    screen = console()
    for number, (document, extraction) in enumerate(found):
        if number:
            screen.print()
        about = f"notation: {extraction.notation}, coverage: {extraction.coverage:.0%}"
        screen.print(f"[bold]{safe(document.path)}[/]  [dim]{about}[/]")
        if extraction.handoff is not None:
            for line in draw_record(_with_places(extraction.handoff, extraction)):
                screen.print(line)
        if extraction.guessed:
            screen.print(f"[yellow]note:[/] guessed: {', '.join(sorted(extraction.guessed))}")
        for note in extraction.notes:
            screen.print(f"[yellow]note:[/] {safe(note)}")
