"""Tokens and the local credential, on files and databases of both kinds."""

from __future__ import annotations

import asyncio
import os
import stat
import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from segue.adapters.credential import LocalCredential, login_name
from segue.adapters.storage.database import SqlStore, open_database
from segue.adapters.storage.gateway import ReadConnection
from segue.adapters.storage.queries import SqlRows
from segue.application.tokens import Tokens, hash_of
from segue.domain.errors import CredentialError, InvalidRequest, TokenRefused, UnknownName
from segue.domain.tokens import Token, TokenKind, read_expiry

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)
VALUE = f"segue_{'x' * 43}"


@dataclass
class Clock:
    """A clock that is set by hand."""

    at: datetime = NOW

    def now(self) -> datetime:
        return self.at


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "credential"


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def tokens(database: SqlStore, path: Path, clock: Clock) -> Tokens:
    return Tokens(store=database, clock=clock, credential=LocalCredential(path), owner="mara")


def test_the_file_is_for_its_owner_alone_whatever_the_umask(path: Path) -> None:
    before = os.umask(0)
    try:
        assert LocalCredential(path).create(VALUE) == VALUE
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [each.name for each in path.parent.iterdir()] == ["credential"]
    assert LocalCredential(path).create(f"segue_{'y' * 43}") == VALUE, "the first one counts"
    assert LocalCredential(path).read() == VALUE


def make_readable(path: Path) -> None:
    path.write_text(f"{VALUE}\n")
    path.chmod(0o640)


def make_foreign(path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give a file to another user")
    path.write_text(f"{VALUE}\n")
    path.chmod(0o600)
    os.chown(path, 65534, -1)


def make_link(path: Path) -> None:
    LocalCredential(path.with_name("elsewhere")).create(VALUE)
    path.symlink_to("elsewhere")


def make_nonsense(path: Path) -> None:
    path.touch(0o600)
    path.write_bytes(b"\xff not a credential")


def make_pipe(path: Path) -> None:
    os.mkfifo(path, 0o600)


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (make_readable, "can be read or written by others (mode 0640)"),
        (make_foreign, "belongs to another user"),
        (make_link, "cannot read"),
        (make_nonsense, "does not hold a credential"),
        (Path.mkdir, "is not a file"),
        (make_pipe, "is not a file"),
    ],
)
def test_a_file_that_is_not_this_user_s_secret_is_refused(
    path: Path, spoil: Callable[[Path], None], said: str
) -> None:
    spoil(path)
    with pytest.raises(CredentialError, match=str(path)) as caught:
        LocalCredential(path).read()
    assert said in str(caught.value)
    assert VALUE not in str(caught.value)
    assert any(word in str(caught.value) for word in ("Remove it", "Start Segue as"))


def test_the_login_name_is_not_taken_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    name = login_name()
    for variable in ("USER", "LOGNAME", "USERNAME"):
        monkeypatch.setenv(variable, "eva")
    assert login_name() == name != "eva"


async def test_the_credential_is_made_once_and_known_by_its_hash(
    tokens: Tokens, database: SqlStore, path: Path
) -> None:
    values = await asyncio.gather(*(tokens.local() for _ in range(4)))
    assert {*values} == {path.read_text().strip()}
    (known,) = await tokens.list()
    assert (known.name, known.kind, known.roles, known.expires_at) == ("mara", "local", ("admin",), None)
    assert await database.views.token(hash_of(values[0])) == known
    assert await tokens.check(values[0]) == known
    entries = await database.views.entries_after(0)
    assert [entry.event_type for entry in entries] == ["token_created"]
    assert values[0] not in str(entries)


async def test_a_data_folder_serves_several_databases(tokens: Tokens, path: Path, tmp_path: Path) -> None:
    value = await tokens.local()
    other = await open_database(f"sqlite:///{tmp_path / 'other.db'}")
    try:
        there = Tokens(store=other, clock=Clock(), credential=LocalCredential(path), owner="mara")
        with pytest.raises(TokenRefused):
            await there.check(value)
        assert await there.local() == value
        assert (await there.check(value)).name == "mara"
    finally:
        await other.close()


async def test_a_revoked_credential_is_replaced(tokens: Tokens, path: Path) -> None:
    first = await tokens.local()
    assert [each.kind for each in await tokens.revoke("mara")] == [TokenKind.LOCAL]
    assert not path.exists()
    with pytest.raises(TokenRefused, match="revoked"):
        await tokens.check(first)
    second = await tokens.local()
    assert second != first
    assert (await tokens.check(second)).roles == ("admin",)
    path.write_text(f"{first}\n")  # brought back from somewhere
    with pytest.raises(CredentialError, match="was revoked: remove the file"):
        await tokens.local()


