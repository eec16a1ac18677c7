"""`segue handoff from`: a handoff from another tool's session, and the tool that continues it."""

from __future__ import annotations

import os
import shlex
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from segue.domain.errors import InvalidRequest, UnknownName
from segue.domain.handoff import OutputNotation
from segue.interfaces.cli.parts import parts_of

if TYPE_CHECKING:
    from segue.domain.handoff import Handoff
    from segue.domain.transcripts import Transcript
    from segue.interfaces.cli.parts import Parts

_LONGEST_ARGUMENT = 120_000
"""Bytes; Linux takes no single argument of 128 KiB."""

STARTS: dict[str, Callable[[str], list[str]]] = {
    "claude": lambda prompt: ["claude", prompt],
    "codex": lambda prompt: ["codex", prompt],
    "opencode": lambda prompt: ["opencode", "--prompt", prompt],
    "goose": lambda prompt: ["goose", "run", "--interactive", "--text", prompt],
    "pi": lambda prompt: ["pi", prompt],
    "omp": lambda prompt: ["omp", prompt],
}
"""How each tool is started in a terminal with its first prompt."""


def from_session(
    context: typer.Context,
    tool: Annotated[
        str, typer.Argument(help="The tool that did the work: claude, codex, opencode, goose, pi or omp.")
    ],
    name: Annotated[
        str,
        typer.Argument(
            metavar="[ID|FILE|latest]",
            help="Which session; by default the newest of this folder.",
            show_default=False,
        ),
    ] = "latest",
    to: Annotated[
        str | None,
        typer.Option(
            "--to", help=f"Start this tool with the handoff: {', '.join(STARTS)}.", show_default=False
        ),
    ] = None,
    focus: Annotated[str, typer.Option(help="What the next session is to look at first.")] = "",
    folder: Annotated[
        Path | None, typer.Option("--dir", help="The folder of the work, not this one.", show_default=False)
    ] = None,
    notation: Annotated[OutputNotation, typer.Option(help="How the handoff is written.")] = (
        OutputNotation.YAML
    ),
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write to this file.", show_default=False)
    ] = None,
    only_print: Annotated[
        bool, typer.Option("--print", help="With --to: print the command, do not run it.")
    ] = False,
) -> None:
    """Make a handoff from a session of another tool, and continue it in a third.

    It is made from the transcript, without a model; in a git repository, what it says is verified first. With
    --to, the other tool takes over this terminal, with the handoff as its first prompt.
    """
    from segue.domain.handoff import render_handoff
    from segue.domain.transcripts import first_prompt, is_empty, summarise
    from segue.interfaces.cli.handoff_files import shown_name, write_text
    from segue.interfaces.cli.output import print_document

    if to is not None and to not in STARTS:
        raise UnknownName("tool", to, STARTS)
    if any("\ud800" <= character <= "\udfff" for character in focus):
        raise InvalidRequest("the focus is not UTF-8 text")
    where = _folder(folder)
    transcript = parts_of(context).transcripts().read(name, tool=tool, working_dir=where)
    if is_empty(transcript):
        raise InvalidRequest(
            f"nothing was said in the {transcript.tool} session {transcript.session_id}; "
            "`segue session import` lists what else is here"
        )
    parts = parts_of(context)
    program = parts.place_of_tool(parts.settings(where), to) if to is not None else None
    handoff = _verified(parts, summarise(transcript), transcript, where)
    document = render_handoff(handoff, notation)
    if output is not None:
        write_text(output, document)
        typer.echo(f"wrote {shown_name(str(output))}", err=True)
    elif to is None:
        print_document(document)
    if to is not None:
        prompt = first_prompt(handoff, tool=transcript.tool, focus=focus, notation=notation)
        _start(to, prompt, where, program, only_print=only_print)


def _verified(parts: Parts, handoff: Handoff, transcript: Transcript, where: Path) -> Handoff:
    """The handoff after it was held against git, from the commit that the session began with."""
    from segue.application.handoffs.review import judge
    from segue.domain.errors import RepositoryError
    from segue.domain.handoff import Origin, extract_handoff, render_handoff
    from segue.domain.transcripts.verified import verified

    own = Path(transcript.working_dir) if transcript.working_dir else where
    folder = own if own.is_dir() else where
    try:
        began = transcript.started_at
        base = parts.commit_before(folder, began) if began is not None else "HEAD"
        observed = parts.observe(folder, base, None)
    except RepositoryError:
        return handoff  # no repository, or one that cannot be read: what the transcript shows is all there is
    source = render_handoff(handoff, OutputNotation.YAML)
    ledger = judge(extract_handoff(source, origin=Origin.REPLY), observed, source=source)
    if ledger.refuted:
        count = len(ledger.refuted)
        found = "1 claim is" if count == 1 else f"{count} claims are"
        typer.echo(f"{found} false by git, and left out or marked in the handoff", err=True)
    return verified(handoff, ledger, observed.evidence)


def _folder(folder: Path | None) -> Path:
    if folder is not None and not folder.is_dir():
        raise InvalidRequest(f"{folder} is no folder")
    return (folder or Path()).resolve()


def _start(tool: str, prompt: str, where: Path, program: str | None, *, only_print: bool) -> None:
    """Print the command; then become it, in this terminal."""
    command = STARTS[tool](prompt if _fits(prompt) else _by_file(prompt, where))
    if program and program != shutil.which(tool):
        command[0] = program
    typer.echo(f"cd {shlex.quote(str(where))} && {shlex.join(command)}", err=not only_print)
    if only_print:
        return
    if program is None:
        raise InvalidRequest(
            f"{tool} is not on the PATH, and Segue has not installed it; install it, or run the command "
            "above where it is installed"
        )
    program = str(Path(program).absolute())
    os.chdir(where)
    # With the whole environment: it is the user's own tool in the user's own terminal, as if typed there.
    os.execve(program, command, {**os.environ, "PWD": str(where)})  # noqa: S606


def _fits(prompt: str) -> bool:
    return len(prompt.encode()) < _LONGEST_ARGUMENT


def _by_file(prompt: str, where: Path) -> str:
    """A short prompt that names a file with the long one, for this user's eyes only."""
    handle, path = tempfile.mkstemp(prefix="segue-handoff-", suffix=".md")
    with os.fdopen(handle, "w", encoding="utf-8") as stream:
        stream.write(prompt)
    return f"Read {path}: it tells how to continue the work in {where}. Then continue it."
