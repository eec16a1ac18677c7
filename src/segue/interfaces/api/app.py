"""The web application: its routes and its guard."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import Depends, FastAPI

from segue.application.segue import Segue
from segue.interfaces.api import approvals, audit, events, handoffs, health, pipelines, sessions, tokens
from segue.interfaces.api.dependencies import authorize
from segue.interfaces.api.errors import add_error_handlers
from segue.interfaces.api.event_frames import EventFrames
from segue.interfaces.api.security import Guard

_DESCRIPTION = """Runs chains of AI coding agents durably, and makes the handoff between them a checked thing.

Every request shows a token: `Authorization: Bearer <token>`.

Errors are `application/problem+json`: `title` names the kind, `detail` says what, which, and what to do."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ApiOptions:
    """How the server is guarded."""

    version: str
    host: str = "127.0.0.1"
    """The address that is listened on: on loopback, only loopback names are answered to."""
    allow_commands: bool = False
    """Whether requests may hold commands that Segue itself runs."""
    is_front: bool = False
    """Whether other processes move pipelines on."""
    max_body_bytes: int = 2_000_000
    recheck_seconds: float = 5.0
    """How long an open event stream may outlive its token."""


def create_app(segue: Segue, options: ApiOptions) -> FastAPI:
    """The application, on a Segue that runs already."""
    app = FastAPI(
        title="Segue",
        version=options.version,
        summary="Durable pipelines of coding agents with checked handoffs.",
        description=_DESCRIPTION,
        docs_url=None,  # these pages would load their scripts from elsewhere
        redoc_url=None,
        dependencies=[Depends(authorize)],
        license_info={"name": "Apache-2.0", "identifier": "Apache-2.0"},
    )
    app.state.segue = segue
    app.state.version = options.version
    app.state.is_front = options.is_front
    app.state.allow_commands = options.allow_commands
    app.state.event_frames = EventFrames()
    app.include_router(health.router)
    app.include_router(events.router)
    app.include_router(approvals.router)
    app.include_router(audit.router)
    app.include_router(handoffs.router)
    app.include_router(pipelines.router)
    app.include_router(sessions.router)
    app.include_router(tokens.router)
    add_error_handlers(app)
    app.add_middleware(
        Guard,
        host=options.host,
        tokens=segue.tokens,
        max_body_bytes=options.max_body_bytes,
        recheck_seconds=options.recheck_seconds,
    )
    return app
