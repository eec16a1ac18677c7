"""`segue handoff structure`: a text of any form as a record, with the help of an agent."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from segue.domain.handoff import OutputNotation
from segue.interfaces.cli.handoff_files import complain, complain_each, read_one, shorten
from segue.interfaces.cli.parts import parts_of

if TYPE_CHECKING:
    from segue.application.handoffs.structured_text import StructuredText


def structure(
    context: typer.Context,
    path: Annotated[str, typer.Argument(help="A file; - or nothing for standard input.")] = "-",
    agent: Annotated[
        str, typer.Option("--with", help="The agent or back end that is asked.", show_default="the default")
    ] = "auto",
    to: Annotated[OutputNotation, typer.Option("--to", help="The notation to write.")] = OutputNotation.YAML,
    seconds: Annotated[float, typer.Option("--timeout", help="Seconds to wait for the agent.", min=1)] = 600,
    as_json: Annotated[bool, typer.Option("--json", help="Print the record and how it was read.")] = False,
) -> None:
    """Write a text as a handoff, with the help of an agent.

    What rules can read is read by rules. For what is missing the agent is asked once, in an empty folder and
    without any permission. Of its answer only what the text says is kept; what was dropped is listed on
    standard error. Exit code 1 if nothing could be told from the text.
    """
    document = read_one(path)
    parts = parts_of(context)
    here = Path.cwd()
    found = asyncio.run(
        parts.structure(parts.settings(here), document.text, agent=agent, working_dir=here, seconds=seconds)
    )
    if as_json:
        _print_json(found)
    elif found.extraction.handoff is not None:
        from segue.domain.handoff import render_handoff
        from segue.interfaces.cli.output import print_document

        print_document(render_handoff(found.extraction.handoff, to))
    _report(found)
    if found.extraction.handoff is None:
        complain(f"no handoff in {document.path}")
        raise typer.Exit(1)


def _print_json(found: StructuredText) -> None:
    from segue.interfaces.cli.output import print_json
    from segue.interfaces.handoff_views import view_extraction

    view = view_extraction(found.extraction)
    print_json(
        {
            "handoff": view.handoff,
            "spans": view.spans,
            "coverage": found.reading.coverage,
            "asked": found.reading.asked,
            "dropped": found.reading.dropped,
            "usage": found.usage,
        }
    )


def _report(found: StructuredText) -> None:
    from segue.interfaces.cli.activity import describe_usage

    complain_each([f"dropped, the text does not say it: {shorten(each)}" for each in found.reading.dropped])
    used = describe_usage(found.usage) if found.usage is not None else ""
    if found.was_asked:
        complain(f"asked the agent once; {used or 'its back end does not say what that cost'}")
