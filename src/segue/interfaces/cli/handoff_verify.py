"""`segue handoff verify`: hold what a handoff says against what really happened in a repository."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from segue.interfaces.cli.handoff_files import Document, complain, read_one, shorten
from segue.interfaces.cli.parts import parts_of

if TYPE_CHECKING:
    from segue.domain.ledger import Entry, Evidence, Ledger

_STYLES = {"confirmed": "green", "refuted": "bold red", "unverifiable": "yellow"}
_MOST_UNMENTIONED = 30


def verify(
    context: typer.Context,
    file: Annotated[
        str, typer.Argument(metavar="[FILE]", help="The handoff; - or nothing for standard input.")
    ] = "-",
    base: Annotated[
        str, typer.Option(metavar="REV", help="The revision that the agent started from.")
    ] = "HEAD",
    head: Annotated[
        str | None,
        typer.Option(
            metavar="REV",
            help="The revision it ended with; without it, the work tree with its untracked files.",
            show_default=False,
        ),
    ] = None,
    repo: Annotated[
        Path, typer.Option(metavar="DIR", help="The repository, or the folder in it where the agent worked.")
    ] = Path(),
    check: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COMMAND",
            help="A command to run there, for what is said of tests, linters, commands and the outcome.",
            show_default=False,
        ),
    ] = None,
    seconds: Annotated[
        float, typer.Option("--timeout", metavar="SECONDS", help="How long a check may take.", min=0.1)
    ] = 600.0,
    pass_env: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="An environment variable that checks need, besides PATH, HOME and their like.",
            show_default=False,
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Unverifiable claims and unmentioned changes count as well.")
    ] = False,
) -> None:
    """Check what a handoff claims against the repository.

    Each claim about files, commands, tests and the outcome is confirmed, refuted or
    unverifiable. Exit code 1 if one is refuted, 2 if something cannot be read.
    """
    from segue.domain.handoff import extract_handoff
    from segue.domain.ledger import verify_claims

    document = read_one(file)
    extraction = extract_handoff(document.text)
    parts = parts_of(context)
    evidence = parts.collect_evidence(repo, base, head)
    checks = tuple(
        parts.run_check(command, repo, seconds=seconds, pass_env=pass_env or ()) for command in check or ()
    )
    evidence = replace(evidence, checks=checks)
    ledger = verify_claims(
        extraction, evidence, source=document.text, passed_over=_own_path(document, evidence)
    )
    if extraction.handoff is None and not ledger.entries:
        complain(f"no handoff in {document.path}")
        raise typer.Exit(2)
    if as_json:
        _print_json(ledger, evidence, document)
    else:
        _print_table(ledger, document)
        _explain(ledger, evidence, base, head)
    weak = strict and (ledger.unmentioned or ledger.counts["unverifiable"])
    raise typer.Exit(1 if ledger.refuted or weak else 0)


def _own_path(document: Document, evidence: Evidence) -> tuple[str, ...]:
    """The document itself, if it lies in the repository: it need not mention itself."""
    if document.file is None:
        return ()
    place = os.path.realpath(document.file)
    return tuple(
        os.path.relpath(place, root).replace(os.sep, "/")
        for root in evidence.roots
        if place.startswith(root + os.sep)
    )


def _print_json(ledger: Ledger, evidence: Evidence, document: Document) -> None:
    from segue.domain.ledger import ledger_as_dict
    from segue.interfaces.cli.output import print_json

    checks = [
        {"command": run.command, "exit_code": run.exit_code, "fault": run.fault} for run in evidence.checks
    ]
    print_json({**ledger_as_dict(ledger, document.text), "checks": checks})


def _print_table(ledger: Ledger, document: Document) -> None:
    from segue.domain.ledger.rendering import describe, line_of, one_line
    from segue.interfaces.cli.output import console, plain_table, safe

    out = console()
    if ledger.entries:
        table = plain_table("line", "verdict", "claim", "because")
        for entry in sorted(ledger.entries, key=lambda each: each.claim.span or (0, 0)):
            line = line_of(entry.claim, document.text)
            table.add_row(
                str(line or ""), _styled(entry), safe(describe(entry.claim)), safe(one_line(entry.because))
            )
        out.print(table)
    for path in ledger.unmentioned[:_MOST_UNMENTIONED]:
        out.print(f"[yellow]! unmentioned[/]  {safe(shorten(path, 200))}")
    rest = len(ledger.unmentioned) - _MOST_UNMENTIONED
    if rest > 0:
        out.print(f"[yellow]! unmentioned[/]  ... and {rest} more")


def _styled(entry: Entry) -> str:
    from segue.domain.ledger.rendering import MARKS

    return f"[{_STYLES[entry.verdict]}]{MARKS[entry.verdict]} {entry.verdict}[/]"


def _explain(ledger: Ledger, evidence: Evidence, base: str, head: str | None) -> None:
    from segue.domain.ledger.rendering import summarise

    typer.echo(summarise(ledger), err=True)
    if not evidence.changes and ledger.refuted:
        complain(
            f"nothing changed from {base} to {head or 'the work tree'}; "
            "if the work is committed, name the revision before it with --base"
        )
    if not (evidence.is_diff_whole and evidence.is_tree_whole):
        complain("the repository is too large to be looked at whole; what was not seen refutes nothing")