async def test_a_token_has_a_name_of_its_own_until_it_ends(tokens: Tokens, clock: Clock) -> None:
    issued = await tokens.new("ci", ["approve", "run", "run"], "90d")
    assert issued.value.startswith("segue_")
    assert issued.token.roles == ("run", "approve")
    assert issued.token.expires_at == NOW + timedelta(days=90)
    for name, said in (("ci", "exists"), ("mara", "local credential"), (" ci", "one line"), ("", "one line")):
        with pytest.raises(InvalidRequest, match=said):
            await tokens.new(name, ["run"], "1d")
    clock.at += timedelta(days=90)
    with pytest.raises(TokenRefused, match="this token has expired"):
        await tokens.check(issued.value)
    assert await tokens.list() == []
    assert len(await tokens.list(everything=True)) == 1
    await tokens.new("ci", ["run"], "never")
    with pytest.raises(UnknownName, match="Known: ci"):
        await tokens.revoke("cj")
    assert len(await tokens.revoke("ci")) == 1, "the expired one is left as it was"


async def test_making_and_revoking_is_in_the_audit_trail(tokens: Tokens, database: SqlStore) -> None:
    issued = await tokens.new("ci", ["run"], "1h")
    await tokens.revoke("ci")
    made, revoked = await database.views.entries_after(0)
    assert (made.event_type, revoked.event_type) == ("token_created", "token_revoked")
    assert made.payload == {
        "token": issued.token.id,
        "name": "ci",
        "token_kind": "named",
        "roles": ["run"],
        "expires_at": "2026-01-31T13:00:00+00:00",
        "created_by": "mara",
    }
    assert revoked.payload is not None
    assert (revoked.payload["name"], revoked.payload["revoked_by"]) == ("ci", "mara")
    assert issued.value not in str((made, revoked))


async def test_a_late_code_gives_nothing(tokens: Tokens, clock: Clock) -> None:
    code = await tokens.new_code()
    clock.at += timedelta(minutes=2)
    with pytest.raises(TokenRefused, match="too old"):
        await tokens.exchange(code)
    clock.at -= timedelta(minutes=2)
    with pytest.raises(TokenRefused):
        await tokens.exchange(code)
    assert await tokens.list(everything=True) == []


@pytest.mark.thorough
async def test_a_code_gives_no_token_past_those_who_revoke(postgres_url: str, path: Path) -> None:
    def somebody_waits(rows: ReadConnection) -> bool:
        return bool(rows.all("SELECT pid FROM pg_locks WHERE NOT granted"))

    database = await open_database(postgres_url)
    try:
        tokens = Tokens(store=database, clock=Clock(), credential=LocalCredential(path), owner="mara")
        other = await open_database(postgres_url)  # another process, which has a writer of its own
        code = await tokens.new_code()
        begun, may_end = threading.Event(), threading.Event()

        def revoke(rows: SqlRows) -> None:  # what `revoke` does, with a pause
            rows.lock_tokens()
            assert rows.find(Token) == ()
            begun.set()
            assert may_end.wait(120)
            rows.drop_codes(name="mara")

        async with asyncio.timeout(120):
            revoking = asyncio.create_task(other.write(revoke))
            await asyncio.to_thread(begun.wait, 120)
            exchange = asyncio.create_task(tokens.exchange(code))
            while not exchange.done() and not await database.reader.run(somebody_waits):
                pass
            may_end.set()
            await revoking
            await other.close()
        with pytest.raises(TokenRefused):
            await exchange
    finally:
        await database.close()


async def test_a_code_that_nobody_made_waits_for_no_writer(tokens: Tokens, database: SqlStore) -> None:
    begun, may_end = threading.Event(), threading.Event()

    def hold(rows: SqlRows) -> None:
        begun.set()
        assert may_end.wait(120)

    async with asyncio.timeout(120):
        holding = asyncio.create_task(database.write(hold))
        await asyncio.to_thread(begun.wait, 120)
        with pytest.raises(TokenRefused, match="used already"):
            await tokens.exchange("segue_junk")
        may_end.set()
        await holding


@pytest.mark.parametrize(
    ("written", "end"),
    [
        ("30m", NOW + timedelta(minutes=30)),
        ("12h", NOW + timedelta(hours=12)),
        ("2w", NOW + timedelta(weeks=2)),
        ("2026-01-31", datetime(2026, 1, 31, 23, 59, 59, 999999, UTC)),
        ("never", None),
    ],
)
def test_an_expiry_can_be_written_in_several_ways(written: str, end: datetime | None) -> None:
    assert read_expiry(written, NOW) == end


@pytest.mark.parametrize(
    "written", ["", "soon", "90", "-1d", "0d", "999999w", "9999w", "9999-12-31", "2026-01-30", "2026-13-01"]
)
def test_an_expiry_that_makes_no_sense_is_refused(written: str) -> None:
    with pytest.raises(InvalidRequest):
        read_expiry(written, NOW)
