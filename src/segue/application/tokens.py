"""Who may use the server: the local credential, tokens with a name, and one-time links for browsers."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from secrets import token_urlsafe

from segue.application.ports.store import Rows, Store
from segue.application.ports.world import Clock, CredentialFile
from segue.domain.audit import AuditKind
from segue.domain.errors import CredentialError, InvalidRequest, TokenRefused, UnknownName
from segue.domain.tokens import (
    PREFIX,
    LinkCode,
    Token,
    TokenKind,
    TokenRole,
    check_name,
    check_roles,
    read_expiry,
)

BROWSER_ROLES = (TokenRole.RUN, TokenRole.APPROVE)
_CODE_LIFETIME = timedelta(minutes=2)
_BROWSER_LIFETIME = timedelta(hours=12)
_LONGEST_VALUE = 200
_SHOW_ONE = "show a token: Authorization: Bearer <token>; `segue token header` prints that line"
_USED_LINK = "this link was used already or is too old; `segue token link` makes a new one"


@dataclass(frozen=True, kw_only=True, slots=True)
class IssuedToken:
    """A new token with its value, which is shown once."""

    token: Token
    value: str


class Tokens:
    """The use cases of tokens. Only hashes are saved: a value has 256 random bits, so SHA-256 will do."""

    def __init__(self, *, store: Store, clock: Clock, credential: CredentialFile, owner: str) -> None:
        self._store = store
        self._clock = clock
        self._credential = credential
        self.owner = owner
        """The login name of the user who runs this process: the name of the local credential."""

    async def local(self) -> str:
        """The local credential: made if there is none, and known to this database from now on."""
        value = await asyncio.to_thread(self._credential.read)
        if value is None:
            value = await asyncio.to_thread(self._credential.create, _new_value())
        known = await self._store.views.token(hash_of(value))
        if known is None:
            known = await self._add_local(value)
        if why := known.why_refused(self._clock.now()):
            raise CredentialError(
                f"the local credential {why}: remove the file {self._credential.place}, and a new one is made"
            )
        return value

    async def new(self, name: str, roles: Iterable[str], expires: str) -> IssuedToken:
        """A token under a name that no other token has."""
        now = self._clock.now()
        check_name(name)
        checked, expires_at = check_roles(roles), read_expiry(expires, now)
        if name == self.owner:
            raise InvalidRequest(f'"{name}" is the name of your local credential; choose another one')
        value = _new_value()

        def add(rows: Rows) -> Token:
            rows.lock_tokens()
            if name in {each.name for each in rows.find(Token) if not each.why_refused(now)}:
                raise InvalidRequest(f'a token "{name}" exists; revoke it, or choose another name')
            new = Token(name=name, kind=TokenKind.NAMED, roles=checked, created_at=now, expires_at=expires_at)
            return self._issue(rows, new, value)

        return IssuedToken(token=await self._store.write(add), value=value)

    async def list(self, *, everything: bool = False) -> Sequence[Token]:
        """The tokens that work, oldest first; with `everything`, those that have ended too."""
        now = self._clock.now()
        return [each for each in await self._store.views.tokens() if everything or not each.why_refused(now)]

    async def revoke(self, name: str) -> Sequence[Token]:
        """End every token of a name now; the local credential's file goes with it."""
        now = self._clock.now()
        own = None
        with suppress(CredentialError):  # a file that is not as it should be is no reason to keep a token
            own = await asyncio.to_thread(self._credential.read)

        def end(rows: Rows) -> tuple[list[Token], Token | None]:
            rows.lock_tokens()
            working = [each for each in rows.find(Token) if not each.why_refused(now)]
            ended = [each for each in working if each.name == name]
            if not ended:
                raise UnknownName("token", name, {each.name for each in working})
            in_file = rows.first(Token, hash=hash_of(own)) if own else None
            rows.drop_codes(name=name)
            for token in ended:
                rows.save(token, replace(token, revoked_at=now))
                rows.audit(
                    AuditKind.TOKEN_REVOKED,
                    now,
                    who=None,
                    token=token.id,
                    name=name,
                    token_kind=token.kind,
                    revoked_by=self.owner,
                )
            return ended, in_file

        ended, in_file = await self._store.write(end)
        if in_file in ended:
            await asyncio.to_thread(self._credential.remove)
        return ended

    async def check(self, value: str | None) -> Token:
        """The token with this value; `TokenRefused` unless it works."""
        if not value or len(value) > _LONGEST_VALUE:
            raise TokenRefused(_SHOW_ONE)
        found = await self._store.views.token(hash_of(value))
        if found is None:
            raise TokenRefused(f"this token is not known here; {_SHOW_ONE}")
        if why := found.why_refused(self._clock.now()):
            raise TokenRefused(f"this token {why}; ask for a new one")
        return found

    async def new_code(self, roles: Iterable[str] = BROWSER_ROLES) -> str:
        """The code of a one-time link, for a browser of this user."""
        value, now = _new_value(), self._clock.now()
        code = LinkCode(
            name=self.owner,
            roles=check_roles(roles),
            hash=hash_of(value),
            expires_at=now + _CODE_LIFETIME,
        )

        def add(rows: Rows) -> None:
            rows.drop_codes(expired_at=now)
            rows.insert(code)

        await self._store.write(add)
        return value

    async def exchange(self, code: str) -> IssuedToken:
        """A token for a browser, for the code of a link; `TokenRefused` if it was used, or is too old."""
        now = self._clock.now()
        # Anybody may ask: only who has a code gets as far as a transaction, which others wait for.
        if not await self._store.views.has_code(hash_of(code)):
            raise TokenRefused(_USED_LINK)
        value = _new_value()

        def take(rows: Rows) -> Token | None:
            found = rows.take_code(hash_of(code))
            if found is None or now >= found.expires_at:
                return None
            new = Token(
                name=found.name,
                kind=TokenKind.BROWSER,
                roles=found.roles,
                created_at=now,
                expires_at=now + _BROWSER_LIFETIME,
            )
            return self._issue(rows, new, value)

        issued = await self._store.write(take)
        if issued is None:
            raise TokenRefused(_USED_LINK)
        return IssuedToken(token=issued, value=value)

    async def _add_local(self, value: str) -> Token:
        now = self._clock.now()

        def add(rows: Rows) -> Token:
            rows.lock_tokens()
            if (known := rows.first(Token, hash=hash_of(value))) is not None:
                return known  # another process was faster
            new = Token(
                name=self.owner,
                kind=TokenKind.LOCAL,
                roles=(TokenRole.ADMIN,),
                created_at=now,
                expires_at=None,
            )
            return self._issue(rows, new, value)

        return await self._store.write(add)

    def _issue(self, rows: Rows, new: Token, value: str) -> Token:
        token = rows.insert(new, hash=hash_of(value))
        rows.audit(
            AuditKind.TOKEN_CREATED,
            token.created_at,
            who=None,
            token=token.id,
            name=token.name,
            token_kind=token.kind,
            roles=token.roles,
            expires_at=token.expires_at.isoformat() if token.expires_at else None,
            created_by=self.owner,
        )
        return token


def hash_of(value: str) -> str:
    """What is saved of a value."""
    return hashlib.sha256(value.encode("utf-8", "surrogatepass")).hexdigest()


def _new_value() -> str:
    return PREFIX + token_urlsafe(32)
