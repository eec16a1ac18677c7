"""`segue handoff brief`: what the next agent would be given."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from segue.domain.briefing import LeftOut
from segue.interfaces.cli.handoff_extract import Paths
from segue.interfaces.cli.handoff_files import InputDocument, complain, complain_each, read_inputs, shorten
from segue.interfaces.cli.parts import parts_of

if TYPE_CHECKING:
    from segue.domain.briefing import Briefing, Predecessor


@dataclass(frozen=True, kw_only=True, slots=True)
class BriefingView:
    """A briefing, as it is shown."""

    text: str
    tokens: int
    counter: str
    """What the tokens were counted with."""
    left_out: tuple[LeftOut, ...]
    over_budget: int
    """Tokens beyond the budget: what is never cut needs them."""


def brief(
    context: typer.Context,
    paths: Paths = None,
    task: Annotated[str, typer.Option(help="The task of the whole run, in the user's words.")] = "",
    agent: Annotated[str, typer.Option(help="Who is briefed.")] = "next agent",
    job: Annotated[str, typer.Option(help="What this agent is to do.")] = "Continue the task.",
    budget: Annotated[
        int | None, typer.Option(help="Tokens that the briefing may have.", min=1, show_default=False)
    ] = None,
    model: Annotated[
        str | None, typer.Option(help="The model whose tokens are counted.", show_default=False)
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Print what the next agent would be given.

    Name the handoffs of its predecessors, the earliest first. What the budget left
    out is listed on standard error. Each predecessor
    is called by its file's name.
    """
    from segue.domain.briefing import brief as compose

    inputs = read_inputs(paths)
    code = inputs.report_faults()
    if not inputs.documents:
        raise typer.Exit(code)
    counter = parts_of(context).token_counter(model)
    briefing = compose(
        prompt=task or "The task is the one that the handoffs below speak of.",
        agent_name=agent,
        job=job,
        predecessors=[_predecessor(document) for document in inputs.documents],
        budget=budget,
        count_tokens=counter,
    )
    if as_json:
        _print_json(briefing, counter.label)
    else:
        _print_text(briefing, counter.label)
    raise typer.Exit(code)


def _predecessor(document: InputDocument) -> Predecessor:
    from segue.domain.asking import reading_of
    from segue.domain.briefing import Predecessor
    from segue.domain.handoff import Origin, extract_handoff

    name = "previous agent" if document.file is None else Path(document.path).stem
    extraction = extract_handoff(document.text, origin=Origin.REPLY)
    reading = reading_of(extraction)
    return Predecessor(
        agent_name=name,
        handoff=extraction.handoff,
        reply=document.text,
        coverage=reading.coverage,
        places=reading.places,
    )


def _print_json(briefing: Briefing, counter: str) -> None:
    from segue.interfaces.cli.output import print_json

    print_json(
        BriefingView(
            text=briefing.text,
            tokens=briefing.tokens,
            counter=counter,
            left_out=briefing.left_out,
            over_budget=briefing.over_budget,
        )
    )


def _print_text(briefing: Briefing, counter: str) -> None:
    from segue.interfaces.cli.output import print_document

    print_document(briefing.text)
    typer.echo(f"{briefing.tokens} tokens ({counter})", err=True)
    if briefing.over_budget:
        complain(
            f"{briefing.over_budget} tokens over the budget: the task, constraints, high gotchas, blockers, "
            "corrections and how to hand off are never cut"
        )
    complain_each([f"left out: {_describe(each)}" for each in briefing.left_out])


def _describe(left_out: LeftOut) -> str:
    owner = f"{shorten(left_out.agent_name)}: " if left_out.agent_name else ""
    return f"{owner}{left_out.field}: {shorten(left_out.text)}"
