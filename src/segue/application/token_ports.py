"""The ports of tokens: their records, and the file of the local credential."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from segue.domain.tokens import Token, TokenKind, TokenRole


@dataclass(frozen=True, kw_only=True, slots=True)
class NewToken:
    """A token that is to be saved."""

    name: str
    kind: TokenKind
    roles: tuple[TokenRole, ...]
    hash: str
    """The SHA-256 of its value, which is not saved."""
    created_at: datetime
    expires_at: datetime | None


@dataclass(frozen=True, kw_only=True, slots=True)
class LinkCode:
    """The right to get one token, once."""

    name: str
    roles: tuple[TokenRole, ...]
    hash: str
    expires_at: datetime


class TokenStore(Protocol):
    """Tokens and the codes of one-time links."""

    async def add(self, new: NewToken) -> Token: ...
    async def find(self, token_hash: str) -> Token | None:
        """The token with this hash; until the transaction ends, nobody else can add it."""
        ...

    async def all(self) -> list[Token]: ...
    async def revoke(self, token_id: int, at: datetime) -> None: ...
    async def add_code(self, code: LinkCode, now: datetime) -> None:
        """Save a code, and forget those that have expired."""
        ...

    async def take_code(self, code_hash: str) -> LinkCode | None:
        """Remove a code and give it: of all who ask, one gets it.

        Until the transaction ends, nobody else looks at tokens: who revokes them sees what the code gave.
        """
        ...

    async def drop_codes(self, name: str) -> None:
        """Forget the codes that would give tokens of this name."""
        ...


class TokenReads(Protocol):
    """Tokens, read without waiting for writers."""

    async def token(self, token_hash: str) -> Token | None:
        """The token whose value has this hash."""
        ...

    async def tokens(self) -> list[Token]:
        """All tokens, oldest first."""
        ...

    async def has_code(self, code_hash: str) -> bool:
        """Whether there is a code with this hash."""
        ...


class CredentialFile(Protocol):
    """The local credential: one file that its owner alone can read."""

    @property
    def place(self) -> str:
        """Where it is."""
        ...

    def read(self) -> str | None:
        """Its value, or none if there is no file; `CredentialError` if others could know it."""
        ...

    def create(self, value: str) -> str:
        """Write it unless there is one by now; gives the value that counts."""
        ...

    def remove(self) -> None: ...
