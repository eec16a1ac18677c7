"""What route functions ask for, and the role that each needs.

All of them are `async`: FastAPI runs plain ones on threads, which costs more than they do.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Path, Request, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from segue.application.segue import Segue
from segue.domain.audit import token_actor, user_actor
from segue.domain.errors import Forbidden, PipelineNotFound
from segue.domain.tokens import Token, TokenKind, TokenRole
from segue.interfaces.api.field_types import LARGEST_ID


async def _segue_of(request: Request) -> Segue:
    segue: Segue = request.app.state.segue
    return segue


Endpoint = TypeVar("Endpoint", bound=Callable[..., Any])
_ROLES: dict[Callable[..., Any], TokenRole | None] = {}
_SCHEME = HTTPBearer(
    auto_error=False,
    scheme_name="token",
    description="A token of `segue token new`, or the local credential.",
)


def needs(role: TokenRole | None) -> Callable[[Endpoint], Endpoint]:
    """Say which role a route needs; none for a route that the guard leaves open. Unsaid, it is admin."""

    def say(endpoint: Endpoint) -> Endpoint:
        _ROLES[endpoint] = role
        return endpoint

    return say


def needed_role(endpoint: Callable[..., Any]) -> TokenRole | None:
    """The role that a route needs."""
    return _ROLES.get(endpoint, TokenRole.ADMIN)


async def authorize(
    request: Request,
    _shown: Annotated[HTTPAuthorizationCredentials | None, Security(_SCHEME)],  # for OpenAPI alone
) -> None:
    """`Forbidden` unless the token that the guard has checked allows what the route does."""
    role = needed_role(request.scope["endpoint"])
    if role is not None and not (await _caller_of(request)).allows(role):
        raise Forbidden(
            f'this needs a token with the role "{role}"; `segue token new NAME --role {role}` makes one'
        )


async def _caller_of(request: Request) -> Token:
    token: Token = request.state.token
    return token


async def _caller_if_any(request: Request) -> Token | None:
    return getattr(request.state, "token", None)


Caller = Annotated[Token, Depends(_caller_of)]
"""The token of the caller."""
CallerIfAny = Annotated[Token | None, Depends(_caller_if_any)]
"""The same on a route that can be asked without one."""


async def _actor_of(request: Request) -> str:
    token = await _caller_of(request)
    return user_actor(token.name) if token.kind is TokenKind.LOCAL else token_actor(token.name)


Actor = Annotated[str, Depends(_actor_of)]
"""The caller, as the audit trail names them."""
SegueDep = Annotated[Segue, Depends(_segue_of)]
"""The running Segue."""


async def _pipeline_id_of(pipeline_id: Annotated[int, Path(description="The pipeline's id.")]) -> int:
    if not 1 <= pipeline_id <= LARGEST_ID:
        raise PipelineNotFound(pipeline_id)
    return pipeline_id


PipelineId = Annotated[int, Depends(_pipeline_id_of)]
"""An id that a pipeline may have; any other names none, which is a 404."""
