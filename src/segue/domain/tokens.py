"""Tokens: who may use the server, what for, and until when."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from enum import StrEnum

from segue.domain.durations import parse_duration
from segue.domain.errors import InvalidRequest

PREFIX = "segue_"
"""How every token begins, so that people and secret scanners recognise one."""
NEVER = "never"

_LONGEST_NAME = 100
_LONGEST_LIFE = timedelta(days=36525)


class TokenRole(StrEnum):
    """What a token lets its holder do."""

    READ = "read"
    """Look at everything; every other role includes it."""
    RUN = "run"
    """Submit and abort pipelines, and talk with agents in sessions."""
    APPROVE = "approve"
    """Answer what agents ask, and merge."""
    ADMIN = "admin"
    """Everything, also in the name of others."""


class TokenKind(StrEnum):
    """How a token came to be."""

    LOCAL = "local"
    """The credential in the data folder."""
    NAMED = "named"
    """Made by `segue token new`."""
    BROWSER = "browser"
    """Given for the code of a one-time link."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Token:
    """What is known of a token; its value is known to its holder alone."""

    id: int = 0
    name: str
    """Whom it stands for: the `decided_by` of what its holder decides."""
    kind: TokenKind
    roles: tuple[TokenRole, ...]
    created_at: datetime
    expires_at: datetime | None
    """None: never."""
    revoked_at: datetime | None = None

    def allows(self, role: TokenRole) -> bool:
        """Whether its holder may do what needs this role."""
        return role is TokenRole.READ or role in self.roles or TokenRole.ADMIN in self.roles

    def why_refused(self, now: datetime) -> str | None:
        """Why it no longer works, or none while it does."""
        if self.revoked_at is not None:
            return "was revoked"
        return "has expired" if self.expires_at is not None and self.expires_at <= now else None


@dataclass(frozen=True, kw_only=True, slots=True)
class LinkCode:
    """The right to get one token, once."""

    name: str
    roles: tuple[TokenRole, ...]
    hash: str
    """The SHA-256 of its value, which is not saved."""
    expires_at: datetime


def check_name(name: str) -> str:
    """A name that can be shown in a line and typed again."""
    if not name or name != name.strip() or not name.isprintable() or len(name) > _LONGEST_NAME:
        raise InvalidRequest(
            f"a token's name is one line of 1 to {_LONGEST_NAME} characters, such as ci or mara@laptop"
        )
    return name


def check_roles(roles: Iterable[str]) -> tuple[TokenRole, ...]:
    """The roles, each once, in the order of their power."""
    given = set(roles)
    if not given or not given <= set(TokenRole):
        raise InvalidRequest(f"a token needs one or more of the roles {', '.join(TokenRole)}")
    return tuple(role for role in TokenRole if role in given)


def read_expiry(text: str, now: datetime) -> datetime | None:
    """`90d`, `12h`, `2027-01-31` (the end of that day, UTC) or `never`."""
    if text == NEVER:
        return None
    try:
        if lifetime := parse_duration(text):
            end = now + lifetime
        else:
            day = datetime.strptime(text, "%Y-%m-%d").date()  # noqa: DTZ007  # the zone is added below
            end = datetime.combine(day, time.max, tzinfo=UTC)
    except (ValueError, OverflowError) as error:
        raise InvalidRequest(
            f'"{text}" is not an expiry: give 30m, 12h, 90d or 52w, a date such as 2027-01-31, or never'
        ) from error
    if end <= now:
        raise InvalidRequest(f'"{text}" is in the past: the token would not work')
    if end - now > _LONGEST_LIFE:
        raise InvalidRequest(f'"{text}" is more than 100 years away; give never instead')
    return end


def describe_roles(roles: Collection[TokenRole]) -> str:
    """`run, approve`."""
    return ", ".join(roles)
