"""Handoffs as files: each is written aside, made to last, and then put in its place whole."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from uuid import uuid4

from segue.domain.errors import StorageError
from segue.domain.handoff.document import Document


class FileDocuments:
    """`<root>/<agent>/handoffs/<time>-<8 hex>.md`, for this user's eyes only."""

    def __init__(self, root: Path) -> None:
        self._root = root

    async def write(self, document: Document) -> str:
        """Write it down for good; gives its path."""
        return await asyncio.to_thread(self._write, document)

    async def remove(self, path: str) -> None:
        """Take it back."""
        await asyncio.to_thread(Path(path).unlink, missing_ok=True)

    async def is_there(self, path: str) -> bool:
        """True if it is on this machine."""
        return Path(path).is_relative_to(self._root) and await asyncio.to_thread(Path(path).is_file)

    def _write(self, document: Document) -> str:
        folder = self._root / document.folder / "handoffs"
        path = folder / f"{document.stamp()}-{uuid4().hex[:8]}.md"
        aside = path.with_suffix(".part")
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            try:
                with aside.open("xb") as file:
                    file.write(document.render().encode("utf-8", "replace"))
                    file.flush()
                    os.fsync(file.fileno())
                aside.rename(path)
            finally:
                aside.unlink(missing_ok=True)
            _make_last(folder)
        except OSError as error:
            raise StorageError(
                f"cannot write the handoff {path}: {error.strerror}. Make room or rights there, or set "
                "SEGUE_DATA_DIR"
            ) from error
        return str(path)


def _make_last(folder: Path) -> None:
    """A new name in a folder lasts only once the folder itself was written."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
