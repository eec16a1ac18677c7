"""Tokens and the codes of one-time links: their rows, written and read."""

from __future__ import annotations

from datetime import datetime
from typing import Any, TypeVar

from sqlalchemy import Row, bindparam, delete, select, text, update
from sqlalchemy.ext.asyncio import AsyncSession

from segue.adapters.storage.mapping import read
from segue.adapters.storage.tables import LinkCodeRow, TokenRow
from segue.application.token_ports import LinkCode, NewToken
from segue.domain.tokens import Token, TokenKind, TokenRole

T = TypeVar("T")

_TOKENS_LOCK = 7_301_004
"""Number of the PostgreSQL lock that lets one transaction at a time look at tokens and then write them."""


class SqlTokens:
    """Tokens. Transactions that look at them take turns: nobody adds what another did not find."""

    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def add(self, new: NewToken) -> Token:
        """Save a token."""
        row = TokenRow(
            name=new.name,
            kind=new.kind,
            roles=_write_roles(new.roles),
            hash=new.hash,
            created_at=new.created_at,
            expires_at=new.expires_at,
        )
        self._session.add(row)
        await self._session.flush()
        return _read_token(row)

    async def find(self, token_hash: str) -> Token | None:
        """The token with this hash."""
        await self._take_turn()
        return _found((await self._session.execute(_TOKEN, {"token_hash": token_hash})).one_or_none())

    async def all(self) -> list[Token]:
        """All tokens, oldest first."""
        await self._take_turn()
        return [_read_token(row) for row in await self._session.scalars(_EVERY_TOKEN)]

    async def revoke(self, token_id: int, at: datetime) -> None:
        """End a token."""
        await self._session.execute(update(TokenRow).where(TokenRow.id == token_id).values(revoked_at=at))

    async def add_code(self, code: LinkCode, now: datetime) -> None:
        """Save a code, and forget those that have expired."""
        await self._session.execute(delete(LinkCodeRow).where(LinkCodeRow.expires_at <= now))
        self._session.add(
            LinkCodeRow(
                hash=code.hash, name=code.name, roles=_write_roles(code.roles), expires_at=code.expires_at
            )
        )

    async def take_code(self, code_hash: str) -> LinkCode | None:
        """Remove a code and give it."""
        await self._take_turn()
        taken = delete(LinkCodeRow).where(LinkCodeRow.hash == code_hash).returning(LinkCodeRow)
        row = (await self._session.scalars(taken)).one_or_none()
        return None if row is None else read(LinkCode, row, roles=_read_roles(row.roles))

    async def drop_codes(self, name: str) -> None:
        """Forget the codes that would give tokens of this name."""
        await self._session.execute(delete(LinkCodeRow).where(LinkCodeRow.name == name))

    async def _take_turn(self) -> None:
        if self._session.get_bind().dialect.name != "sqlite":  # there, a transaction that writes has it alone
            await self._session.execute(text(f"SELECT pg_advisory_xact_lock({_TOKENS_LOCK})"))


_EVERY_TOKEN = select(TokenRow).order_by(TokenRow.id)

_TOKEN = select(TokenRow.__table__).where(TokenRow.hash == bindparam("token_hash"))
"""As plain rows: every request of the server looks its token up."""


def _found(row: Row[Any] | None) -> Token | None:
    return None if row is None else _read_token(row)


def _read_token(row: Row[Any] | TokenRow) -> Token:
    return read(Token, row, kind=TokenKind(row.kind), roles=_read_roles(row.roles))


def _read_roles(text: str) -> tuple[TokenRole, ...]:
    return tuple(TokenRole(role) for role in text.split())


def _write_roles(roles: tuple[TokenRole, ...]) -> str:
    return " ".join(roles)
