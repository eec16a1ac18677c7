"""/tokens: a token for a browser, for the code of a one-time link."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from segue.domain.tokens import TokenRole
from segue.interfaces.api.dependencies import SegueDep, needs
from segue.interfaces.api.errors import PROBLEMS
from segue.interfaces.api.field_types import PlainText
from segue.interfaces.api.security import EXCHANGE

router = APIRouter(tags=["tokens"])


class ExchangeRequest(BaseModel):
    """What a browser found behind the # of a link."""

    model_config = ConfigDict(extra="forbid")
    code: PlainText = Field(max_length=200)


@dataclass(frozen=True, kw_only=True, slots=True)
class ExchangedToken:
    """A token, shown this once."""

    token: str
    name: str
    """Whom it stands for."""
    roles: tuple[TokenRole, ...]
    expires_at: datetime | None


@router.post(EXCHANGE, responses=PROBLEMS(401, 422), openapi_extra={"security": [{}]})
@needs(None)
async def exchange_code(segue: SegueDep, request: ExchangeRequest) -> ExchangedToken:
    """A token for the code of `segue token link`: once, and within two minutes."""
    issued = await segue.tokens.exchange(request.code)
    token = issued.token
    return ExchangedToken(token=issued.value, name=token.name, roles=token.roles, expires_at=token.expires_at)
