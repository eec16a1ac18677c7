"""`segue chat`: a conversation with an agent, in the terminal."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from segue.domain.catalog import AUTO
from segue.domain.errors import BackendError, InvalidRequest
from segue.interfaces.cli.parts import Parts, parts_of

if TYPE_CHECKING:
    from segue.interfaces.chat.app import ChatApp


def chat(
    context: typer.Context,
    agent: Annotated[
        str | None,
        typer.Argument(help="An agent of the catalog, or a back end; the first that is found if left out."),
    ] = None,
    directory: Annotated[
        str | None, typer.Option("--directory", "-C", help="Folder to work in; this one if left out.")
    ] = None,
    resume: Annotated[
        int | None, typer.Option(help="Continue in this session.", metavar="ID", min=1, max=2**31 - 1)
    ] = None,
) -> None:
    """Talk with an agent, and hand over to a new session with /handoff. /help shows the rest."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise InvalidRequest(
            "segue chat needs a terminal; for scripts there are `segue session start` and `segue session say`"
        )
    if agent is not None and resume is not None:
        raise InvalidRequest("--resume continues with the session's own agent: leave the other one out")
    folder = Path(directory or ".").expanduser().resolve()
    if not folder.is_dir():
        raise InvalidRequest(f"the working directory {folder} does not exist")
    from segue.interfaces.cli.logs import send_logs_to_nobody

    send_logs_to_nobody()
    left_in = asyncio.run(_chat(parts_of(context), agent or AUTO, folder, resume))
    if left_in is not None:
        typer.echo(f"session {left_in} stays: segue chat --resume {left_in}")


async def _chat(parts: Parts, agent: str, folder: Path, resume: int | None) -> int | None:
    """Run the chat; gives the session in which it was left."""
    async with parts.open(parts.settings(folder)) as segue:
        if resume is not None:
            await segue.sessions.show(resume)
        else:
            name, profile = segue.sessions.profile(agent, str(folder))
            segue.backends.get(profile.backend, name)
        from segue.interfaces.chat.app import ChatApp

        app = ChatApp(segue, who=agent, working_dir=str(folder), resume=resume)
        with _leaving_on_signals(app):
            await app.run_async()
        await app.chat.close()
        with suppress(BackendError):  # the session is in order; what could not be ended is found again
            await segue.backends.rest()
        return app.chat.session.id if app.chat.session is not None else None


@contextmanager
def _leaving_on_signals(app: ChatApp) -> Iterator[None]:
    """A terminal that is closed, or a polite kill, ends the chat as Ctrl-Q does."""
    loop = asyncio.get_running_loop()

    def hang_up(*_: object) -> None:
        _release_terminal()
        loop.call_soon_threadsafe(app.leave)

    loop.add_signal_handler(signal.SIGTERM, app.leave)
    # Not the loop's own: it must come before the SIGCONT that follows it, which would draw the screen anew.
    before = signal.signal(signal.SIGHUP, hang_up)
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGTERM)
        signal.signal(signal.SIGHUP, before)


def _release_terminal() -> None:
    """The terminal is gone: whoever still wrote to it would wait for ever."""
    signal.signal(signal.SIGCONT, lambda *_: None)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    os.close(nowhere)
