"""`segue handoff verify`: hold what a handoff says against what really happened in a repository."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from segue.interfaces.cli.handoff_files import InputDocument, complain, read_one, shorten
from segue.interfaces.cli.parts import parts_of

if TYPE_CHECKING:
    from segue.domain.claims import Ledger, LedgerEntry
    from segue.domain.evidence.model import Evidence, WeakenedTest
    from segue.domain.handoff import Problem

_STYLES = {"confirmed": "green", "refuted": "bold red", "partly": "yellow", "unverifiable": "yellow"}
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
    task: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT",
            help="What the agent was asked to do: a test that this asks to change is not held against it.",
            show_default=False,
        ),
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the X-ray, one HTML file with the words, the verdicts and the evidence.",
            show_default=False,
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Unverifiable claims and unmentioned changes count as well.")
    ] = False,
) -> None:
    """Check what a handoff claims against the repository.

    Each claim is confirmed, refuted, partly confirmed or unverifiable; what was measured is
    shown beside. Exit code 1 if one is refuted or a test was weakened, 2 if something cannot
    be read.
    """
    from segue.application.handoffs.review import judge
    from segue.application.handoffs.test_comparison import with_tests
    from segue.domain.handoff import Origin, extract_handoff
    from segue.domain.handoff.checking.against_evidence import check_against_evidence
    from segue.interfaces.cli.xray import write_xray
    from segue.interfaces.xray.of_document import VerifiedDocument

    document = read_one(file)
    extraction = extract_handoff(document.text, origin=Origin.REPLY)
    parts = parts_of(context)
    observed = parts.observe(repo, base, head)
    # Checks run in the work tree: only that is compared with the base, and no other revision.
    since = base if head is None else None
    checked = [
        parts.run_check(command, repo, since, seconds=seconds, pass_env=pass_env or ())
        for command in check or ()
    ]
    observed = with_tests(observed, checked, task)
    own = _paths_in(observed.evidence, document.file, html)
    ledger = judge(extraction, observed, source=document.text, passed_over=own)
    if extraction.handoff is None and not any(entry.evidence or entry.rest for entry in ledger.entries):
        complain(f"no handoff in {document.path}")
        raise typer.Exit(2)
    evidence = _without(observed.evidence, own)
    problems = check_against_evidence(extraction.handoff, evidence) if extraction.handoff else []
    if as_json:
        _print_json(ledger, evidence, problems, document)
    else:
        _print_table(ledger, document)
        _print_record(ledger, evidence, problems)
        _explain(ledger, evidence, base, head)
    if html is not None:
        compared = replace(observed, evidence=evidence)
        found = VerifiedDocument(
            name=document.path,
            text=document.text,
            task=task,
            extraction=extraction,
            ledger=ledger,
            observed=compared,
            problems=problems,
        )
        write_xray(html, found, parts, f"{base} to {head or 'the work tree'}")
    weak = strict and (ledger.unmentioned or problems or ledger.counts["unverifiable"])
    raise typer.Exit(1 if ledger.refuted or ledger.counts["weakened"] or weak else 0)


def _without(evidence: Evidence, paths: tuple[str, ...]) -> Evidence:
    """Without the document itself and the page about it, which are not part of the work."""
    kept = {path: change for path, change in evidence.changes.items() if path not in paths}
    return replace(evidence, changes=kept)


def _paths_in(evidence: Evidence, *files: Path | None) -> tuple[str, ...]:
    """The document and the page about it, if they lie in the repository: they need not mention themselves."""
    places = [os.path.realpath(file) for file in files if file is not None]
    return tuple(
        os.path.relpath(place, root).replace(os.sep, "/")
        for place in places
        for root in evidence.roots
        if place.startswith(root + os.sep)
    )


def _print_json(ledger: Ledger, evidence: Evidence, problems: list[Problem], document: InputDocument) -> None:
    from segue.domain.claims import ledger_as_dict
    from segue.domain.evidence.record import evidence_as_dict
    from segue.interfaces.cli.output import print_json

    checks = [
        {"command": run.command, "exit_code": run.exit_code, "fault": run.fault} for run in evidence.checks
    ]
    found = [
        {"code": each.code, "field": each.field, "message": each.message, "hint": each.hint}
        for each in problems
    ]
    facts = {"checks": checks, "problems": found, "evidence": evidence_as_dict(evidence)}
    print_json({**ledger_as_dict(ledger, document.text), **facts})


def _print_record(ledger: Ledger, evidence: Evidence, problems: list[Problem]) -> None:
    """What was measured, the tests that prove less than before, and what the handoff lacks."""
    from segue.domain.briefing.measured import measured_lines
    from segue.interfaces.cli.output import console, safe

    out = console()
    for test in ledger.weakened:
        style, mark = ("bold red", "\u2193") if test.standing == "weakened" else ("yellow", "!")
        out.print(f"[{style}]{mark} {test.standing}[/]  {safe(_describe(test))}", soft_wrap=True)
    for problem in problems:
        out.print(
            f"[yellow]! {problem.code}[/]  {safe(problem.message)}; {safe(problem.hint)}", soft_wrap=True
        )
    for line in measured_lines(evidence):
        out.print(f"Measured: {safe(line)}", soft_wrap=True)


def _describe(test: WeakenedTest) -> str:
    from segue.domain.claims.rendering import one_line

    place = test.path if test.line is None else f"{test.path}:{test.line}"
    named = f" {one_line(test.test)}" if test.test else ""
    return f"{one_line(place)}{named}: {one_line(test.way)}: {one_line(test.reason)}"


def _print_table(ledger: Ledger, document: InputDocument) -> None:
    from segue.domain.claims.rendering import describe, explain, line_of
    from segue.interfaces.cli.output import console, plain_table, safe

    out = console()
    if ledger.entries:
        table = plain_table("line", "verdict", "claim", "reason")
        for entry in sorted(ledger.entries, key=lambda each: each.statement.span or (0, 0)):
            line = line_of(entry.statement, document.text)
            table.add_row(
                str(line or ""), _styled(entry), safe(describe(entry.statement)), safe(explain(entry))
            )
        out.print(table)
    for path in ledger.unmentioned[:_MOST_UNMENTIONED]:
        out.print(f"[yellow]! unmentioned[/]  {safe(shorten(path, 200))}")
    rest = len(ledger.unmentioned) - _MOST_UNMENTIONED
    if rest > 0:
        out.print(f"[yellow]! unmentioned[/]  ... and {rest} more")


def _styled(entry: LedgerEntry) -> str:
    from segue.domain.claims.rendering import MARKS

    assert entry.verdict is not None  # statements that claim nothing are not among the entries
    return f"[{_STYLES[entry.verdict]}]{MARKS[entry.verdict]} {entry.verdict}[/]"


def _explain(ledger: Ledger, evidence: Evidence, base: str, head: str | None) -> None:
    from segue.domain.claims.rendering import summarise

    typer.echo(summarise(ledger), err=True)
    if not evidence.changes and ledger.refuted:
        complain(
            f"nothing changed from {base} to {head or 'the work tree'}; "
            "if the work is committed, name the revision before it with --base"
        )
    if not (evidence.is_diff_whole and evidence.is_tree_whole):
        complain("the repository is too large to be looked at whole; what was not seen refutes nothing")
