"""The address of the database, as people write it."""

from __future__ import annotations

import pytest

from segue.adapters.storage.address import parse_address
from segue.domain.errors import StorageError


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("sqlite:///segue.db", "segue.db"),
        ("sqlite:////data/segue.db", "/data/segue.db"),
        ("sqlite+aiosqlite:////data/my%20data.db", "/data/my data.db"),
        ("sqlite:////data/100% full.db", "/data/100% full.db"),
    ],
)
def test_the_path_of_a_file(url: str, path: str) -> None:
    address = parse_address(url)
    assert (address.is_postgres, address.target, address.shown) == (False, path, path)


@pytest.mark.parametrize("scheme", ["postgresql", "postgres", "postgresql+psycopg"])
def test_an_address_of_postgresql_is_shown_without_its_password(scheme: str) -> None:
    address = parse_address(f"{scheme}://me:swordfish@here:5433/segue?password=tuna&connect_timeout=3")
    assert address.is_postgres
    assert address.target == "postgresql://me:swordfish@here:5433/segue?password=tuna&connect_timeout=3"
    assert address.shown == "postgresql://me:***@here:5433/segue?password=***&connect_timeout=3"


@pytest.mark.parametrize(
    "url", ["postgresql://me:swordfish@here:port/segue", "postgresql://me:swordfish@here/segue?colour=red"]
)
def test_what_postgresql_does_not_understand_is_refused_without_the_password(url: str) -> None:
    with pytest.raises(StorageError, match="is not a database address") as refused:
        parse_address(url)
    assert "swordfish" not in str(refused.value)
