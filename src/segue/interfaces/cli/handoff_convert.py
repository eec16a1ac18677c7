"""`segue handoff convert`: the same handoff in another notation."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from segue.domain.errors import InvalidRequest, SegueError
from segue.domain.handoff import OutputNotation
from segue.interfaces.cli.handoff_files import (
    InputDocument,
    complain,
    complain_each,
    read_one,
    shorten,
    shown_name,
    write_back,
    write_text,
)

if TYPE_CHECKING:
    from segue.domain.handoff import Handoff
    from segue.domain.handoff.migration import Ambiguity, MigrationPlan
    from segue.domain.handoff.writing.taskfile import HandoffPart


def convert(
    path: Annotated[str, typer.Argument(help="A file; - or nothing for standard input.")] = "-",
    to: Annotated[
        OutputNotation | None,
        typer.Option("--to", help="The notation to write.", show_default=False),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write to this file, not to standard output.")
    ] = None,
    in_place: Annotated[bool, typer.Option("--in-place", help="Write to the file itself.")] = False,
    prompt: Annotated[
        bool, typer.Option("--prompt", help="Print the prompt that asks an agent to structure it.")
    ] = False,
) -> None:
    """Write the handoff of a document in another notation.

    In a task file only the part below `## Handoff` changes. What the notation cannot hold, and what
    was ambiguous in a free-form note, is said on standard error.
    """
    from segue.interfaces.cli.output import print_document

    _refuse_misuse(path, to, output, in_place=in_place, prompt=prompt)
    document = read_one(path)
    note = _note_of(document.text)
    if prompt:
        from segue.domain.handoff.migration import structuring_prompt

        print_document(structuring_prompt(note))
        return
    assert to is not None
    plan = _plan(document, note)
    assert plan.handoff is not None
    if in_place:
        text = _in_place_of(document, plan.handoff, to)
        _report(plan, to)
        write_back(document, text)
        typer.echo(f"wrote {document.path}", err=True)
    elif output is not None:
        text = _for_output(document, output, plan.handoff, to)
        _report(plan, to)
        write_text(output, text)
        typer.echo(f"wrote {shown_name(str(output))}", err=True)
    else:
        text = _whole(document, plan.handoff, to)
        _report(plan, to)
        print_document(text)


def _refuse_misuse(
    path: str, to: OutputNotation | None, output: Path | None, *, in_place: bool, prompt: bool
) -> None:
    if prompt and (to or output or in_place):
        raise InvalidRequest("--prompt prints a prompt and converts nothing; leave the other options out")
    if to is None and not prompt:
        known = ", ".join(OutputNotation)
        raise InvalidRequest(f"say which notation to write: --to {known.replace(', ', '|')}")
    if in_place and output is not None:
        raise InvalidRequest("--in-place and --output exclude each other")
    if in_place and path == "-":
        raise InvalidRequest("--in-place needs a file, not standard input")


def _handoff_part(text: str) -> HandoffPart | None:
    """The handoff part of a task file, if a handoff stands there and not only its heading."""
    from segue.domain.handoff import Origin, extract_handoff
    from segue.domain.handoff.writing.taskfile import find_handoff_part

    part = find_handoff_part(text)
    return (
        part
        if part is not None and extract_handoff(part.text(text), origin=Origin.REPLY).handoff is not None
        else None
    )


def _note_of(text: str) -> str:
    """The words that are the handoff: those of the handoff part, else all, with plain line ends."""
    part = _handoff_part(text)
    return (part.text(text) if part else text).replace("\r\n", "\n")


def _plan(document: InputDocument, note: str) -> MigrationPlan:
    from segue.domain.handoff import Origin, extract_handoff
    from segue.domain.handoff.migration import plan_migration

    plan = plan_migration(note, extract_handoff(note, origin=Origin.REPLY))
    if plan.handoff is None:
        raise SegueError(
            f"no handoff in {document.path}; "
            "`segue handoff convert --prompt` prints what to ask an agent to make one of it"
        )
    return plan


def _whole(document: InputDocument, handoff: Handoff, to: OutputNotation) -> str:
    """The converted document: a task file stays the file that it is."""
    from segue.domain.handoff import render_handoff, rewrite_task_file
    from segue.domain.handoff.writing.taskfile import find_handoff_part

    if to is OutputNotation.TASK_FILE and find_handoff_part(document.text) is not None:
        return rewrite_task_file(document.text, handoff)
    text = render_handoff(handoff, to)
    return text.replace("\n", "\r\n") if "\r\n" in document.text else text


def _in_place_of(document: InputDocument, handoff: Handoff, to: OutputNotation) -> str:
    part = _handoff_part(document.text)
    if part is not None and to is not OutputNotation.TASK_FILE and _holds_more(document.text, part):
        raise InvalidRequest(
            f"{document.path} is a task file, and as {to} it would lose all but its handoff; "
            "use --to task, or --output for a file of its own"
        )
    return _whole(document, handoff, to)


def _holds_more(text: str, part: HandoffPart) -> bool:
    """Whether there are words besides the handoff part and its heading."""
    before = text[: part.start].rstrip("\r\n").rpartition("\n")[0]
    return bool((before + text[part.end :]).strip())


def _for_output(document: InputDocument, output: Path, handoff: Handoff, to: OutputNotation) -> str:
    """A task file that is there already gets the handoff, and keeps the rest."""
    if to is not OutputNotation.TASK_FILE or not output.is_file():
        return _whole(document, handoff, to)
    from segue.domain.handoff import rewrite_task_file

    there = read_one(str(output))
    return ("\ufeff" if there.has_bom else "") + rewrite_task_file(there.text, handoff)


def _report(plan: MigrationPlan, to: OutputNotation) -> None:
    from segue.domain.handoff.writing.rendering import lost_fields

    assert plan.handoff is not None
    lost = lost_fields(plan.handoff, to)
    if lost:
        complain(f"{to} has no place for {', '.join(lost)}; yaml, json and task hold every field")
    complain_each([f"ambiguous: {_describe(each)}" for each in plan.ambiguities])
    if plan.ambiguities:
        complain("`segue handoff convert --prompt` prints what to ask an agent about it")


def _describe(ambiguity: Ambiguity) -> str:
    shown = shorten(ambiguity.text)
    place = f"{ambiguity.field}: " if ambiguity.field else ""
    return f'{place}"{shown}" {ambiguity.why}' if shown else f"{place}{ambiguity.why}"
