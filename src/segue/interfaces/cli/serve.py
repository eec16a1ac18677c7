"""`segue serve`: REST with live events, and a worker that runs the pipelines."""

from __future__ import annotations

import asyncio
import os
import socket
import threading
from collections.abc import Callable
from contextlib import AsyncExitStack, closing, nullcontext, suppress
from typing import TYPE_CHECKING, Annotated, Any

import typer

from segue.domain.errors import SegueError
from segue.interfaces.cli.parts import CliSettings, Parts, parts_of
from segue.interfaces.cli.worker import check_shared_database

if TYPE_CHECKING:
    from segue.application.segue import Segue


def serve(
    context: typer.Context,
    host: Annotated[str | None, typer.Option(help="Address to listen on.")] = None,
    port: Annotated[
        int | None, typer.Option(help="Port to listen on; 0 takes a free one.", min=0, max=65535)
    ] = None,
    backend: Annotated[str | None, typer.Option(help="Back end of agents whose profile names none.")] = None,
    front: Annotated[
        bool, typer.Option("--front", help="Only answer: other processes, on PostgreSQL, run the pipelines.")
    ] = False,
) -> None:
    """Serve REST and run pipelines; what a crash interrupted continues. Listens on 127.0.0.1:8000."""
    from segue.interfaces.api.security import is_loopback
    from segue.interfaces.cli.logs import send_logs_to_stderr

    parts = parts_of(context)
    settings = parts.settings(host=host, port=port, backend=backend)
    if front:
        check_shared_database(settings, "segue serve --front")
    debug = bool(context.find_root().params.get("debug"))
    send_logs_to_stderr(level="debug" if debug else settings.log_level, form=settings.log_format)
    if not is_loopback(settings.host):
        typer.echo(
            f"warning: traffic to {settings.host} is not encrypted, and anyone who reads it has the tokens: "
            "put a proxy with TLS in front",
            err=True,
        )
    listener = listen(settings.host, settings.port)
    with closing(listener):
        # Agents may be given this address: port 0 has become a real one by now.
        settings = parts.settings(host=host, port=listener.getsockname()[1], backend=backend)
        asyncio.run(_serve(parts, settings, listener, is_front=front))


async def _serve(parts: Parts, settings: CliSettings, listener: socket.socket, *, is_front: bool) -> None:
    from segue.interfaces.api.app import ApiOptions, create_app
    from segue.interfaces.cli.ending import say_what_is_left

    options = ApiOptions(
        version=parts.version,
        host=settings.host,
        allow_commands=settings.allow_rest_commands,
        is_front=is_front,
    )
    async with parts.open(settings, hosting=not is_front) as segue, AsyncExitStack() as running:
        await segue.tokens.local()
        app = create_app(segue, options)
        if settings.mcp == "http":
            from segue.interfaces.mcp.http import ToolsOverHttp, tools_route

            tools = ToolsOverHttp(segue.tools, version=parts.version)
            await running.enter_async_context(tools.run())
            app.router.routes.append(tools_route(tools))
        await (segue.start_front() if is_front else segue.start())
        greeting = (
            f"segue {parts.version} on {url_of(settings.host, settings.port)}  (Ctrl-C stops)\n"
            "requests need a token: segue token header | curl -H @- URL"
        )
        # On one machine nobody else could continue: its next Segue does, and joins agents that live on.
        is_shared = settings.engine_database_url is not None and not is_front
        drained = (segue, settings.drain_seconds) if is_shared else None
        await serve_app(app, listener, greeting, drained=drained)
        say_what_is_left(segue)


async def serve_app(
    app: Any,
    listener: socket.socket,
    greeting: str,
    *,
    until_eof: bool = False,
    drained: tuple[Segue, float] | None = None,
) -> None:
    """Say where, and serve a web application until Ctrl-C or a polite kill, or until standard input ends.

    `drained` is a Segue whose steps get so many seconds to end after a polite kill.
    """
    from segue.interfaces.api.server import Server
    from segue.interfaces.cli.ending import draining_on_sigterm
    from segue.interfaces.cli.live import on_interrupt

    server = Server(app)

    def stop() -> None:
        server.should_exit = True

    if until_eof:
        threading.Thread(target=_at_end_of_input, args=(stop,), daemon=True).start()
    async with on_interrupt(stop), draining_on_sigterm(*drained, stop) if drained else nullcontext():
        typer.echo(greeting, err=True)
        await server.serve(sockets=[listener])


def _at_end_of_input(act: Callable[[], None]) -> None:
    with suppress(OSError):
        while os.read(0, 65_536):
            pass
    act()


def url_of(host: str, port: int) -> str:
    """The address of a server."""
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def listen(host: str, port: int) -> socket.socket:
    """A socket that others can connect to from now on."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(1024)  # who connects before we serve waits, and is not refused
    except OSError as error:
        listener.close()
        raise SegueError(
            f"cannot listen on {host}:{port}: {error.strerror}. Stop what uses it, or give another --port"
        ) from error
    return listener
