"""Where the database is: its address as people write it, read without a driver that it does not need."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import unquote

from segue.domain.errors import StorageError

_SQLITE = re.compile(r"sqlite(?:\+\w+)?://(?:/(?P<path>[^?]*))?(?:\?.*)?")
_POSTGRES = re.compile(r"postgres(?:ql)?(?:\+\w+)?://(?P<rest>.*)", re.DOTALL)


@dataclass(frozen=True, kw_only=True, slots=True)
class Address:
    """A database that Segue can use."""

    is_postgres: bool
    target: str
    """The path of the file, or an address that PostgreSQL's own library reads."""

    @property
    def shown(self) -> str:
        """For people: never with a password."""
        return _without_password(self.target) if self.is_postgres else self.target


def parse_address(url: str) -> Address:
    """The address in `SEGUE_DATABASE_URL`; `StorageError` says what would do."""
    if found := _SQLITE.fullmatch(url):
        path = unquote(found["path"] or "")
        if path in ("", ":memory:"):
            raise StorageError(
                f'"{url}" is a database in memory, which would not outlive a crash. Give '
                "sqlite:///path/to/segue.db in SEGUE_DATABASE_URL"
            )
        return Address(is_postgres=False, target=path)
    found = _POSTGRES.fullmatch(url)
    target = f"postgresql://{found['rest']}" if found else None
    if target is None or not _is_postgres(target):
        raise StorageError(
            f'"{_without_password(url)}" is not a database address that Segue can use. Give '
            "sqlite:///path/to/segue.db or postgresql://user@host/name in SEGUE_DATABASE_URL"
        )
    return Address(is_postgres=True, target=target)


def _is_postgres(target: str) -> bool:
    from psycopg import ProgrammingError
    from psycopg.conninfo import conninfo_to_dict

    try:
        ports = str(conninfo_to_dict(target).get("port") or "0")
    except ProgrammingError:
        return False
    return ports.replace(",", "").isdigit()


def _without_password(url: str) -> str:
    hidden = re.sub(r"(://[^:/@]*):[^@]*@", r"\1:***@", url)
    return re.sub(r"([?&]password=)[^&]*", r"\1***", hidden)
