"""The connections of the engine: ours, for DBOS closes its own while its threads still use them."""

from __future__ import annotations

import time
from typing import Any

import sqlalchemy as sa
import structlog

from segue.domain.errors import StorageError

log = structlog.get_logger()

_POSTGRES = "idle_in_transaction_session_timeout"
"""What a connection must have: a process that vanished in a transaction lets go of its locks."""


class EngineConnections:
    """A pool of connections to the engine's database."""

    def __init__(self, url: str) -> None:
        self.engine = _postgres(url)
        self._is_closed = False
        sa.event.listen(self.engine, "do_connect", _connect)
        sa.event.listen(self.engine, "checkout", self._check_out)

    def close(self, seconds: float) -> None:
        """Refuse to be used any more, wait for those that are at it, and close all connections."""
        self._is_closed = True
        deadline = time.monotonic() + seconds
        while used := self._in_use():
            if time.monotonic() > deadline:
                log.warning("engine_connections_in_use", connections=used)
                break
            time.sleep(0.01)
        self.engine.dispose()

    def _in_use(self) -> int:
        assert isinstance(self.engine.pool, sa.QueuePool)
        return self.engine.pool.checkedout()

    def _check_out(self, *_: object) -> None:
        if self._is_closed:
            raise StorageError("the engine has ended")


def _connect(dialect: Any, _record: object, arguments: Any, options: Any) -> Any:
    """A database that cannot be reached is an error of ours: DBOS would ask for it again, for ever."""
    try:
        return dialect.connect(*arguments, **options)
    except dialect.loaded_dbapi.OperationalError as error:
        reason = " ".join(str(error).split())
        raise StorageError(f"cannot open the engine's database: {reason}") from error


def _postgres(url: str) -> sa.Engine:
    address = sa.make_url(url).set(drivername="postgresql+psycopg")
    own = {"application_name": "segue-engine", "connect_timeout": 10}
    engine = sa.create_engine(
        address,
        connect_args={name: value for name, value in own.items() if name not in address.query},
        pool_pre_ping=True,
        pool_size=20,
        max_overflow=0,
    )
    if _POSTGRES not in str(address.query.get("options", "")):

        @sa.event.listens_for(engine, "connect")
        def prepare(connection: Any, _record: object) -> None:
            connection.execute(f"SET {_POSTGRES} = '5s'")
            connection.commit()

    return engine
