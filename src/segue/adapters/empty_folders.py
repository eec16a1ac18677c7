"""Empty folders for agents that only read and write words."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path


class LocalFolders:
    """Folders below one root, which other users of this machine cannot enter."""

    def __init__(self, root: Path) -> None:
        self._root = root

    @asynccontextmanager
    async def open(self, name: str) -> AsyncIterator[str]:
        """An empty folder with this name; it is removed afterwards, with all that is in it."""
        folder = self._root / name
        await asyncio.to_thread(_make_empty, folder)
        try:
            yield str(folder)
        finally:
            await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)


def _make_empty(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o700, parents=True)
