"""`segue audit`: what happened, who did it, and whether the trail was altered."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from segue.interfaces.cli.parts import parts_of

if TYPE_CHECKING:
    from segue.application.ports.views import Views
    from segue.domain.audit_chain import AuditReport, ChainHead

T = TypeVar("T")

app = typer.Typer(help="Read the audit trail, export it, and verify it.", no_args_is_help=True)

Of = Annotated[
    int | None,
    typer.Option(
        "--pipeline",
        help="Only this pipeline; 0 for what happened outside of pipelines.",
        metavar="ID",
        min=0,
        max=2**31 - 1,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, in the same shape as REST.")]


@app.command("list")
def list_entries(
    context: typer.Context,
    pipeline: Of = None,
    kind: Annotated[str | None, typer.Option(help="Only this kind, such as pipeline_merged.")] = None,
    since: Annotated[
        datetime | None, typer.Option(help="Only what happened from then on, in your own time zone.")
    ] = None,
    limit: Annotated[int, typer.Option(help="How many at most.", min=1, max=200)] = 50,
    before: Annotated[
        int | None, typer.Option(help="Only those with a smaller id.", min=1, max=2**31 - 1)
    ] = None,
    as_json: Json = False,
) -> None:
    """What happened and who did it, newest first."""
    from segue.application.views import AuditFilter
    from segue.domain.audit import AuditKind
    from segue.domain.audit_chain import canonical_json
    from segue.domain.errors import UnknownName
    from segue.interfaces.cli.output import console, plain_table, print_json, safe, when

    if kind is not None and kind not in set(AuditKind):
        raise UnknownName("kind", kind, AuditKind)
    criteria = AuditFilter(
        pipeline_id=pipeline,
        kind=AuditKind(kind) if kind else None,
        since=since.astimezone() if since else None,
        before=before,
        limit=limit,
    )
    page = _with_views(context, lambda views: views.audit(criteria))
    if as_json:
        print_json(page)
        return
    screen = console()
    if not page.items:
        screen.print("no audit entries" + (" like that" if pipeline is not None or kind or since else " yet"))
        return
    table = plain_table("id", "time", "pipeline", "kind", "who", "facts")
    for each in page.items:
        table.add_row(
            str(each.id),
            when(each.created_at),
            "" if each.pipeline_id is None else str(each.pipeline_id),
            safe(each.event_type),
            safe(each.who or ""),
            "" if each.payload is None else safe(canonical_json(dict(each.payload))),
        )
    screen.print(table)
    if page.next_cursor:
        screen.print(f"[dim]more: segue audit list --before {page.next_cursor}[/]")


@app.command("export")
def export_audit(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="The file to write; - for the terminal.", allow_dash=True)],
    pipeline: Of = None,
) -> None:
    """Write the trail as lines of JSON, which can be verified without Segue."""
    import sys

    from segue.domain.audit_chain import write_export
    from segue.domain.errors import InvalidRequest

    text = _with_views(
        context,
        lambda views: views.read_audit(
            lambda found: "".join(f"{line}\n" for line in write_export(found)), pipeline_id=pipeline
        ),
    )
    if str(file) == "-":
        sys.stdout.write(text)
        return
    try:
        file.write_text(text, encoding="ascii", newline="\n")
    except OSError as error:
        raise InvalidRequest(f"cannot write {file}: {error.strerror}") from error


@app.command("verify")
def verify_audit(
    context: typer.Context,
    file: Annotated[
        Path | None, typer.Argument(help="An export; needs no database. Unset, the whole database.")
    ] = None,
    head: Annotated[
        list[str] | None,
        typer.Option(help="A head noted earlier; can be repeated.", metavar="CHAIN:SEQ:HASH"),
    ] = None,
    as_json: Json = False,
) -> None:
    """Check that no entry was altered, added, removed or moved; exit code 1 if one was.

    Who can write the database can compute all hashes anew. Only a head that was noted elsewhere shows that:
    --json prints the heads to note.
    """
    from segue.interfaces.audit_export import summarize
    from segue.interfaces.cli.output import print_json, printable

    noted = [_head_of(each) for each in head or ()]
    if file is not None:
        report = _verify_file(file, noted)
    else:
        report = _with_views(context, lambda views: views.verify_audit(noted=noted))
    if as_json:
        print_json(report)
    else:
        for each in report.alterations:
            typer.echo(printable(str(each)))
        typer.echo(summarize(report))
    if not report.is_whole:
        raise typer.Exit(1)


def _verify_file(file: Path, noted: list[ChainHead]) -> AuditReport:
    from segue.domain.audit_chain import find_alterations, read_export
    from segue.domain.errors import InvalidRequest

    try:
        with file.open(encoding="utf-8", errors="replace", newline="\n") as lines:
            return find_alterations(read_export(lines), noted)
    except OSError as error:
        raise InvalidRequest(f"cannot read {file}: {error.strerror}") from error


def _head_of(text: str) -> ChainHead:
    from segue.domain.audit_chain import ChainHead
    from segue.domain.errors import InvalidRequest

    chain, _, rest = text.partition(":")
    seq, _, value = rest.partition(":")
    if not (chain.isdecimal() and seq.isdecimal() and int(seq) and len(value) == 64):
        raise InvalidRequest(f'"{text}" is not a head: write CHAIN:SEQ:HASH, such as 7:12:<64 characters>')
    return ChainHead(chain=int(chain), seq=int(seq), head=value.lower())


def _with_views(context: typer.Context, ask: Callable[[Views], Awaitable[T]]) -> T:
    async def act() -> T:
        parts = parts_of(context)
        async with parts.open(parts.own_settings()) as segue:
            return await ask(segue.views)

    return asyncio.run(act())
