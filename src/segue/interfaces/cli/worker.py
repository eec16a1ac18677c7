"""`segue worker`: runs pipelines that other processes take in, and listens on no port."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer

from segue.domain.errors import SettingsError
from segue.interfaces.cli.parts import CliSettings, Parts, parts_of


def worker(
    context: typer.Context,
    backend: Annotated[str | None, typer.Option(help="Back end of agents whose profile names none.")] = None,
) -> None:
    """Run pipelines that `segue serve` on any machine takes in. Needs PostgreSQL; listens on no port."""
    from segue.interfaces.cli.logs import send_logs_to_stderr

    parts = parts_of(context)
    settings = parts.settings(backend=backend)
    check_shared_database(settings, "segue worker")
    if settings.mcp == "http":
        raise SettingsError(
            '"mcp" is http, so agents would look for their tools at `segue serve` in this process; set it to '
            "stdio for `segue worker`"
        )
    debug = bool(context.find_root().params.get("debug"))
    send_logs_to_stderr(level="debug" if debug else settings.log_level, form=settings.log_format)
    asyncio.run(_work(parts, settings))


async def _work(parts: Parts, settings: CliSettings) -> None:
    from segue.interfaces.cli.ending import draining_on_sigterm, say_what_is_left
    from segue.interfaces.cli.live import on_interrupt

    ended = asyncio.Event()
    async with parts.open(settings, hosting=True) as segue, on_interrupt(ended.set):
        await segue.start()
        async with draining_on_sigterm(segue, settings.drain_seconds, ended.set):
            typer.echo(f"segue {parts.version} worker {segue.workers.me}  (Ctrl-C stops)", err=True)
            await ended.wait()
        say_what_is_left(segue)


def check_shared_database(settings: CliSettings, what: str) -> None:
    """Raise unless other machines can reach the records."""
    if settings.engine_database_url is None:
        raise SettingsError(
            f"{what} shares its pipelines with other processes, and needs PostgreSQL for that",
            "SEGUE_DATABASE_URL=postgresql://user@host/database    the same for all of them",
            "segue serve    takes in and runs pipelines in one process, and needs none",
        )
