"""The servers that this process speaks to, ours and others', each through one link."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

from segue.adapters.backends.opencode.options import External, Place, ServerSpec
from segue.adapters.backends.opencode.sessions import Link

if TYPE_CHECKING:
    from segue.adapters.backends.opencode.client import OpenCodeAddress
    from segue.adapters.backends.opencode.server import LocalServer


class Links:
    """Makes links when they are needed, and new ones when a server was started anew."""

    def __init__(self, servers_dir: Path) -> None:
        self._servers_dir = servers_dir
        self._servers: dict[str, LocalServer] = {}
        self._links: dict[str, Link] = {}
        self._old: list[Link] = []

    async def get(self, place: Place, name: str) -> Link:
        """The link to a server, which is started if it is ours and not there."""
        link = await self._find(place, name, start=True)
        assert link is not None
        return link

    async def running(self, place: Place, name: str) -> Link | None:
        """The link to a server that is there; nothing is started."""
        return await self._find(place, name, start=False)

    async def recover(self, place: Place, name: str, link: Link) -> Link | None:
        """The link after a call was not answered: the same, or one to a new server; none if it is gone."""
        address = link.client.address
        if isinstance(place, External):
            for _ in range(5):
                if await link.client.healthy() is not None:
                    return link
                await asyncio.sleep(1)
            return None
        if not await self._server(place, name).recover(address):
            return link
        return await self.get(place, name)

    async def close(self, needed: Collection[str]) -> None:
        """Let go of all; servers of ours that are not needed are stopped, unless others use them."""
        links, self._links = [*self._links.values(), *self._old], {}
        self._old = []
        for link in links:
            await link.close()
        for name, server in self._servers.items():
            await server.release(needed=name in needed)
        self._servers = {}

    def names(self) -> Collection[str]:
        """The servers of ours that this process has joined."""
        return set(self._servers)

    async def _find(self, place: Place, name: str, *, start: bool) -> Link | None:
        from segue.adapters.backends.opencode.client import OpenCodeAddress

        if isinstance(place, External):
            address = OpenCodeAddress(url=place.url, username=place.username, password=place.password)
            return await self._linked(name, address)
        found = await self._server(place, name).address(start=start)
        return await self._linked(name, found) if found is not None else None

    async def _linked(self, name: str, address: OpenCodeAddress) -> Link:
        from segue.adapters.backends.opencode.client import OpenCodeClient
        from segue.adapters.backends.opencode.hub import Hub

        old = self._links.get(name)
        if old is not None and old.client.address == address:
            return old
        client = OpenCodeClient(address)
        link = self._links[name] = Link(client, Hub(client))
        if old is not None:
            self._old.append(old)  # turns may still hold it, until they look
            await old.hub.close()
        return link

    def _server(self, place: ServerSpec, name: str) -> LocalServer:
        from segue.adapters.backends.opencode.server import LocalServer

        if name not in self._servers:
            self._servers[name] = LocalServer(self._servers_dir / name, place)
        return self._servers[name]
