"""`segue token`: who may use the server."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from segue.interfaces.cli.parts import parts_of
from segue.interfaces.cli.people import refuse_agents

if TYPE_CHECKING:
    from datetime import datetime

    from segue.application.tokens import Tokens

T = TypeVar("T")

app = typer.Typer(help="Manage who may use the server.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(help="Whom the token stands for.", metavar="NAME")]
_ROLES_HELP = "What it allows: read, run, approve or admin; can be repeated. All include read."


@app.command("new")
def new_token(
    context: typer.Context,
    name: Name,
    role: Annotated[list[str], typer.Option("--role", "-r", help=_ROLES_HELP)],
    expires: Annotated[
        str, typer.Option(help="30m, 12h, 90d, 52w, a date such as 2027-01-31, or never.")
    ] = "90d",
) -> None:
    """Make a token and print it, this once; only its hash is kept."""
    from segue.domain.tokens import describe_roles

    refuse_agents("make tokens")
    issued = _with_tokens(context, lambda tokens: tokens.new(name, role, expires))
    token = issued.token
    typer.echo(
        f"{token.name}: {describe_roles(token.roles)}; {_end_of(token.expires_at)}. It is shown only now:",
        err=True,
    )
    typer.echo(issued.value)


@app.command("list")
def list_tokens(
    context: typer.Context,
    everything: Annotated[bool, typer.Option("--all", help="Those that have ended too.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """The tokens that work, oldest first; never their values."""
    from datetime import UTC, datetime

    from segue.domain.tokens import describe_roles
    from segue.interfaces.cli.output import console, plain_table, print_json, safe, when

    found = _with_tokens(context, lambda tokens: tokens.list(everything=everything))
    if as_json:
        print_json(found)
        return
    screen = console()
    if not found:
        screen.print("no tokens yet; `segue serve` makes the local credential")
        return
    table = plain_table("name", "roles", "kind", "created", "expires")
    for token in found:
        end = "never" if token.expires_at is None else when(token.expires_at)
        ended = token.why_refused(datetime.now(UTC))
        table.add_row(
            safe(token.name),
            describe_roles(token.roles),
            token.kind,
            when(token.created_at),
            f"[red]{ended}[/]" if ended else end,
        )
    screen.print(table)


@app.command("revoke")
def revoke_token(context: typer.Context, name: Name) -> None:
    """End the tokens of a name, also on servers that run; event streams that use them end in seconds.

    With your login name, that is the local credential and your browsers' tokens; a new credential is
    made when one is needed.
    """
    from segue.interfaces.cli.output import printable

    refuse_agents("revoke tokens")
    ended = _with_tokens(context, lambda tokens: tokens.revoke(name))
    typer.echo(f"revoked {len(ended)} token{'s' if len(ended) > 1 else ''} of {printable(name)}")


@app.command("header")
def print_header(context: typer.Context) -> None:
    """Print the local credential as a header, for curl: segue token header | curl -H @- URL.

    It is made if there is none yet. Other users of the machine could see it if it were an argument of curl.
    """
    refuse_agents("use the local credential")
    typer.echo(f"Authorization: Bearer {_with_tokens(context, lambda tokens: tokens.local())}")


@app.command("link")
def print_link(
    context: typer.Context,
    role: Annotated[
        list[str] | None, typer.Option("--role", "-r", help=f"{_ROLES_HELP} Unset, run and approve.")
    ] = None,
    host: Annotated[str | None, typer.Option(help="Address of the server.")] = None,
    port: Annotated[int | None, typer.Option(help="Port of the server.", min=1, max=65535)] = None,
) -> None:
    """Print a link that gives a browser a token of 12 hours: once, and within two minutes."""
    from segue.application.tokens import BROWSER_ROLES
    from segue.interfaces.cli.serve import url_of

    refuse_agents("make tokens")
    settings = parts_of(context).own_settings(host=host, port=port)
    code = _with_tokens(context, lambda tokens: tokens.new_code(role or BROWSER_ROLES))
    shown = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(settings.host, settings.host)  # noqa: S104  # not bound to
    typer.echo(f"{url_of(shown, settings.port)}/#code={code}")


def _with_tokens(context: typer.Context, ask: Callable[[Tokens], Awaitable[T]]) -> T:
    async def act() -> T:
        parts = parts_of(context)
        async with parts.tokens(parts.own_settings()) as tokens:
            return await ask(tokens)

    return asyncio.run(act())


def _end_of(expires_at: datetime | None) -> str:
    return "it never expires" if expires_at is None else f"it expires on {expires_at:%Y-%m-%d %H:%M} UTC"
